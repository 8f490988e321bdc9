"""Reading FCL: one function block with Gaussian terms, singletons and weighted average; the rest refused by name."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..rule_base import IGNORED, RuleBase, Term
from .assembly import Assembly, term_of, variable_of
from .errors import FileFormatError, NotExpressibleError
from .fcl_tokens import Tokens
from .system import Decision, Output, System, rule_base_of
from .text import shown

_SHAPES = "GAUSS centre width, or Gaussian centre width"
_HEDGES = ("very", "somewhat", "seldom", "extremely")
_SUMS = ("sum", "nsum", "unboundedsum", "none")


@dataclass
class _Block:
    """What the declarations of a function block said so far; keys are names in small letters."""

    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    terms: dict[str, list[Term]] = field(default_factory=dict)
    decisions: dict[str, list[Decision]] = field(default_factory=dict)
    accumulations: set[str] = field(default_factory=set)
    assembly: Assembly | None = None


def from_fcl(text: str) -> RuleBase:
    """The rule base of an FCL file with one FUNCTION_BLOCK and one RULEBLOCK.

    Terms of inputs must be Gaussian; consequents are singletons, `Constant` or `Linear` with METHOD COGS; AND must
    be PROD or MIN in rules of several premises, and one of them in all. Words count in any case; `(* *)`, `/* */` and
    `//` are comments.
    """
    tokens, block = Tokens(text), _Block()
    line = tokens.line()
    tokens.expect("function_block")
    while tokens.next.key not in _BLOCKS and tokens.next.kind != "end" and tokens.line() == line:
        tokens.take()  # the name; some tools write several words
    while not tokens.accept("end_function_block"):
        word = tokens.expect(*_BLOCKS).key
        _BLOCKS[word](tokens, block)
    if tokens.next.kind != "end":
        raise NotExpressibleError(
            f"line {tokens.line()}: one FUNCTION_BLOCK is read from a file, not several"
        )
    if block.assembly is None:
        raise FileFormatError("the function block must have a RULEBLOCK")
    system = block.assembly.system()
    _check_accumulation(system, block.accumulations)
    return rule_base_of(system)


def _variables(tokens: Tokens, names: dict[str, str]) -> None:
    while not tokens.accept("end_var"):
        token = tokens.word("the name of a variable")
        if token.key in names:
            raise tokens.error(f"the variable {shown(token.text)} is declared twice", token)
        names[token.key] = token.text
        tokens.expect(":")
        tokens.expect("real")
        tokens.accept(";")
        if tokens.next.key == "range":
            _range(tokens)


def _range(tokens: Tokens) -> None:
    tokens.expect("range")
    tokens.expect(":=")
    tokens.expect("(")
    tokens.number("the start of a RANGE")
    tokens.expect("..")
    tokens.number("the end of a RANGE")
    tokens.expect(")")
    tokens.accept(";")


def _enabled(tokens: Tokens) -> None:
    tokens.expect("enabled")
    tokens.expect(":")
    if tokens.expect("true", "false").key == "false":
        raise NotExpressibleError(f"line {tokens.line()}: ENABLED : FALSE is not read; leave the part out")
    tokens.accept(";")


def _fuzzify(tokens: Tokens, block: _Block) -> None:
    token = tokens.word("the name of an input")
    if token.key not in block.inputs or token.key in block.terms:
        raise tokens.error(f"{shown(token.text)} must be declared in VAR_INPUT, and fuzzified once", token)
    terms = block.terms[token.key] = []
    while not tokens.accept("end_fuzzify"):
        if tokens.next.key == "range":
            _range(tokens)
        elif tokens.next.key == "enabled":
            _enabled(tokens)
        else:
            terms.append(_term(tokens))


def _term(tokens: Tokens) -> Term:
    line = tokens.line()
    tokens.expect("term")
    name = tokens.word("the name of a term").text
    tokens.expect(":=")
    if not tokens.accept("gauss", "gaussian"):
        raise _refused(tokens, name, _SHAPES)
    center, width = tokens.number("the centre"), tokens.number("the width")
    if not tokens.accept(";") and tokens.next.kind == "number":
        raise tokens.error(f"a Gaussian term has a centre and a width, got {shown(tokens.next.text)} besides")
    return term_of(name, center, width, line)


def _refused(tokens: Tokens, name: str, wanted: str) -> NotExpressibleError:
    shape = {"(": "a term made of points"}.get(tokens.next.text, shown(tokens.next.text))
    return NotExpressibleError(
        f"line {tokens.line()}: {shape} for term {shown(name)} is not read: use {wanted}; a silent approximation "
        "would change the outputs"
    )


def _defuzzify(tokens: Tokens, block: _Block) -> None:
    token = tokens.word("the name of an output")
    if token.key not in block.outputs or token.key in block.decisions:
        raise tokens.error(f"{shown(token.text)} must be declared in VAR_OUTPUT, and defuzzified once", token)
    decisions = block.decisions[token.key] = []
    method = None
    while not tokens.accept("end_defuzzify"):
        word = tokens.next.key
        if word == "range":
            _range(tokens)
        elif word == "enabled":
            _enabled(tokens)
        elif word == "term":
            decisions.append(_decision(tokens, len(block.inputs)))
        else:
            tokens.expect("method", "accu", "default", "lock")
            if word == "method":
                method = _setting(tokens)
                if method != "cogs":
                    raise NotExpressibleError(
                        f"line {tokens.line()}: METHOD {shown(method)} is not read: our rules compute the weighted "
                        "average, METHOD : COGS"
                    )
            elif word == "accu":
                block.accumulations.add(_setting(tokens))
            else:
                _default(tokens, word)
    if method is None:
        raise tokens.error(f"the output {shown(token.text)} must have METHOD : COGS", token)


def _setting(tokens: Tokens) -> str:
    tokens.expect(":")
    word = tokens.word("a method").key
    tokens.accept(";")
    return word


def _default(tokens: Tokens, word: str) -> None:
    """DEFAULT and LOCK say what holds where no rule fires, which is nowhere with us; but LOCK : RANGE clips."""
    tokens.expect(":=" if word == "default" else ":")
    while True:
        if tokens.next.kind == "number":
            tokens.number("the default")
        elif tokens.word("a value").key == "range":
            raise NotExpressibleError(
                f"line {tokens.line()}: LOCK : RANGE is not read: our outputs are not clipped"
            )
        if not tokens.accept("|"):
            break
    tokens.accept(";")


def _decision(tokens: Tokens, inputs: int) -> Decision:
    tokens.expect("term")
    token = tokens.word("the name of a term")
    tokens.expect(":=")
    linear = tokens.accept("linear")
    if not linear:
        tokens.accept("constant")
    if tokens.next.kind != "number":
        raise _refused(
            tokens, token.text, "a singleton (a number), or Linear with a number per input and a constant"
        )
    values = []
    while tokens.next.kind == "number":
        values.append(tokens.number("a coefficient"))
    tokens.accept(";")
    wanted = inputs + 1 if linear else 1
    if len(values) != wanted:
        raise tokens.error(f"{shown(token.text)} must have {wanted} numbers, got {len(values)}", token)
    return Decision(token.text, values[-1], tuple(values[:-1]) if linear else None)


def _rule_block(tokens: Tokens, block: _Block) -> None:
    if block.assembly is not None:
        raise NotExpressibleError(f"line {tokens.line()}: one RULEBLOCK is read, not several; join them")
    block.assembly = _assembly(tokens, block)
    if tokens.next.key not in ("and", "or", "act", "accu", "rule", "enabled", "end_ruleblock"):
        tokens.word("the name of the rule block")
    conjunction = "min"
    while not tokens.accept("end_ruleblock"):
        if tokens.next.key == "enabled":
            _enabled(tokens)
        elif (word := tokens.expect("and", "or", "act", "accu", "rule").key) == "rule":
            _rule(tokens, block.assembly, conjunction)
        else:
            setting = _setting(tokens)
            if word == "and":
                conjunction = setting
            elif word == "accu":
                block.accumulations.add(setting)


def _assembly(tokens: Tokens, block: _Block) -> Assembly:
    line = tokens.line()
    for key, name in block.outputs.items():
        if not block.decisions.get(key):
            raise FileFormatError(
                f"{shown(name)} must have a DEFUZZIFY block with terms before the rules", line
            )
    inputs = [variable_of(name, block.terms.get(key, []), line) for key, name in block.inputs.items()]
    outputs = [Output(name, tuple(block.decisions[key])) for key, name in block.outputs.items()]
    return Assembly(inputs, outputs, fold=True)


def _rule(tokens: Tokens, assembly: Assembly, conjunction: str) -> None:
    line = tokens.line()
    if tokens.next.key not in (":", "if"):
        tokens.take()
    tokens.accept(":")
    tokens.expect("if")
    premises = assembly.premises(line)
    depth = 0
    while True:
        while tokens.accept("("):
            depth += 1
        _premise(tokens, assembly, premises, line)
        while depth and tokens.accept(")"):
            depth -= 1
        if tokens.next.key == "or":
            raise NotExpressibleError(
                f"line {tokens.line()}: OR is not read: our rules only join premises by AND, and two rules in place "
                "of one OR fire differently"
            )
        if not tokens.accept("and"):
            break
    if depth:
        raise tokens.error("a bracket is not closed")
    if len(premises) > 1:
        assembly.join(conjunction, f"AND : {conjunction.upper()[:20]}", line)
    tokens.expect("then")
    conclusions = assembly.conclusions()
    while True:
        token = tokens.word("the name of an output")
        tokens.expect("is")
        term = tokens.word("a term").text
        index = assembly.decision(token.text, term)
        assembly.conclude(conclusions, token.text, index, *tokens.place(token.position))
        if not tokens.accept(",", "and"):
            break
    weight = tokens.number("the weight of a rule") if tokens.accept("with") else 1.0
    tokens.accept(";")
    assembly.add(premises, conclusions, weight, line)


def _premise(tokens: Tokens, assembly: Assembly, premises: dict[int, int], line: int) -> None:
    negated = tokens.accept("not")
    token = tokens.word("the name of an input")
    tokens.expect("is")
    if negated or tokens.accept("not"):
        raise NotExpressibleError(
            f"line {tokens.line()}: NOT is not read: our rules have no negation; define a term"
        )
    index: int | None
    if tokens.accept("any"):
        index = IGNORED
        if tokens.next.kind == "word" and tokens.next.key not in ("and", "or", "then"):
            tokens.take()
    else:
        term = tokens.word("a term")
        if (
            term.key in _HEDGES
            and tokens.next.kind == "word"
            and tokens.next.key not in ("and", "or", "then")
        ):
            raise NotExpressibleError(
                f"line {tokens.line()}: the hedge {term.text!r} is not read: our rules have no hedges; define a term"
            )
        index = assembly.term(token.text, term.text)
    assembly.require(premises, token.text, index, *tokens.place(token.position))


def _check_accumulation(system: System, accumulations: set[str]) -> None:
    """Rules that share a singleton add up with us; another accumulation only says the same where none do."""
    others = sorted(accumulations - set(_SUMS))
    shared = any(len(set(column)) < len(column) for column in system.conclusions.T.tolist())
    if others and shared:
        raise NotExpressibleError(
            f"ACCU : {others[0].upper()[:20]} is not read where rules share a singleton: with us they add up; give "
            "each rule a term of its own, or write ACCU : NSUM"
        )


_BLOCKS = {
    "var_input": lambda tokens, block: _variables(tokens, block.inputs),
    "var_output": lambda tokens, block: _variables(tokens, block.outputs),
    "fuzzify": _fuzzify,
    "defuzzify": _defuzzify,
    "ruleblock": _rule_block,
}
