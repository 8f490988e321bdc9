"""Names of fuzzy sets that are true of the data: by which part of them a set covers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError
from ..network.starting import HALF
from .names import ANY, term_names, unique

Numbers = NDArray[np.float64]
Words = tuple[str, str, str]

# Shares of the data at which their values are kept.
LEVELS: Numbers = np.linspace(0.0, 1.0, 21)
USUAL_WORDS: Words = ("low", "medium", "high")
# What covers more than this is told by its ends; up to so much of the data may lie beyond a set that reaches an end of
# them; what covers less is very low, very high or a single value; what covers more is told by what it leaves out.
EVERYTHING, BEYOND, LITTLE, MUCH = 0.9, 0.05, 0.15, 0.6
# Sets in between are medium if their middle lies between these shares of the data.
MIDDLE = (0.4, 0.6)
# Up to so many values a column is one of few values, each of which has a name of its own.
FEW_VALUES = 10
# Numbers in names are rounded to this share of the data's range, or finer.
FINEST = 0.05
# A set is still the one that was named if its centre moved by less than this part of its width, and so its width.
SAME = 0.1
# Names in files of earlier versions that are not kept, for they say too little.
FORMER = ("anything usual",)


class NamedSet(NamedTuple):
    """A set that had a name before, in the words low, medium and high, and in raw units."""

    name: str
    center: float
    width: float

    def is_at(self, center: float, width: float) -> bool:
        """Whether this is nearly the same set."""
        moved = abs(center - self.center) <= SAME * self.width
        return moved and abs(width - self.width) <= SAME * self.width


def knots_of(values: Numbers, weight: Numbers) -> Numbers:
    """The values (21, D) of the columns of (N, D) below which each of the `LEVELS` of the data's weight (N,) lies.

    They are values of the data, the first one the least, the last one the greatest.
    """
    knots = np.empty((len(LEVELS), values.shape[1]))
    for column, of in enumerate(values.T):
        order = np.argsort(of, kind="stable")
        below = np.cumsum(weight[order])
        places = np.searchsorted(below, LEVELS * below[-1] * (1 - 1e-12))
        knots[:, column] = of[order[places.clip(max=len(of) - 1)]]
    return knots


def words_of(given: Sequence[str], name: str) -> Words:
    """The words for low, medium and high of an attribute, of two, which replace the outer ones, or three."""
    words = tuple(given)
    if isinstance(given, str) or len(words) not in (2, 3) or not all(isinstance(word, str) for word in words):
        raise ConfigError(
            f"words[{name!r}] must be two words, for low and high, or three, for low, medium and high, got {given!r}"
        )
    unique(f"word for {name!r}", words)
    if ANY in words:
        raise ConfigError(f"a word for {name!r} must not be {ANY!r}: that ignores a variable")
    return words if len(words) == 3 else (words[0], USUAL_WORDS[1], words[1])


def names_of(
    centers: Sequence[float],
    widths: Sequence[float],
    knots: Numbers | None,
    *,
    words: Words = USUAL_WORDS,
    used: Sequence[bool] | None = None,
    kept: Collection[NamedSet] = (),
) -> tuple[str, ...]:
    """Names of an attribute's sets in order of their centres, each name once.

    `knots` (21,) are quantiles of the data, in the units of the sets: the part of the data with membership .5 or more
    decides. Without them the order does. Of sets with one name the only one that is `used` keeps it, others are told
    apart by numbers. A set that is nearly one of the `kept` keeps its name.
    """
    if knots is None:
        plain = tuple(in_words(name, words) for name in term_names(len(centers)))
        places = None
    else:
        places = [_Place.of(*pair, knots) for pair in zip(centers, widths, strict=True)]
        plain = tuple(place.name(words) for place in places)
    old = {place: in_words(name, words) for place, name in _kept(centers, widths, kept).items()}
    return _told_apart(plain, old, places, [True] * len(plain) if used is None else used)


def category_names(
    centers: Numbers, widths: Numbers, categories: Sequence[str], missing: int | None = None
) -> list[str]:
    """Names of the sets of a column of codes, by the categories they cover: 'primary', 'primary or secondary'.

    A set of all but the category at the place of `missing` values is 'known'.
    """
    codes = np.arange(len(categories))
    names: list[str] = []
    for center, width in zip(centers.tolist(), widths.tolist(), strict=True):
        covered = np.flatnonzero(np.abs(codes - center) <= HALF * width)
        if not len(covered):  # a set between two codes, or beyond them, is named after the nearest one
            covered = np.abs(codes - center).argmin(keepdims=True)
        name = " or ".join(categories[code] for code in covered.tolist())
        left = set(codes.tolist()) - set(covered.tolist())
        if len(covered) == len(codes) > 1:
            name = "anything known"
        elif len(covered) > 1 and missing is not None and left == {missing}:
            name = "known"
        names.append(name if name not in names else f"{name} {names.count(name) + 1}")
    return names


def in_words(name: str, words: Words) -> str:
    """A name such as 'very low' in words of one's own."""
    mine = dict(zip(USUAL_WORDS, words, strict=True))
    return " ".join(mine.get(word, word) for word in name.split(" "))


