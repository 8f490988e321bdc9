"""Rules beside plain models on the same folds, and in words what that says of them."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["rules", "constant", "linear", "tree", "boosting"]

# Differences of fewer points of accuracy, or of R², are none in practice.
NO_DIFFERENCE = 0.005
# A difference counts where it is so many of its standard errors.
ERRORS = 2.0
# Of printed lines.
WIDTH = 110


@dataclass(frozen=True)
class Contender:
    """A way of learning and its score of each fold; the more the better."""

    name: str
    kind: Kind
    folds: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over the folds."""
        return statistics.fmean(self.folds)

    @property
    def spread(self) -> float:
        """Standard deviation over the folds."""
        return statistics.stdev(self.folds) if len(self.folds) > 1 else 0.0

    def ahead_of(self, other: Contender) -> bool:
        """Whether it is better by more than chance and than what matters.

        Folds share rows to learn from, so the variance of the mean difference d of k folds is not var / k but
        `var * (1 / k + 1 / (k - 1))` (Nadeau and Bengio, 2003).
        """
        differences = [mine - its for mine, its in zip(self.folds, other.folds, strict=True)]
        found, k = statistics.fmean(differences), len(differences)
        error = statistics.stdev(differences) * math.sqrt(1 / k + 1 / (k - 1)) if k > 1 else 0.0
        return found > max(NO_DIFFERENCE, ERRORS * error)


@dataclass(frozen=True)
class Comparison:
    """Our rules and plain models, scored on the same folds."""

    measure: str
    """'accuracy' or 'R²'"""
    rules: Contender
    baselines: tuple[Contender, ...]
    always: str
    """what the simplest baseline always says"""
    others: tuple[Comparison, ...] = ()
    """the same models by other measures, where classes are so uneven that one measure does not tell"""
    are_short: bool = False
    """whether the rules are few and short: then no plain model is told in less"""

    @property
    def is_learned(self) -> bool:
        """Whether the rules are ahead of what always says the same."""
        return self.rules.ahead_of(next(one for one in self.baselines if one.kind == "constant"))

    @property
    def ranked(self) -> tuple[Contender, ...]:
        """All of them, the best first."""
        return tuple(sorted((self.rules, *self.baselines), key=lambda one: -one.mean))

    @property
    def verdict(self) -> str:
        """Whether the rules are worth anything, in a few words."""
        if self.is_learned:
            return " ".join(self._beside("Better than"))
        telling = [other for other in self.others if other.is_learned]
        if not telling:
            return f"No better than always saying {self.always}: from these columns nothing was learned that helps."
        other = telling[-1]
        ahead, *more = other._beside("better than")
        return " ".join(
            [
                f"By {self.measure} no better than always saying {self.always}, for classes are uneven; by "
                f"{other.measure} ({other.rules.mean:.3f}) {ahead}",
                *more,
            ]
        )

    def _beside(self, better_than: str) -> list[str]:
        """Who is worse, better and alike, by any measure, of rules that are better than what always says the same."""
        others = [one for one in self.baselines if one.kind != "constant"]
        ahead = {one: self._measures(lambda ours, its: its.ahead_of(ours), one.name) for one in others}
        behind = {one: self._measures(lambda ours, its: ours.ahead_of(its), one.name) for one in others}
        better = [one for one in others if ahead[one] and not behind[one]]
        worse = [one for one in others if behind[one] and not ahead[one]]
        alike = [one for one in others if not ahead[one] and not behind[one]]
        said = [f"{better_than} always saying {self.always}{_and(self._told(worse, behind), ' and than ')}."]
        if better:
            named = _and(self._told(better, ahead), "")
            said.append(
                f"{named[0].upper()}{named[1:]} {_do(better)} better: there is more in the table than the rules say."
            )
        for one in others:
            if ahead[one] and behind[one]:
                named = _named(one)
                said.append(
                    f"{named[0].upper()}{named[1:]} does better by {' and '.join(ahead[one])}, and worse by "
                    f"{' and '.join(behind[one])}."
                )
        plain = [one for one in alike if one.kind != "boosting"]
        for some, less in (
            (plain, "" if self.are_short else ", and can be told in less"),
            ([one for one in alike if one not in plain], ""),
        ):
            if some:
                named = _and([_named(one) for one in some], "")
                said.append(f"{named[0].upper()}{named[1:]} {_do(some)} about as well{less}.")
        return said

    def _measures(self, holds: Callable[[Contender, Contender], bool], name: str) -> list[str]:
        """The measures by which something holds of the rules and the contender of that name."""
        return [
            by.measure
            for by in (self, *self.others)
            for its in by.baselines
            if its.name == name and holds(by.rules, its)
        ]

    def _told(self, some: list[Contender], measures: Mapping[Contender, list[str]]) -> list[str]:
        """Their names, with the measures that tell where the first one does not."""
        return [
            _named(one)
            if self.measure in measures[one]
            else f"{_named(one)} (by {' and '.join(measures[one])})"
            for one in some
        ]

    def lines(self) -> list[str]:
        """Everyone's score and the verdict, to be printed."""
        width = max(len(one.name) for one in self.ranked)
        folds = len(self.rules.folds)
        shown = [
            f"{'> ' if one is self.rules else '  '}{one.name:<{width}}  {'   '.join(self._scores_of(one))}"
            for one in self.ranked
        ]
        measures = [self.measure, *(other.measure for other in self.others)]
        return [
            f"Worth it? {', '.join(measures)} on the same {folds} folds:",
            *shown,
            *textwrap.wrap(self.verdict, WIDTH),
        ]

    def _scores_of(self, one: Contender) -> list[str]:
        """Mean and deviation of a contender by each measure."""
        each = (
            its for by in (self, *self.others) for its in (by.rules, *by.baselines) if its.name == one.name
        )
        return [f"{its.mean:.3f} ± {its.spread:.3f}" for its in each]


def _named(one: Contender) -> str:
    """The name with its article."""
    return f"a {one.name}" if one.kind == "tree" else one.name


def _and(names: list[str], before: str) -> str:
    """All names as one, or nothing."""
    if not names:
        return ""
    return before + (names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}")


def _do(some: list[Contender]) -> str:
    return "does" if len(some) == 1 else "do"
