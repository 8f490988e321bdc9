"""A rule in words, added to a rule base: its inputs, sets and classes are meant by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import InputError, suggestion
from ..rules.rule_base import IGNORED, Linear, RuleBase, Variable


def with_rows(base: RuleBase, kept: Sequence[int]) -> RuleBase:
    """The rule base with these of its rules, in this order; a rule may be there twice."""
    assert isinstance(base.consequents, Linear)
    rows = list(kept)
    return replace(
        base,
        premises=base.premises[rows],
        consequents=Linear(base.consequents.weight[rows], base.consequents.bias[rows]),
        certainty=None if base.certainty is None else base.certainty[rows],
        gain=None if base.gain is None else base.gain[rows],
        shift=None if base.shift is None else base.shift[rows],
        evidence=None,
    )


def with_rule(base: RuleBase, text: str) -> RuleBase:
    """The rule base and one rule more; what words leave open it has from the rule that concludes most like it."""
    assert isinstance(base.consequents, Linear)
    words = " ".join(text.split())
    upper = words.upper()
    if not upper.startswith("IF ") or " THEN " not in upper:
        raise InputError("a rule must read: IF ... is ... AND ... is ... THEN ...")
    cut = upper.index(" THEN ")
    premises = np.full(len(base.inputs), IGNORED)
    for part in _parts(words[3:cut]):
        if part.lower() in ("anything", ""):
            continue
        place, term = premise_of(base.inputs, part)
        premises[place] = term
    numbers = base.consequents.bias.mean(axis=0)
    like = 0
    for part in _parts(words[cut + 6 :]):
        output, value = _conclusion(base, part)
        if value is None:  # a class: as firmly as the firmest rule for it
            like = int((base.consequents.bias[:, output] - base.consequents.bias.mean(axis=1)).argmax())
            numbers = base.consequents.bias[like].copy()
            if numbers.argmax() != output:
                numbers[output] = base.consequents.bias.max()
        else:
            numbers[output] = value
    grown = with_rows(base, [*range(len(base)), like])
    assert isinstance(grown.consequents, Linear)
    chosen, bias, weight = (
        grown.premises.copy(),
        grown.consequents.bias.copy(),
        grown.consequents.weight.copy(),
    )
    chosen[-1], bias[-1] = premises, numbers
    weight[-1] = 0.0
    return replace(grown, premises=chosen, consequents=Linear(weight, bias))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"\s+AND\s+", text.strip(), flags=re.IGNORECASE)]


_UP_TO = re.compile(r"(?:under|below|less than|at most|up to|to|<=?)\s*(-?\d+(?:\.\d+)?)")
_FROM = re.compile(r"(?:over|above|more than|at least|from|>=?)\s*(-?\d+(?:\.\d+)?)")


def set_meant(names: Sequence[str], wanted: str) -> int | None:
    """The place of the set that is meant: by its name or, of 'under 12' and 'over 12', the nearest that ends there.

    A set that goes to 13 is called 'low (to 13)', one that begins there 'high (from 13)'. None where there is none.
    """
    lower = [name.lower() for name in names]
    if wanted in lower:
        return lower.index(wanted)
    for bound in (_UP_TO, _FROM):
        asked = bound.fullmatch(wanted)
        ends = {k: bound.fullmatch(name.partition("(")[2].rstrip(")")) for k, name in enumerate(lower)}
        near = {k: abs(float(end[1]) - float(asked[1])) for k, end in ends.items() if end and asked}
        if near:
            return min(near, key=lambda k: near[k])
    return None


def premise_of(inputs: Sequence[Variable], text: str) -> tuple[int, int]:
    """Places of input and set of `NAME is SET`."""
    for place, variable in enumerate(inputs):
        start = f"{variable.name.lower()} is "
        if text.lower().startswith(start):
            wanted = text[len(start) :].strip().lower()
            names = [term.name for term in variable.terms]
            meant = set_meant(names, wanted)
            if meant is not None:
                return place, meant
            known = ", ".join(names) or "none"
            raise InputError(f"{variable.name} has no set called {wanted!r}; it has: {known}")
    hint = suggestion(text.partition(" is ")[0], [variable.name for variable in inputs])
    raise InputError(f"no input is meant by {text!r}{hint}")


def _conclusion(base: RuleBase, text: str) -> tuple[int, float | None]:
    """The place of an output, and its number; None where only a class is named."""
    for place, variable in enumerate(base.outputs):
        name = variable.name.lower()
        if text.lower() == name and base.classes:
            return place, None
        if text.lower().startswith(f"{name} is "):
            try:
                return place, float(text[len(name) + 4 :].removeprefix("about "))
            except ValueError as error:
                raise InputError(f"{text!r} must end with a number") from error
    names = ", ".join(variable.name for variable in base.outputs)
    raise InputError(f"no output is meant by {text!r}; there are: {names}")