class _Place(NamedTuple):
    """Where a set lies among the data: what lies below and above the part that it covers."""

    center: float
    low: float
    high: float
    below: float
    above: float
    value: float | None
    """the one value that it covers, of a column of few values"""
    is_one_of_two: bool
    """whether that is one of two values"""
    unit: int
    """decimals of numbers in names"""
    least: float
    greatest: float
    """the ends of the data"""

    @classmethod
    def of(cls, center: float, width: float, knots: Numbers) -> _Place:
        low, high = center - HALF * width, center + HALF * width
        values, counts = np.unique(knots, return_counts=True)
        inside = values[(values >= low) & (values <= high)]
        # A value that only one knot has may be one of many; then the column need not be one of few values.
        few = 1 < len(values) <= FEW_VALUES and counts.min() > 1
        spread = min(float(values[-1]) - float(values[0]) or abs(float(values[0])) or 1.0, 1e300)
        return cls(
            center=float(center),
            low=low,
            high=high,
            below=_share(knots, low, "left"),
            above=1 - _share(knots, high, "right"),
            value=float(inside[0]) if few and len(inside) == 1 else None,
            is_one_of_two=few and len(inside) == 1 and len(values) == 2,
            unit=_decimals(spread),
            least=float(values[0]),
            greatest=float(values[-1]),
        )

    @property
    def covered(self) -> float:
        return max(1 - self.below - self.above, 0.0)

    @property
    def side(self) -> int:
        """-1 if it reaches the low end, 1 if the high end, 0 if neither; of both, where more is left out beyond."""
        low, high = self.below <= BEYOND, self.above <= BEYOND
        if low and high:
            return -1 if self.above >= self.below else 1
        return -1 if low else 1 if high else 0

    def name(self, words: Words) -> str:
        low, medium, high = words
        if self.value is not None and words == USUAL_WORDS:
            return f"{self.value:g}"
        if self.is_one_of_two:
            return low if self.below <= self.above else high
        if self.covered > EVERYTHING:
            return self.nearly_all()
        if self.side:
            end, other = (low, high) if self.side < 0 else (high, low)
            return f"very {end}" if self.covered < LITTLE else end if self.covered <= MUCH else f"not {other}"
        if self.covered < LITTLE:
            return f"about {self.number(self.center)}"
        if self.covered > MUCH:
            return "not extreme"
        middle = (self.below + 1 - self.above) / 2
        return (
            f"somewhat {low}" if middle < MIDDLE[0] else f"somewhat {high}" if middle > MIDDLE[1] else medium
        )

    def nearly_all(self) -> str:
        """Between which values nearly all of the data lie: no word says more of a set that covers those."""
        low, high = max(self.low, self.least), min(self.high, self.greatest)
        if low >= high:
            return f"about {_bare(self.number(low))}"
        decimals = _decimals(high - low)  # of data with a long tail the range is no measure
        ends = _bare(_rounded(low, decimals)), _bare(_rounded(high, decimals))
        if (self.low <= self.least) == (self.high >= self.greatest):
            return f"between {ends[0]} and {ends[1]}"
        return f"at most {ends[1]}" if self.low <= self.least else f"at least {ends[0]}"

    def number(self, value: float, more: int = 0) -> str:
        return _rounded(value, self.unit + more)

    def apart(self, name: str, more: int) -> str:
        """The name with the ends of the set, to so many digits more than usual."""
        if name.startswith("about "):
            return f"about {self.number(self.center, more + 1)}"
        ends = self.number(self.low, more), self.number(self.high, more)
        if self.covered > EVERYTHING:
            return f"between {ends[0]} and {ends[1]}"
        where = (f"{ends[0]} to {ends[1]}", f"from {ends[0]}", f"to {ends[1]}")[self.side]
        return f"{name} ({where})"


