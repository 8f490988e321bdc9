"""An explanation in words: the decision, the rules that fired, the premises that decided, the alternative."""

from __future__ import annotations

import numpy as np

from ..rule_base import IGNORED, Linear, Numbers
from .explanation import Case, Explanation
from .taking_over import Change

CASES_SHOWN = 5
RULES_SHOWN = 5
PREMISES_SHOWN = 4
OUTPUTS_SHOWN = 6
HIDDEN_SHOWN = 3
# Up to so many attributes a rule is told in full and in its own order.
FEW_ATTRIBUTES = 5
# A set of categories lists those of this membership and more.
LISTED = 0.5
# What a rule added is no number worth reading where it is below this share of what another did.
NEXT_TO_NOTHING = 1e-6


def batch_text(explanation: Explanation) -> str:
    """The first observations in words, and how many more there are."""
    shown = [f"observation {case.row + 1}: {case.text()}" for case in explanation if case.row < CASES_SHOWN]
    more = len(explanation) - len(shown)
    return "\n\n".join([*shown, f"... and {more} more observations"] if more else shown)


def case_text(case: Case, output: int | str | None = None) -> str:
    """One observation in words; a hierarchy's goes down to the first level."""
    column = case.decided if output is None else case.explanation.output_index(output)
    return "\n".join([outcome(case, column), *rules_behind(case, column)])


def rules_behind(case: Case, column: int) -> list[str]:
    """Everything but the outcome: rules that fired, attributes' parts, the alternative, the level below."""
    lines = fired_rules(case, column)
    lines += contribution_line(case, column)
    lines.append(alternative_line(case))
    if case.explanation.below is not None:
        lines += _below(case, column)
    return lines


def outcome(case: Case, column: int) -> str:
    """The outputs, the one in question first."""
    names = [variable.name for variable in case.rules.outputs]
    first = f"{names[column]} = {case.output[column]:.4g}"
    others = [o for o in np.argsort(-case.output, kind="stable").tolist() if o != column]
    if not others:
        return first
    listed = ", ".join(f"{names[o]} {case.output[o]:.4g}" for o in others[:OUTPUTS_SHOWN])
    more = f", {len(others) - OUTPUTS_SHOWN} more" if len(others) > OUTPUTS_SHOWN else ""
    rank = "the highest output" if column == case.decided else f"the highest is {names[case.decided]}"
    return f"{first} ({rank}; the others: {listed}{more})"


def fired_rules(case: Case, column: int) -> list[str]:
    """How many rules fired, and each with its strength, its part of the output and its premises."""
    fired, count = len(case.fired), len(case.rules)
    all_shown = "here are all of them" if fired > 1 else "here it is"
    told = all_shown if fired <= RULES_SHOWN else f"the {RULES_SHOWN} strongest"
    lines = [f"{fired} of {count} {'rule' if count == 1 else 'rules'} fired; {told}:"]
    name = case.rules.outputs[column].name
    for place, rule in enumerate(case.fired[:RULES_SHOWN].tolist()):
        rival = case.alternative if place == 0 else case.strongest
        spoken = spoken_for(case, rule)
        other = f", but speaks for {case.rules.outputs[spoken].name}" if spoken not in (None, column) else ""
        lines.append(
            f"  rule {rule + 1} fired {percent(case.firing[place])} and added {_added(case, place, column)} "
            f"to {name}{other}: IF {premises_text(case, rule, rival)}"
        )
    if fired > RULES_SHOWN:
        rest = case.shares[RULES_SHOWN:, column].sum()
        lines.append(
            f"  {fired - RULES_SHOWN} more rules fired {percent(case.firing[RULES_SHOWN:].sum())} together "
            f"and added {rest:+.4g}"
        )
    return lines


def _added(case: Case, place: int, column: int) -> str:
    """What a rule added to an output; beside what others did, the least numbers say nothing."""
    share, most = float(case.shares[place, column]), float(np.abs(case.shares[:, column]).max())
    return f"{share:+.4g}" if share == 0 or abs(share) >= NEXT_TO_NOTHING * most else "next to nothing"


def premises_text(case: Case, rule: int, rival: int | None) -> str:
    """The premises of a rule; of many, those that speak most for it against its rival."""
    asked = np.flatnonzero(case.rules.premises[rule] != IGNORED)
    if not len(asked):
        return "anything"
    chosen = asked
    if len(asked) > FEW_ATTRIBUTES:
        speaks: Numbers = case.parts_of([rule])[0] if rival is None else case.margins(rule, rival)
        chosen = asked[np.argsort(-speaks[asked], kind="stable")[:PREMISES_SHOWN]]
    words = [premise_text(case, rule, attribute) for attribute in chosen.tolist()]
    rest = len(asked) - len(chosen)
    return " AND ".join(words) + (f" AND {rest} more" if rest else "")


def premise_text(case: Case, rule: int, attribute: int) -> str:
    """One premise with the value it met and how well that fits: 'x1 is low (0.12, fits 93 %)'."""
    variable = case.rules.inputs[attribute]
    term = variable.terms[case.rules.premises[rule, attribute]]
    value = float(case.x[attribute])
    category = category_met(case, attribute)
    if (
        category is not None
    ):  # a category is in a set or not: how far its code lies from the middle says nothing
        fits = "fits" if term.membership(value) >= LISTED else "does not fit"
        return f"{variable.name} is {term.name} (it is {category}, {fits})"
    return f"{variable.name} is {term.name} ({value_met(case, attribute)}, fits {percent(term.membership(value))})"


