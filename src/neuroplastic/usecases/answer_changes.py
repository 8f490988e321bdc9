"""What would change the answer of a classifier: the least change of one column by which another class is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..learn.estimators import NeuroFuzzyClassifier
from ..learn.estimators.naming import limits_of, readable
from ..learn.estimators.rows import Numbers
from ..rules.explanations.wording import moved

# Values of a number that are tried on the way to an end, and halvings of the step that changes the answer.
VALUES, HALVINGS = 201, 30
# What another category counts as, beside standard deviations of numbers.
STEP = 1.0


class _Found(NamedTuple):
    """A change that alters the answer."""

    steps: float
    words: str
    answer: int


def answer_change(model: NeuroFuzzyClassifier, x: Numbers, given: Numbers | None = None) -> str:
    """In words, of an encoded row (D,): `the answer would be default if age rose from 50 past 51`.

    Numbers stay between the ends of training, and are tried at even places; a narrower exception between two of them
    would not be found. Changes of numbers are compared in standard deviations. `given` (D,) is NaN where x was missing.
    """
    least = min(
        _changes(model, x, x if given is None else given), key=lambda found: found.steps, default=None
    )
    if least is None:
        return "no change of a single column within the data's range would alter the answer"
    return f"the answer would be {readable(model.classes_.tolist())[least.answer]} if {least.words}"


def _changes(model: NeuroFuzzyClassifier, x: Numbers, given: Numbers) -> Iterator[_Found]:
    limits, names = limits_of(model.encoder_, model.limits_), readable(model.encoder_.names)
    now = int(_answers(model, x[None])[0])
    for choice in limits.choices:
        rows = np.repeat(x[None], len(choice.categories), axis=0)
        rows[:, list(choice.attributes)] = choice.values
        for place, answer in enumerate(_answers(model, rows).tolist()):
            if answer != now:
                words = f"{choice.name} were {choice.categories[place]}"
                yield _Found(STEP, words, answer)
    fixed = {attribute for choice in limits.choices for attribute in choice.attributes}
    for attribute in sorted(set(range(len(x))) - fixed):
        ends = float(limits.low[attribute]), float(limits.high[attribute])
        for end in ends:
            if np.isfinite(end) and end != x[attribute]:
                found = _first(model, x, attribute, end, now)
                if found is not None:
                    to, answer = found
                    missing = bool(np.isnan(given[attribute]))
                    words = moved(names[attribute], float(x[attribute]), to, missing=missing)
                    yield _Found(abs(to - x[attribute]) / float(model.scale_[attribute]), words, answer)


def _first(
    model: NeuroFuzzyClassifier, x: Numbers, attribute: int, end: float, now: int
) -> tuple[float, int] | None:
    """The value nearest to the row's, on the way to an end, by which another class is named, and that class."""
    values = np.linspace(x[attribute], end, VALUES)
    answers = _answers(model, _with(x, attribute, values))
    if (answers == now).all():
        return None
    place = int((answers != now).argmax())
    same, other, answer = float(values[place - 1]), float(values[place]), int(answers[place])
    for _ in range(HALVINGS):
        middle = (same + other) / 2
        found = int(_answers(model, _with(x, attribute, np.array([middle])))[0])
        if found == now:
            same = middle
        else:
            other, answer = middle, found
    return other, answer


def _with(x: Numbers, attribute: int, values: Numbers) -> Numbers:
    rows = np.repeat(x[None], len(values), axis=0)
    rows[:, attribute] = values
    return rows


def _answers(model: NeuroFuzzyClassifier, x: Numbers) -> NDArray[np.int64]:
    """The class of each encoded row, (N,)."""
    answers: NDArray[np.int64] = model.outputs_of_encoded(x).argmax(axis=1)
    return answers
