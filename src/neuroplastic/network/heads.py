"""The heads of an agent as configurations: a plain network, or rules."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from torch import nn

from .. import catalog
from ..errors import ConfigError, at_least, choose
from ..fuzzy.firing import Firing
from ..fuzzy.selection import Selection
from .consequents import Affine, ConsequentConfig
from .dueling import ACTIVATIONS, dnn_head
from .hierarchy import Hierarchy
from .limits import Sets
from .neurogenesis import Neurogenesis
from .renewal import Renewal
from .starting import check_room

_HIDDEN_CONSEQUENTS = ("constant", "affine", "low_rank")


@dataclass(frozen=True)
class DnnConfig:
    """Plain heads: two linear layers with an activation, and a read-out."""

    hidden: int = field(default=256, metadata={"help": "neurons of each hidden layer"})
    activation: str = field(default="ReLU", metadata={"help": "one of the paper's 22 activation functions"})
    readout: bool = field(default=True, metadata={"help": "a linear read-out after the second activation"})
    hidden_norm: bool = field(default=False, metadata={"help": "layer norm before each activation"})
    bounded: bool = field(
        default=False, metadata={"help": "the activation follows the output too; needs readout false"}
    )

    def __post_init__(self) -> None:
        at_least("hidden", self.hidden, 1)
        if self.bounded and self.readout:
            raise ConfigError(
                "bounded puts the activation behind the second of two linear layers, which is the output only where "
                "readout is false; got both true"
            )
        choose("activation", self.activation, ACTIVATIONS)

    def build(self, in_features: int, outputs: int) -> nn.Module:
        """A head from features to outputs."""
        return dnn_head(
            in_features,
            outputs,
            self.hidden,
            self.activation,
            readout=self.readout,
            bounded=self.bounded,
            norm=self.hidden_norm,
        )

    def build_value(self, in_features: int) -> nn.Module:
        """The head of the state's value."""
        return self.build(in_features, 1)


@dataclass(frozen=True)
class NfnConfig:
    """Neuro-fuzzy heads."""

    rules: int = field(default=128, metadata={"help": "rules of each head (and of each level)"})
    terms: int = field(default=3, metadata={"help": "fuzzy sets of an attribute at the start"})
    max_terms: int = field(default=6, metadata={"help": "room for fuzzy sets of an attribute"})
    consequent: ConsequentConfig = field(
        default_factory=Affine,
        metadata={
            "help": f"one of {', '.join(catalog.names('consequent'))}",
            "kinds": "consequent",
            "prefix": "consequent_",
        },
    )
    levels: tuple[int, ...] = field(
        default=(), metadata={"help": "hidden widths of a hierarchy, such as 64 or 64,32"}
    )
    hidden_consequent: str = field(
        default="constant",
        metadata={"help": "what rules below the last level conclude: constant, affine or low_rank"},
    )
    input_low: float = field(default=0.0, metadata={"help": "where the first sets begin"})
    input_high: float = field(default=2.0, metadata={"help": "where the first sets end"})
    grow: bool = field(default=True, metadata={"help": "whether fuzzy sets are born"})
    plain_value: int = field(
        default=0,
        metadata={"help": "neurons of a plain network for the state's value; 0: rules give the value too"},
    )
    selection: Selection = field(default_factory=Selection)
    firing: Firing = field(default_factory=Firing)
    neurogenesis: Neurogenesis = field(default_factory=Neurogenesis)
    sets: Sets = field(default_factory=Sets, metadata={"prefix": "sets_"})
    renew: bool = field(
        default=False, metadata={"help": "whether rules that hardly fire are reborn where errors are large"}
    )
    renewal: Renewal = field(default_factory=Renewal, metadata={"prefix": "renewal_"})

    def __post_init__(self) -> None:
        for name in ("rules", "terms", "max_terms"):
            at_least(name, getattr(self, name), 1)
        check_room(self.terms, self.max_terms, self.selection)
        if not -math.inf < self.input_low <= self.input_high < math.inf:
            raise ConfigError(
                f"input_low must be at most input_high, both finite, got {self.input_low} and {self.input_high}"
            )
        at_least("plain_value", self.plain_value, 0)
        for number, width in enumerate(self.levels):
            at_least(f"levels[{number}]", width, 1)
        choose("hidden_consequent", self.hidden_consequent, _HIDDEN_CONSEQUENTS)

    def build_value(self, in_features: int) -> nn.Module:
        """The head of the state's value: rules like the others, or a plain network.

        Beside rules that give the value too, premises go to what tells the value, and not the action.
        """
        if self.plain_value:
            return dnn_head(in_features, 1, self.plain_value, "ReLU", norm=True)
        return self.build(in_features, 1)

    def build(self, in_features: int, outputs: int) -> Hierarchy:
        """A head from features to outputs."""
        return Hierarchy(
            [in_features, *self.levels, outputs],
            self.rules,
            terms=self.terms,
            max_terms=self.max_terms,
            selection=self.selection,
            firing=self.firing,
            consequent=self.consequent,
            hidden_consequent=self.hidden_consequent,
            neurogenesis=self.neurogenesis if self.grow else None,
            input_range=(self.input_low, self.input_high),
            sets=None if self.sets == Sets() else self.sets,
            renewal=self.renewal if self.renew else None,
        )
