"""One explanation as a figure: what each rule added, which premises decided, and the alternative."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..explanations.explanation import Case, Explanation
from ..explanations.wording import category_met, outcome, percent, taking_over, value_met
from ..rule_base import IGNORED, Numbers
from .style import AGAINST, FOR, HATCH, INK, figure, short

RULES_SHOWN = 10
ATTRIBUTES_SHOWN = 10


def plot_explanation(
    explanation: Explanation | Case, *, row: int = 0, output: int | str | None = None
) -> Figure:
    """What the fired rules added to an output (left), and which premises set the strongest apart (right).

    Bars to the right speak for, hatched ones to the left against. The left bars add up to the output, the right
    ones to the strongest rule's lead in score over the next. `output` is by default the highest.
    """
    case = explanation if isinstance(explanation, Case) else explanation[row]
    column = case.decided if output is None else case.explanation.output_index(output)
    rules = _rule_bars(case, column)
    premises = _premise_bars(case)
    height = 2.4 + 0.34 * max(len(rules), len(premises))
    drawing = figure(12, max(height, 3.6))
    left, right = drawing.subplots(1, 2)
    name = case.rules.outputs[column].name
    _draw(left, rules)
    left.set(
        xlabel=f"part of {short(name)} = {case.output[column]:.4g}",
        title=f"{len(case.fired)} of {len(case.rules)} rules fired",
    )
    _draw(right, premises)
    if case.alternative is None:
        right.set(xlabel="part of the log-firing", title=f"premises of rule {case.strongest + 1}")
    else:
        right.set(
            xlabel=f"part of the lead in score over rule {case.alternative + 1}",
            title=f"what speaks for rule {case.strongest + 1}, the strongest",
        )
    drawing.suptitle("\n".join(textwrap.wrap(outcome(case, column), 110)))
    if case.alternative is not None:
        words = f"next in line: rule {case.alternative + 1}; {taking_over(case)}"
        drawing.supxlabel("\n".join(textwrap.wrap(words, 120)), fontsize="medium")
    return drawing


Bars = list[tuple[str, float]]


def _rule_bars(case: Case, column: int) -> Bars:
    parts = case.shares[:, column]
    bars = [
        (f"rule {rule + 1} ({percent(level)})", float(part))
        for rule, level, part in zip(case.fired.tolist(), case.firing, parts, strict=True)
    ]
    if len(bars) <= RULES_SHOWN:
        return bars
    rest = bars[RULES_SHOWN - 1 :]
    level = case.firing[RULES_SHOWN - 1 :].sum()
    return [
        *bars[: RULES_SHOWN - 1],
        (f"{len(rest)} more rules ({percent(level)})", sum(part for _, part in rest)),
    ]


def _premise_bars(case: Case) -> Bars:
    strongest, rival = case.strongest, case.alternative
    margins: Numbers = case.premise_parts[0] if rival is None else case.margins(strongest, rival)
    asked = (case.rules.premises[strongest] != IGNORED) | (np.abs(margins) > 0)
    order = [place for place in np.argsort(-np.abs(margins), kind="stable").tolist() if asked[place]]
    shown: Sequence[int] = order if len(order) <= ATTRIBUTES_SHOWN else order[: ATTRIBUTES_SHOWN - 1]
    bars = [(_premise(case, strongest, attribute), float(margins[attribute])) for attribute in shown]
    rest = order[len(shown) :]
    if rest:
        bars.append((f"{len(rest)} more attributes", float(margins[rest].sum())))
    if rival is not None and case.own_margin(strongest, rival):
        bars.append(("the rules' own weight", case.own_margin(strongest, rival)))
    return bars


def _premise(case: Case, rule: int, attribute: int) -> str:
    variable, term = case.rules.inputs[attribute], case.rules.premises[rule, attribute]
    category = category_met(case, attribute)
    met = value_met(case, attribute) if category is None else short(category)
    asks = "not asked for" if term == IGNORED else f"is {short(variable.terms[term].name)}"
    return f"{short(variable.name)} {asks}\n({met})"


def _draw(panel: Axes, bars: Bars) -> None:
    """Horizontal bars with their numbers at their ends."""
    sizes = [size for _, size in bars]
    at = range(len(bars))
    drawn = panel.barh(
        at, sizes, color=[FOR if size >= 0 else AGAINST for size in sizes], edgecolor=INK, linewidth=0.6
    )
    for patch, size in zip(drawn, sizes, strict=True):
        if size < 0:
            patch.set_hatch(HATCH)
    panel.bar_label(drawn, [f"{size:+.3g}" for size in sizes], padding=3, fontsize=8)
    panel.set_yticks(at, [label for label, _ in bars], fontsize=8)
    panel.invert_yaxis()
    panel.axvline(0, color=INK, linewidth=0.8)
    low, high = min(0.0, *sizes), max(0.0, *sizes)
    room = 0.2 * ((high - low) or 1.0)  # for the numbers at the bars' ends
    panel.set_xlim(low - room * (low < 0), high + room)
    panel.spines[["top", "right"]].set_visible(False)