def value_met(case: Case, attribute: int) -> str:
    """The value that a premise met, and what the row has where that is another: '5.08, counted as 3.88'."""
    given, value = float(case.given[attribute]), f"{case.x[attribute]:.4g}"
    if np.isnan(given):
        return f"missing, taken as {value}"
    return value if f"{given:.4g}" == value else f"{given:.4g}, counted as {value}"


def moved(name: str, value: float, to: float, *, missing: bool) -> str:
    """A change of a number: 'age rose from 50 past 51'; a `missing` one has no value of its own to rise from."""
    verb = "rose" if to > value else "fell"
    digits = next((digits for digits in range(4, 17) if f"{value:.{digits}g}" != f"{to:.{digits}g}"), 4)
    old, new = f"{value:.{digits}g}", f"{to:.{digits}g}"
    return (
        f"{name}, missing and taken as {old}, {verb} past {new}"
        if missing
        else f"{name} {verb} from {old} past {new}"
    )


def category_met(case: Case, attribute: int) -> str | None:
    """The category that a code stands for; None for any other attribute."""
    limits = case.explanation.limits
    for choice in () if limits is None else limits.choices:
        if attribute == choice.attributes[0] and choice.name == case.rules.inputs[attribute].name:
            place = int(choice.places(case.x[None])[0])
            category = choice.categories[place] if place >= 0 else "none of the known"
            return f"missing, taken as {category}" if np.isnan(case.given[attribute]) else category
    return None


def contribution_line(case: Case, column: int) -> list[str]:
    """The attributes that added most through the consequents, where there are any."""
    parts = case.attribute_parts[:, column].sum(axis=0)
    if not len(parts):
        return []
    most = np.argsort(-np.abs(parts), kind="stable")[:PREMISES_SHOWN].tolist()
    listed = ", ".join(f"{case.rules.inputs[i].name} {parts[i]:+.4g}" for i in most)
    rest = case.output[column] - parts[most].sum()
    return [f"through the rules' weights: {listed}, all else {rest:+.4g}"]


def alternative_line(case: Case) -> str:
    """The rule next in line and what would let it take over."""
    rule = case.alternative
    if rule is None:
        return "there is no other rule"
    firing = case.firing[case.fired == rule]
    state = f"fired {percent(firing[0])}" if len(firing) else "did not fire"
    spoken = spoken_for(case, rule)
    speaks = "" if spoken is None else f", which speaks for {case.rules.outputs[spoken].name}"
    return f"next in line: rule {rule + 1} ({state}{_held_back(case, rule)}){speaks}; {taking_over(case)}"


def spoken_for(case: Case, rule: int) -> int | None:
    """The class that a rule concludes here; None where outputs are no classes."""
    part = case.rules.consequents
    if not case.rules.classes or not isinstance(part, Linear):
        return None
    said = part.bias[rule] if part.is_constant else part.bias[rule] + part.weight[rule] @ case.x
    return int(said.argmax())


def taking_over(case: Case) -> str:
    """What would let the alternative take over, or why that is not told."""
    scoring = case.explanation.scoring
    if scoring.worst and scoring.layer_norm:
        return "what would make it the strongest is not searched for: worst premises are normalised here"
    return change_text(case, case.change)


def _held_back(case: Case, rule: int) -> str:
    """What adds most to the lead of the strongest rule over this one."""
    margins, own = case.margins(case.strongest, rule), case.own_margin(case.strongest, rule)
    most = int(margins.argmax())
    if max(margins[most], own) <= 0:
        return ""
    held = case.rules.inputs[most].name if margins[most] >= own else "its own lesser weight"
    return f"; held back most by {held}"


def change_text(case: Case, change: Change | None) -> str:
    """What would let the alternative take over, in words."""
    if change is None:
        inside = "" if case.explanation.limits is None else " within the data's range"
        return f"no change of a single attribute{inside} would make it the strongest"
    if change.steps == 0:
        return "it is as strong as the strongest"
    if change.words is not None:
        return f"it would be the strongest if {change.words}"
    name = case.rules.inputs[change.attribute].name
    missing = bool(np.isnan(case.given[change.attribute]))
    return f"it would be the strongest if {moved(name, change.value, change.to, missing=missing)}"


def _below(case: Case, column: int) -> list[str]:
    """The hidden values that mattered most, each explained by the level below."""
    assert case.explanation.below is not None
    below = case.explanation.below[case.row]
    relevance = case.relevance(column)
    lines: list[str] = []
    for hidden in np.argsort(-relevance, kind="stable")[:HIDDEN_SHOWN].tolist():
        head = f"{percent(relevance[hidden])} of what mattered here was "
        if lines:
            lines.append(head + brief(below, hidden))
        else:  # the one that mattered most is told in full
            name = below.rules.outputs[hidden].name
            lines.append(f"{head}{name} = {below.output[hidden]:.4g}:")
            lines += ["  " + line for line in rules_behind(below, hidden)]
    return lines


def brief(case: Case, column: int) -> str:
    """An output and the rules behind it in one line."""
    name = case.rules.outputs[column].name
    parts = [
        f"rule {rule + 1} ({percent(level)}) {share:+.4g}"
        for rule, level, share in zip(case.fired.tolist(), case.firing, case.shares[:, column], strict=True)
    ]
    more = f", {len(parts) - RULES_SHOWN} more" if len(parts) > RULES_SHOWN else ""
    return f"{name} = {case.output[column]:.4g}: {', '.join(parts[:RULES_SHOWN])}{more}"


def percent(part: float | np.floating) -> str:  # type: ignore[type-arg]
    """A part of 1 as a percentage: whole, or below 1 % with one digit."""
    value = 100 * float(part)
    if 0 < value < 0.1:
        return "under 0.1 %"
    return f"{value:.1f} %" if 0 < value < 1 else f"{value:.0f} %"
