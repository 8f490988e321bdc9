"""Rules as sentences: a summary for people, or every number in full for the parser."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import at_least
from ..rule_base import IGNORED, Indices, Linear, Numbers, RuleBase, Variable
from .parser import ANYTHING
from .tokens import quoted


def text_of(
    rules: RuleBase,
    *,
    digits: int,
    premises: int | None,
    consequents: int | None,
    formulas: bool,
    exact: bool,
) -> str:
    """All rules, one line each; see `RuleBase.text`."""
    if exact:
        premises = consequents = None
    else:
        at_least("digits", digits, 1)
        for name, limit in (("premises", premises), ("consequents", consequents)):
            if limit is not None:
                at_least(name, limit, 1)
        if not formulas and _is_said_in_short(rules):
            from .plain import plain_text

            return plain_text(rules, digits=digits, premises=premises, outputs=consequents)
    sentences = Sentences(rules, None if exact else digits, premises, consequents)
    return "\n".join(sentences.rule(index) for index in range(len(rules)))


def numbered(numbers: int | Sequence[int], sentence: str) -> str:
    """A sentence with the number of its rule, as explanations call it, or of all rules that it tells of."""
    if isinstance(numbers, int) or len(numbers) == 1:
        return f"RULE {numbers if isinstance(numbers, int) else numbers[0]}: {sentence}"
    return f"RULES {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}: {sentence}"


def _is_said_in_short(rules: RuleBase) -> bool:
    """Whether there is more to say than the numbers or terms that rules conclude, or less than their formulas."""
    formulas = isinstance(rules.consequents, Linear) and not rules.consequents.is_constant
    return formulas or rules.classes or rules.evidence is not None


class Sentences:
    """Writes rules; `digits` None writes numbers in full, `premises` and `consequents` None leave nothing out."""

    def __init__(
        self, rules: RuleBase, digits: int | None, premises: int | None, consequents: int | None
    ) -> None:
        self.rules, self.digits = rules, digits
        self.most_premises, self.most_weights = premises, consequents
        self._names = [quoted(variable.name) for variable in rules.inputs]
        self._terms = [[quoted(term.name) for term in variable.terms] for variable in rules.inputs]
        self._outputs = [quoted(variable.name) for variable in rules.outputs]
        self._output_terms = [[quoted(term.name) for term in variable.terms] for variable in rules.outputs]
        self._distinction = [distinction(rules, attribute) for attribute in range(len(rules.inputs))]

    def rule(self, index: int) -> str:
        """One rule: `RULE 1: IF ... THEN ... WITH ...`."""
        conclusions = " AND ".join(self._conclusion(index, output) for output in range(len(self._outputs)))
        settings = self._settings(index)
        ending = f" WITH {' AND '.join(settings)}" if settings else ""
        return f"RULE {index + 1}: IF {self._premises(index)} THEN {conclusions}{ending}"

    def _premises(self, index: int) -> str:
        chosen = self.rules.premises[index]
        shown, left = premises_shown(chosen, self._distinction, self.most_premises)
        if not shown:
            return ANYTHING
        parts = [f"{self._names[d]} is {self._terms[d][chosen[d]]}" for d in shown]
        return " AND ".join(parts + ([f"{left} more"] if left else []))

    def _conclusion(self, index: int, output: int) -> str:
        part = self.rules.consequents
        if not isinstance(part, Linear):
            return f"{self._outputs[output]} is {self._output_terms[output][part.terms[index, output]]}"
        return f"{self._outputs[output]} is {self._sum(part.bias[index, output], part.weight[index, output])}"

    def _sum(self, bias: float, weights: Numbers) -> str:
        """`0.31 + 1.2 * a - 0.5 * b + 7 more`; in full, weights of 0 are written too."""
        places = np.arange(len(weights)) if self.digits is None else np.flatnonzero(weights)
        left = 0
        if self.most_weights is not None and len(places) > self.most_weights:
            order = np.argsort(-np.abs(weights[places]), kind="stable")[: self.most_weights]
            left = len(places) - len(order)
            places = np.sort(places[order])
        parts = [self._number(bias)]
        for place in places.tolist():
            weight = float(weights[place])
            parts.append(f"{'-' if weight < 0 else '+'} {self._number(abs(weight))} * {self._names[place]}")
        return " ".join(parts + ([f"+ {left} more"] if left else []))

    def _settings(self, index: int) -> list[str]:
        rules, settings = self.rules, []
        if rules.certainty is not None:
            stored = float(rules.certainty[index])
            if self.digits is None:
                settings.append(f"certainty weight {self._number(stored)}")
            else:
                settings.append(f"certainty {self._number(factor(stored, rules.firing.certainty))}")
        if self.digits is None and rules.gain is not None and rules.shift is not None:
            settings.append(f"gain {self._number(rules.gain[index])}")
            settings.append(f"shift {self._number(rules.shift[index])}")
        return settings

    def _number(self, value: float) -> str:
        return repr(float(value)) if self.digits is None else f"{float(value):.{self.digits}g}"


def premises_shown(
    chosen: Indices, distinctions: Sequence[Numbers], most: int | None
) -> tuple[list[int], int]:
    """The attributes whose premises are shown of a rule's (D,), those that set it apart most, and how many are not."""
    asked = np.flatnonzero(chosen != IGNORED)
    if most is None or len(asked) <= most:
        return asked.tolist(), 0
    scores = np.array([distinctions[d][chosen[d]] for d in asked.tolist()])
    shown = np.sort(asked[np.argsort(-scores, kind="stable")[:most]])
    return shown.tolist(), len(asked) - len(shown)


def factor(stored: float, form: str | None) -> float:
    """The certainty people read of the one a network stores: its sigmoid ('log') or tanh."""
    return float(np.tanh(stored) if form == "tanh" else 0.5 * (1 + np.tanh(0.5 * stored)))


def distinction(rules: RuleBase, attribute: int) -> Numbers:
    """How much a premise on each term of an attribute, (T,), sets a rule apart: 0 (from none) to 1 (from all).

    The mean over all rules of 1 - similarity of the two rules' sets; of Gaussian sets that is
    `sqrt(2 s t / (s**2 + t**2)) exp(-(c - d)**2 / (2 (s**2 + t**2)))`. A rule that ignores the attribute differs.
    """
    variable = rules.inputs[attribute]
    if not variable.terms:
        return np.zeros(0)
    chosen = rules.premises[:, attribute]
    counts = np.bincount(chosen[chosen != IGNORED], minlength=len(variable.terms))
    shared: Numbers = similarity(variable) @ counts / len(rules)
    return 1 - shared


def similarity(variable: Variable) -> Numbers:
    """Similarity of a variable's terms to each other, (T, T), 1 on the diagonal."""
    centers = np.array([term.center for term in variable.terms], dtype=np.float64)
    widths = np.array([term.width for term in variable.terms], dtype=np.float64)
    # In units of the widest set, so that squares neither overflow nor vanish.
    with np.errstate(all="ignore"):
        centers, widths = centers / widths.max(), widths / widths.max()
        squares = np.add.outer(widths**2, widths**2)
        distance = np.subtract.outer(centers, centers) ** 2 / (2 * squares)
        alike: Numbers = np.sqrt(2 * np.multiply.outer(widths, widths) / squares) * np.exp(-distance)
    alike = np.nan_to_num(alike)  # sets too narrow to be told apart in these units
    np.fill_diagonal(alike, 1.0)
    return alike
