"""The rules of a network as an immutable view: variables with named terms, premises, certainty, consequents."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError
from ..fuzzy.firing import Firing
from .evidence import Evidence
from .names import ANY, unique

if TYPE_CHECKING:
    import pandas

    from .text.variables import Specification

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]

# The index of a premise that asks nothing: the rule ignores the attribute.
IGNORED = -1


@dataclass(frozen=True)
class Term:
    """A named Gaussian fuzzy set, `exp(-(x - center)**2 / (2 width**2))`."""

    name: str
    center: float
    width: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.center) and np.isfinite(self.width) and self.width > 0):
            raise ConfigError(
                f"term {self.name!r} must have a finite center and a finite width above 0, "
                f"got {self.center!r} and {self.width!r}"
            )

    def membership(self, x: float) -> float:
        """How much x belongs to the set, 0 to 1."""
        away = (x - self.center) / self.width
        return math.exp(-0.5 * away * away)  # a product becomes infinite where a power would be an error


@dataclass(frozen=True)
class Variable:
    """A named input or output with its terms in order of their centres. A TSK output has none."""

    name: str
    terms: tuple[Term, ...] = ()

    def __post_init__(self) -> None:
        unique(f"term of {self.name!r}", [term.name for term in self.terms])
        if any(term.name == ANY for term in self.terms):
            raise ConfigError(
                f"a term of {self.name!r} must not be called {ANY!r}: that word ignores a variable"
            )


@dataclass(frozen=True, eq=False)
class Linear:
    """TSK consequents: output o of rule u is `bias[u, o] + weight[u, o] . x`."""

    weight: Numbers
    """(U, O, D); of width 0 in D for zero-order consequents"""
    bias: Numbers
    """(U, O)"""

    @property
    def is_constant(self) -> bool:
        """Zero order: no consequent depends on the inputs."""
        return bool(self.weight.shape[2] == 0)


@dataclass(frozen=True, eq=False)
class Conclusions:
    """Mamdani consequents: rule u concludes term `terms[u, o]` of output o."""

    terms: Indices
    """(U, O): index into the output variable's terms"""
    defuzzifier: str
    """'height' or 'area', as in npl.Mamdani"""


@dataclass(frozen=True)
class Rule:
    """One rule of a rule base: `number` counts from 1; `premises` maps variables to terms, ignored ones left out."""

    number: int
    premises: tuple[tuple[Variable, Term], ...]
    certainty: float | None


