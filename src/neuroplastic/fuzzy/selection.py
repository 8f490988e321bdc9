"""Premise selection: which term of each attribute a rule uses, chosen hard and learned by gradient (Eqs. 8-11).

Logits are term-major, (T, ..., U): one contiguous plane per term.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from ..errors import ConfigError, at_least, choose, within
from .membership import cardinality
from .tracing import may_look

_INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}

# Below it, or above its inverse, the square of a temperature is no double.
LEAST_TEMPERATURE = 1e-150
# The largest start and price: what is added to logits must be a number in half precision, too.
MOST_ADDED = 1e4


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
    noise: float = field(
        default=1.0, metadata={"help": "scale of the Gumbel noise; 0 makes none (STGE only)"}
    )
    noise_passes: int | None = field(
        default=None, metadata={"help": "training passes in which the noise falls to 0; none: it never does"}
    )
    start: float = field(
        default=0.0,
        metadata={"help": "a clear start: so much is added to the logit of one random set of each premise"},
    )
    any: bool = field(
        default=False, metadata={"help": 'whether rules may choose "any", and so drop a premise'}
    )
    price: float = field(
        default=0.0, metadata={"help": 'what a premise that is not "any" adds to the loss; needs any'}
    )
    start_premises: int | None = field(
        default=None,
        metadata={"help": 'premises that a rule starts with, the others at "any"; needs any and start'},
    )

    def __post_init__(self) -> None:
        choose("selection.estimator", self.estimator, ("stge", "ste"))
        at_least("selection.noise_hold", self.noise_hold, 1)
        if not LEAST_TEMPERATURE <= self.temperature <= 1 / LEAST_TEMPERATURE:
            raise ConfigError(
                f"selection.temperature (tau) must be above 0 ({LEAST_TEMPERATURE:g} to {1 / LEAST_TEMPERATURE:g}), "
                f"got {self.temperature!r}"
            )
        if not 0 <= self.constraint < 100:
            raise ConfigError(
                f"selection.constraint must be a percentile in [0, 100), got {self.constraint!r}"
            )
        within("selection.noise", self.noise, 0)
        if self.noise_passes is not None:
            at_least("selection.noise_passes", self.noise_passes, 1)
        within("selection.start", self.start, 0, MOST_ADDED)
        within("selection.price", self.price, 0, MOST_ADDED)
        if not isinstance(self.any, bool):
            raise ConfigError(f"selection.any must be true or false, got {self.any!r}")
        if self.price > 0 and not self.any:
            raise ConfigError(
                f"selection.price needs a premise that costs nothing, got price={self.price!r} with any=False; "
                "set any=True"
            )
        if self.start_premises is not None:
            at_least("selection.start_premises", self.start_premises, 0)
            if not (self.any and self.start > 0):
                raise ConfigError(
                    f"selection.start_premises needs any=True and a start above 0, got any={self.any}, "
                    f"start={self.start!r}"
                )

    @property
    def rate(self) -> float:
        """`1 / tau**2`, the factor inside the softmax; 0 stands for STE, which has no softmax."""
        return self.temperature**-2 if self.estimator == "stge" else 0.0

    def noise_scale(self, draw: int) -> float:
        """What the draw of this number is multiplied by: the scale at its first pass, 0 with STE.

        A function of the draw alone: a pass that is computed again, or after a resume, sees the same.
        """
        if self.estimator == "ste":
            return 0.0
        if self.noise_passes is None:
            return self.noise
        return self.noise * max(0.0, 1 - draw * self.noise_hold / self.noise_passes)

    @property
    def noise_fall(self) -> float:
        """How much of the noise is gone with each draw: `noise_scale` is `noise * max(0, 1 - draw * noise_fall)`."""
        return 0.0 if self.noise_passes is None else self.noise_hold / self.noise_passes


def bar(scores: Tensor, mask: Tensor) -> Tensor:
    """The scores, in place: minus infinity where `mask` says that a term may not be chosen, whatever stood there."""
    # NaN times 0 and NaN minus infinity are NaN, and a masked fill takes ten times as long: blank the bits, then add.
    bits = _INTEGERS[scores.element_size()]
    scores.view(bits).bitwise_and_(mask.to(bits).neg_())
    return scores.add_(mask.to(scores.dtype).log_())


class Greatest(NamedTuple):
    """The greatest score over the terms, which term's it is, and whether all are known to be finite."""

    score: Tensor
    term: Tensor
    finite: bool


def greatest(logits: Tensor, noise: Tensor | None, mask: Tensor | None) -> Greatest:
    """The greatest existing logit (plus noise) over dim 0; NaN if one of them is. A tie goes to the lowest term.

    A missing term is never chosen, even if all others stand at minus infinity, unless there is no other.
    """
    scores = logits.clone() if noise is None else logits + noise
    if mask is not None:
        scores = bar(scores, mask)
    if scores.device.type == "cpu":
        # Plane by plane: on the CPU `max` over a short first dimension takes ten times as long.
        best, index = scores[0], scores.new_zeros(scores.shape[1:], dtype=torch.int16)
        for term in range(1, len(scores)):
            index.masked_fill_(scores[term] > best, term)
            best = torch.maximum(best, scores[term])
        index = index.long()
    else:
        best, index = scores.max(dim=0)
    finite = may_look(best) and math.isfinite(float(best.detach().sum()))
    if mask is not None and not finite:
        index = index.where(best != -torch.inf, mask.to(torch.uint8).argmax(dim=0))
    return Greatest(best, index, finite)


def hard_choice(logits: Tensor, noise: Tensor | None, mask: Tensor | None) -> Tensor:
    """Index over dim 0 of the greatest existing logit (plus noise); a tie goes to the lowest index."""
    return greatest(logits, noise, mask).term


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

    The greatest cardinality is never below a percentile, so every attribute keeps at least one term. A set that is
    NaN stays, for nothing says that it is rare: a rule that uses it must show it.
    """
    sizes = cardinality(x, centers, precisions).masked_fill(~mask, torch.nan)
    return mask & ~(sizes < _quantile(sizes, percentile / 100))


def _quantile(rows: Tensor, share: float) -> Tensor:
    """Of each row, (n, 1), as `torch.nanquantile`, which in some versions looks at values: a GPU is waited for then."""
    ordered = rows.sort(dim=1).values  # NaN comes last
    count = ordered.isnan().logical_not().sum(dim=1, keepdim=True)
    place = (share * (count - 1).to(rows.dtype)).clamp_min(0)
    below = place.floor()
    lower, upper = (ordered.gather(1, rank.long()) for rank in (below, place.ceil()))
    return lower.lerp(upper, place - below)
