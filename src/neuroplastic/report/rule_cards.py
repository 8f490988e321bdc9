"""One card a rule: its sentence, the rows it leads, and its sets over the histograms of their columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..learn.estimators.encoding import Encoder, Input
from ..rules.evidence import Evidence
from ..rules.rule_base import Numbers, RuleBase, Term
from ..rules.text.plain import number
from ..rules.text.sentences import distinction, premises_shown
from .document import RuleCard, RuleCards, SetPicture

MOST_CARDS, MOST_PICTURES = 40, 4
# The box that pictures are drawn in.
WIDTH, HEIGHT = 100.0, 40.0
BARS, POINTS = 24, 48


def rule_cards(
    rules: RuleBase, evidence: Evidence, encoder: Encoder, encoded: Numbers, sentences: Mapping[int, str]
) -> RuleCards:
    """Cards of the rules that lead, those of most rows first; `encoded` are the rows as the rules see them, (N, D)."""
    leading = [
        int(index) for index in np.argsort(-evidence.cases, kind="stable") if evidence.cases[index] > 0
    ]
    apart = [distinction(rules, attribute) for attribute in range(len(rules.inputs))]
    drawn: dict[tuple[int, int], SetPicture] = {}
    cards = []
    for index in leading[:MOST_CARDS]:
        chosen = rules.premises[index]
        shown, left = premises_shown(chosen, apart, MOST_PICTURES)
        for attribute in shown:
            key = attribute, int(chosen[attribute])
            if key not in drawn:
                drawn[key] = _picture(rules, *key, encoder.inputs[attribute], encoded[:, attribute])
        pictures = tuple(drawn[attribute, int(chosen[attribute])] for attribute in shown)
        cases = float(evidence.cases[index])
        share = cases / evidence.rows if evidence.rows else 0.0
        cards.append(RuleCard(index + 1, sentences[index + 1], cases, share, pictures, left))
    how = (
        "A rule leads on a row if it fires most there. The bars are how the column's values lie, the line is how well "
        "a value fits the rule's set."
    )
    more = len(leading) - len(cards)
    counted = [f"{more} more rules lead on fewer rows"] if more else []
    idle = len(rules) - len(leading)
    counted += [f"{idle} of {len(rules)} rules never lead, and only join in"] if idle else []
    how += "".join(f" {text}." for text in counted)
    return RuleCards("rules", f"The {len(leading)} rules that lead, most rows first.", how, tuple(cards))


def _picture(rules: RuleBase, attribute: int, term: int, given: Input, values: Numbers) -> SetPicture:
    variable = rules.inputs[attribute]
    chosen = variable.terms[term]
    if given.role != "number":
        words = ("no", "yes") if given.role == "hot" else given.column.categories
        low, high = -0.5, len(words) - 0.5
        bars, ends, curve = len(words), (words[0], words[-1]), _steps(chosen, len(words))
    else:
        low, high = float(values.min()), float(values.max())
        ends = number(low, 3), number(high, 3)
        bars = min(BARS, max(1, len(np.unique(values)))) if len(values) < 10_000 else BARS
        if high <= low:
            low, high = low - 0.5, high + 0.5
        curve = _curve(chosen, low, high)
    return SetPicture(variable.name, chosen.name, _histogram(values, low, high, bars), curve, *ends)


def _steps(term: Term, count: int) -> str:
    """How well each of so many categories fits, as a line of steps: there is nothing between categories."""
    wide = WIDTH / count
    tops = [HEIGHT - (HEIGHT - 2) * term.membership(place) for place in range(count)]
    return "M" + "L".join(
        f"{k * wide:.1f} {top:.1f}L{(k + 1) * wide:.1f} {top:.1f}" for k, top in enumerate(tops)
    )


def _histogram(values: Numbers, low: float, high: float, bars: int) -> str:
    """A path of bars."""
    counts, _ = np.histogram(values, bins=bars, range=(low, high))
    tops = counts / max(int(counts.max()), 1) * (HEIGHT - 2)
    wide = WIDTH / bars
    return "".join(
        f"M{k * wide:.2f} {HEIGHT:g}v{-top:.2f}h{wide * 0.9:.2f}v{top:.2f}z"
        for k, top in enumerate(tops)
        if top > 0
    )


def _curve(term: Term, low: float, high: float) -> str:
    """A line over the box; a narrow set is drawn as finely as a wide one."""
    near = term.center + term.width * np.linspace(-3, 3, POINTS)
    x = np.sort(np.concatenate([np.linspace(low, high, POINTS), near[(near > low) & (near < high)]]))
    with np.errstate(over="ignore"):
        y = np.exp(-0.5 * ((x - term.center) / term.width) ** 2)
    across, down = WIDTH * (x - low) / (high - low), HEIGHT - (HEIGHT - 2) * y
    return "M" + "L".join(f"{a:.1f} {d:.1f}" for a, d in zip(across, down, strict=True))
