"""Rule text as rules of indices. The grammar is regular: one pass, one token ahead, no recursion.

rules      = rule { rule }
rule       = [ RULE number ":" ] IF premises THEN conclusion { AND conclusion } [ WITH setting { AND setting } ]
premises   = "anything" | input IS term { AND input IS term }
conclusion = output IS ( term | sum )
sum        = [ sign ] part { sign part },  part = number | number "*" input | input [ "*" number ]
setting    = ( "certainty" | "certainty weight" | "gain" | "shift" ) number
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from ..names import ANY
from ..rule_base import IGNORED, Indices, Numbers, Variable
from .tokens import Token, keyword_hint, shown, suggestion, tokens

ANYTHING = "anything"

_REFUSED = {
    "OR": "rules have no OR: write two rules, one for each side",
    "NOT": "rules have no NOT: write one rule for each of the other terms",
}
_SETTINGS = ("certainty", "gain", "shift")


@dataclass
class Written:
    """One rule as read: indices of inputs, terms and outputs."""

    number: int
    start: Token
    premises: dict[int, int] = field(default_factory=dict)
    conclusions: dict[int, int] = field(default_factory=dict)
    bias: dict[int, float] = field(default_factory=dict)
    slopes: dict[int, tuple[Indices, Numbers]] = field(default_factory=dict)
    settings: dict[str, tuple[float, Token]] = field(default_factory=dict)


class Names:
    """Names with their places: found as written or, where that is clear, in another case."""

    def __init__(self, kind: str, names: Sequence[str]) -> None:
        self.kind = kind
        self.places: dict[str, int] = {}
        self._folded: dict[str, int | None] = {}
        for name in names:
            self.add(name)

    def add(self, name: str) -> int:
        """The name's place, new if it is not known."""
        place = self.places.setdefault(name, len(self.places))
        folded = name.casefold()
        self._folded[folded] = place if self._folded.get(folded, place) == place else None
        return place

    def find(self, name: str, token: Token) -> int:
        """The name's place; a RuleSyntaxError with a suggestion if there is none."""
        place = self.places.get(name)
        if place is None:
            place = self._folded.get(name.casefold())
        if place is None:
            hint = keyword_hint(name) or suggestion(name, self.places)
            token.fail(f"unknown {self.kind} {shown(name)}{hint}", self.kind)
        return place


