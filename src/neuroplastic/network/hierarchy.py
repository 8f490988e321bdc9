"""Neuro-fuzzy networks stacked like layers: an NFN's output is the next one's input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from ..decoding import decoded, shown
from ..errors import ConfigError, at_least
from ..fuzzy.firing import Firing
from ..fuzzy.selection import Selection
from .consequents import ConsequentConfig
from .growth import Birth
from .limits import Sets
from .neurogenesis import Neurogenesis
from .nfn import _FIRING, _NEUROGENESIS, _SELECTION, NeuroFuzzyNetwork
from .prunings import Pruning
from .renewal import Renewal
from .renewal_state import Rebirth
from .size import check_size, parameters_of
from .starting import Range

# More levels than anyone has stacked: a file that lists millions is refused before they are made.
MOST_LEVELS = 256


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
        sets: Sets | None = None,
        renewal: Renewal | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.sizes = [at_least(f"sizes[{k}]", size, 1) for k, size in enumerate(sizes)]
        count = len(self.sizes) - 1
        if not 1 <= count <= MOST_LEVELS:
            raise ConfigError(
                f"sizes must name inputs and outputs, and make at most {MOST_LEVELS} levels, got {shown(self.sizes)}"
            )
        per_level = [rules] * count if isinstance(rules, int) else list(rules)
        if len(per_level) != count:
            raise ConfigError(f"rules must be one number or one per level ({count}), got {rules!r}")
        kinds = [hidden_consequent] * (count - 1) + [consequent]
        at_least("max_terms", max_terms, 1)
        check_size(
            f"sizes={self.sizes}, rules={rules}, max_terms={max_terms}",
            sum(
                parameters_of(below, above, at_least("rules", here, 1), max_terms, kind)
                for below, above, here, kind in zip(
                    self.sizes, self.sizes[1:], per_level, kinds, strict=False
                )
            ),
            torch.empty(0, device=device, dtype=dtype),
        )
        self.levels: Sequence[NeuroFuzzyNetwork] = nn.ModuleList(  # type: ignore[assignment]
            NeuroFuzzyNetwork(
                self.sizes[level],
                self.sizes[level + 1],
                per_level[level],
                terms=terms,
                max_terms=max_terms,
                selection=selection,
                firing=firing,
                consequent=kinds[level],
                neurogenesis=neurogenesis,
                input_range=input_range if level == 0 else hidden_range,
                sets=sets,
                renewal=renewal,
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

    @property
    def prunings(self) -> list[tuple[int, Pruning]]:
        """Premises dropped or taken up in all levels, each with the number of its level from 0, in order of level."""
        return [(number, event) for number, level in enumerate(self.levels) for event in level.prunings]

    @property
    def renewals(self) -> list[tuple[int, Rebirth]]:
        """Rules reborn in all levels, each with the number of its level from 0, in order of level."""
        return [(number, event) for number, level in enumerate(self.levels) for event in level.renewals]

    def config(self) -> dict[str, Any]:
        """The levels' configurations in a form that JSON can hold."""
        return {"levels": [level.config() for level in self.levels]}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], *, device: torch.device | str | None = None) -> Hierarchy:
        """A new hierarchy from what `config` gave; a ConfigError names what none can be made of."""
        saved = decoded(dict[str, list[dict[str, Any]]], config, "config")
        if saved.keys() != {"levels"} or not 1 <= len(saved["levels"]) <= MOST_LEVELS:
            raise ConfigError(f"config must have between 1 and {MOST_LEVELS} levels, and nothing else")
        levels = [NeuroFuzzyNetwork.from_config(level, device=device) for level in saved["levels"]]
        for number, (below, above) in enumerate(pairwise(levels), start=1):
            if below.out_features != above.in_features:
                raise ConfigError(
                    f"level {number + 1} must have {below.out_features} inputs, one for each output of the level "
                    f"below, got {above.in_features}"
                )
        hierarchy = cls.__new__(cls)
        nn.Module.__init__(hierarchy)
        hierarchy.sizes = [level.in_features for level in levels] + [levels[-1].out_features]
        hierarchy.levels = nn.ModuleList(levels)  # type: ignore[assignment]
        return hierarchy
