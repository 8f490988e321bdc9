"""What a network takes: inputs that are checked, in the precision that is computed in, of bounded magnitude."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..errors import InputError
from ..fuzzy.membership import input_limit
from ..fuzzy.once import refuse_transforms
from ..fuzzy.tracing import may_look, traced

if TYPE_CHECKING:
    from .antecedent import Antecedent


def computing(dtype: torch.dtype) -> torch.dtype:
    """Half precisions have too few digits for squared distances: compute in single precision."""
    return dtype if dtype in (torch.float32, torch.float64) else torch.float32


def bounded(x: Tensor, antecedent: Antecedent) -> Tensor:
    """The input in the precision that is computed in, its magnitude bounded so that its square is finite."""
    x = x.to(computing(antecedent.centers.dtype))
    limit = input_limit(x.dtype)
    if may_look(x) and x.numel():
        least, greatest = torch.aminmax(x.detach())
        if -limit <= float(least) and float(greatest) <= limit:
            return x  # nothing to bound, nothing for the backward pass to do
    within = x.clamp(-limit, limit)
    # An infinite input, which the host would have refused, must not pass for the farthest one.
    return within if traced() or may_look(x) else within + (x - x).detach()


def check_input(x: Tensor, attributes: int) -> None:
    """Raise an InputError unless x is (B, D), floating and finite."""
    if not isinstance(x, Tensor):
        raise InputError(f"x must be a torch tensor, got {type(x).__name__}; use torch.as_tensor(x)")
    if not traced():
        refuse_transforms(x)
    if x.is_meta:
        raise InputError(
            "x must have numbers, and has none on the meta device; move network and x to a real one"
        )
    if x.dim() != 2 or x.shape[1] != attributes:
        raise InputError(f"x must have {attributes} columns (one per attribute), got shape {tuple(x.shape)}")
    if not x.is_floating_point():
        raise InputError(f"x must be floating point, got {x.dtype}; use x.float()")
    # A finite sum proves finite entries; only a sum that overflowed or met a NaN needs a closer look.
    if may_look(x) and not math.isfinite(float(x.detach().sum())):
        finite = torch.isfinite(x.detach())
        if not bool(finite.all()):
            row, column = (~finite).nonzero()[0].tolist()
            raise InputError(f"x must be finite, got {float(x[row, column])} at row {row}, column {column}")


def check_real(parameter: Tensor) -> None:
    """Raise an InputError for a network on the meta device, which has shapes and no numbers."""
    if parameter.is_meta:
        raise InputError(
            "this network lies on the meta device and has no numbers to compute with; give it some: "
            "net.to_empty(device='cpu'), then load_state_dict"
        )
