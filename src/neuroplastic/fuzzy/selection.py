"""Premise selection: which term of each attribute a rule uses, chosen hard and learned by gradient (Eqs. 8-11).

Logits are term-major, (T, ..., U): one contiguous plane per term.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..errors import ConfigError, at_least, choose
from .membership import cardinality


@dataclass(frozen=True)
class Selection:
    """How rules choose their premises."""

    estimator: str = field(
        default="stge", metadata={"help": "gradient of the choice: 'stge' (straight-through Gumbel) or 'ste'"}
    )
    temperature: float = field(default=0.5, metadata={"help": "tau of STGE; Eq. 8 divides by its square"})
    noise_hold: int = field(default=64, metadata={"help": "forward passes that share one draw of the noise"})
    constraint: float = field(
        default=0.0, metadata={"help": "theta of Appendix A, a percentile; 0 switches it off (STGE only)"}
    )

    def __post_init__(self) -> None:
        choose("selection.estimator", self.estimator, ("stge", "ste"))
        at_least("selection.noise_hold", self.noise_hold, 1)
        if not 0 < self.temperature < float("inf"):
            raise ConfigError(f"selection.temperature (tau) must be above 0, got {self.temperature!r}")
        if not 0 <= self.constraint < 100:
            raise ConfigError(
                f"selection.constraint must be a percentile in [0, 100), got {self.constraint!r}"
            )

    @property
    def rate(self) -> float:
        """`1 / tau**2`, the factor inside the softmax; 0 stands for STE, which has no softmax."""
        return self.temperature**-2 if self.estimator == "stge" else 0.0


def barred(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where a term may be chosen, minus infinity where not; adding it is faster than a masked fill."""
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -torch.inf)


def hard_choice(logits: Tensor, noise: Tensor | None, mask: Tensor | None) -> Tensor:
    """Index over dim 0 of the greatest existing logit (plus noise); a tie goes to the lowest index."""
    scores = logits.clone() if noise is None else logits + noise
    if mask is not None:
        scores.add_(barred(mask, scores.dtype))
    if scores.device.type != "cpu":
        return scores.argmax(dim=0)
    # Plane by plane: on the CPU `argmax` over a short first dimension takes ten times as long.
    best, index = scores[0], torch.zeros(scores.shape[1:], dtype=torch.int16)
    for term in range(1, len(scores)):
        index.masked_fill_(scores[term] > best, term)
        best = torch.maximum(best, scores[term])
    return index.long()


def straight_through(logits: Tensor, noise: Tensor | None, rate: float) -> Tensor:
    """One-hot choice over dim 0 whose gradient is the softmax's (STGE) or reaches the logits unchanged (Eq. 10)."""
    relaxed = logits
    if rate > 0:
        relaxed = torch.softmax((logits if noise is None else logits + noise) * rate, dim=0)
    index = hard_choice(logits, noise, None)
    hard = torch.zeros_like(relaxed).scatter_(0, index.unsqueeze(0), 1.0)
    return hard + (relaxed - relaxed.detach())


def frequent_terms(x: Tensor, centers: Tensor, precisions: Tensor, mask: Tensor, percentile: float) -> Tensor:
    """The mask less the terms whose cardinality on this batch lies below their attribute's percentile (Appendix A).

    The greatest cardinality is never below a percentile, so every attribute keeps at least one term.
    """
    sizes = cardinality(x, centers, precisions).masked_fill(~mask, torch.nan)
    threshold = torch.nanquantile(sizes, percentile / 100, dim=1, keepdim=True)
    return mask & (sizes >= threshold)