def _decimals(spread: float) -> int:
    """Decimals of numbers that are rounded to the finest share of a spread, below 0 for tens and hundreds."""
    return math.ceil(-math.log10(FINEST * spread))


def _rounded(value: float, decimals: int) -> str:
    return f"{round(value, decimals) + 0.0:.{max(decimals, 0)}f}"


def _bare(number: str) -> str:
    """Without noughts behind the decimal point."""
    return number.rstrip("0").rstrip(".") if "." in number else number


def _share(knots: Numbers, value: float, side: str) -> float:
    """The share of the data below a value; with `side` 'right', up to it."""
    place = int(np.searchsorted(knots, value, side=side))  # type: ignore[call-overload]
    if place == 0 or place == len(knots):
        return float(place > 0)
    within = (value - knots[place - 1]) / (knots[place] - knots[place - 1])
    return float(LEVELS[place - 1] + within * (LEVELS[place] - LEVELS[place - 1]))


def _kept(centers: Sequence[float], widths: Sequence[float], kept: Collection[NamedSet]) -> dict[int, str]:
    """The names that sets had before, by their places; each name goes to the nearest one."""
    found: dict[int, str] = {}
    pairs = [
        (abs(center - named.center) / named.width, place, named.name)
        for place, (center, width) in enumerate(zip(centers, widths, strict=True))
        for named in kept
        if named.is_at(center, width) and named.name not in FORMER
    ]
    for _, place, name in sorted(pairs):
        if place not in found and name not in found.values():
            found[place] = name
    return found


def _told_apart(
    plain: Sequence[str], old: Mapping[int, str], places: Sequence[_Place] | None, used: Sequence[bool]
) -> tuple[str, ...]:
    """Every name once: what was kept, then what is alone in its name, then names with numbers."""
    names = [old.get(place, name) for place, name in enumerate(plain)]
    taken = set(old.values())
    open_places = [place for place in range(len(plain)) if place not in old]
    counts = Counter(plain[place] for place in open_places)
    in_use = Counter(plain[place] for place in open_places if used[place])
    clashing = []
    for place in open_places:
        name = plain[place]
        alone = counts[name] == 1 or (in_use[name] == 1 and used[place])
        if alone and name not in taken:
            taken.add(name)
        else:
            clashing.append(place)
    for more in range(12 if places is not None else 0):
        assert places is not None
        made = {place: places[place].apart(plain[place], more) for place in clashing}
        if len(set(made.values()) - taken) == len(made):
            names = [made.get(place, name) for place, name in enumerate(names)]
            return tuple(names)
    # Sets that no number tells apart, or of data that nobody knows, are counted.
    for place in clashing:
        number = 2
        while f"{plain[place]} {number}" in taken:
            number += 1
        names[place] = f"{plain[place]} {number}"
        taken.add(names[place])
    return tuple(names)
