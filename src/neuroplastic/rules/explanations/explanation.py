"""What a network did for a batch of observations, as immutable arrays; parts that add up to the output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..rule_base import Indices, Linear, Numbers, RuleBase
from ..scores import norm_variance
from .flipping import allowed_changes
from .limits import Limits
from .scoring import Scoring
from .taking_over import Change

NO_RULE = -1


@dataclass(frozen=True, eq=False)
class Explanation:
    """Which rules fired for each observation, and what each of them added to each output.

    Only fired rules are kept, row after row, the strongest first: those of row b are the places `starts[b]` to
    `starts[b + 1]` of `fired`, `firing` and `shares`. A row's shares add up to its output, and its firing levels
    to 1. The rest is computed when asked for: `explanation[b]` is the view of one observation.
    """

    rules: RuleBase
    x: Numbers
    """(B, D): the observations, in raw units where a scaler was given"""
    output: Numbers
    """(B, O): what the network answered, in raw units where a scaler was given"""
    starts: Indices
    """(B + 1,)"""
    fired: Indices
    """(F,): rules by index from 0; texts count from 1"""
    firing: Numbers
    """(F,): firing levels above 0"""
    shares: Numbers
    """(F, O): what the rule added to each output"""
    scoring: Scoring
    below: Explanation | None = None
    """of a hierarchy: the level whose outputs are this level's inputs"""
    limits: Limits | None = None
    """where changes may lead; None: anywhere"""
    given: Numbers | None = None
    """(B, D): what the rows had where `x` was clipped, NaN where it was missing; None where all was taken as it is"""

    def __post_init__(self) -> None:
        for array in (self.x, self.output, self.starts, self.fired, self.firing, self.shares):
            array.setflags(write=False)
        if self.given is not None:
            self.given.setflags(write=False)

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, row: int) -> Case:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row must lie within the {len(self)} observations explained, got {row}")
        return Case(self, int(row) % len(self))

    def __iter__(self) -> Iterator[Case]:
        return (Case(self, row) for row in range(len(self)))

    def __str__(self) -> str:
        from .wording import batch_text

        return batch_text(self)

    def text(self, row: int = 0, *, output: int | str | None = None) -> str:
        """One observation in words; `output` says which output's parts are told (default: the highest)."""
        return self[row].text(output=output)

    @property
    def levels(self) -> tuple[Explanation, ...]:
        """Explanations of all levels of a hierarchy, the first level first; of one network, this one alone."""
        return (*(self.below.levels if self.below is not None else ()), self)

    @cached_property
    def log_firing(self) -> Numbers:
        """Log-firing of every rule, (B, U), in double precision."""
        return _settled(self.scoring.log_firing(self.x))

    @cached_property
    def scores(self) -> Numbers:
        """What entmax gets, (B, U): log-firings after layer norm and certainty. The highest fires strongest."""
        return _settled(self.scoring.scores(self.log_firing))

    @cached_property
    def strongest(self) -> Indices:
        """The rule that fired most for each observation, (B,)."""
        return self.fired[self.starts[:-1]]

    @cached_property
    def alternatives(self) -> Indices:
        """The rule next to the strongest in score, fired or not, (B,); -1 where there is only one rule."""
        if len(self.rules) == 1:
            return np.full(len(self), NO_RULE)
        others = self.scores.copy()
        others[np.arange(len(self)), self.strongest] = -np.inf
        second: Indices = others.argmax(axis=1)
        second.setflags(write=False)
        return second

    @cached_property
    def changes(self) -> tuple[Change | None, ...]:
        """For each observation the smallest change of one attribute that makes the alternative fire strongest."""
        if len(self.rules) == 1:
            return (None,) * len(self)
        return allowed_changes(self.scoring, self.x, self.alternatives, self.limits)

    def output_index(self, output: int | str) -> int:
        """The index of an output given by index or name."""
        names = [variable.name for variable in self.rules.outputs]
        if isinstance(output, str) and output in names:
            return names.index(output)
        if isinstance(output, int) and not isinstance(output, bool) and -len(names) <= output < len(names):
            return output % len(names)
        raise InputError(
            f"output must be one of {', '.join(names)} or an index below {len(names)}, got {output!r}"
        )


