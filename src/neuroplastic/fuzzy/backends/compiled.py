"""The fused C library, for CPU tensors in single and double precision.

C reads and writes memory without looking, so every tensor passes `_dense` on its way there: its type, device and shape
are compared, and what does not lie in one piece is copied.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...errors import InputError
from ..once import once_differentiable
from ..welford import Moments
from . import channels
from .interface import Backend, Chosen, Normed
from .library import Library

# The library counts the terms of an attribute in one byte.
MOST_TERMS = 255
# Below this many elements a second thread costs more than it brings.
SERIAL_BELOW = 1 << 15

_SEEDS = 2**64


class Compiled(Backend):
    """One pass over memory where eager PyTorch makes a dozen."""

    name = "compiled"

    def __init__(self, library: Library) -> None:
        self._of, self._uniform = library.of, library.uniform

    def _call(self, name: str, dtype: torch.dtype, *arguments: Tensor | float | None) -> Any:
        """Call a function of the library. Tensors go by their addresses, which nobody checks any more."""
        addresses = [item.data_ptr() if isinstance(item, Tensor) else item for item in arguments]
        return self._of[dtype][name](*addresses)

    def serves(self, tensor: Tensor, terms: int) -> bool:
        """On the CPU, in single or double precision, with at most 255 terms."""
        return tensor.is_cpu and tensor.dtype in self._of and terms <= MOST_TERMS

    def select(
        self, logits: Tensor, noise: Tensor | None, mask: Tensor, centers: Tensor, precisions: Tensor
    ) -> Chosen:
        """See `Backend`."""
        (T, D, U), dtype = _sizes("logits", logits, 3), logits.dtype
        _check_terms(T)
        logits = _dense("logits", logits, (T, D, U), dtype)
        noise = None if noise is None else _dense("noise", noise, (T, D, U), dtype)
        mask = _dense("mask", mask, (D, T), torch.bool)
        centers = _dense("centers", centers, (D, T), dtype)
        precisions = _dense("precisions", precisions, (D, T), dtype)
        term = logits.new_empty(D, U, dtype=torch.uint8)
        center, precision = logits.new_empty(D, U), logits.new_empty(D, U)
        inputs, outputs = (logits, noise, mask, centers, precisions), (term, center, precision)
        self._call("select", dtype, *inputs, *outputs, T, D, U, _threads(T * D * U))
        return Chosen(term, center, precision)

    def distance(self, x: Tensor, center: Tensor, precision: Tensor) -> Tensor:
        """Differences are formed before squaring, so narrow sets far from zero lose no digits."""
        (B, D), dtype = _sizes("x", x, 2), x.dtype
        _, U = _sizes("center", center, 2)
        x = _dense("x", x, (B, D), dtype)
        center = _dense("center", center, (D, U), dtype)
        precision = _dense("precision", precision, (D, U), dtype)
        out = x.new_empty(B, U)
        if self._call("distance", dtype, x, center, precision, out, B, D, U, _threads(B * D * U)):
            raise MemoryError(f"no memory is left for the log-firing of {U} rules over {D} attributes")
        return out

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
        """See `Backend`."""
        (T, D, U), dtype = _sizes("logits", logits, 3), logits.dtype
        _check_terms(T)
        zeroth, first, second = moments
        logits = _dense("logits", logits, (T, D, U), dtype)
        noise = None if noise is None else _dense("noise", noise, (T, D, U), dtype)
        mask = _dense("mask", mask, (D, T), torch.bool)
        term = _dense("term", term, (D, U), torch.uint8)
        centers = _dense("centers", centers, (D, T), dtype)
        precisions = _dense("precisions", precisions, (D, T), dtype)
        first = _dense("first moments", first, (D, U), dtype)
        second = _dense("second moments", second, (D, U), dtype)
        zeroth = _dense("zeroth moments", zeroth, (U,), dtype)
        grads = logits.new_empty(T, D, U), logits.new_empty(D, T), logits.new_empty(D, T)
        inputs = (logits, noise, mask, term, centers, precisions, first, second, zeroth)
        self._call("gradient", dtype, *inputs, rate, *grads, T, D, U, _threads(T * D * U))
        return grads

    def uncovered(
        self, x: Tensor, centers: Tensor, precisions: Tensor, mask: Tensor, limit: float
    ) -> Moments:
        """See `Backend`."""
        (B, D), dtype = _sizes("x", x, 2), x.dtype
        _, T = _sizes("centers", centers, 2)
        x = _dense("x", x, (B, D), dtype)
        centers = _dense("centers", centers, (D, T), dtype).t().contiguous()
        precisions = _dense("precisions", precisions, (D, T), dtype).t().contiguous()
        mask = _dense("mask", mask, (D, T), torch.bool).t().contiguous()
        moments = Moments(x.new_empty(D), x.new_empty(D), x.new_empty(D))
        inputs = (x, centers, precisions, mask)
        self._call("uncovered", dtype, *inputs, limit, *moments, B, D, T, _threads(B * D * T))
        return moments

    def entmax15(self, shifted: Tensor) -> Tensor:
        """See `Backend`."""
        levels: Tensor = _Entmax15.apply(shifted, self)  # type: ignore[no-untyped-call]
        return levels

    def entmax15_levels(self, shifted: Tensor) -> Tensor:
        """`entmax15` without its gradient."""
        (B, U), dtype = _sizes("log-firing", shifted, 2), shifted.dtype
        shifted = _dense("log-firing", shifted, (B, U), dtype)
        out = shifted.new_empty(B, U)
        self._call("entmax15", dtype, shifted, out, B, U, _threads(B * U))
        return out

    def uniform(self, seed: int, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """See `Backend`."""
        out = torch.empty(shape, device="cpu", dtype=torch.float32)
        count = out.numel()
        self._uniform(seed % _SEEDS, out.data_ptr(), count, _threads(count))
        return out

    def norm_relu_drop(
        self, rows: Tensor, weight: Tensor, bias: Tensor, dropout: float, eps: float
    ) -> Normed:
        """Two passes over memory for the statistics, one for the output."""
        (N, R), dtype = _sizes("rows", rows, 2), rows.dtype
        rows = _dense("rows", rows, (N, R), dtype)
        width, count = channels.sizes(rows, weight)
        mean = channels.summed(self._sums(rows, None), width) / count
        center = mean.repeat(width)
        variance = channels.summed(self._sums(rows, center), width) / count
        scale = torch.rsqrt(variance + eps)
        slope = _dense("weight", (weight * scale).repeat(width), (R,), dtype)
        shift = _dense("bias", bias.repeat(width), (R,), dtype)
        y = rows.new_empty(N, R)
        seed = int(torch.randint(2**63 - 1, (), device="cpu")) if dropout else 0
        dropped = round(dropout * 2**16)
        inputs = (rows, center, slope, shift)
        self._call("norm_apply", dtype, *inputs, seed, dropped, y, N, R, _threads(N * R))
        return Normed(y, mean, variance, scale, rows, center)

    def _sums(self, rows: Tensor, center: Tensor | None) -> Tensor:
        """Sums over rows (N, R) of x, or of `(x - center)**2` with a center (R,); (R,)."""
        N, R = rows.shape
        threads = _threads(N * R)
        totals = rows.new_empty(threads, R)
        self._call("norm_sums", rows.dtype, rows, center, totals, N, R, threads)
        return totals.sum(dim=0)

    def norm_relu_drop_gradient(
        self, gradient: Tensor, normed: Normed, weight: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Two passes over memory."""
        (N, R), dtype = _sizes("gradient", gradient, 2), normed.y.dtype
        if normed.center is None:
            raise InputError("this backend takes the gradient of what it normalised itself")
        gradient = _dense("gradient", gradient, (N, R), dtype)
        y, rows = _dense("y", normed.y, (N, R), dtype), _dense("rows", normed.rows, (N, R), dtype)
        center = _dense("center", normed.center, (R,), dtype)
        width, count = channels.sizes(rows, weight)
        threads, inputs = _threads(N * R), (gradient, y, rows, center)
        totals = rows.new_empty(2, threads, R)
        self._call("norm_gradient_sums", dtype, *inputs, totals[0], totals[1], N, R, threads)
        zeroth, first = totals.sum(dim=1)
        of_bias, of_weight = channels.summed(zeroth, width), channels.summed(first, width) * normed.scale
        parts = channels.input_gradient(weight, normed.scale, of_weight, of_bias, count)
        slope, lean, shift = (_dense("weight", part.repeat(width), (R,), dtype) for part in parts)
        dx = rows.new_empty(N, R)
        self._call("norm_gradient", dtype, *inputs, slope, lean, shift, dx, N, R, threads)
        return dx, of_weight, of_bias


