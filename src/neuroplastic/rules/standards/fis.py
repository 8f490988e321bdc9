"""MATLAB Fuzzy Logic Toolbox `.fis` files: Sugeno systems with Gaussian sets, product and weighted average."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..rule_base import IGNORED, RuleBase
from .fis_reading import from_fis
from .source import Source, rules_of
from .spelling import spelled
from .standard import text_of
from .system import Output, System, system_of
from .text import domain


class Fis:
    """MATLAB's files, both ways."""

    reads = True

    def write(self, source: Source) -> bytes:
        """See `Standard`."""
        return to_fis(source).encode()

    def read(self, content: bytes) -> RuleBase:
        """See `Standard`."""
        return from_fis(text_of(content))


def to_fis(rules: Source) -> str:
    """The rule base as a Sugeno system: `gaussmf` [width centre], 'constant' or 'linear' outputs, 'wtaver'.

    Mamdani outputs become constants. Rules without a premise on an input have 0 there. Names are identifiers.
    """
    rules = rules_of(rules)
    system = spelled(system_of(rules, ".fis"))
    lines = ["[System]", "Name='rules'", "Type='sugeno'", "Version=2.0"]
    lines += [f"NumInputs={len(system.inputs)}", f"NumOutputs={len(system.outputs)}"]
    lines += [f"NumRules={len(system.weights)}", f"AndMethod='{system.conjunction}'", "OrMethod='probor'"]
    lines += ["ImpMethod='prod'", "AggMethod='sum'", "DefuzzMethod='wtaver'"]
    return "\n".join([*lines, *_inputs(system), *_outputs(system), "", "[Rules]", *_rules(system)]) + "\n"


def _inputs(system: System) -> Iterator[str]:
    for number, variable in enumerate(system.inputs, 1):
        low, high = domain(variable)
        yield from ("", f"[Input{number}]", f"Name='{variable.name}'", f"Range=[{low!r} {high!r}]")
        yield f"NumMFs={len(variable.terms)}"
        for place, term in enumerate(variable.terms, 1):
            yield f"MF{place}='{term.name}':'gaussmf',[{term.width!r} {term.center!r}]"


def _outputs(system: System) -> Iterator[str]:
    for number, output in enumerate(system.outputs, 1):
        low, high = _range(output)
        yield from ("", f"[Output{number}]", f"Name='{output.name}'", f"Range=[{low!r} {high!r}]")
        yield f"NumMFs={len(output.decisions)}"
        for place, decision in enumerate(output.decisions, 1):
            if decision.slope is None:
                yield f"MF{place}='{decision.name}':'constant',[{decision.bias!r}]"
            else:
                values = " ".join(map(repr, (*decision.slope, decision.bias)))
                yield f"MF{place}='{decision.name}':'linear',[{values}]"


def _range(output: Output) -> tuple[float, float]:
    """From the least constant to the greatest; Sugeno systems only use it where no rule fires."""
    values = [decision.bias for decision in output.decisions]
    low, high = min(values), max(values)
    return (low, high) if low < high and math.isfinite(high - low) else (low - 1, high + 1)


def _rules(system: System) -> Iterator[str]:
    premises, conclusions = system.premises.tolist(), system.conclusions.tolist()
    for chosen, decided, weight in zip(premises, conclusions, system.weights.tolist(), strict=True):
        before = " ".join("0" if term == IGNORED else str(term + 1) for term in chosen)
        after = " ".join(str(decision + 1) for decision in decided)
        # Some readers take a whole weight only without a decimal point.
        yield f"{before}, {after} ({'1' if weight == 1 else repr(weight)}) : 1"
