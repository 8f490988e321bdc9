"""What was found of a rule base on data: whether its rules decide, and in plain words what to do if they do not."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

# One rule leads everywhere where fewer lead than this; the IF parts hardly decide where less than this changes.
ONE_LEADER, LEAST_CARRY = 1.05, 0.2
# Rules that conclude constants decide all the same where so many decisions do not need what they say on average: then
# little changes because one decision is frequent.
LEAST_ALONE = 0.8
# Where the leading rule fits in fewer of the decisions, its sentence is seldom true of what it decides.
LEAST_FIT = 0.5
# Letters of a line of advice.
WIDTH = 110


@dataclass(frozen=True)
class Diagnosis:
    """Whether the rules of a model decide, on `rows` of data. `str()` gives a few lines.

    The rule that leads on a row is the one that fires most; of a tie, the one with the lowest number.
    """

    rows: int
    rules: int
    attributes: int
    """that a rule can have a premise on"""
    leading_rules: float
    """exp of the entropy of which rule leads: 1 where it is always the same, `rules` where all do equally often"""
    dead_rules: int
    """rules that fire more than 1 % on no row"""
    carry: float
    """share of the decisions that change when each rule fires on every row as it does on average"""
    alone: float
    """share of the decisions that stay when what the rules conclude so, firing as on average, is taken away"""
    fit: float
    """share of the rows on which every premise of the leading rule has membership .5 or more; "any" always fits"""
    premises: float
    """mean number of premises of the leading rule, "any" not counted"""
    rules_per_decision: float
    """fewest rules that hold 95 % of the firing of a row, mean over the rows"""
    decision: str
    """'class': the greatest output; 'number': all outputs, which change if one moves by more than a tenth of its SD"""
    consequent: str
    """kind of the THEN parts: 'affine', 'constant', 'low_rank' or 'mamdani'"""
    source: str = "network"
    """what the rules are of: 'network', 'estimator' or 'agent'"""

    @property
    def collapsed(self) -> bool:
        """Whether one rule leads everywhere, or decisions hardly depend on which rules fire."""
        return self.leading_rules < ONE_LEADER or (self.carry < LEAST_CARRY and not self._one_is_frequent)

    @property
    def _one_is_frequent(self) -> bool:
        """Whether the IF parts decide, and little changes without them because mostly one decision is the best."""
        return self.carry < LEAST_CARRY and self._constant and self.alone >= LEAST_ALONE

    @property
    def verdict(self) -> str:
        """What the figures mean, in a sentence."""
        if self.rows == 1:
            return "One row tells nothing of how rules share the decisions."
        if self.rules == 1:
            return "There is one rule, and it decides alone."
        stay = f"{_percent(1 - self.carry)} of the decisions stay as they are when the IF parts know nothing of the row"
        if self.leading_rules < ONE_LEADER and self.carry < LEAST_CARRY:
            return f"The rule base is collapsed: one rule leads everywhere, and {stay}."
        if self.leading_rules < ONE_LEADER:
            return (
                "The rule base is collapsed: one rule leads everywhere, only how much others join in differs."
            )
        if self.carry < LEAST_CARRY and self._constant and not self._one_is_frequent:
            return f"The rule base is collapsed: nearly the same is decided everywhere; {stay}."
        if self.carry < LEAST_CARRY and not self._one_is_frequent:
            return f"The rule base is collapsed: rules take turns, but the THEN parts decide; {stay}."
        if self.fit < LEAST_FIT:
            return (
                "The rules decide, but the leading one seldom describes the row: in "
                f"{_percent(1 - self.fit)} of the decisions one of its premises fits below .5."
            )
        often = (
            f"; {_percent(1 - self.carry)} of the decisions are the same one" if self._one_is_frequent else ""
        )
        return f"The rules decide, and mostly fit what they decide{often}."

    @property
    def advice(self) -> str:
        """The verdict, and what to do about it."""
        return " ".join((self.verdict, *self._remedies()))

    @property
    def _constant(self) -> bool:
        """Whether THEN parts do not depend on the row, so that nothing but the IF parts can decide."""
        return self.consequent in ("constant", "mamdani")

    def _remedies(self) -> list[str]:
        """What can be done, a sentence each; only what there is today."""
        what = _ATTRIBUTES[self.source]
        if self.rows == 1:
            return ["Give more rows."]
        if not self.collapsed:
            fewer = f"Fewer {what} leave fewer premises that have to fit."
            return [] if self.fit >= LEAST_FIT else [fewer, _SIMPLER[self.source]]
        if self._constant:
            remedies = ["That may be right where one decision is nearly always the best."]
        elif self.source == "estimator":
            remedies = [
                _LINEAR,
                "Short rules that decide by their IF parts: readable=True, on the command line fit --readable.",
            ]
        else:
            remedies = [f"Constant THEN parts ({_CONSTANT[self.source]}) leave the decision to the IF parts."]
        if self.source in _FASTER:
            remedies.append(
                f"THEN parts that learn about 10 times faster than the rest help: {_FASTER[self.source]}, if they "
                "do not yet."
            )
        if self.leading_rules < ONE_LEADER and self.attributes > 1:
            remedies.append(f"Fewer {what} help: with each more, a rule that is ahead is more so everywhere.")
        return remedies

    def lines(self) -> list[tuple[str, str]]:
        """Each figure as a name and what it says in words."""
        changes = "change" if self.decision == "class" else "move by more than a tenth of their SD"
        return [
            ("leading rules", f"{self.leading_rules:.1f} of {self.rules}"),
            ("dead rules", f"{self.dead_rules} of {self.rules} never fire above 1 %"),
            ("carry", f"{self.carry:.2f} of the decisions {changes} when all rules fire as on average"),
            ("alone", f"{self.alone:.2f} of the decisions stay when what rules say on average is taken away"),
            ("fit", f"{self.fit:.2f} of the decisions: every premise of the leading rule fits .5 or more"),
            ("premises", f"{self.premises:.1f} of {self.attributes} possible ones in the leading rule"),
            ("rules per decision", f"{self.rules_per_decision:.1f} hold 95 % of the firing"),
        ]

    def __str__(self) -> str:
        figures = [f"{name:<20}{words}" for name, words in self.lines()]
        advice = textwrap.wrap(self.advice, WIDTH, break_on_hyphens=False)
        what = "observations" if self.source == "agent" else "rows"
        return "\n".join([f"Do the rules decide? On {self.rows} {what}:", *figures, *advice])


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


_ATTRIBUTES = {"network": "attributes", "estimator": "columns", "agent": "features"}
_LINEAR = "Compare a linear model: where it scores as well, it says the same with less."
_CONSTANT = {"network": 'consequent="constant"', "agent": "train --consequent constant"}
_FASTER = {"network": "npl.parameter_groups(net, lr)", "agent": "train --structure-rate 0.1"}
_SIMPLER = {
    "network": "npl.simplify drops premises.",
    "estimator": "model.simplify(X, tolerance) drops premises, on the command line neuroplastic simplify.",
    "agent": "Few rules that can be read, of a student: neuroplastic imitate TASK --teacher RUN.",
}
