"""The fused kernels as steps with gradients."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..membership import WIDTH_FLOOR, input_limit
from ..once import once_differentiable
from . import triton_firing as kernels
from .interface import Draw

# Chunks of the attributes, rules of a program and its warps, in the forward pass.
CHUNKS, RULES, WARPS = 64, 32, 2
# Attributes and rules of a program and its warps, in the backward pass.
ATTRIBUTES, GRADIENT_RULES, GRADIENT_WARPS = 16, 32, 2
ROWS = 64
STEPS = 24


def _above(size: int) -> int:
    return 1 << max(size - 1, 0).bit_length()


def _cells(size: int, block: int) -> int:
    return -(-size // block)


class Fire(torch.autograd.Function):
    """Log-firing (B, U) of x (B, D), centres and raw widths (D, T) and logits (T, D, U); see `Backend.fire`."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        centers: Tensor,
        raw_widths: Tensor,
        logits: Tensor,
        mask: Tensor,
        draw: Draw | None,
        rate: float,
    ) -> Tensor:
        """Three kernels."""
        (B, D), (T, _, U) = x.shape, logits.shape
        xt = x.t().contiguous()
        centers, raw_widths, logits, mask = (
            each.contiguous() for each in (centers, raw_widths, logits, mask)
        )
        scores = logits if draw is None else torch.empty_like(logits)
        term = logits.new_empty(D, U, dtype=torch.uint8)
        center, precision = logits.new_empty(D, U), logits.new_empty(D, U)
        chunk = max(8, _cells(D, CHUNKS))
        parts = _cells(D, chunk)
        out = logits.new_empty(parts, B, U)
        noise = (mask, mask, 0.0, 0.0) if draw is None else (draw.seed, draw.number, draw.scale, draw.fall)
        kernels.fire[parts, _cells(U, RULES)](
            *(xt, logits, mask, centers, raw_widths, *noise, scores, term, center, precision, out),
            *(WIDTH_FLOOR, input_limit(x.dtype), B, D, U, chunk),
            T=T,
            noisy=draw is not None,
            CH=_above(chunk),
            BU=RULES,
            BB=ROWS,
            num_warps=WARPS,
        )
        ctx.rate = rate
        ctx.save_for_backward(xt, centers, raw_widths, scores, mask, term)
        return out.sum(dim=0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Two kernels."""
        xt, centers, raw_widths, scores, mask, term = ctx.saved_tensors
        (D, B), (T, _, U) = xt.shape, scores.shape
        parts = _cells(U, GRADIENT_RULES)
        of_x, of_logits = xt.new_empty(parts, B, D), torch.empty_like(scores)
        of_centers, of_precisions = xt.new_empty(parts, D, T), xt.new_empty(parts, D, T)
        kernels.fire_gradient[_cells(D, ATTRIBUTES), parts](
            *(xt, grad.contiguous(), scores, mask, term, centers, raw_widths, ctx.rate),
            *(of_x, of_logits, of_centers, of_precisions, WIDTH_FLOOR, input_limit(xt.dtype), B, D, U),
            T=T,
            soft=ctx.rate > 0,
            BD=ATTRIBUTES,
            BU=GRADIENT_RULES,
            BB=ROWS,
            num_warps=GRADIENT_WARPS,
        )
        grads = xt.new_empty(B, D), torch.empty_like(centers), torch.empty_like(raw_widths)
        kernels.fire_finish[_cells(D, 32), _cells(B, 32)](
            *(of_x, of_centers, of_precisions, raw_widths, *grads, WIDTH_FLOOR, parts, B, D, T),
            BB=32,
            BD=32,
            BT=_above(T),
        )
        return *grads, of_logits, None, None, None


class NormEntmax15(torch.autograd.Function):
    """Firing levels (B, U): 1.5-entmax of the layer norm of log-firings times a factor."""

    @staticmethod
    def forward(ctx: Any, w: Tensor, gain: Tensor, shift: Tensor, factor: float, eps: float) -> Tensor:
        """One kernel."""
        w, gain, shift = w.contiguous(), gain.contiguous(), shift.contiguous()
        B, U = w.shape
        levels, normed, spread = torch.empty_like(w), torch.empty_like(w), w.new_empty(B)
        kernels.norm_entmax15[(B,)](
            *(w, gain, shift, levels, normed, spread, factor, eps, U), steps=STEPS, BLOCK=_above(U)
        )
        ctx.factor = factor
        ctx.save_for_backward(levels, normed, spread, gain)
        return levels

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Two kernels."""
        levels, normed, spread, gain = ctx.saved_tensors
        B, U = levels.shape
        of_w, of_score = torch.empty_like(levels), torch.empty_like(levels)
        kernels.norm_entmax15_gradient[(B,)](
            *(grad.contiguous(), levels, normed, spread, gain, of_w, of_score, ctx.factor, U), BLOCK=_above(U)
        )
        of_gain, of_shift = torch.empty_like(gain), torch.empty_like(gain)
        kernels.columns[(_cells(U, 16),)](of_score, normed, of_gain, of_shift, B, U, BB=64, BU=16)
        return of_w, of_gain, of_shift, None, None
