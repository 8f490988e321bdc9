"""IEC 61131-7 Fuzzy Control Language: function blocks with Gaussian terms and singletons.

The standard only has terms made of points and, for consequents, singletons. Gaussian terms are an extension that
the two families of readers spell differently; so are the words that join conclusions. Hence dialects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...errors import choose
from ..rule_base import IGNORED, RuleBase
from .errors import NotExpressibleError
from .fcl_reading import from_fcl
from .source import Source, rules_of
from .spelling import spelled
from .standard import text_of
from .system import System, system_of
from .text import domain


@dataclass(frozen=True)
class _Dialect:
    gaussian: str
    joins: str
    """what stands between the conclusions of one rule"""
    ranges: bool
    """whether inputs have a RANGE"""
    affine: bool
    """whether consequents of first order can be said (LINEAR)"""
    accumulation: str | None


DIALECTS = {
    "fuzzylite": _Dialect("Gaussian", " and ", ranges=True, affine=True, accumulation=None),
    "jfuzzylogic": _Dialect("GAUSS", ", ", ranges=False, affine=False, accumulation="SUM"),
}

# Words that mean something to one reader or another, whatever their case.
_RESERVED = """
    abs accu act and any asum bdif bsum coa cog cogf cogs constant cos cosine default defuzzify dmax dmin dsigm
    einstein enabled end_defuzzify end_function_block end_fuzzify end_ruleblock end_var exp extremely function
    function_block fuzzify gauss gauss2 gaussian gbell hamacher if is linear lm ln lock log max method min mm nc
    nipmax nipmin not nsum or probor prod range real rm rule ruleblock seldom sigm sin singletons somewhat sum tan
    term then trape trian var_input var_output very with
"""
RESERVED = frozenset(_RESERVED.split())


class Fcl:
    """IEC 61131-7, both ways; written for fuzzylite."""

    reads = True

    def write(self, source: Source) -> bytes:
        """See `Standard`."""
        return to_fcl(source).encode()

    def read(self, content: bytes) -> RuleBase:
        """See `Standard`."""
        return from_fcl(text_of(content))


def to_fcl(rules: Source, *, dialect: str = "fuzzylite") -> str:
    """The rule base as a FUNCTION_BLOCK: AND is PROD (MIN for `reduce='worst'`), METHOD is COGS, weights follow WITH.

    `dialect` 'fuzzylite' writes `Gaussian centre width` and `Linear` consequents; 'jfuzzylogic' writes
    `GAUSS centre width`, conclusions with commas as the standard has them, and no first-order consequents, for
    the standard's are singletons. Mamdani outputs become singletons. Names are identifiers.
    """
    rules = rules_of(rules)
    words = DIALECTS[choose("dialect", dialect, DIALECTS)]
    system = spelled(system_of(rules, "FCL"), reserved=RESERVED)
    if not words.affine and any(d.slope is not None for output in system.outputs for d in output.decisions):
        raise NotExpressibleError(
            f"affine consequents cannot be said in FCL of the dialect {dialect!r}, whose consequents are singletons; "
            "use dialect='fuzzylite' (an extension), .fml, .fis, or consequent='constant'"
        )
    lines = ["FUNCTION_BLOCK rules", "", "VAR_INPUT"]
    lines += [f"  {variable.name} : REAL;" for variable in system.inputs]
    lines += ["END_VAR", "", "VAR_OUTPUT"]
    lines += [f"  {output.name} : REAL;" for output in system.outputs]
    lines += ["END_VAR", "", *_inputs(system, words), *_outputs(system)]
    lines += ["RULEBLOCK first", f"  AND : {system.conjunction.upper()};", "  ACT : PROD;"]
    if words.accumulation:
        lines.append(f"  ACCU : {words.accumulation};")
    return "\n".join([*lines, *_rules(system, words), "END_RULEBLOCK", "", "END_FUNCTION_BLOCK"]) + "\n"


def _inputs(system: System, words: _Dialect) -> Iterator[str]:
    for variable in system.inputs:
        yield f"FUZZIFY {variable.name}"
        if words.ranges:
            low, high = domain(variable)
            yield f"  RANGE := ({low!r} .. {high!r});"
        for term in variable.terms:
            yield f"  TERM {term.name} := {words.gaussian} {term.center!r} {term.width!r};"
        yield from ("END_FUZZIFY", "")


def _outputs(system: System) -> Iterator[str]:
    for output in system.outputs:
        yield f"DEFUZZIFY {output.name}"
        for decision in output.decisions:
            if decision.slope is None:
                yield f"  TERM {decision.name} := {decision.bias!r};"
            else:
                values = " ".join(map(repr, (*decision.slope, decision.bias)))
                yield f"  TERM {decision.name} := Linear {values};"
        yield from ("  METHOD : COGS;", "  DEFAULT := 0.0;", "END_DEFUZZIFY", "")


def _rules(system: System, words: _Dialect) -> Iterator[str]:
    premises, conclusions = system.premises.tolist(), system.conclusions.tolist()
    parts = zip(premises, conclusions, system.weights.tolist(), strict=True)
    for number, (chosen, decided, weight) in enumerate(parts, 1):
        # Small letters, for one of the readers takes these words in no other way.
        conditions = " and ".join(
            f"{variable.name} is {variable.terms[term].name}"
            for variable, term in zip(system.inputs, chosen, strict=True)
            if term != IGNORED
        )
        decisions = words.joins.join(
            f"{output.name} is {output.decisions[decision].name}"
            for output, decision in zip(system.outputs, decided, strict=True)
        )
        certain = "" if weight == 1 else f" with {weight!r}"
        yield f"  RULE {number} : if {conditions} then {decisions}{certain};"
