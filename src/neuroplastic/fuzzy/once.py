"""Gradients that cannot be differentiated again, and the refusal, by name, of what would ask for that.

Our backward passes are written by hand, for one batch and first derivatives. PyTorch's own `once_differentiable` leaves
a second derivative 0 in silence where it is asked for by `torch.autograd.grad` and not by `backward`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ..errors import TransformError
from .tracing import traced

_TWICE = (
    "the gradients of a neuro-fuzzy network cannot be differentiated again (a gradient penalty, a Hessian); take "
    "differences of first derivatives, or penalise the rules themselves"
)
_FUNC = (
    "torch.func's transforms (vmap, grad, jvp, jacrev, hessian) do not go through a neuro-fuzzy network; it takes a "
    "whole batch at once, and torch.autograd.functional.jacobian, without vectorize, gives its derivatives"
)


def refuse_transforms(x: Tensor) -> None:
    """Raise a TransformError inside a transform of torch.func, or for an input that carries a forward derivative."""
    if _inside_func() or (_forward_level() >= 0 and _tangent(x) is not None):
        raise TransformError(_FUNC)


def _inside_func() -> bool:
    return torch._C._functorch.peek_interpreter_stack() is not None


def _forward_level() -> int:
    return int(forward_ad._current_level)


def _tangent(x: Tensor) -> Tensor | None:
    found: Tensor | None = forward_ad.unpack_dual(x).tangent  # type: ignore[no-untyped-call]
    return found


def _is_batched(gradient: Any) -> bool:
    return isinstance(gradient, Tensor) and torch._C._functorch.is_legacy_batchedtensor(gradient)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """A backward pass without a graph of its own; whoever differentiates its results gets a TransformError."""

    @functools.wraps(backward)
    def once(ctx: Any, *gradients: Any) -> Any:
        if traced():  # compiled code refuses second derivatives itself
            with torch.no_grad():
                return backward(ctx, *gradients)
        if _inside_func() or any(map(_is_batched, gradients)):  # is_grads_batched, or jacobian with vectorize
            raise TransformError(_FUNC)
        with torch.no_grad():
            outputs = backward(ctx, *gradients)
        if not torch.is_grad_enabled():
            return outputs
        several = isinstance(outputs, tuple)
        made = outputs if several else (outputs,)
        again = iter(_marked([each for each in made if isinstance(each, Tensor)], _origins(ctx, gradients)))
        marked = tuple(next(again) if isinstance(each, Tensor) else each for each in made)
        return marked if several else marked[0]

    return once


def _origins(ctx: Any, gradients: tuple[Any, ...]) -> list[Tensor]:
    """What a gradient depends on: the gradients that came in, and what the forward pass kept."""
    kept: tuple[Any, ...] = ()
    with suppress(RuntimeError):  # gradient checkpointing gives what is kept only once, to the backward pass
        kept = ctx.saved_tensors
    return [each for each in (*gradients, *kept) if isinstance(each, Tensor) and each.requires_grad]


def _marked(outputs: list[Tensor], origins: list[Tensor]) -> tuple[Tensor, ...]:
    if not outputs or not origins:
        return tuple(outputs)
    marked: tuple[Tensor, ...] = _NotAgain.apply(len(outputs), *outputs, *origins)  # type: ignore[no-untyped-call]
    return marked


class _NotAgain(torch.autograd.Function):
    """Hands tensors on; a derivative of them by what they came from is refused."""

    @staticmethod
    def forward(ctx: Any, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tuple(tensor.view_as(tensor) for tensor in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        raise TransformError(_TWICE)
