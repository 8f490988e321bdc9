"""From log-firing to firing levels: mean or sum, layer normalisation, certainty, alpha-entmax (steps 3 to 6)."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from entmax import entmax15, entmax_bisect, sparsemax
from torch import Tensor
from torch.nn import functional as F

from ..errors import ConfigError, choose

LAYER_NORM_EPS = 1e-5


@dataclass(frozen=True)
class Firing:
    """How firing levels are made of log-firings."""

    reduce: str = field(default="sum", metadata={"help": "'sum' (Eq. 6) or 'mean' (Eq. 12) over attributes"})
    alpha: float | str = field(
        default=1.5, metadata={"help": "entmax: 1 is softmax, 2 sparsemax, between them sparse; or 'learn'"}
    )
    layer_norm: bool = field(default=True, metadata={"help": "normalise log-firings over the rules (Eqs. 13-15)"})
    certainty: str | None = field(
        default=None, metadata={"help": "a learned factor per rule: 'log' (adds its log), 'tanh' (multiplies) or None"}
    )

    def __post_init__(self) -> None:
        choose("firing.reduce", self.reduce, ("sum", "mean"))
        if self.certainty is not None:
            choose("firing.certainty", self.certainty, ("log", "tanh"))
        if isinstance(self.alpha, str):
            choose("firing.alpha", self.alpha, ("learn",))
        elif isinstance(self.alpha, bool) or not 1 <= self.alpha <= 2:
            raise ConfigError(f"firing.alpha must lie in [1, 2] or be 'learn', got {self.alpha!r}")


def layer_norm(log_firing: Tensor, kappa: Tensor, beta: Tensor) -> Tensor:
    """Normalise over the rules with biased variance (Eqs. 13-15), then scale by kappa and shift by beta, per rule.

    Eq. 15 has no eps; one rule, or tied rules, would give 0/0, so 1e-5 is added to the variance as in
    PyTorch's layer norm. Rows are first divided by their greatest magnitude if that exceeds 1, so that
    squares of very small memberships' logarithms do not overflow; the result is the same.
    """
    scale = log_firing.detach().abs().amax(dim=1, keepdim=True).clamp_min(1)
    scaled = log_firing / scale
    centred = scaled - scaled.mean(dim=1, keepdim=True)
    variance = centred.square().mean(dim=1, keepdim=True)
    return centred * torch.rsqrt(variance + LAYER_NORM_EPS / scale / scale) * kappa + beta


def with_certainty(log_firing: Tensor, certainty: Tensor, form: str) -> Tensor:
    """Weigh rules by how certain they are: `+ log sigmoid(certainty)` ('log') or `* tanh(certainty)` ('tanh').

    The second form has an odd effect: log-firing is negative, so less certainty makes a rule fire more.
    """
    if form == "log":
        return log_firing + F.logsigmoid(certainty)
    return log_firing * torch.tanh(certainty)


def entmax(log_firing: Tensor, alpha: float | Tensor) -> Tensor:
    """Firing levels: alpha-entmax over rules of the max-shifted log-firing (Eq. 7 for alpha = 1); rows sum to 1."""
    shifted = log_firing - log_firing.detach().amax(dim=1, keepdim=True)
    if isinstance(alpha, Tensor):
        return _by_bisection(shifted, alpha)
    if alpha == 1:
        return torch.softmax(shifted, dim=1)
    if alpha == 1.5:
        return entmax15(shifted, dim=1)  # type: ignore[no-any-return]
    if alpha == 2:
        return sparsemax(shifted, dim=1)  # type: ignore[no-any-return]
    return _by_bisection(shifted, alpha)


def _by_bisection(shifted: Tensor, alpha: float | Tensor) -> Tensor:
    return entmax_bisect(shifted, alpha, dim=1)  # type: ignore[no-any-return]
