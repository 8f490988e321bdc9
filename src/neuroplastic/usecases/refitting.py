"""A table's model learns on from rules turned by hand; frozen ones stay exactly as they were written."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from ..errors import ConfigError
from ..learn.estimators.looks import Look
from ..learn.table_model import usable_rows
from ..network.frozen import BY_RULE
from ..network.nfn import NeuroFuzzyNetwork
from .editing import edited_model, judging, save_model
from .edits import Edit
from .opening import OpenedTable
from .progress import Headway, Listener, nobody
from .simplifying import check_new_folder


@dataclass(frozen=True)
class Refitted:
    """A model that learned on from edited rules, and how it judges the rows it learned from."""

    path: Path
    measure: str
    rows: int
    before: float
    """of the original"""
    edited: float
    after: float
    frozen: int
    """rules that stayed exactly as they were"""


def refit_edited(
    opened: OpenedTable,
    edits: Sequence[Edit],
    data: str | Path,
    out: str | Path,
    *,
    on_progress: Listener = nobody,
) -> Refitted:
    """Learn on from the edited rules, frozen ones kept to the bit, and write the model into a new folder.

    No rule is added or taken away. What `on_progress` raises ends it, with nothing written.
    """
    made = edited_model(opened, edits) if edits else copy.deepcopy(opened.model)
    path, estimator = check_new_folder(out), made.estimator
    frozen = len(estimator.network_.frozen[0])
    if frozen == estimator.network_.rules:
        raise ConfigError("all rules are frozen; let one learn")
    rows = usable_rows(made.read(data), made.columns)
    x, true = made.columns.rows(rows), made.columns.targets(rows)
    name, score = judging(opened.model)
    edited = score(true, estimator.predict(x))
    written = copy.deepcopy(estimator.network_)
    warm, estimator.warm_start = estimator.warm_start, True
    try:
        estimator.fit(x, true, on_look=lambda look: on_progress(_headway(look)))
    finally:
        estimator.warm_start = warm
    _put_back(estimator.network_, written)
    before, after = score(true, opened.model.estimator.predict(x)), score(true, estimator.predict(x))
    return Refitted(save_model(made, path), name, len(rows), before, edited, after, frozen)


def _headway(look: Look) -> Headway:
    return Headway("learning on", look.update, look.updates, "update", f"loss {look.loss:.3g}")


def _put_back(net: NeuroFuzzyNetwork, written: NeuroFuzzyNetwork) -> None:
    """Give frozen rules and sets all their digits again: learning is done in single precision."""
    rules, sets = written.frozen
    state, before = net.state_dict(), written.state_dict()
    for name, dimension in BY_RULE.items():
        if name in state and rules:
            places = torch.tensor(rules)
            state[name].index_copy_(dimension, places, before[name].index_select(dimension, places))
    for attribute, term in sets:
        for name in ("antecedent.centers", "antecedent.raw_widths"):
            state[name][attribute, term] = before[name][attribute, term]
    net.load_state_dict(state)
