"""The fused kernels as steps with gradients."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..membership import WIDTH_FLOOR, input_limit
from ..once import once_differentiable
from . import triton_firing as firing
from . import triton_norm as norm
from .interface import Draw

# All terms of a block lie in registers at once, and the kernels are compiled for as many as there are.
MOST_TERMS = 16
# Rows, attributes and rules are filled up to multiples of these.
ROWS, ATTRIBUTES, RULES = 64, 16, 64
# Parts of the sum over attributes that are added up at once.
PARTS = 128
# Newton's steps of entmax: halvings for U rules, then quadratic.
STEPS = 24
# A row of at most so many rules is one warp's, whose sums need no wait for others.
SHORT = 512


def _above(size: int) -> int:
    return 1 << max(size - 1, 0).bit_length()


def _cells(size: int, block: int) -> int:
    return -(-size // block)


def _filled(size: int, block: int) -> int:
    return _cells(size, block) * block


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
        x, centers, raw_widths, logits, mask = (
            each.contiguous() for each in (x, centers, raw_widths, logits, mask)
        )
        BP, DP, UP = _filled(B, ROWS), _filled(D, ATTRIBUTES), _filled(U, RULES)
        bounded, away, middle = x.new_empty(DP, BP), x.new_empty(DP, BP), x.new_empty(DP)
        precisions = torch.empty_like(centers)
        firing.prepare[DP // 16, BP // 64](
            *(x, mask, centers, raw_widths, bounded, away, middle, precisions),
            *(WIDTH_FLOOR, input_limit(x.dtype), B, D, BP),
            T=T,
            BT=_above(T),
            BB=64,
            BD=16,
            num_warps=4,
        )
        scores = logits if draw is None else torch.empty_like(logits)
        term = logits.new_empty(D, U, dtype=torch.uint8)
        center, precision = logits.new_empty(DP, UP), logits.new_empty(DP, UP)
        parts = DP // 16
        out, w = logits.new_empty(parts, B, U), logits.new_empty(B, U)
        noise = (mask, mask, 0.0, 0.0) if draw is None else (draw.seed, draw.number, draw.scale, draw.fall)
        firing.fire[parts, UP // 32](
            *(bounded, logits, mask, centers, precisions, *noise, scores, term, center, precision, out),
            *(B, D, U, BP, UP),
            T=T,
            noisy=draw is not None,
            BD=16,
            BU=32,
            BB=64,
            STEP=16,
            num_warps=4,
        )
        firing.sum_parts[(_cells(B * U, 32),)](
            out, w, parts, B * U, PARTS=min(_above(parts), PARTS), BLOCK=32, num_warps=2
        )
        ctx.rate = rate
        ctx.save_for_backward(
            x, away, centers, raw_widths, precisions, middle, scores, mask, term, center, precision
        )
        return w

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Two kernels."""
        x, away, centers, raw_widths, precisions, middle, scores, mask, term, center, precision = (
            ctx.saved_tensors
        )
        (B, D), (T, _, U) = x.shape, scores.shape
        BP, UP = away.shape[1], center.shape[1]
        parts = _cells(U, 64)
        grad, of_logits = grad.contiguous(), torch.empty_like(scores)
        of_centers, of_precisions = x.new_empty(parts, D, T), x.new_empty(parts, D, T)
        firing.fire_gradient[_cells(D, 8), parts](
            *(away, grad, scores, mask, term, centers, precisions, middle, ctx.rate),
            *(of_logits, of_centers, of_precisions, B, D, U, BP),
            T=T,
            soft=ctx.rate > 0,
            BD=8,
            BU=64,
            STEP=8,
            num_warps=4,
        )
        grads = torch.empty_like(x), torch.empty_like(centers), torch.empty_like(raw_widths)
        firing.fire_inputs[_cells(D, 16), _cells(B, 64)](
            *(x, grad, center, precision, middle, raw_widths, of_centers, of_precisions, *grads),
            *(WIDTH_FLOOR, input_limit(x.dtype), parts, B, D, U, UP),
            T=T,
            BT=_above(T),
            BD=16,
            BU=64,
            BB=64,
            num_warps=4,
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
        norm.norm_entmax15[(B,)](
            *(w, gain, shift, levels, normed, spread, factor, eps, U),
            steps=STEPS,
            BLOCK=_above(U),
            num_warps=1 if U <= SHORT else 4,
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
        norm.norm_entmax15_gradient[(B,)](
            *(grad.contiguous(), levels, normed, spread, gain, of_w, of_score, ctx.factor, U), BLOCK=_above(U)
        )
        of_gain, of_shift = torch.empty_like(gain), torch.empty_like(gain)
        norm.columns[(_cells(U, 16),)](of_score, normed, of_gain, of_shift, B, U, BB=64, BU=16)
        return of_w, of_gain, of_shift, None, None
