"""Neuro-fuzzy networks stacked like layers: an NFN's output is the next one's input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import ConfigError, at_least
from ..fuzzy.firing import Firing
from ..fuzzy.selection import Selection
from .antecedent import Range
from .consequents import ConsequentConfig
from .neurogenesis import Birth, Neurogenesis
from .nfn import _FIRING, _NEUROGENESIS, _SELECTION, NeuroFuzzyNetwork


class Hierarchy(nn.Module):
    """Levels of NFNs from `sizes[0]` inputs over hidden widths to `sizes[-1]` outputs.

    `rules` is one number for all levels or one per level. Hidden levels have consequents of their own kind
    (`hidden_consequent`, zero order by default: first order would cost rules * width * inputs weights) and the
    levels above the first expect inputs around `hidden_range`.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        rules: int | Sequence[int] = 32,
        *,
        terms: int = 3,
        max_terms: int = 8,
        selection: Selection = _SELECTION,
        firing: Firing = _FIRING,
        consequent: str | ConsequentConfig = "affine",
        hidden_consequent: str | ConsequentConfig = "constant",
        neurogenesis: Neurogenesis | None = _NEUROGENESIS,
        input_range: Range = (0.0, 1.0),
        hidden_range: Range = (-1.0, 1.0),
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.sizes = [at_least(f"sizes[{k}]", size, 1) for k, size in enumerate(sizes)]
        count = len(self.sizes) - 1
        if count < 1:
            raise ConfigError(f"sizes must name at least inputs and outputs, got {list(sizes)}")
        per_level = [rules] * count if isinstance(rules, int) else list(rules)
        if len(per_level) != count:
            raise ConfigError(f"rules must be one number or one per level ({count}), got {rules!r}")
        self.levels: Sequence[NeuroFuzzyNetwork] = nn.ModuleList(  # type: ignore[assignment]
            NeuroFuzzyNetwork(
                self.sizes[level],
                self.sizes[level + 1],
                per_level[level],
                terms=terms,
                max_terms=max_terms,
                selection=selection,
                firing=firing,
                consequent=consequent if level == count - 1 else hidden_consequent,
                neurogenesis=neurogenesis,
                input_range=input_range if level == 0 else hidden_range,
                device=device,
                dtype=dtype,
            )
            for level in range(count)
        )

    def forward(self, x: Tensor) -> Tensor:
        """The last level's output, (B, sizes[-1])."""
        for level in self.levels:
            x = level(x)
        return x

    @property
    def births(self) -> list[tuple[int, Birth]]:
        """Births of all levels, each with the number of its level from 0, in order of level."""
        return [(number, birth) for number, level in enumerate(self.levels) for birth in level.births]

    def config(self) -> dict[str, Any]:
        """The levels' configurations in a form that JSON can hold."""
        return {"levels": [level.config() for level in self.levels]}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Hierarchy:
        """A new hierarchy from what `config` gave."""
        levels = [NeuroFuzzyNetwork.from_config(level) for level in config["levels"]]
        hierarchy = cls.__new__(cls)
        nn.Module.__init__(hierarchy)
        hierarchy.sizes = [level.in_features for level in levels] + [levels[-1].out_features]
        hierarchy.levels = nn.ModuleList(levels)  # type: ignore[assignment]
        return hierarchy
