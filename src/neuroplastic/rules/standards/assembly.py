"""What every reader does once it understands a rule: check its names and collect it into a system."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import ConfigError
from ..names import unique
from ..rule_base import IGNORED, Term, Variable
from .errors import FileFormatError, NotExpressibleError
from .system import CONJUNCTIONS, Output, System, check_size
from .text import shown


def term_of(name: str, center: float, width: float, line: int) -> Term:
    """A Gaussian term of a file; a sign of the width does not matter, for it is squared."""
    try:
        return Term(name, center, abs(width))
    except ConfigError as error:
        raise FileFormatError(str(error), line) from error


def variable_of(name: str, terms: Sequence[Term], line: int) -> Variable:
    """An input of a file."""
    try:
        return Variable(name, tuple(terms))
    except ConfigError as error:
        raise FileFormatError(str(error), line) from error


class Assembly:
    """Rules by name, collected one after the other. Names are looked up as spelled, or in any case if `fold`."""

    def __init__(self, inputs: Sequence[Variable], outputs: Sequence[Output], *, fold: bool = False) -> None:
        if not inputs or not outputs:
            raise FileFormatError(f"a system needs inputs and outputs, got {len(inputs)} and {len(outputs)}")
        try:
            unique("name of an input", [variable.name for variable in inputs])
            unique("name of an output", [output.name for output in outputs])
        except ConfigError as error:
            raise FileFormatError(str(error)) from error
        self.inputs, self.outputs, self._fold = tuple(inputs), tuple(outputs), fold
        self._input_index = self._table([variable.name for variable in inputs], "input")
        self._output_index = self._table([output.name for output in outputs], "output")
        self._terms = [self._table([t.name for t in v.terms], f"term of {v.name!r}") for v in inputs]
        self._decisions = [self._table([d.name for d in o.decisions], f"term of {o.name!r}") for o in outputs]
        self._rules: list[tuple[dict[int, int], list[int], float]] = []
        self._conjunction: str | None = None

    def _table(self, names: Sequence[str], kind: str) -> dict[str, int]:
        table = {self._key(name): index for index, name in enumerate(names)}
        if len(table) != len(names):
            raise FileFormatError(
                f"names must be unique, and an {kind} comes twice among {shown(', '.join(names))}"
            )
        return table

    def _key(self, name: str) -> str:
        return name.casefold() if self._fold else name

    def term(self, variable: str, term: str) -> int | None:
        """The index of an input's term, None if there is none of that name."""
        index = self._input_index.get(self._key(variable))
        return None if index is None else self._terms[index].get(self._key(term))

    def decision(self, variable: str, term: str) -> int | None:
        """The index of an output's decision, None if there is none of that name."""
        index = self._output_index.get(self._key(variable))
        return None if index is None else self._decisions[index].get(self._key(term))

    def premises(self, line: int) -> dict[int, int]:
        """An empty collection of premises for the next rule."""
        check_size(len(self._rules) + 1, len(self.inputs), 1)
        return {}

    def join(self, method: str, said: str, line: int) -> None:
        """Take note how a rule of several premises joins them: 'prod' or 'min', in any case, `said` as in the file."""
        method = method.lower()
        if method not in CONJUNCTIONS:
            raise NotExpressibleError(
                f"line {line}: {said} is not read: our AND is the product, or the minimum of reduce='worst'"
            )
        if self._conjunction not in (None, method):
            raise NotExpressibleError(
                f"line {line}: {said} is not read beside rules that are joined by another AND: ours have one for all"
            )
        self._conjunction = method

    def conclusions(self) -> list[int]:
        """An empty collection of conclusions for the next rule."""
        return [IGNORED] * len(self.outputs)

    def require(
        self, premises: dict[int, int], variable: str, term: int | None, line: int, column: int | None = None
    ) -> None:
        """Add a premise; `term` IGNORED asks nothing, None is an unknown name."""
        index = self._input_index.get(self._key(variable))
        if index is None or term is None:
            raise FileFormatError(
                f"a premise on {shown(variable)} names no known input and term", line, column
            )
        if term == IGNORED:
            return
        if index in premises:
            raise NotExpressibleError(
                f"line {line}: two premises on {shown(variable)} in one rule are not read: a rule of ours has one "
                "term per input"
            )
        premises[index] = term

    def conclude(
        self, conclusions: list[int], variable: str, term: int | None, line: int, column: int | None = None
    ) -> None:
        """Add a conclusion; None is an unknown name."""
        index = self._output_index.get(self._key(variable))
        if index is None or term is None:
            raise FileFormatError(
                f"a conclusion on {shown(variable)} names no known output and term", line, column
            )
        if conclusions[index] != IGNORED:
            raise NotExpressibleError(
                f"line {line}: two conclusions on {shown(variable)} in one rule are not read"
            )
        conclusions[index] = term

    def add(self, premises: dict[int, int], conclusions: list[int], weight: float, line: int) -> None:
        """Finish a rule. It must say something of every output."""
        if not 0 <= weight <= 1:
            raise FileFormatError(f"the weight of a rule must lie in [0, 1], got {weight!r}", line)
        if IGNORED in conclusions:
            missing = self.outputs[conclusions.index(IGNORED)].name
            raise NotExpressibleError(
                f"line {line}: a rule that concludes nothing about {shown(missing)} is not read: our rules decide "
                "all outputs; give it a conclusion, or make a file per output"
            )
        self._rules.append((premises, conclusions, weight))

    def system(self) -> System:
        """All that was collected."""
        if not self._rules:
            raise FileFormatError("the system must have at least one rule")
        premises = np.full((len(self._rules), len(self.inputs)), IGNORED)
        for u, (chosen, _, _) in enumerate(self._rules):
            for index, term in chosen.items():
                premises[u, index] = term
        conclusions = np.array([rule[1] for rule in self._rules])
        weights = np.array([rule[2] for rule in self._rules])
        join = self._conjunction or "prod"  # which of them does not matter where no rule has two premises
        return System(self.inputs, self.outputs, premises, conclusions, weights, join)
