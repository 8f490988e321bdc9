"""Why an agent does one thing and not another, in words: a rule that speaks for what is done, never one against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..rules.explanations.explanation import Case
from ..rules.explanations.wording import percent, premises_text
from ..rules.rule_base import Indices


@dataclass(frozen=True)
class Reason:
    """What stands behind a decision."""

    rule: int
    """that speaks most for what is done, from 1; 0 where no single rule does"""
    sentence: str
    note: str
    """which rule that is and, where the rule that fires most is for something else, that"""


@dataclass(frozen=True)
class WhyNot:
    """Why something was not done: in short, and the rule behind it for those who want to know more."""

    text: str
    details: str = ""


def reason(
    case: Case,
    action: int,
    runner_up: int,
    conclusions: Sequence[int],
    premises: Sequence[str],
    plain: Sequence[int],
) -> Reason:
    """The rule that adds most to the lead of an action over the runner-up, of those that conclude that action.

    `conclusions` says for each fired rule what it is for, `premises` for every rule what it asks for, and `plain`
    for each action the one that does the same with the fewest buttons.
    """
    names = [variable.name for variable in case.rules.outputs]
    done, other = names[plain[action]], names[plain[runner_up]]
    lead = case.shares[:, action] - case.shares[:, runner_up]
    speaks = [
        k
        for k, concluded in enumerate(conclusions)
        if plain[concluded] == plain[action] and (lead[k] > 0 or action == runner_up)
    ]
    first = names[plain[conclusions[0]]]
    most = f"Rule {case.strongest + 1} fires most ({percent(case.firing[0])})"
    if not speaks:
        gap = _difference(case, action, runner_up)
        told = f"no single rule says {done}: together they value it {gap} more than {other}"
        return Reason(0, told, f"{most} and is for {first}; the others together outweigh it.")
    chosen = max(speaks, key=lambda k: float(lead[k]))
    number = int(case.fired[chosen]) + 1
    sentence = f"{premises[number - 1]} THEN {done}"
    if chosen == 0:
        return Reason(number, sentence, f"{most}.")
    note = f"Rule {number} speaks most for it ({percent(case.firing[chosen])})."
    if plain[conclusions[0]] != plain[action]:
        note += f" {most} and is for {first}; the others together outweigh it."
    return Reason(number, sentence, note)


def valued_more(names: Sequence[str], values: Sequence[float], taken: int, action: int) -> str:
    """By how much one action is valued more than another, with digits enough to see it."""
    gap = values[taken] - values[action]
    digits = next((d for d in range(2, 7) if round(gap, d)), 6)
    both = f"{values[taken]:.{digits}f} against {values[action]:.{digits}f}"
    return f"{names[taken]} is valued {gap:.{digits}f} more than {names[action]} ({both})."


def for_it(case: Case, action: int, taken: int) -> Indices | None:
    """The rules that are for an action rather than for what was taken, next in score first; None: it cannot be told."""
    bias = getattr(case.rules.consequents, "bias", None)
    if bias is None:
        return None
    found = np.flatnonzero(bias[:, action] > bias[:, taken])
    order: Indices = found[np.argsort(-case.explanation.scores[case.row][found], kind="stable")]
    return order


def nearest_rule(case: Case, action: int, taken: int) -> str:
    """The rule next in score among those for an action rather than for what was taken, and what holds it back."""
    names = [variable.name for variable in case.rules.outputs]
    found = for_it(case, action, taken)
    if found is None:
        return f"These rules conclude sets, not numbers: which of them is for {names[action]} cannot be told."
    if not len(found):
        return f"No rule is for {names[action]} rather than {names[taken]}."
    nearest = int(found[0])
    level = case.firing[case.fired == nearest]
    state = f"fired {percent(level[0])}" if len(level) else "did not fire"
    rivals = f"Of the {len(found)} rules for {names[action]} rather than {names[taken]}"
    told = f"{rivals}, the nearest is rule {nearest + 1}"
    text = f"{told}, which {state}: IF {premises_text(case, nearest, case.strongest)} THEN {names[action]}."
    if nearest == case.strongest:
        return f"{text} It is the strongest; the others together outvote it."
    holding = held_back(case, nearest)
    return f"{text} Held back most by {holding}, behind rule {case.strongest + 1}." if holding else text


def in_students_words(case: Case, action: int, sentences: Mapping[int, str], plain: Sequence[int]) -> str:
    """When a readable student would do it, in the sentence of its nearest rule that concludes what does the same."""
    names = [variable.name for variable in case.rules.outputs]
    done = names[plain[action]]
    bias = getattr(case.rules.consequents, "bias", None)
    concluded = [] if bias is None else bias.argmax(axis=1).tolist()
    found = [u for u, best in enumerate(concluded) if plain[best] == plain[action]]
    if not found:
        return f"None of its student's rules is for {done}."
    scores = case.explanation.scores[case.row]
    nearest = max(found, key=lambda u: float(scores[u]))
    if nearest == case.strongest:
        return (
            f"Its student's leading rule is for it, but the agent does otherwise: {sentences[nearest + 1]}."
        )
    told = f"In the words of its student, it would: {sentences[nearest + 1]}."
    holding = held_back(case, nearest)
    return told + (f" What speaks most against that here: {holding}." if holding else "")


def held_back(case: Case, rule: int) -> str:
    """The attribute that holds a rule back most behind the strongest; empty where none does."""
    held = case.margins(case.strongest, rule)
    most = int(held.argmax())
    return case.rules.inputs[most].name if held[most] > 0 else ""


def _difference(case: Case, action: int, other: int) -> str:
    return f"{float(case.output[action] - case.output[other]):.2g}"
