"""Sliders that ask the rules 'what if': all that a page needs to compute them, as JSON that no name breaks out of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..learn.estimators import NeuroFuzzyClassifier, NeuroFuzzyRegressor
from ..learn.estimators.encoding import Column, Encoder
from ..rules.rule_base import IGNORED, Linear, Numbers, RuleBase
from .document import WhatIf

MOST_CONTROLS = 12
# Rules with more numbers than this would make the page too large.
MOST_NUMBERS = 500_000
# Steps of a slider, at least.
STEPS = 200
# Classes whose typical rows can be begun with, at most.
MOST_STARTS = 6

_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def safe_json(content: object) -> str:
    """JSON that can stand in a script element: no character of it ends the element or the line."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    for character, escaped in _UNSAFE.items():
        text = text.replace(character, escaped)
    return text


def what_if(
    estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor,
    rules: RuleBase,
    x: pd.DataFrame,
    y: pd.Series,
    *,
    sentences: Mapping[int, str],
    ranked: Sequence[str] = (),
) -> WhatIf | None:
    """The sliders of a model on the rows x and targets y; None where the rules cannot be told to a page.

    `sentences` are the rules' by number, `ranked` the columns, the most important first.
    """
    if not isinstance(rules.consequents, Linear) or _size(rules) > MOST_NUMBERS:
        return None
    encoder, encoded = estimator.encoder_, estimator.encode(x)
    places = _places(encoder)
    used = [column for column in places if _is_used(rules, rules.consequents, places[column])]
    rank = {name: place for place, name in enumerate(ranked)}
    used.sort(key=lambda column: rank.get(column.name, len(rank)))
    shown = used[:MOST_CONTROLS]
    classes = (
        [str(label) for label in estimator.classes_] if isinstance(estimator, NeuroFuzzyClassifier) else None
    )
    content = {
        "rules": json.loads(rules.json()),
        "sentences": [sentences[number] for number in range(1, len(rules) + 1)],
        "controls": [_control(column, places[column], encoder, encoded) for column in shown],
        "starts": _starts(encoded, places, y, classes),
        "clip": None if estimator.clip_ is None else estimator.clip_.tolist(),
        "classes": classes,
        "target": rules.outputs[0].name,
        "range": None if classes else [float(y.min()), float(y.max())],
    }
    return WhatIf(
        "what-if",
        "What if? Move a slider, and see what the rules make of it.",
        _how(len(used), len(shown)),
        safe_json(content),
    )


def _how(used: int, shown: int) -> str:
    text = "The page computes the rules itself; nothing is sent anywhere."
    if used > shown:
        text += (
            f" Of the {used} columns that the rules use, the {shown} that matter most are here; the others stay at "
            "their typical values."
        )
    return text


def _size(rules: RuleBase) -> int:
    assert isinstance(rules.consequents, Linear)
    return int(rules.premises.size + rules.consequents.weight.size + rules.consequents.bias.size)


def _places(encoder: Encoder) -> dict[Column, list[int]]:
    """The inputs of the rules that each column of the table makes."""
    found: dict[Column, list[int]] = {}
    for place, given in enumerate(encoder.inputs):
        found.setdefault(given.column, []).append(place)
    return found


def _is_used(rules: RuleBase, part: Linear, places: list[int]) -> bool:
    asked = bool((rules.premises[:, places] != IGNORED).any())
    return asked or (not part.is_constant and bool(part.weight[:, :, places].any()))


def _control(column: Column, places: list[int], encoder: Encoder, encoded: Numbers) -> dict[str, Any]:
    if column.kind == "category":
        options = [
            {"name": name, "sets": [[place, value] for place, value in zip(places, values, strict=True)]}
            for name, values in zip(column.categories, _values(column, places, encoder), strict=True)
        ]
        return {"name": column.name, "kind": "category", "options": options}
    (place,) = places
    values = encoded[:, place]
    low, high = float(values.min()), float(values.max())
    whole = bool((values == np.round(values)).all())
    found: dict[str, Any] = {"name": column.name, "kind": column.kind, "input": place, "low": low}
    step = step_of(low, high, whole=whole)
    # The last step reaches the greatest value.
    found |= {"high": low + step * math.ceil((high - low) / step - 1e-9), "step": step}
    return found if column.origin is None else found | {"origin": _utc(column.origin)}


def _values(column: Column, places: list[int], encoder: Encoder) -> list[list[float]]:
    """What the column's inputs are for each of its categories."""
    roles = [encoder.inputs[place].role for place in places]
    firsts = roles.count("code")
    return [
        [float(k)] * firsts + [float(k == hot) for hot in range(len(places) - firsts)]
        for k in range(len(column.categories))
    ]


def _utc(origin: str) -> str:
    return f"{pd.Timestamp(origin).isoformat()}Z"


def step_of(low: float, high: float, *, whole: bool) -> float:
    """A round step, of which at least 200 lie between the ends; 1 where values are whole and that is enough."""
    if high <= low:
        return 1.0
    wanted = (high - low) / STEPS
    if whole and wanted <= 1:
        return 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(power * factor for factor in (5, 2, 1) if power * factor <= wanted)


def _starts(
    encoded: Numbers, places: Mapping[Column, list[int]], y: pd.Series, classes: list[str] | None
) -> list[dict[str, Any]]:
    """Rows to begin with: the typical one, and that of each class."""
    found = [{"name": "typical row", "row": _typical(encoded, places)}]
    for label in (classes or [])[:MOST_STARTS]:
        rows = (y.astype(str) == label).to_numpy()
        if rows.any():
            found.append({"name": f"typical {label}", "row": _typical(encoded[rows], places)})
    return found


def _typical(encoded: Numbers, places: Mapping[Column, list[int]]) -> list[float]:
    """The median of numbers, of categories the most common."""
    row = np.median(encoded, axis=0)
    for column, own in places.items():
        if column.kind == "category":
            kinds, counts = np.unique(encoded[:, own], axis=0, return_counts=True)
            row[own] = kinds[counts.argmax()]
    typical: list[float] = row.tolist()
    return typical
