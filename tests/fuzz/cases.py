"""Damaged models by number: the same number is the same damage, in whichever process it is made."""

import json
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import torch

import neuroplastic as npl
from neuroplastic.learn.columns import Columns
from neuroplastic.learn.table_model import COLUMNS, ESTIMATOR, TableModel
from tests.fuzz.model_files import ModelFile, text_of
from tests.fuzz.mutations import (
    changed_header,
    changed_states,
    changed_tensors,
    changed_trees,
    flipped,
)
from tests.rules.mutation import damaged

MODEL = "model.safetensors"
BYTES = 10**6
QUICK = {"rules": 3, "terms": 3, "max_updates": 3, "random_state": 0, "growth": 0.5, "batch_size": 8}


@dataclass(frozen=True)
class Case:
    """A damaged model: what was done to it, and its files by name."""

    label: str
    files: Mapping[str, bytes]


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


KINDS: dict[str, Callable[[], object]] = {
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
        model = KINDS[kind]()
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


@cache
def _structural(kind: str) -> tuple[tuple[str, Callable[[], bytes], str], ...]:
    """All changes by structure: what was done, the bytes to be, and which file they are."""
    file = _model_file(kind)
    name = ESTIMATOR if kind == "table" else MODEL
    changes: Iterator[tuple[str, ModelFile]] = chain(
        changed_header(file), changed_states(file), changed_tensors(file)
    )
    found = [(label, changed.raw, name) for label, changed in changes]
    if kind == "table":
        saved = json.loads(whole_files(kind)[COLUMNS])
        saved.pop("sha256")
        found += [
            (f"columns: {label}", lambda tree=tree: text_of(tree).encode(), COLUMNS)
            for label, tree in changed_trees(saved)
        ]
    return tuple(found)


def structural_count(kind: str) -> int:
    """How many changes by structure there are."""
    return len(_structural(kind))


def case(kind: str, number: int) -> Case:
    """A damaged model of a kind: below BYTES by structure, counted round and round, from there on by bytes."""
    files = dict(whole_files(kind))
    if number < BYTES:
        label, make, name = _structural(kind)[number % structural_count(kind)]
        return Case(label, {**files, name: make()})
    generator = np.random.default_rng(number)
    name = list(files)[int(generator.integers(len(files)))]
    raw = files[name]
    if name != COLUMNS and generator.random() < 0.7:
        raw = _model_file(kind).raw()  # without a checksum, damage gets further
    if generator.random() < 0.6:
        return Case("flipped bits", {**files, name: flipped(raw, generator)})
    for _ in range(1 + int(generator.geometric(0.5))):
        raw = damaged(raw, [raw], generator)
    return Case("damaged bytes", {**files, name: raw})
