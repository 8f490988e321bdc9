"""Models: networks, estimators and models of tables; loaded, used, and given to the commands."""

import json
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

import neuroplastic as npl
from neuroplastic.learn.columns import Columns
from neuroplastic.learn.table_model import COLUMNS, ESTIMATOR, TableModel
from tests.fuzz.kind import Change, Kind, json_changes, replaced
from tests.fuzz.model_files import ModelFile
from tests.fuzz.mutations import changed_header, changed_states, changed_tensors
from tests.fuzz.using import command, outcome

MODEL = "model.safetensors"
QUICK = {"rules": 3, "terms": 3, "max_updates": 3, "random_state": 0, "growth": 0.5, "batch_size": 8}


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


def _rows() -> pd.DataFrame:
    x = np.random.default_rng(0).normal(size=(40, 3))
    return pd.DataFrame(x, columns=["a", "b", "c"])


def _classifier() -> npl.NeuroFuzzyClassifier:
    x = _rows()
    return npl.NeuroFuzzyClassifier(**QUICK).fit(x, np.where(x.a + x.b > 0, "up", "down"))


def _regressor() -> npl.NeuroFuzzyRegressor:
    x = _rows()
    return npl.NeuroFuzzyRegressor(**QUICK).fit(x, 5 + 2 * x[["a", "b"]])


def _table() -> TableModel:
    frame = _rows().assign(c=["red", "green"] * 20, y=lambda rows: rows.a > 0)
    columns = Columns.of(frame, "y")
    model = npl.NeuroFuzzyClassifier(**QUICK).fit(columns.rows(frame), columns.targets(frame))
    return TableModel(columns, model)


MADE: dict[str, Callable[[], object]] = {
    "network": _network,
    "words": _words,
    "hierarchy": _hierarchy,
    "classifier": _classifier,
    "regressor": _regressor,
    "table": _table,
}


@cache
def whole_files(kind: str) -> dict[str, bytes]:
    """The files of an undamaged model."""
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MADE[kind]()
        if isinstance(model, TableModel):
            model.save(folder)
        else:
            npl.save(model, Path(folder) / MODEL)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


@cache
def _model_file(kind: str) -> ModelFile:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(next(raw for name, raw in whole_files(kind).items() if name in (MODEL, ESTIMATOR)))
        return ModelFile.read(path)


def _bare(kind: str) -> dict[str, bytes]:
    """Without a checksum, damage gets further."""
    name = ESTIMATOR if kind == "table" else MODEL
    return {name: _model_file(kind).raw()}


def _changes(kind: str) -> list[Change]:
    file = _model_file(kind)
    name = ESTIMATOR if kind == "table" else MODEL
    changed = chain(changed_header(file), changed_states(file), changed_tensors(file))
    found = [(label, name, changed.raw) for label, changed in changed]
    if kind == "table":
        saved = json.loads(whole_files(kind)[COLUMNS])
        saved.pop("sha256")
        found += json_changes(COLUMNS, json.dumps(saved).encode())
    return found


def _use(model: Any) -> None:
    """What a program does with a model: predict, learn on, save, copy."""
    if isinstance(model, torch.nn.Module):
        x = torch.rand(4, 3)
        first = model.levels[0] if isinstance(model, npl.Hierarchy) else model
        x = x.to(first.centers.dtype)
        model.eval()(x)
        model.train()(x).sum().backward()
        repr(model)
    elif isinstance(model, (npl.NeuroFuzzyClassifier, npl.NeuroFuzzyRegressor)):
        x = torch.rand(4, 3).numpy()
        y = model.predict(x)
        if isinstance(model, npl.NeuroFuzzyClassifier):
            y = model.classes_[[0, 1, 0, 1]] if len(model.classes_) > 1 else y
        model.partial_fit(x, y)


def _uses_of_file(folder: Path) -> list[str]:
    path, rows, found = folder / MODEL, folder / "rows.csv", []
    rows.write_text("a,b,c\n0.5,1,0\n-1,2,0.25\n")
    ended = [outcome(lambda: found.append(npl.load(path)), str(path))]
    if found:
        ended.append(outcome(lambda: _use(found[0]), ""))
    return [*ended, command("rules", str(path)), command("explain", str(path), str(rows))]


def _uses_of_table(folder: Path) -> list[str]:
    rows = folder / "rows.csv"
    rows.write_text("a,b,c\n0.5,1,red\n-1,2,blue\n")
    return [
        command("predict", str(folder), str(rows)),
        command("rules", str(folder)),
        command("explain", str(folder), str(rows)),
    ]


def _kind(name: str) -> Kind:
    return Kind(
        whole=lambda: whole_files(name),
        changes=lambda: [*_changes(name), *replaced(whole_files(name))],
        uses=_uses_of_table if name == "table" else _uses_of_file,
        bare=lambda: _bare(name),
    )


MODELS = {name: _kind(name) for name in MADE}
