"""A student's rules are rewritten, a premise or a rule at a time, wherever it then agrees more often with its teacher.

Gradients move sets and conclusions; what a rule asks for they hardly ever change. Here a rule asks for another set, or
for one premise more or less (fewer premises or sets also where that changes no action), or concludes another action,
and the rule that would be missed least becomes a special case of another one. Sets stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..estimators.readable.draft import ANY, Draft
from .demonstrations import Numbers

Whole = NDArray[np.int64]
# The exponent of a firing strength that stays finite.
MOST = 600.0


def rewritten(draft: Draft, states: Numbers, actions: Whole, *, max_premises: int) -> Draft:
    """The draft with changes of its rules that each raise the number of states (N, D) in which it chooses actions (N,).

    No rule asks for more than `max_premises` sets, none for nothing, and no two for the same.
    """
    search = _Search(draft, states, actions, max_premises)
    for rule in range(len(draft.premises)):
        search.improve(rule)
    search.replace_the_least()
    return replace(draft, premises=search.premises, outputs=search.outputs)


class _Search:
    """Rules that change, and how badly each premise fits each state."""

    def __init__(self, draft: Draft, states: Numbers, actions: Whole, max_premises: int) -> None:
        self.premises, self.outputs = draft.premises.copy(), draft.outputs.copy()
        self.gain, self.actions, self.max_premises = draft.gain, actions, max_premises
        self.terms = [np.unique(column[column != ANY]).tolist() for column in draft.premises.T]
        self._parts = {
            (column, term): np.square((states[:, column] - draft.centers[column, term]) / width) / 2
            for column, terms in enumerate(self.terms)
            for term in terms
            for width in [draft.widths[column, term]]
        }
        self._away = np.stack([self._of(premises) for premises in self.premises], axis=1)

    def improve(self, rule: int) -> None:
        """Try every other premise and every other action of a rule, and keep what pays."""
        others = self._others(rule)
        right = self._right(others, self._away[:, rule], self.outputs[rule])
        for premises in self._neighbours(rule):
            away = self._of(premises)
            count = self._right(others, away, self.outputs[rule])
            if count > right or (count == right and self._size(rule, premises) < self._size(rule)):
                right = count
                self.premises[rule], self._away[:, rule] = premises, away
        for outputs in self._other_conclusions(rule):
            count = self._right(others, self._away[:, rule], outputs)
            if count > right:
                right = count
                self.outputs[rule] = outputs

    def replace_the_least(self) -> None:
        """Make the rule that would be missed least a special case of another, the one that pays most, if any does."""
        without = [self._count(self._others(rule)[0]) for rule in range(len(self.premises))]
        least = int(np.argmax(without))
        others = self._others(least)
        best = self._right(others, self._away[:, least], self.outputs[least])
        found: tuple[Whole, Numbers] | None = None
        for parent in range(len(self.premises)):
            if parent == least:
                continue
            for premises in self._neighbours(parent, instead_of=least):
                away = self._of(premises)
                for outputs in self._other_conclusions(parent):
                    count = self._right(others, away, outputs)
                    if count > best:
                        best, found = count, (premises, outputs)
        if found is not None:
            self.premises[least], self.outputs[least] = found
            self._away[:, least] = self._of(found[0])

    def _size(self, rule: int, premises: Whole | None = None) -> tuple[int, int]:
        """Premises of a rule, with these in their place, and sets that all rules together ask for."""
        rules = self.premises
        if premises is not None:
            rules = rules.copy()
            rules[rule] = premises
        sets = sum(len(np.unique(column[column != ANY])) for column in rules.T)
        return int((rules[rule] != ANY).sum()), sets

    def _neighbours(self, rule: int, instead_of: int | None = None) -> Iterator[Whole]:
        """What a rule could ask for instead, as it is at that moment, one premise different."""
        kept = np.arange(len(self.premises)) != (rule if instead_of is None else instead_of)
        for column, terms in enumerate(self.terms):
            for term in (ANY, *terms):
                premises: Whole = self.premises[rule].copy()
                premises[column] = term
                asked = int((premises != ANY).sum())
                known = (self.premises[kept] == premises).all(axis=1).any()
                if 1 <= asked <= self.max_premises and not known and term != self.premises[rule, column]:
                    yield premises

    def _other_conclusions(self, rule: int) -> Iterator[Numbers]:
        """What a rule concludes, with another action in the best one's place."""
        best = int(self.outputs[rule].argmax())
        for action in range(self.outputs.shape[1]):
            if action != best:
                outputs: Numbers = self.outputs[rule].copy()
                outputs[[best, action]] = outputs[[action, best]]
                yield outputs

    def _of(self, premises: Whole) -> Numbers:
        """How badly a rule fits each state, (N,): by its worst premise."""
        asked = np.flatnonzero(premises != ANY).tolist()
        parts = [self._parts[column, int(premises[column])] for column in asked]
        worst: Numbers = np.max(parts, axis=0) if parts else np.zeros(len(self.actions))
        return worst

    def _others(self, rule: int) -> tuple[Numbers, Numbers]:
        """What all other rules say together, (N, O), and how badly the best of them fits, (N,): the measure of it."""
        away = np.delete(self._away, rule, axis=1)
        least = away.min(axis=1)
        return np.exp(-self.gain * (away - least[:, None])) @ np.delete(self.outputs, rule, axis=0), least

    def _right(self, others: tuple[Numbers, Numbers], away: Numbers, outputs: Numbers) -> int:
        """In how many states the actions come out, with such a rule beside the others."""
        said, least = others
        firing = np.exp(np.minimum(self.gain * (least - away), MOST))
        return self._count(said + firing[:, None] * outputs)

    def _count(self, said: Numbers) -> int:
        return int((said.argmax(axis=1) == self.actions).sum())
