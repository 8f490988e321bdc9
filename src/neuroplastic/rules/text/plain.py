"""Rules as a person would say them: one sentence each, what it concludes in short, and the cases behind it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..evidence import Evidence
from ..rule_base import IGNORED, Conclusions, Linear, Numbers, RuleBase
from .sentences import distinction, factor, numbered, premises_shown

# A number is told from the mean of its cases where they are further apart than this share of the means' range.
APART = 0.05
# Numbers of this size are written without an exponent.
PLAIN_FROM, PLAIN_TO = 1e-4, 1e9


def plain_sentences(
    rules: RuleBase, *, digits: int = 3, premises: int | None = 8, outputs: int | None = 8
) -> list[tuple[int, str]]:
    """The rules' numbers, from 1, and sentences, which do not say them; `numbered` does.

    With evidence the rules with most cases come first, then what holds otherwise, then rules that lead nowhere.
    """
    writer = _Plain(rules, digits, premises, outputs)
    return [(index + 1, writer.rule(index)) for index in writer.order()]


def plain_text(rules: RuleBase, *, digits: int, premises: int | None, outputs: int | None) -> str:
    """The sentences in their order with the numbers of their rules, a line each.

    Rules that read alike, for they differ in what is not shown or in digits, stand in one line, their cases together.
    """
    writer = _Plain(rules, digits, premises, outputs)
    alike: dict[str, list[int]] = {}
    for index in range(len(rules)):
        alike.setdefault(writer.without_cases(index), []).append(index)
    if rules.evidence is not None:
        together = replace(rules, evidence=rules.evidence.together(list(alike.values())))
        writer = _Plain(together, digits, premises, outputs)
    group_of = {group[0]: group for group in alike.values()}
    return "\n".join(
        numbered([place + 1 for place in group_of[index]], writer.rule(index))
        for index in writer.order()
        if index in group_of
    )


class _Plain:
    """Writes rules in short."""

    def __init__(self, rules: RuleBase, digits: int, premises: int | None, outputs: int | None) -> None:
        self.rules, self.digits = rules, digits
        self.most_premises, self.most_outputs = premises, outputs
        self.asks = (rules.premises != IGNORED).any(axis=1)
        self._distinction = [distinction(rules, attribute) for attribute in range(len(rules.inputs))]

    def order(self) -> list[int]:
        evidence = self.rules.evidence
        if evidence is None:
            return list(range(len(self.rules)))
        return sorted(
            range(len(self.rules)),
            key=lambda u: (not evidence.cases[u], not self.asks[u], -evidence.cases[u]),
        )

    def rule(self, index: int) -> str:
        """The sentence, and in brackets what the cases say of it."""
        said, notes = self._then(index)
        return self._sentence(index, f"{said} ({', '.join(notes)})" if notes else said)

    def without_cases(self, index: int) -> str:
        """The sentence without what stands in brackets."""
        return self._sentence(index, self._then(index)[0])

    def _sentence(self, index: int, then: str) -> str:
        evidence = self.rules.evidence
        if evidence is None:
            stored = self.rules.certainty
            certainty = None if stored is None else factor(float(stored[index]), self.rules.firing.certainty)
            ending = "" if certainty is None else f" WITH certainty {number(certainty, self.digits)}"
            return f"IF {self._premises(index) or 'anything'} THEN {then}{ending}"
        if self.asks[index]:
            return f"IF {self._premises(index)} THEN {then}"
        alone = len(self.rules) == 1 or evidence.cases[index] == evidence.rows > 0
        return f"{'ALWAYS' if alone else 'OTHERWISE'} {then}"

    def _premises(self, index: int) -> str:
        chosen = self.rules.premises[index]
        shown, left = premises_shown(chosen, self._distinction, self.most_premises)
        words = []
        for attribute in shown:
            variable = self.rules.inputs[attribute]
            words.append(f"{variable.name} is {variable.terms[chosen[attribute]].name}")
        return " AND ".join(words + ([f"{left} more"] if left else []))

    def _then(self, index: int) -> tuple[str, list[str]]:
        """What it concludes, and what the cases say of that."""
        consequents, evidence = self.rules.consequents, self.rules.evidence
        led = evidence is not None and evidence.cases[index] > 0
        if self.rules.classes and isinstance(consequents, Linear):
            said, notes = self._class(index, consequents, evidence if led else None)
        elif isinstance(consequents, Conclusions):
            said, notes = self._terms(index, consequents), []
        else:
            said, notes = self._numbers(index, consequents, evidence if led else None)
        return said, notes if evidence is None else [*notes, _cases(evidence.cases[index])]

    def _class(self, index: int, part: Linear, evidence: Evidence | None) -> tuple[str, list[str]]:
        names = [variable.name for variable in self.rules.outputs]
        if evidence is not None and part.is_constant:
            return self._class_and_cases(names, evidence.shares[index], int(part.bias[index].argmax()))
        # Of formulas only the cases say what they amount to.
        by_cases = evidence is not None and not part.is_constant
        scores = evidence.shares[index] if by_cases and evidence is not None else self._values(index, part)
        best = int(scores.argmax())
        notes = [] if evidence is None else [_percent(evidence.shares[index, best])]
        if part.is_constant:
            return names[best], notes
        mostly = evidence is None or evidence.shares[index, best] > 0.5
        return f"{'mostly' if mostly else 'most often'} {names[best]}", notes

    def _class_and_cases(self, names: list[str], shares: Numbers, best: int) -> tuple[str, list[str]]:
        """The class that a rule speaks for; where most of its cases are of another, that is said."""
        share, evidence = float(shares[best]), self.rules.evidence
        assert evidence is not None
        if share >= shares.max():
            return names[best], [_percent(share)]
        overall = float(evidence.cases @ evidence.shares[:, best] / evidence.cases.sum())
        said = f"{names[best]} more likely" if share > overall else f"towards {names[best]}"
        return said, [f"{_percent(share)} against {_percent(overall)} overall"]

    def _terms(self, index: int, part: Conclusions) -> str:
        chosen = zip(self.rules.outputs, part.terms[index].tolist(), strict=True)
        return self._joined([f"{variable.name} is {variable.terms[term].name}" for variable, term in chosen])

    def _numbers(self, index: int, part: Linear, evidence: Evidence | None) -> tuple[str, list[str]]:
        values, means = self._values(index, part), None
        if evidence is not None:
            means = evidence.shares[index]
            if not part.is_constant:
                values = means
        names = [variable.name for variable in self.rules.outputs]
        said = self._joined(
            f"{name} is about {number(value, self.digits)}" for name, value in zip(names, values, strict=True)
        )
        if means is None or evidence is None or len(names) > 1:
            return said, []
        live = evidence.shares[evidence.cases > 0]
        if abs(values[0] - means[0]) <= APART * float(np.ptp(live)):
            return said, []
        return said, [f"mean {number(means[0], self.digits)}"]

    def _joined(self, parts: Iterable[str]) -> str:
        listed = list(parts)
        left = 0 if self.most_outputs is None else max(len(listed) - self.most_outputs, 0)
        shown = listed[: len(listed) - left]
        return " AND ".join(shown + ([f"{left} more"] if left else []))

    def _values(self, index: int, part: Linear) -> Numbers:
        """What a rule concludes (O,): its constants, or its formulas' values at the middle of its sets."""
        bias: Numbers = part.bias[index]
        if part.is_constant:
            return bias
        with np.errstate(over="ignore", invalid="ignore"):
            value: Numbers = bias + part.weight[index] @ middle(self.rules, index)
        return np.nan_to_num(value)


def middle(rules: RuleBase, index: int) -> Numbers:
    """The inputs (D,) in the middle of a rule's sets; of an input that it ignores in the middle of all of its sets."""
    found = np.zeros(len(rules.inputs))
    for attribute, (variable, term) in enumerate(zip(rules.inputs, rules.premises[index], strict=True)):
        centers = [each.center for each in variable.terms]
        if term != IGNORED:
            found[attribute] = centers[term]
        elif centers:
            found[attribute] = min(centers) / 2 + max(centers) / 2
    return found


def number(value: float, digits: int) -> str:
    """A number to so many significant digits, without an exponent where people would write none."""
    text = f"{float(value):.{digits}g}"
    if "e" not in text or not PLAIN_FROM <= abs(float(value)) < PLAIN_TO:
        return text
    return f"{float(text):.0f}"


def _percent(share: float) -> str:
    if 0.995 <= share < 1:
        return "over 99 %"
    if 0 < share < 0.005:
        return "under 1 %"
    return f"{100 * share:.0f} %"


def _cases(count: float) -> str:
    if not count:
        return "no cases"
    counted = f"{count:.0f}" if float(count).is_integer() else f"{count:.4g}"
    return f"{counted} case" if counted == "1" else f"{counted} cases"