@dataclass(frozen=True, eq=False)
class RuleBase:
    """The rules of one network, in raw units where a scaler was given. Arrays are read-only.

    Firing of rule u is `firing.reduce` over its premises' log-memberships (a mean is over all D attributes, and so is
    the root of 'scaled'; ignored ones count 0), times `firing.gain` where it has one, then layer norm with `gain` and
    `shift`, certainty, and alpha-entmax; see `npl.Firing`.
    """

    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    premises: Indices
    """(U, D): index into the variable's terms, or IGNORED"""
    consequents: Linear | Conclusions
    firing: Firing
    """with alpha a number; what a network learned, alpha and the gain of 'scaled' and 'worst', is read off"""
    certainty: Numbers | None = None
    """(U,): as stored by the network (its sigmoid or tanh is what counts); None without certainty factors"""
    gain: Numbers | None = None
    """(U,): kappa of the layer norm"""
    shift: Numbers | None = None
    """(U,): beta of the layer norm"""
    classes: bool = False
    """whether outputs are scores of classes or actions, of which the greatest is decided for"""
    evidence: Evidence | None = None
    """the rows of training behind each rule, where they are known"""

    def __post_init__(self) -> None:
        unique("name of an input", [variable.name for variable in self.inputs])
        unique("name of an output", [variable.name for variable in self.outputs])
        rules, attributes, outputs = len(self.premises), len(self.inputs), len(self.outputs)
        if not (rules and attributes and outputs):
            raise ConfigError("a rule base needs at least one input, one output and one rule")
        _shape("premises", self.premises, (rules, attributes))
        counts = np.array([len(variable.terms) for variable in self.inputs])
        if (self.premises < IGNORED).any() or (self.premises >= counts).any():
            raise ConfigError("premises must be indices of terms, or -1 where a rule ignores an input")
        if isinstance(self.consequents, Linear):
            width = 0 if self.consequents.is_constant else attributes
            _shape("weight", self.consequents.weight, (rules, outputs, width))
            _shape("bias", self.consequents.bias, (rules, outputs))
        else:
            _shape("conclusions", self.consequents.terms, (rules, outputs))
            sets = np.array([len(variable.terms) for variable in self.outputs])
            if (self.consequents.terms < 0).any() or (self.consequents.terms >= sets).any():
                raise ConfigError("conclusions must be indices of the outputs' terms")
        if isinstance(self.firing.alpha, str):
            raise ConfigError("a rule base's firing.alpha must be a number")
        for name, wanted in (
            ("certainty", self.firing.certainty is not None),
            ("gain", self.firing.layer_norm),
            ("shift", self.firing.layer_norm),
        ):
            part = getattr(self, name)
            if (part is not None) != wanted:
                raise ConfigError(f"{name} must be {'given' if wanted else 'None'} with {self.firing!r}")
            if part is not None:
                _shape(name, part, (rules,))
        if self.evidence is not None:
            _shape("shares of the evidence", self.evidence.shares, (rules, outputs))
        for array in self._arrays():
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.premises)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, index: int) -> Rule:
        return self.rules[index]

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules one by one."""
        return tuple(self._rule(number) for number in range(len(self)))

    def __str__(self) -> str:
        return self.text()

    def text(
        self,
        *,
        digits: int = 3,
        premises: int | None = 8,
        consequents: int | None = 8,
        formulas: bool = False,
        exact: bool = False,
    ) -> str:
        """The rules as sentences, one line each: `RULE 1: IF a is low AND b is high THEN y is about 1.3`.

        With evidence, those with most cases come first: `RULE 4: IF petal is low THEN setosa (97 %, 50 cases)`. What
        depends on the inputs is told by the cases or else by its value in the middle of the rule's sets;
        `formulas=True` writes it out: `y is 0.3 + 1.2 * a`.

        At most `premises` premises are shown, those that set a rule apart from the others most, and of a sum at
        most `consequents` weights, the largest; `AND 1596 more` says what was left out (None: show all). Numbers
        have `digits` significant digits. `exact=True` writes everything in full: `from_text` reads the same rules.
        """
        from .text.sentences import text_of

        return text_of(
            self, digits=digits, premises=premises, consequents=consequents, formulas=formulas, exact=exact
        )

    @staticmethod
    def from_text(
        text: str,
        inputs: Specification,
        *,
        outputs: Specification | str | None = None,
        firing: Firing | None = None,
        defuzzifier: str = "height",
    ) -> RuleBase:
        """The rule base that a text describes; the arguments are those of `npl.from_rules`."""
        from .text.experts import read

        return read(text, inputs, outputs, firing, defuzzifier)[0]

    def without_gain(self) -> RuleBase:
        """The rules that fire the same without a gain: sums, or worst premises, of sets of other widths.

        A factor s of a log-membership is a width divided by the root of s. So 'mean' and 'scaled' become 'sum'; what
        is ignored stays so.
        """
        scale = 1 / math.sqrt(self.firing.share(len(self.inputs)))

        def stretched(variable: Variable) -> Variable:
            return replace(
                variable, terms=tuple(replace(term, width=scale * term.width) for term in variable.terms)
            )

        reduce = "worst" if self.firing.reduce == "worst" else "sum"
        return replace(
            self,
            inputs=tuple(stretched(variable) for variable in self.inputs),
            firing=replace(self.firing, reduce=reduce, gain=1.0),
        )

    def table(self) -> pandas.DataFrame:
        """The rules as a pandas DataFrame, one row per rule, with columns of two levels.

        ("IF", input) holds the term or None; ("THEN output", ...) the term, or the "constant" and the weight of
        each input, "* name"; ("WITH", ...) certainty, as people read it, and gain and shift of the layer norm.
        """
        from .table import table_of

        return table_of(self)

    def json(self) -> str:
        """The rule base as JSON, every number exact."""
        from .json_form import json_of

        return json_of(self)

    @staticmethod
    def from_json(text: str) -> RuleBase:
        """The rule base that `json` wrote; anything else raises a RuleJSONError or a ConfigError."""
        from .json_form import rule_base_of

        return rule_base_of(text)

    def _rule(self, index: int) -> Rule:
        chosen = zip(self.inputs, self.premises[index].tolist(), strict=True)
        premises = tuple((variable, variable.terms[term]) for variable, term in chosen if term != IGNORED)
        certainty = None if self.certainty is None else float(self.certainty[index])
        return Rule(index + 1, premises, certainty)

    def _arrays(self) -> Iterator[NDArray[np.generic]]:
        parts = vars(self.consequents).values()
        for part in (self.premises, self.certainty, self.gain, self.shift, *parts):
            if isinstance(part, np.ndarray):
                yield part


def _shape(name: str, array: NDArray[np.generic], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ConfigError(f"{name} must have shape {shape}, got {array.shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ConfigError(f"{name} must be finite")
