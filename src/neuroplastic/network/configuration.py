"""What a saved network says of itself, read by type: the arguments that its constructor took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch

from .. import catalog
from ..decoding import decoded
from ..errors import ConfigError, choose
from ..fuzzy.firing import Firing
from ..fuzzy.selection import Selection
from .consequents import ConsequentConfig
from .limits import Sets
from .neurogenesis import Neurogenesis
from .renewal import Renewal
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    from .nfn import NeuroFuzzyNetwork

_TYPES = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}


@dataclass(frozen=True)
class SavedConfig:
    """The fields of `NeuroFuzzyNetwork.config()` as JSON holds them."""

    in_features: int
    out_features: int
    rules: int
    terms: int
    max_terms: int
    selection: Selection
    firing: Firing
    consequent: dict[str, Any]
    neurogenesis: Neurogenesis | None
    input_range: tuple[float, float] | tuple[tuple[float, ...], tuple[float, ...]]
    dtype: Literal["float16", "bfloat16", "float32", "float64"]
    vocabulary: Vocabulary | None = None
    sets: Sets | None = None
    renewal: Renewal | None = None

    @property
    def type(self) -> torch.dtype:
        """The type of the parameters."""
        return _TYPES[self.dtype]

    @property
    def decisions(self) -> ConsequentConfig:
        """The configuration of the consequents, by the kind that it names."""
        fields = dict(self.consequent)
        name = choose("consequent.kind", fields.pop("kind", None), catalog.names("consequent"))
        found: ConsequentConfig = decoded(catalog.kind("consequent", name), fields, "consequent")
        return found


def read_config(config: Mapping[str, Any]) -> SavedConfig:
    """The fields, checked; names must be as many as inputs and outputs."""
    saved: SavedConfig = decoded(SavedConfig, config, "config")
    words = saved.vocabulary
    if words is not None and (len(words.features), len(words.outputs)) != (
        saved.in_features,
        saved.out_features,
    ):
        raise ConfigError(
            f"the vocabulary must name {saved.in_features} inputs and {saved.out_features} outputs, "
            f"got {len(words.features)} and {len(words.outputs)}"
        )
    return saved


def check_parts(
    selection: object, firing: object, neurogenesis: object, sets: object, renewal: object
) -> None:
    """Raise a ConfigError unless each part of a network's configuration is of its kind, or None where it may be."""
    for name, part, kind in (("selection", selection, Selection), ("firing", firing, Firing)):
        if not isinstance(part, kind):
            raise ConfigError(f"{name} must be a npl.{kind.__name__}, got {part!r}")
    optional: tuple[tuple[str, object, type], ...] = (
        ("neurogenesis", neurogenesis, Neurogenesis),
        ("sets", sets, Sets),
        ("renewal", renewal, Renewal),
    )
    for name, part, of in optional:
        if not (part is None or isinstance(part, of)):
            raise ConfigError(f"{name} must be a npl.{of.__name__} or None, got {part!r}")


def config_of(net: NeuroFuzzyNetwork) -> dict[str, Any]:
    """The constructor's arguments in a form that JSON can hold."""
    decided = catalog.name_of("consequent", net.consequent_config)
    low, high = (torch.as_tensor(end, dtype=torch.float64).tolist() for end in net.input_range)
    return {
        "in_features": net.in_features,
        "out_features": net.out_features,
        "rules": net.rules,
        "terms": net.terms,
        "max_terms": net.max_terms,
        "selection": asdict(net.selection),
        "firing": asdict(net.firing_config),
        "consequent": {"kind": decided, **asdict(net.consequent_config)},
        "neurogenesis": None if net.neurogenesis is None else asdict(net.neurogenesis),
        "input_range": [low, high],
        "sets": None if net.sets is None else asdict(net.sets),
        "renewal": None if net.renewal is None else asdict(net.renewal),
        "dtype": str(net.centers.dtype).removeprefix("torch."),
        "vocabulary": None if net.vocabulary is None else net.vocabulary.as_dict(),
    }
