"""What a backend computes. Letters: B batch, D attributes, T terms, U rules; sets are tables (D, T)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor

from .. import growing, splitmix
from ..growing import Nursery, Terms
from ..precision import wide
from ..welford import Moments


class Chosen(NamedTuple):
    """The selected term of every attribute and rule, its centre and its precision, each (D, U)."""

    term: Tensor
    center: Tensor
    precision: Tensor


class Draw(NamedTuple):
    """Gumbel noise that nobody has made yet, of `Backend.gumbel`: the network's seed (1,) and the draw's number."""

    seed: Tensor
    number: Tensor
    scale: float
    fall: float


class Normed(NamedTuple):
    """What `Backend.norm_relu_drop` gives, and what its gradient needs.

    `mean`, `variance` and `scale = 1 / sqrt(variance + eps)` are per channel, (C,). `rows` are the input with
    `center` (R,) yet to be subtracted, or, where that is None, with the mean subtracted already.
    """

    y: Tensor
    mean: Tensor
    variance: Tensor
    scale: Tensor
    rows: Tensor
    center: Tensor | None


class Backend(ABC):
    """One implementation of the computations. All tensors of a call share a device and a floating type.

    Any strides will do. Precisions are `1 / (2 widths**2)`, so never negative. NaN is never lost: where a number that
    counts is NaN, so is what depends on it. A term that `mask` leaves out does not count, whatever its slot holds.
    """

    name: str

    @abstractmethod
    def serves(self, tensor: Tensor, terms: int) -> bool:
        """Whether it can work on tensors of this device and type, with so many terms of an attribute."""

    @abstractmethod
    def select(
        self, logits: Tensor, noise: Tensor | None, mask: Tensor, centers: Tensor, precisions: Tensor
    ) -> Chosen:
        """One existing term per attribute and rule (Eq. 9): `argmax_t logits[t,d,u] + noise[t,d,u]`, (D, U).

        Logits and noise are (T, D, U), `mask` says which of the (D, T) sets exist. A tie goes to the lowest term.
        The centre is NaN where there is nothing to choose by: an existing term's score is NaN, the chosen set's
        centre or precision is not finite, or the attribute has no term.
        """

    @abstractmethod
    def distance(self, x: Tensor, center: Tensor, precision: Tensor) -> Tensor:
        """Log-firing (Eq. 6), (B, U): `-sum_d precision[d,u] * (x[b,d] - center[d,u])**2` of x (B, D)."""

    @abstractmethod
    def gradient(
        self,
        logits: Tensor,
        noise: Tensor | None,
        mask: Tensor,
        term: Tensor,
        centers: Tensor,
        precisions: Tensor,
        moments: tuple[Tensor, Tensor, Tensor],
        rate: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Gradients of logits (T, D, U), centres and precisions (D, T) through the choice of `term` (Eq. 10).

        `moments` of the gradient g (B, U) of the log-firing: `sum_b g` (U,), `sum_b x g` and `sum_b x**2 g` (D, U),
        with x and the centres measured from one origin; the eager backend also takes one g per attribute, `sum_b g`
        (D, U). The gradient of the one-hot choice of term t is
        `q_t = -s_t (G2 - 2 c_t G1 + c_t**2 G0)`. STE (`rate` 0) hands it to the logit as it is; STGE (`rate`
        1 / tau**2) through the softmax p of the scores: `p_t (q_t - sum_k p_k q_k) rate`.
        """

    @abstractmethod
    def uncovered(
        self, x: Tensor, centers: Tensor, precisions: Tensor, mask: Tensor, limit: float
    ) -> Moments:
        """Moments, each (D,), of the values of x (B, D) with `min_t precision * (x - center)**2 > limit`.

        A set whose centre or precision is not finite covers nothing.
        """

    def fire(
        self,
        x: Tensor,
        centers: Tensor,
        raw_widths: Tensor,
        logits: Tensor,
        mask: Tensor,
        draw: Draw | None,
        rate: float,
    ) -> Tensor | None:
        """Log-firing (B, U) with its gradients, choice, noise and bounds of x included; None where there is no such
        step, and the others are taken."""
        return None

    def norm_entmax15(
        self, w: Tensor, gain: Tensor, shift: Tensor, factor: float, eps: float
    ) -> Tensor | None:
        """1.5-entmax of the layer norm over the rules of `factor * w`, (B, U), with its gradients; None as above."""
        return None

    def observe(self, x: Tensor, nursery: Nursery, terms: Terms, limit: float) -> bool:
        """`uncovered`, its merge into the statistics and `grow` in one step, and True; False where there is none.

        x (B, D) need not be bounded, and the batch is counted already. "Any" covers nothing.
        """
        return False

    def grow(self, nursery: Nursery, terms: Terms) -> None:
        """Births without a look at any value, in place, once a batch's uncovered values are in the statistics."""
        growing.grow(nursery, terms)

    @abstractmethod
    def entmax15(self, shifted: Tensor) -> Tensor:
        """1.5-entmax over dim 1 of (B, U) rows whose greatest entry is 0, differentiable; a NaN fills its row."""

    @abstractmethod
    def uniform(self, seed: int, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """Uniform float32 numbers in (0, 1), never 0 or 1: element i is a function of `seed` and i alone."""

    def gumbel(
        self,
        seed: Tensor,
        draw: Tensor,
        scale: float,
        fall: float,
        shape: tuple[int, ...],
        dtype: torch.dtype,
    ) -> Tensor:
        """`scale * max(0, 1 - draw * fall) * -log(-log(u))`, u the uniform numbers of `mix(seed, draw)`.

        Seed (1,) and draw, one number, are whole numbers that nobody looks at.
        """
        noise = splitmix.uniform_of(splitmix.mixed(seed, draw), shape).to(dtype).log().neg().log().neg()
        return noise * (scale * (1 - wide(draw) * fall).clamp_min(0.0))

    def count_pass(self, x: Tensor, passes: Tensor, spoilt: Tensor, hold: int) -> Tensor:
        """Count a pass on x, and give the number of its draw of noise, `(passes - 1) // hold`; no value is looked at.

        If x is not finite, the pass is kept in `spoilt`, unless that is above 0 already.
        """
        passes.add_(1)
        fault = torch.where(x.isfinite().all(), 0, passes)
        spoilt.copy_(spoilt.where(spoilt > 0, fault))
        return (passes - 1) // hold

    @abstractmethod
    def norm_relu_drop(
        self, rows: Tensor, weight: Tensor, bias: Tensor, dropout: float, eps: float
    ) -> Normed:
        """Batch norm, ReLU and dropout of rows (N, R), R a multiple of the C channels, which run fastest.

        `y = max(0, weight * (x - mean) * scale + bias)`, a share `dropout` of it 0, rounded to a multiple of
        1 / 65536. Which units drop is drawn from torch's generator, by each backend in its own way.
        """

    @abstractmethod
    def norm_relu_drop_gradient(
        self, gradient: Tensor, normed: Normed, weight: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Gradients of rows (N, R), weight and bias (C,) from that of y (N, R), which passes where y is above 0.

        With h = (x - mean) scale and means over the batch: `weight * scale * (g - mean(g) - h mean(g h))`.
        """
