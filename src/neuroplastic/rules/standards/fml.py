"""IEEE 1855-2016 Fuzzy Markup Language (XML): a TSK rule base written as the standard's schema has it."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from ..rule_base import IGNORED, RuleBase
from .fml_reading import from_fml
from .source import Source, rules_of
from .spelling import spelled
from .system import System, system_of
from .text import domain

NAMESPACE = "http://www.ieee1855.org"


class Fml:
    """IEEE 1855-2016, both ways."""

    reads = True

    def write(self, source: Source) -> bytes:
        """See `Standard`."""
        return to_fml(source).encode()

    def read(self, content: bytes) -> RuleBase:
        """See `Standard`."""
        return from_fml(content)


def to_fml(rules: Source) -> str:
    """The rule base as an FML document.

    Sets are `gaussianShape` (centre, width), AND is PROD (MIN for `reduce="worst"`), consequents are terms of a
    `tskVariable` of order 0 or 1 (constant first, then one coefficient per input) combined by weighted average.
    Mamdani outputs become order 0. Names are unique over the whole document (type ID), so a term is called
    variable_term.
    """
    rules = rules_of(rules)
    numbered = [f"rule_{number}" for number in range(1, len(rules) + 1)]
    system = spelled(system_of(rules, "FML"), xml=True, reserved=("rules", "rulebase", *numbered))
    join = system.conjunction.upper()
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<fuzzySystem xmlns="{NAMESPACE}" name="rules">']
    lines += ["  <knowledgeBase>", *_inputs(system), *_outputs(system), "  </knowledgeBase>"]
    lines += [
        f'  <tskRuleBase name="rulebase" activationMethod="PROD" andMethod="{join}" orMethod="MAX">',
        *_rules(system),
        "  </tskRuleBase>",
        "</fuzzySystem>",
    ]
    return "\n".join(lines) + "\n"


def _inputs(system: System) -> Iterator[str]:
    for variable in system.inputs:
        low, high = domain(variable)
        yield (
            f'    <fuzzyVariable name="{variable.name}" domainleft="{low!r}" domainright="{high!r}" type="input">'
        )
        for term in variable.terms:
            yield f'      <fuzzyTerm name="{term.name}" complement="false">'
            yield f'        <gaussianShape param1="{term.center!r}" param2="{term.width!r}"/>'
            yield "      </fuzzyTerm>"
        yield "    </fuzzyVariable>"


def _outputs(system: System) -> Iterator[str]:
    for output in system.outputs:
        yield f'    <tskVariable name="{output.name}" type="output" combination="WA" defaultValue="0.0">'
        for decision in output.decisions:
            yield f'      <tskTerm name="{decision.name}" order="{0 if decision.slope is None else 1}">'
            for value in (decision.bias, *(decision.slope or ())):
                yield f"        <tskValue>{value!r}</tskValue>"
            yield "      </tskTerm>"
        yield "    </tskVariable>"


def _rules(system: System) -> Iterator[str]:
    for u, weight in enumerate(system.weights.tolist()):
        join = system.conjunction.upper()
        yield f'    <tskRule name="rule_{u + 1}" andMethod="{join}" connector="and" weight="{weight!r}">'
        yield "      <antecedent>"
        for variable, term in zip(system.inputs, system.premises[u].tolist(), strict=True):
            if term != IGNORED:
                yield from _clause("clause", variable.name, variable.terms[term].name, "        ")
        yield "      </antecedent>"
        yield "      <tskConsequent>"
        yield "        <tskThen>"
        for output, decision in zip(system.outputs, system.conclusions[u].tolist(), strict=True):
            yield from _clause("tskClause", output.name, output.decisions[decision].name, "          ")
        yield "        </tskThen>"
        yield "      </tskConsequent>"
        yield "    </tskRule>"


def _clause(kind: str, variable: str, term: str, indent: str) -> Iterator[str]:
    yield f"{indent}<{kind}>"
    yield f"{indent}  <variable>{escape(variable)}</variable>"
    yield f"{indent}  <term>{escape(term)}</term>"
    yield f"{indent}</{kind}>"
