"""What a saved network says of itself, read by type: the arguments that its constructor took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch

from .. import catalog
from ..decoding import decoded
from ..errors import ConfigError, choose
from ..fuzzy.firing import Firing
from ..fuzzy.selection import Selection
from .consequents import ConsequentConfig
from .neurogenesis import Neurogenesis
from .vocabulary import Vocabulary

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
