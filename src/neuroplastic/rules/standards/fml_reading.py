"""Reading IEEE 1855-2016 FML: TSK systems with Gaussian sets; what our rules cannot say is refused by name."""

from __future__ import annotations

from collections.abc import Sequence

from ..rule_base import IGNORED, RuleBase, Term, Variable
from .assembly import Assembly, term_of, variable_of
from .errors import FileFormatError, NotExpressibleError
from .system import Decision, Output, rule_base_of
from .text import number, shown
from .xml_nodes import Node, parse_xml

_TNORMS = ("MIN", "PROD", "BDIF", "DRP", "EPROD", "HPROD", "NILMIN", "BSUM", "DRS")


def from_fml(content: str | bytes) -> RuleBase:
    """The rule base of an FML document with a TSK rule base.

    AND must be PROD or MIN, the same in all rules of several premises, terms Gaussian. The modifier "any" leaves the
    premise out. A DTD or entities are refused: they can read files and fill memory.
    """
    root = parse_xml(content)
    if root.name != "fuzzySystem":
        raise FileFormatError(f"the root must be <fuzzySystem>, got <{root.name}>", root.line)
    base = root.one("knowledgeBase")
    inputs: list[Variable] = []
    for node in base.children:
        if node.name == "fuzzyVariable":
            if node.attribute("type", "input").lower() != "input":
                raise NotExpressibleError(_mamdani(node))
            inputs.append(_input(node))
        elif node.name != "tskVariable":
            raise NotExpressibleError(
                f"line {node.line}: <{node.name}> is not read; FML files need TSK outputs"
            )
    outputs = tuple(_output(node, len(inputs)) for node in base.all("tskVariable"))
    bases = [node for node in root.children if node.name != "knowledgeBase"]
    if len(bases) != 1:
        raise NotExpressibleError(f"the system must have one rule base, got {len(bases)}; keep one")
    if bases[0].name != "tskRuleBase":
        raise NotExpressibleError(_mamdani(bases[0]))
    assembly, indices = Assembly(inputs, outputs), _indices(base)
    for node in bases[0].all("tskRule"):
        _rule(node, bases[0], assembly, indices)
    return rule_base_of(assembly.system())


def _indices(base: Node) -> dict[tuple[str, str], int]:
    """Where each (variable, term) of the document stands among the terms of its variable."""
    return {
        (variable.attribute("name"), term.attribute("name")): index
        for variable in base.children
        for index, term in enumerate(variable.all("fuzzyTerm") + variable.all("tskTerm"))
    }


def _mamdani(node: Node) -> str:
    return (
        f"line {node.line}: <{node.name}> is not read: only TSK systems (tskVariable, tskRuleBase) compute what our "
        "rules do; FML's Mamdani defuzzifiers (COG, COA, MOM, LM, RM) with its accumulations do not"
    )


def _short_names(nodes: Sequence[Node], variable: str) -> list[str]:
    """Names of terms without the variable_ in front that a document-wide name space asks for."""
    names = [node.attribute("name") for node in nodes]
    cut = [name.removeprefix(f"{variable}_") for name in names]
    plain = all(new and new != old and new != "any" for new, old in zip(cut, names, strict=True))
    return cut if plain and len(set(cut)) == len(cut) else names


def _input(node: Node) -> Variable:
    nodes = node.all("fuzzyTerm")
    if not nodes:
        raise FileFormatError("<fuzzyVariable> must have at least one <fuzzyTerm>", node.line)
    name = node.attribute("name")
    terms = [_term(child, short) for child, short in zip(nodes, _short_names(nodes, name), strict=True)]
    return variable_of(name, terms, node.line)


def _term(node: Node, name: str) -> Term:
    if len(node.children) != 1:
        raise FileFormatError(f"<fuzzyTerm> must hold one shape, got {len(node.children)}", node.line)
    shape = node.children[0]
    if shape.name != "gaussianShape":
        raise NotExpressibleError(
            f"line {shape.line}: <{shape.name}> of term {shown(name)} is not read: our sets are Gaussian, and a "
            "silent approximation would change the outputs; replace it with <gaussianShape param1= param2=>"
        )
    if node.attribute("complement", "false").lower() != "false":
        raise NotExpressibleError(
            f"line {node.line}: complement='true' of term {shown(name)} is not read: our sets have no complement"
        )
    return term_of(name, shape.number("param1"), shape.number("param2"), shape.line)


def _output(node: Node, inputs: int) -> Output:
    if node.attribute("combination", "WA") != "WA":
        raise NotExpressibleError(
            f"line {node.line}: combination={node.attribute('combination')!r} is not read; use WA (weighted average)"
        )
    nodes = node.all("tskTerm")
    name = node.attribute("name")
    if not nodes:
        raise FileFormatError("<tskVariable> must have at least one <tskTerm>", node.line)
    decisions = tuple(
        _decision(child, short, inputs) for child, short in zip(nodes, _short_names(nodes, name), strict=True)
    )
    return Output(name, decisions)


def _decision(node: Node, name: str, inputs: int) -> Decision:
    order = node.attribute("order")
    values = [number(value.text, "<tskValue>", value.line) for value in node.all("tskValue")]
    wanted = {"0": 1, "1": inputs + 1}.get(order)
    if wanted is None:
        raise FileFormatError(f"order of <tskTerm> must be 0 or 1, got {shown(order)}", node.line)
    if len(values) != wanted:
        raise FileFormatError(
            f"<tskTerm> of order {order} must have {wanted} <tskValue> (constant, then one per input), got "
            f"{len(values)}",
            node.line,
        )
    return Decision(name, values[0], tuple(values[1:]) if order == "1" else None)


def _rule(node: Node, base: Node, assembly: Assembly, indices: dict[tuple[str, str], int]) -> None:
    clauses = node.one("antecedent").all("clause")
    if not clauses:
        raise FileFormatError("<antecedent> must have at least one <clause>", node.line)
    consequent = node.one("tskConsequent")
    if consequent.all("tskElse"):
        raise NotExpressibleError(f"line {node.line}: <tskElse> is not read: our rules have no ELSE")
    if base.attribute("activationMethod", "MIN") not in _TNORMS:
        raise NotExpressibleError(f"line {base.line}: a custom activationMethod is not read; use PROD")
    if len(clauses) > 1:
        if node.attribute("connector", "and").lower() != "and":
            raise NotExpressibleError(
                f"line {node.line}: connector='or' is not read: our rules only join premises by AND, and two rules "
                "in place of one OR fire differently"
            )
        method = node.attribute("andMethod", base.attribute("andMethod", "MIN"))
        assembly.join(method, f"andMethod={shown(method)}", node.line)
    premises = assembly.premises(node.line)
    for clause in clauses:
        _premise(clause, assembly, premises, indices)
    conclusions = assembly.conclusions()
    for clause in consequent.one("tskThen").all("tskClause"):
        name, term = clause.one("variable").text, clause.one("term").text
        assembly.conclude(conclusions, name, indices.get((name, term)), clause.line)
    assembly.add(premises, conclusions, node.number("weight", "1.0"), node.line)


def _premise(
    clause: Node, assembly: Assembly, premises: dict[int, int], indices: dict[tuple[str, str], int]
) -> None:
    name, term = clause.one("variable").text, clause.one("term").text
    modifier = clause.attribute("modifier", "")
    if modifier not in ("", "any"):
        raise NotExpressibleError(
            f"line {clause.line}: modifier={modifier!r} is not read: our rules have no hedges; define a term for it"
        )
    index = indices.get((name, term))
    assembly.require(premises, name, IGNORED if modifier == "any" else index, clause.line)
