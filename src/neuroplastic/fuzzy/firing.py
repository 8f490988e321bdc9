"""From log-firing to firing levels: mean or sum, layer normalisation, certainty, alpha-entmax (steps 3 to 6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from entmax import entmax_bisect
from torch import Tensor
from torch.nn import functional as F

from ..errors import ConfigError, choose
from .backends import backend_for
from .precision import wide
from .sparse_rows import sparsemax

LAYER_NORM_EPS = 1e-5
# Closer to 1 than this, entmax differs from softmax by less than bisection can tell.
NEAR_SOFTMAX = 1e-8


@dataclass(frozen=True)
class Firing:
    """How firing levels are made of log-firings; with alpha 1 and no layer norm by Eq. 5, which is a softmax."""

    reduce: str = field(default="sum", metadata={"help": "'sum' (Eq. 6) or 'mean' (Eq. 12) over attributes"})
    alpha: float | str = field(
        default=1.5, metadata={"help": "entmax: 1 is softmax, 2 sparsemax, between them sparse; or 'learn'"}
    )
    layer_norm: bool = field(
        default=True, metadata={"help": "normalise log-firings over the rules (Eqs. 13-15)"}
    )
    certainty: str | None = field(
        default=None,
        metadata={"help": "a learned factor per rule: 'log' (adds its log), 'tanh' (multiplies) or None"},
    )

    def __post_init__(self) -> None:
        choose("firing.reduce", self.reduce, ("sum", "mean"))
        if self.certainty is not None:
            choose("firing.certainty", self.certainty, ("log", "tanh"))
        if isinstance(self.alpha, str):
            choose("firing.alpha", self.alpha, ("learn",))
        elif isinstance(self.alpha, bool) or not 1 <= self.alpha <= 2:
            raise ConfigError(f"firing.alpha must lie in [1, 2] or be 'learn', got {self.alpha!r}")


class RuleWeights(NamedTuple):
    """Gain and shift of the layer norm, and certainty, of each rule, (U,); without them 1, 0 and none."""

    gain: Tensor | None = None
    shift: Tensor | None = None
    certainty: Tensor | None = None


def firing_levels(
    sums: Tensor, attributes: int, firing: Firing, weights: RuleWeights, alpha: float | Tensor
) -> Tensor:
    """Firing levels (B, U), rows of which sum to 1 (Eq. 5), of log-firings that are sums over the attributes (Eq. 6).

    The mean instead (Eq. 12), layer norm (Eqs. 13-15), certainty and alpha-entmax (Eq. 7), as `firing` says; `alpha`
    is its own or the learned one.
    """
    levels = scores(sums, attributes, firing, weights)
    return entmax(levels, alpha.to(levels.dtype) if isinstance(alpha, Tensor) else alpha)


def scores(sums: Tensor, attributes: int, firing: Firing, weights: RuleWeights) -> Tensor:
    """What entmax gets, (B, U): log-firings after mean, layer norm and certainty. The highest fires strongest."""
    w = reduced(sums, attributes, firing)
    gain, shift, certainty = (None if own is None else own.to(w.dtype) for own in weights)
    if firing.layer_norm:
        w = layer_norm(w, gain, shift)
    if firing.certainty is not None and certainty is not None:
        w = with_certainty(w, certainty, firing.certainty)
    return w


def reduced(sums: Tensor, attributes: int, firing: Firing) -> Tensor:
    """Log-firing as `firing` has it: the sum over the attributes (Eq. 6), or their mean (Eq. 12)."""
    return sums / attributes if firing.reduce == "mean" else sums


def layer_norm(log_firing: Tensor, kappa: Tensor | None, beta: Tensor | None) -> Tensor:
    """Normalise over the rules with biased variance (Eqs. 13-15), then scale by kappa and shift by beta, per rule.

    Eq. 15 has no eps; one rule, or tied rules, would give 0/0, so 1e-5 is added to the variance. Computed in
    double precision: inputs far from every set have log-firings whose squares would overflow in single.
    """
    gain, shift = (None if own is None else wide(own) for own in (kappa, beta))
    return F.layer_norm(wide(log_firing), log_firing.shape[1:], gain, shift, LAYER_NORM_EPS).to(
        log_firing.dtype
    )


def with_certainty(log_firing: Tensor, certainty: Tensor, form: str) -> Tensor:
    """Weigh rules by how certain they are: `+ log sigmoid(certainty)` ('log') or `* tanh(certainty)` ('tanh').

    The second form has an odd effect: log-firing is negative, so less certainty makes a rule fire more.
    """
    if form == "log":
        return log_firing + F.logsigmoid(certainty)
    return log_firing * torch.tanh(certainty)


def entmax(log_firing: Tensor, alpha: float | Tensor) -> Tensor:
    """Firing levels: alpha-entmax over rules of the max-shifted log-firing (Eq. 7 for alpha = 1).

    Rows sum to 1; a row with a NaN, or without a greatest entry that is finite, is NaN.
    """
    if not isinstance(alpha, Tensor) and alpha == 1:
        return torch.softmax(log_firing, dim=1)  # shifts by itself
    shifted = log_firing - log_firing.detach().amax(dim=1, keepdim=True)
    if isinstance(alpha, Tensor):
        return _by_bisection(shifted, alpha)
    if alpha == 1.5:
        return backend_for(shifted).entmax15(shifted)
    if alpha == 2:
        return sparsemax(shifted)
    return _by_bisection(shifted, alpha)


def _by_bisection(shifted: Tensor, alpha: float | Tensor) -> Tensor:
    """Any alpha. In double precision, for the powers 1 / (alpha - 1) lose digits as alpha comes near to 1."""
    if isinstance(alpha, float) and alpha - 1 < NEAR_SOFTMAX:
        return torch.softmax(shifted, dim=1)
    levels: Tensor = entmax_bisect(wide(shifted), wide(alpha) if isinstance(alpha, Tensor) else alpha, dim=1)
    return levels.to(shifted.dtype)
