"""A table's rules as a page draws them while they are turned: over the data's histogram, with the rows rules lead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..rules.explanations.scoring import Scoring
from ..rules.rule_base import Linear, Numbers
from ..rules.text.plain import plain_sentences
from .drawing import DrawnRules, drawn_input
from .editing import edited_rules, effect_of
from .edits import Edit, Edited
from .opening import OpenedTable

ENOUGH = 5_000


def drawn_rules(opened: OpenedTable, edits: Sequence[Edit], data: str | Path | None = None) -> DrawnRules:
    """The rules of a model after edits; with a file of rows also its values and what the edits change on them."""
    edited = edited_rules(opened, edits)
    rows: Numbers | None = None
    if data is not None:
        frame = opened.model.read(data).iloc[:ENOUGH]
        rows = opened.model.estimator.encode(opened.model.columns.rows(frame))
    base = edited.base
    assert isinstance(base.consequents, Linear)
    sentences = dict(plain_sentences(base))
    return DrawnRules(
        tuple(drawn_input(base, d, rows) for d in range(len(base.inputs))),
        tuple(variable.name for variable in base.outputs),
        base.classes,
        tuple(tuple(row) for row in base.premises.tolist()),
        tuple(tuple(row) for row in base.consequents.bias.tolist()),
        not base.consequents.is_constant,
        tuple(sentences[number] for number in range(1, len(base) + 1)),
        () if rows is None else _leads(edited, rows),
        tuple(sorted(edited.off)),
        tuple(sorted(edited.frozen)),
        None if data is None else effect_of(opened, edits, data),
    )


def _leads(edited: Edited, rows: Numbers) -> tuple[int, ...]:
    """How many rows each rule fires most on; none where it is off."""
    on = [rule for rule in range(len(edited.base)) if rule not in edited.off]
    scoring = Scoring.of(edited.effective())
    counts = np.zeros(len(edited.base), np.int64)
    leaders = scoring.scores(scoring.log_firing(rows)).argmax(axis=1)
    counts[on] = np.bincount(leaders, minlength=len(on))
    return tuple(int(count) for count in counts)
