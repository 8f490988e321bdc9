"""Models: networks in a file; loaded, used, and given to the commands."""

import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import torch

import neuroplastic as npl
from tests.fuzz.kind import Change, Files, Kind, replaced
from tests.fuzz.model_files import ModelFile
from tests.fuzz.mutations import changed_header, changed_states, changed_tensors
from tests.fuzz.using import command, outcome

MODEL = "model.safetensors"


def _network() -> npl.NeuroFuzzyNetwork:
    net = npl.NeuroFuzzyNetwork(3, 2, 4, max_terms=5, firing=npl.Firing(alpha="learn", certainty="log"))
    for extent in range(1, 7):
        net(extent * torch.rand(8, 3))
    net.freeze(rules=[1], sets=[(0, 1), (2, 0)])
    assert net.births
    return net


def _words() -> npl.NeuroFuzzyNetwork:
    text = (
        "IF temperature is hot THEN fan is high\n"
        "IF temperature is cold AND humidity is high AND light is any THEN fan is low"
    )
    inputs = {"temperature": {"cold": 0, "hot": 30}, "humidity": (0, 1), "light": (0, 1)}
    return npl.from_rules(
        text, inputs, outputs={"fan": {"low": 0, "high": 1}}, neurogenesis=npl.Neurogenesis()
    )


def _hierarchy() -> npl.Hierarchy:
    net = npl.Hierarchy([3, 2, 1], [4, 3], max_terms=4, consequent=npl.LowRank(rank=2), dtype=torch.float64)
    net(3 * torch.rand(8, 3, dtype=torch.float64))
    return net


@cache
def whole_files(make: Callable[[], object]) -> Files:
    """The files of an undamaged model."""
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make()
        if hasattr(model, "save"):  # a folder
            model.save(folder)
        else:
            npl.save(model, Path(folder) / MODEL)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


@cache
def _model_file(make: Callable[[], object], name: str) -> ModelFile:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(whole_files(make)[name])
        return ModelFile.read(path)


def _changes(make: Callable[[], object], name: str) -> list[Change]:
    file = _model_file(make, name)
    changed = chain(changed_header(file), changed_states(file), changed_tensors(file))
    return [(label, name, changed.raw) for label, changed in changed]


def _use(model: Any) -> None:
    """What a program does with a model: predict, learn on, save, copy."""
    if isinstance(model, torch.nn.Module):
        x = torch.rand(4, 3)
        first = model.levels[0] if isinstance(model, npl.Hierarchy) else model
        x = x.to(first.centers.dtype)
        model.eval()(x)
        model.train()(x).sum().backward()
        repr(model)
    elif hasattr(model, "partial_fit"):
        x = torch.rand(4, 3).numpy()
        y = model.predict(x)
        if hasattr(model, "classes_"):
            y = model.classes_[[0, 1, 0, 1]] if len(model.classes_) > 1 else y
        model.partial_fit(x, y)


def _uses_of_file(folder: Path) -> list[str]:
    path, rows, found = folder / MODEL, folder / "rows.csv", []
    rows.write_text("a,b,c\n0.5,1,0\n-1,2,0.25\n")
    ended = [outcome(lambda: found.append(npl.load(path)), str(path))]
    if found:
        ended.append(outcome(lambda: _use(found[0]), ""))
    return [*ended, command("rules", str(path)), command("explain", str(path), str(rows))]


def kind_of(
    make: Callable[[], object],
    *,
    name: str = MODEL,
    uses: Callable[[Path], list[str]] = _uses_of_file,
    more: Callable[[Files], list[Change]] = lambda _: [],
) -> Kind:
    """Models that are made so, with their tensors in the file `name`; without a checksum, damage gets further."""
    return Kind(
        whole=lambda: whole_files(make),
        changes=lambda: [*_changes(make, name), *more(whole_files(make)), *replaced(whole_files(make))],
        uses=uses,
        bare=lambda: {name: _model_file(make, name).raw()},
    )


MODELS = {"network": kind_of(_network), "words": kind_of(_words), "hierarchy": kind_of(_hierarchy)}