class Parser:
    """Reads one text; `outputs` None finds the outputs in the text."""

    def __init__(self, text: str, inputs: Sequence[Variable], outputs: Sequence[Variable] | None) -> None:
        self._tokens = tokens(text)
        self._token = next(self._tokens)
        self._inputs = Names("input", [variable.name for variable in inputs])
        self._terms = [_terms(variable) for variable in inputs]
        self._open = outputs is None
        self._outputs = Names("output", [variable.name for variable in outputs or ()])
        self._output_terms = [_terms(variable) for variable in outputs or ()]
        self._fuzzy = any(variable.terms for variable in outputs or ())

    def rules(self) -> list[Written]:
        """All rules of the text; numbers are as written, or count from 1."""
        found: list[Written] = []
        numbers: dict[int, int] = {}
        while self._token.kind != "end" or not found:
            rule = self._rule(len(found) + 1)
            if rule.number in numbers:
                rule.start.fail(
                    f"rule {rule.number} was written on line {numbers[rule.number]} already", "another number"
                )
            numbers[rule.number] = rule.start.line
            found.append(rule)
        for rule in found:
            said = rule.conclusions if self._fuzzy else rule.bias
            for name, place in self._outputs.places.items():
                if place not in said:
                    rule.start.fail(
                        f"rule {rule.number} says nothing about output {name!r}; every rule must", f"{name!r}"
                    )
        return found

    def output_names(self) -> list[str]:
        """Names of the outputs, in the order given or found."""
        return list(self._outputs.places)

    def _rule(self, place: int) -> Written:
        start, number = self._token, place
        if self._at("RULE"):
            self._next()
            number = self._label()
        self._expect("IF", "RULE or IF")
        rule = Written(number, start)
        self._premises(rule)
        self._expect("THEN", "AND or THEN")
        self._conclusion(rule)
        while self._at("AND"):
            self._next()
            self._conclusion(rule)
        if self._at("WITH"):
            self._settings(rule)
        if self._token.kind != "end" and not (self._at("IF") or self._at("RULE")):
            self._fail("AND, WITH or the next rule")
        return rule

    def _label(self) -> int:
        token = self._next()
        if not (token.kind == "number" and token.text.isdecimal() and len(token.text) <= 9):
            token.fail(f"RULE needs a whole number, got {token}", "a whole number")
        colon = self._next()
        if colon.text != ":":
            colon.fail(f"expected ':' after RULE {token.text}, got {colon}", "':'")
        return int(token.text)

    def _premises(self, rule: Written) -> None:
        while True:
            self._refuse_summary()
            token = self._token
            name = self._name("an input")
            if name.lower() == ANYTHING and self._at("THEN") and not rule.premises:
                return
            self._expect("IS", "IS", f" after {shown(name)}", keyword_hint(name))
            attribute = self._inputs.find(name, token)
            if attribute in rule.premises:
                token.fail(f"{shown(name)} is named twice in the IF part of one rule", "another input")
            token = self._token
            word = self._name("a term")
            rule.premises[attribute] = IGNORED if word == ANY else self._terms[attribute].find(word, token)
            if not self._at("AND"):
                return
            self._next()

    def _conclusion(self, rule: Written) -> None:
        self._refuse_summary()
        token = self._token
        name = self._name("an output")
        self._expect("IS", "IS", f" after {shown(name)}", keyword_hint(name))
        output = self._outputs.add(name) if self._open else self._outputs.find(name, token)
        if output in rule.bias or output in rule.conclusions:
            token.fail(f"{shown(name)} is named twice in the THEN part of one rule", "another output")
        if self._fuzzy:
            token = self._token
            rule.conclusions[output] = self._output_terms[output].find(self._name("a term"), token)
        else:
            rule.bias[output], rule.slopes[output] = self._sum()

    def _sum(self) -> tuple[float, tuple[Indices, Numbers]]:
        """`0.3 + 1.2 * a - b`: the constant, and the inputs with their weights."""
        bias, weights = 0.0, dict[int, float]()
        sign = self._sign()
        while True:
            token = self._token
            if token.kind == "number":
                factor = sign * self._number()
                if self._token.text == "*" and self._token.kind == "symbol":
                    self._next()
                    token = self._token
                    attribute = self._inputs.find(self._name("an input"), token)
                    weights[attribute] = weights.get(attribute, 0.0) + factor
                else:
                    self._refuse_summary(token)
                    bias += factor
            else:
                attribute = self._inputs.find(self._name("a number or an input"), token)
                factor = sign
                if self._token.text == "*" and self._token.kind == "symbol":
                    self._next()
                    factor *= self._sign() * self._number()
                weights[attribute] = weights.get(attribute, 0.0) + factor
            if not (self._token.kind == "symbol" and self._token.text in "+-"):
                break
            sign = self._sign() * self._sign()  # `+ -3` is fine too
        return bias, (np.array(list(weights), dtype=np.int64), np.array(list(weights.values()), np.float64))

    def _settings(self, rule: Written) -> None:
        while self._at("WITH") or self._at("AND") or self._token.text == ",":
            self._next()
            token = self._next()
            name = token.text.lower()
            if token.kind != "word" or name not in _SETTINGS:
                hint = suggestion(name, _SETTINGS)
                token.fail(
                    f"expected certainty, gain or shift, got {token}{hint}", "certainty, gain or shift"
                )
            if name == "certainty" and self._token.kind == "word" and self._token.text.lower() == "weight":
                self._next()
                name = "certainty weight"
            if name in rule.settings:
                token.fail(f"{name} is given twice in one rule", "another setting")
            rule.settings[name] = self._sign() * self._number(), token

    def _sign(self) -> float:
        if self._token.kind == "symbol" and self._token.text in "+-":
            return -1.0 if self._next().text == "-" else 1.0
        return 1.0

    def _number(self) -> float:
        token = self._token
        if token.kind != "number":
            self._fail("a number")
        value = float(token.text)
        if not math.isfinite(value):
            token.fail(f"{token.text} is too large a number", "a finite number")
        self._next()
        return value

    def _name(self, expected: str) -> str:
        """A quoted name, or words (whole numbers may follow the first) up to a keyword or symbol."""
        token = self._token
        if token.kind == "name":
            self._next()
            return token.text
        if token.kind != "word":
            hint = "; put a name with such a word in single quotes" if token.kind == "keyword" else ""
            self._fail(expected, hint=hint)
        words: list[str] = []
        while token.kind == "word" or (token.kind == "number" and token.text.isdecimal()):
            words.append(token.text)
            self._next()
            token = self._token
        return " ".join(words)

    def _refuse_summary(self, number: Token | None = None) -> None:
        """`AND 1596 more` is how a summary ends; the rest is not in the text."""
        token = number or self._token
        if token.kind != "number":
            return
        after = self._token if number else self._next() and self._token
        if after.kind == "word" and after.text.lower() == "more":
            token.fail(
                "this text is a summary; print rules to be read back by text(exact=True)", "whole rules"
            )
        if not number:
            token.fail(f"expected a name, got {token.text}", "a name")

    def _at(self, keyword: str) -> bool:
        return self._token.kind == "keyword" and self._token.text == keyword

    def _expect(self, keyword: str, expected: str, after: str = "", hint: str = "") -> None:
        if not self._at(keyword):
            self._fail(expected, after, hint)
        self._next()

    def _next(self) -> Token:
        """Take the current token; the end is never passed."""
        token = self._token
        if token.kind != "end":
            self._token = next(self._tokens)
        return token

    def _fail(self, expected: str, after: str = "", hint: str = "") -> NoReturn:
        token = self._token
        if token.kind == "keyword" and token.text in _REFUSED:
            token.fail(_REFUSED[token.text], expected)
        if not hint and token.kind == "word":
            hint = keyword_hint(f"- {token.text}")
        token.fail(f"expected {expected}{after}, got {token}{hint}", expected)


def _terms(variable: Variable) -> Names:
    return Names(f"term of {variable.name!r}", [term.name for term in variable.terms])