@dataclass(frozen=True, eq=False)
class Case:
    """One observation of an explanation. K rules fired, the strongest first."""

    explanation: Explanation
    row: int

    def __str__(self) -> str:
        return self.text()

    def text(self, *, output: int | str | None = None) -> str:
        """The observation in words; `output` says which output's parts are told (default: the highest)."""
        from .wording import case_text

        return case_text(self, output)

    @property
    def rules(self) -> RuleBase:
        """The rule base that decided."""
        return self.explanation.rules

    @property
    def x(self) -> Numbers:
        """The observation, (D,)."""
        x: Numbers = self.explanation.x[self.row]
        return x

    @property
    def given(self) -> Numbers:
        """The observation before values were clipped, (D,), NaN where one was missing."""
        given = self.explanation.given
        return self.x if given is None else given[self.row]

    @property
    def output(self) -> Numbers:
        """The output, (O,)."""
        output: Numbers = self.explanation.output[self.row]
        return output

    @property
    def _places(self) -> slice:
        return slice(*self.explanation.starts[self.row : self.row + 2].tolist())

    @property
    def fired(self) -> Indices:
        """The rules that fired, (K,), all of them."""
        return self.explanation.fired[self._places]

    @property
    def firing(self) -> Numbers:
        """Their firing levels, (K,), which add up to 1."""
        return self.explanation.firing[self._places]

    @property
    def shares(self) -> Numbers:
        """What each of them added to each output, (K, O); the columns add up to the output."""
        return self.explanation.shares[self._places]

    @cached_property
    def premise_parts(self) -> Numbers:
        """What each premise adds to its rule's log-firing, (K, D), at most 0; rows add up to `log_firing`."""
        return self.parts_of(self.fired)

    def parts_of(self, rules: Indices | list[int]) -> Numbers:
        """What each premise of these rules (N,), fired or not, adds to the rule's log-firing, (N, D)."""
        return self.explanation.scoring.premise_parts(self.x, rules)

    @cached_property
    def memberships(self) -> Numbers:
        """How well the observation fits each premise of the fired rules, (K, D), 0 to 1; 1 where ignored."""
        return self.explanation.scoring.memberships(self.x, self.fired)

    @property
    def log_firing(self) -> Numbers:
        """Log-firing of the fired rules, (K,)."""
        w: Numbers = self.premise_parts.sum(axis=1)
        return w

    @cached_property
    def attribute_parts(self) -> Numbers:
        """What each attribute adds to each fired rule's share, (K, O, D): `firing W x`; D is 0 without weights."""
        consequents = self.rules.consequents
        if not isinstance(consequents, Linear) or consequents.is_constant:
            return np.zeros((*self.shares.shape, 0))
        parts: Numbers = consequents.weight[self.fired] * (self.firing[:, None, None] * self.x)
        return parts

    @property
    def constant_parts(self) -> Numbers:
        """What is left of each share without the attributes' parts, (K, O): the rule's own number."""
        rest: Numbers = self.shares - self.attribute_parts.sum(axis=2)
        return rest

    @property
    def strongest(self) -> int:
        """The rule that fired most."""
        return int(self.explanation.strongest[self.row])

    @property
    def alternative(self) -> int | None:
        """The rule next in score, fired or not; None where there is only one rule."""
        rule = int(self.explanation.alternatives[self.row])
        return None if rule == NO_RULE else rule

    @property
    def change(self) -> Change | None:
        """The smallest change of one attribute that makes the alternative fire strongest; None if there is none."""
        return self.explanation.changes[self.row]

    def change_for(self, rule: int) -> Change | None:
        """The smallest change of one attribute that makes `rule` fire strongest; None if there is none."""
        count = len(self.rules)
        if not 0 <= rule < count or rule == self.strongest:
            raise InputError(f"rule must be one of the {count} rules that is not the strongest, got {rule}")
        given = self.explanation
        return allowed_changes(given.scoring, self.x[None], np.array([rule]), given.limits)[0]

    def margins(self, rule: int, rival: int) -> Numbers:
        """How much each attribute adds to the lead of `rule` over `rival` in score, (D,), through their premises.

        With `own_margin` they add up to the lead, exactly. Scores are what entmax gets; the layer norm compares
        every premise with the mean of all rules' premises on that attribute.
        """
        scoring = self.explanation.scoring
        mine, theirs = self.parts_of([rule, rival])
        mean, deviation = (0.0, 1.0) if not scoring.layer_norm else self._normal
        lead: Numbers = scoring.slope[rule] * (mine - mean) - scoring.slope[rival] * (theirs - mean)
        return lead / deviation

    def own_margin(self, rule: int, rival: int) -> float:
        """What the rules' own weight (the layer norm's shift, certainty) adds to the lead of `rule` over `rival`."""
        level = self.explanation.scoring.level
        return float(level[rule] - level[rival])

    @cached_property
    def _normal(self) -> tuple[Numbers, float]:
        """Mean over the rules of each attribute's part, (D,), and the layer norm's deviation."""
        parts = self.parts_of(np.arange(len(self.rules)))
        return parts.mean(axis=0), float(np.sqrt(norm_variance(parts.sum(axis=1))))

    def relevance(self, output: int | str | None = None) -> Numbers:
        """How much each attribute mattered, (D,), adding up to 1: the mean of two shares.

        One is its share of what set the strongest rule apart from the alternative, the other its share of the
        attributes' parts in the output. Where one of them is nothing, the other counts alone.
        """
        column = self.decided if output is None else self.explanation.output_index(output)
        shares: list[NDArray[np.float64]] = []
        if self.alternative is not None:
            shares.append(np.abs(self.margins(self.strongest, self.alternative)))
        if self.attribute_parts.shape[2]:
            shares.append(np.abs(self.attribute_parts[:, column].sum(axis=0)))
        normalised = [share / share.sum() for share in shares if share.sum() > 0]
        if not normalised:
            return np.full(len(self.x), 1 / len(self.x))
        relevance: Numbers = np.mean(normalised, axis=0)
        return relevance

    @property
    def decided(self) -> int:
        """The output with the highest value."""
        return int(self.output.argmax())


def _settled(numbers: Numbers) -> Numbers:
    numbers.setflags(write=False)
    return numbers
