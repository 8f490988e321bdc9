"""Edits of a rule base by hand, applied to the original one after the other.

Without the last of them everything is as it was before, to the bit. Sets, inputs, outputs and rules are named by their
places in the original, rules that were added come after.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ..errors import InputError
from ..rules.rule_base import Linear, RuleBase, Term
from .rule_in_words import with_rows, with_rule


@dataclass(frozen=True)
class MoveSet:
    """Another centre and width of a set, which all rules share."""

    input: int
    term: int
    center: float
    width: float


@dataclass(frozen=True)
class SetPremise:
    """Another set that a rule asks an input for; -1 lets it ignore the input."""

    rule: int
    input: int
    term: int


@dataclass(frozen=True)
class SetConclusion:
    """Another number that a rule concludes."""

    rule: int
    output: int
    value: float


@dataclass(frozen=True)
class DecideFor:
    """Another class or action that a rule is for: its number and the rule's greatest change places."""

    rule: int
    output: int


@dataclass(frozen=True)
class SwitchRule:
    """A rule that counts, or does not."""

    rule: int
    on: bool


@dataclass(frozen=True)
class AddRule:
    """A rule in words: `IF petal length is low AND petal width is high THEN setosa`, or `... THEN price is 3.5`."""

    text: str


@dataclass(frozen=True)
class FreezeRule:
    """A rule that learning is to leave as it is, or may change again."""

    rule: int
    on: bool


Edit = MoveSet | SetPremise | SetConclusion | DecideFor | SwitchRule | FreezeRule | AddRule


@dataclass(frozen=True, eq=False)
class Edited:
    """A rule base after edits; rules that are off are still in it."""

    base: RuleBase
    off: frozenset[int] = field(default_factory=frozenset)
    frozen: frozenset[int] = field(default_factory=frozenset)
    """rules that learning leaves as they are"""

    @property
    def kept(self) -> list[int]:
        """The numbers of the rules that count; an InputError where there is none."""
        found = [rule for rule in range(len(self.base)) if rule not in self.off]
        if not found:
            raise InputError("all rules are off; leave one on")
        return found

    @property
    def kept_frozen(self) -> list[int]:
        """The places of the frozen rules among those that count."""
        return [place for place, rule in enumerate(self.kept) if rule in self.frozen]

    def effective(self) -> RuleBase:
        """The rules that count."""
        return with_rows(self.base, self.kept) if self.off else self.base


def apply_edits(base: RuleBase, edits: Sequence[Edit], *, frozen: Iterable[int] = ()) -> Edited:
    """The rule base after the edits; its evidence goes with the first, for it says what the rules were.

    `frozen` are the rules that were frozen before.
    """
    if not isinstance(base.consequents, Linear):
        raise InputError("rules that conclude sets cannot be edited here; export them as text, and edit that")
    edited = Edited(base, frozen=frozenset(frozen))
    for edit in edits:
        edited = _applied(edited, edit)
    return edited


def _applied(edited: Edited, edit: Edit) -> Edited:
    base = replace(edited.base, evidence=None)
    assert isinstance(base.consequents, Linear)
    rules, inputs, outputs = len(base), len(base.inputs), len(base.outputs)
    if isinstance(edit, SwitchRule):
        _within("rule", edit.rule, rules)
        off = edited.off - {edit.rule} if edit.on else edited.off | {edit.rule}
        return replace(edited, base=base, off=off)
    if isinstance(edit, FreezeRule):
        _within("rule", edit.rule, rules)
        held = edited.frozen | {edit.rule} if edit.on else edited.frozen - {edit.rule}
        return replace(edited, base=base, frozen=held)
    if isinstance(edit, MoveSet):
        _within("input", edit.input, inputs)
        variable = base.inputs[edit.input]
        _within("term", edit.term, len(variable.terms))
        terms = list(variable.terms)
        terms[edit.term] = Term(terms[edit.term].name, float(edit.center), float(edit.width))
        moved = replace(variable, terms=tuple(terms))
        named = tuple(moved if place == edit.input else one for place, one in enumerate(base.inputs))
        return replace(edited, base=replace(base, inputs=named))
    if isinstance(edit, SetPremise):
        _within("rule", edit.rule, rules)
        _within("input", edit.input, inputs)
        _within("term", edit.term + 1, len(base.inputs[edit.input].terms) + 1)
        premises = base.premises.copy()
        premises[edit.rule, edit.input] = edit.term
        return replace(edited, base=replace(base, premises=premises))
    if isinstance(edit, SetConclusion | DecideFor):
        _within("rule", edit.rule, rules)
        _within("output", edit.output, outputs)
        bias = base.consequents.bias.copy()
        if isinstance(edit, SetConclusion):
            bias[edit.rule, edit.output] = edit.value
        else:
            places = [int(bias[edit.rule].argmax()), edit.output]
            bias[edit.rule, places] = bias[edit.rule, places[::-1]]
        concluded = replace(base.consequents, bias=bias)
        return replace(edited, base=replace(base, consequents=concluded))
    return replace(edited, base=with_rule(base, edit.text))


def _within(name: str, value: int, count: int) -> None:
    if not 0 <= value < count:
        raise InputError(f"{name} must be one of the {count} there are, counted from 0, got {value}")
