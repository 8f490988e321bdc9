"""From log-firing to firing levels: how premises are put together, layer norm, certainty, alpha-entmax, balance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from ..errors import ConfigError, choose, within
from .backends import backend_for
from .precision import wide
from .sparse_rows import bisected, sparsemax

REDUCE = ("sum", "mean", "scaled", "worst")
# A gain lies between the inverse of this and this: log-firings of the farthest inputs stay finite in single precision.
MOST_GAIN = 1e8
LAYER_NORM_EPS = 1e-5
# Closer to 1 than this, entmax differs from softmax by less than bisection can tell.
NEAR_SOFTMAX = 1e-8


@dataclass(frozen=True)
class Firing:
    """How firing levels are made of log-firings; with alpha 1 and no layer norm by Eq. 5, which is a softmax."""

    reduce: str = field(
        default="sum",
        metadata={
            "help": "'sum' (Eq. 6), 'mean' (Eq. 12), 'scaled' (g * sum / sqrt(D)) or 'worst' (g * min) of premises"
        },
    )
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
    gain: float = field(
        default=1.0,
        metadata={"help": "where g, the gain of 'scaled' and 'worst', begins; it learns, one for all rules"},
    )
    power: float | str = field(
        default=8.0,
        metadata={"help": "of 'worst' in training, a soft minimum: from 1 (the sum) to inf (the minimum)"},
    )
    balance: float = field(
        default=0.0,
        metadata={"help": "price of rules that fire unevenly in training: times KL(mean firing || uniform)"},
    )
    fitting: float = field(
        default=0.0,
        metadata={"help": "price of rules that fire where their worst premise fits below .5; needs 'worst'"},
    )

    def __post_init__(self) -> None:
        choose("firing.reduce", self.reduce, REDUCE)
        if self.certainty is not None:
            choose("firing.certainty", self.certainty, ("log", "tanh"))
        if isinstance(self.alpha, str):
            choose("firing.alpha", self.alpha, ("learn",))
        elif isinstance(self.alpha, bool) or not 1 <= self.alpha <= 2:
            raise ConfigError(f"firing.alpha must lie in [1, 2] or be 'learn', got {self.alpha!r}")
        within("firing.gain", self.gain, 1 / MOST_GAIN, MOST_GAIN)
        within("firing.balance", self.balance, 0)
        within("firing.fitting", self.fitting, 0)
        if self.fitting and self.reduce != "worst":
            raise ConfigError(
                f"firing.fitting needs rules that are compared by their worst premise, got {self.fitting!r} with "
                f"reduce={self.reduce!r}; set reduce='worst'"
            )
        if self.power in ("inf", math.inf):
            object.__setattr__(self, "power", "inf")  # JSON has no infinity, but text
        elif isinstance(self.power, bool) or not isinstance(self.power, (int, float)) or not self.power >= 1:
            raise ConfigError(f"firing.power must be a number of at least 1 or 'inf', got {self.power!r}")

    @property
    def has_gain(self) -> bool:
        """Whether log-firings are multiplied with a gain, which networks learn."""
        return self.reduce in ("scaled", "worst")

    def share(self, attributes: int) -> float:
        """What each premise's log-membership is multiplied with in the log-firing, as a number; see `reduced`."""
        shares = {
            "sum": 1.0,
            "mean": 1 / attributes,
            "scaled": self.gain / math.sqrt(attributes),
            "worst": self.gain,
        }
        return shares[self.reduce]

    def norm(self, *, training: bool) -> float | None:
        """The power of the norm that premises are compared by (see `fuzzy.worst`); None where they are summed."""
        if self.reduce != "worst":
            return None
        return float(self.power) if training else math.inf


class RuleWeights(NamedTuple):
    """Gain and shift of the layer norm, and certainty, of each rule, (U,); without them 1, 0 and none.

    `scale` is the gain of 'scaled' and 'worst', one number for all rules; without it `Firing.gain`.
    """

    gain: Tensor | None = None
    shift: Tensor | None = None
    certainty: Tensor | None = None
    scale: Tensor | None = None


def firing_levels(
    sums: Tensor, attributes: int, firing: Firing, weights: RuleWeights, alpha: float | Tensor
) -> Tensor:
    """Firing levels (B, U), rows of which sum to 1 (Eq. 5), of log-firings that are sums over the attributes (Eq. 6).

    The mean instead (Eq. 12), a gain, layer norm (Eqs. 13-15), certainty and alpha-entmax (Eq. 7), as `firing` says;
    `alpha` is its own or the learned one.
    """
    fused = _in_one_step(sums, attributes, firing, weights)
    if fused is not None:
        return fused
    levels = scores(sums, attributes, firing, weights)
    return entmax(levels, alpha.to(levels.dtype) if isinstance(alpha, Tensor) else alpha)


def _in_one_step(sums: Tensor, attributes: int, firing: Firing, weights: RuleWeights) -> Tensor | None:
    """The firing levels, where a backend has layer norm and 1.5-entmax as one step and `firing` asks for that."""
    own = weights.gain, weights.shift
    if sums.is_cpu or firing.alpha != 1.5 or not firing.layer_norm or firing.has_gain:
        return None
    if firing.certainty == "tanh":
        return None
    gain, shift = (
        sums.new_full(sums.shape[1:], default) if part is None else part.to(sums.dtype)
        for part, default in zip(own, (1.0, 0.0), strict=True)
    )
    if weights.certainty is not None and firing.certainty == "log":  # which adds to the shift
        shift = with_certainty(shift, weights.certainty.to(sums.dtype), "log")
    return backend_for(sums).norm_entmax15(sums, gain, shift, firing.share(attributes), LAYER_NORM_EPS)


def scores(sums: Tensor, attributes: int, firing: Firing, weights: RuleWeights) -> Tensor:
    """What entmax gets, (B, U): log-firings after mean or gain, layer norm, certainty. The highest fires strongest."""
    gain, shift, certainty, scale = (None if own is None else own.to(sums.dtype) for own in weights)
    w = reduced(sums, attributes, firing, scale)
    if firing.layer_norm:
        w = layer_norm(w, gain, shift)
    if firing.certainty is not None and certainty is not None:
        w = with_certainty(w, certainty, firing.certainty)
    return w


def gain_from_log(log_gain: Tensor) -> Tensor:
    """The gain of 'scaled' and 'worst' of what networks store: `exp(log_gain)`, never 0 and never beyond all bounds.

    At its bounds it still has a gradient, which leads back; of NaN, that is NaN too.
    """
    limit = math.log(MOST_GAIN)
    excess = log_gain.detach() - log_gain.detach().clamp(-limit, limit)
    return (log_gain - excess).exp()


def reduced(sums: Tensor, attributes: int, firing: Firing, scale: Tensor | None = None) -> Tensor:
    """Log-firing as `firing` has it: the sum over the attributes (Eq. 6), their mean (Eq. 12), or `g sum / sqrt(D)`.

    Of 'worst', what is given is the worst premise's log-membership instead of a sum, and becomes `g` times that. The
    gain g is `scale`, by default that of `firing`.
    """
    if firing.reduce == "mean":
        return sums / attributes
    if not firing.has_gain:
        return sums
    gain = firing.gain if scale is None else scale
    return sums * (gain / attributes**0.5 if firing.reduce == "scaled" else gain)


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
    levels = bisected(wide(shifted), wide(alpha) if isinstance(alpha, Tensor) else alpha)
    return levels.to(shifted.dtype)
