"""Variables as a person gives them: terms by name, or just a range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ConfigError
from ...network.starting import CROSSING
from ..names import term_names, unique
from ..rule_base import Term, Variable

Specification = Iterable[Variable] | Mapping[str, Any]

# More terms than anybody can name; a slip of the pen such as (0, 1, 10**9) must not fill the memory.
MOST_TERMS = 1000


def variables_of(field: str, given: Specification | Sequence[str] | str) -> tuple[Variable, ...]:
    """The variables that were given: as they are, of a mapping, or of bare names (then without terms)."""
    found = _listed(field, [given] if isinstance(given, str) else given)
    unique(f"name in {field}", [variable.name for variable in found])
    return found


def _listed(field: str, given: Specification | Sequence[str]) -> tuple[Variable, ...]:
    if isinstance(given, Mapping):
        return tuple(_variable(field, name, value) for name, value in given.items())
    if not isinstance(given, Iterable):
        raise ConfigError(f"{field} must be npl.Variables or a mapping of names to terms, got {given!r}")
    found = []
    for variable in given:
        if isinstance(variable, str) and field == "outputs":
            variable = Variable(variable)
        if not isinstance(variable, Variable):
            raise ConfigError(f"{field} must hold npl.Variables, got {variable!r}")
        found.append(variable)
    return tuple(found)


def _variable(field: str, name: object, value: Any) -> Variable:
    where = f"{field}[{name!r}]"
    if not isinstance(name, str):
        raise ConfigError(f"{field} must have names as its keys, got {name!r}")
    if isinstance(value, Variable):
        return Variable(name, value.terms)
    if isinstance(value, Mapping):
        return Variable(name, _named_terms(where, value))
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) in (2, 3):
        low, high = (_number(where, end) for end in value[:2])
        if not low < high:
            raise ConfigError(f"{where} must be a range with low < high, got {value!r}")
        return Variable(name, _even_terms(where, low, high, value[2] if len(value) == 3 else 3))
    raise ConfigError(
        f"{where} must be {{term: (center, width)}}, {{term: center}} or (low, high[, terms]), got {value!r}"
    )


def _number(where: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if isinstance(value, (str, bool)) or not np.isfinite(number):
        raise ConfigError(f"{where} must consist of finite numbers, got {value!r}")
    return number


def _named_terms(where: str, terms: Mapping[Any, Any]) -> tuple[Term, ...]:
    """Terms in order of their centres; one given by its centre alone crosses its nearest neighbour at 0.5."""
    found: list[tuple[str, float, float | None]] = []
    for name, value in terms.items():
        here = f"{where}[{name!r}]"
        if not isinstance(name, str):
            raise ConfigError(f"{where} must have names of terms as its keys, got {name!r}")
        if isinstance(value, Sequence) and not isinstance(value, str):
            if len(value) != 2:
                raise ConfigError(f"{here} must be (center, width) or a center, got {value!r}")
            found.append((name, _number(here, value[0]), _number(here, value[1])))
        else:
            found.append((name, _number(here, value), None))
    found.sort(key=lambda term: term[1])
    centers = [center for _, center, _ in found]
    return tuple(
        Term(name, center, _width(where, centers, place) if width is None else width)
        for place, (name, center, width) in enumerate(found)
    )


def _width(where: str, centers: list[float], place: int) -> float:
    neighbours = centers[max(place - 1, 0) : place] + centers[place + 1 : place + 2]
    gaps = [abs(center - centers[place]) for center in neighbours]
    if not gaps or min(gaps) == 0:
        raise ConfigError(f"{where} needs (center, width) for its term at {centers[place]:g}")
    return min(gaps) / CROSSING


def _even_terms(where: str, low: float, high: float, terms: Any) -> tuple[Term, ...]:
    """Terms at even distances from low to high, neighbours crossing at 0.5."""
    if isinstance(terms, int) and not isinstance(terms, bool):
        if not 2 <= terms <= MOST_TERMS:
            raise ConfigError(f"{where} must have 2 to {MOST_TERMS} terms, got {terms}")
        words: Sequence[str] = term_names(terms)
    elif isinstance(terms, Sequence) and not isinstance(terms, str) and len(terms) >= 2:
        words = [str(word) for word in terms]
    else:
        raise ConfigError(f"{where} must end with a number of terms or at least two names, got {terms!r}")
    centers = np.linspace(low, high, len(words)).tolist()
    width = (high - low) / (len(words) - 1) / CROSSING
    return tuple(Term(word, center, width) for word, center in zip(words, centers, strict=True))