class _Entmax15(torch.autograd.Function):
    """The library's forward pass; the gradient is that of the `entmax` package: J = diag(s) - s s^T / sum(s)."""

    @staticmethod
    def forward(ctx: Any, shifted: Tensor, backend: Compiled) -> Tensor:
        levels = backend.entmax15_levels(shifted)
        ctx.save_for_backward(levels)
        return levels

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (levels,) = ctx.saved_tensors
        slope = levels.sqrt()
        scaled = grad * slope
        mean: Tensor = scaled.sum(dim=1, keepdim=True) / slope.sum(dim=1, keepdim=True)
        return torch.addcmul(scaled, mean, slope, value=-1), None


def _sizes(name: str, tensor: Tensor, dimensions: int) -> torch.Size:
    if tensor.dim() != dimensions:
        raise InputError(f"{name} must have {dimensions} dimensions, got shape {tuple(tensor.shape)}")
    return tensor.shape


def _check_terms(terms: int) -> None:
    if not 1 <= terms <= MOST_TERMS:
        raise InputError(f"an attribute must have 1 to {MOST_TERMS} terms here, got {terms}")


def _dense(name: str, tensor: Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """The tensor in one piece of memory, as C reads it; an InputError where type, device or shape are others."""
    if tensor.dtype is not dtype or tensor.shape != shape or not tensor.is_cpu:
        raise InputError(
            f"{name} must be a {dtype} tensor of shape {tuple(shape)} on the CPU, "
            f"got {tensor.dtype} of shape {tuple(tensor.shape)} on {tensor.device}"
        )
    address = tensor.data_ptr()
    if not address and tensor.numel():
        raise InputError(f"{name} must be a tensor with memory behind it: its storage was freed")
    aligned = not address & 7 or not address % dtype.itemsize
    if aligned and tensor.is_contiguous() and not tensor.is_neg():
        return tensor
    return tensor.clone(memory_format=torch.contiguous_format).resolve_neg()


def _threads(work: int) -> int:
    return 1 if work < SERIAL_BELOW else torch.get_num_threads()
