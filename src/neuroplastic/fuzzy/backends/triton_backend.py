"""Triton kernels, for CUDA tensors in single precision.

Triton hands numbers over in single precision, rates and limits among them: double precision is left to PyTorch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..growing import Nursery, Terms
from ..membership import WIDE_ENOUGH, WIDTH_FLOOR, any_width, input_limit
from ..once import once_differentiable
from ..welford import Moments
from . import triton_growing
from . import triton_kernels as kernels
from .eager import Eager
from .interface import Chosen, Draw
from .triton_fused import MOST_TERMS as MOST_FUSED_TERMS
from .triton_fused import Fire, NormEntmax15

# The chosen term is kept in a byte.
MOST_TERMS = 255
# A row of rules that one program holds.
MOST_RULES = 1 << 14
# Newton's steps of entmax: halvings for U rules, then quadratic.
STEPS = 24
BLOCK = 1024


class Triton(Eager):
    """One kernel where eager PyTorch launches dozens. What has no kernel is PyTorch's."""

    name = "triton"

    def serves(self, tensor: Tensor, terms: int) -> bool:
        """On an NVIDIA GPU, in single precision, with at most 255 terms."""
        return tensor.is_cuda and tensor.dtype == torch.float32 and terms <= MOST_TERMS

    def select(
        self, logits: Tensor, noise: Tensor | None, mask: Tensor, centers: Tensor, precisions: Tensor
    ) -> Chosen:
        """See `Backend`."""
        T, D, U = logits.shape
        logits, mask, centers, precisions = map(_dense, (logits, mask, centers, precisions))
        noise = logits if noise is None else _dense(noise)
        term = logits.new_empty(D, U, dtype=torch.uint8)
        center, precision = logits.new_empty(D, U), logits.new_empty(D, U)
        if term.numel():
            rules = min(_above(U), 256)
            kernels.select[_cells(D, 4), _cells(U, rules)](
                *(logits, noise, mask, centers, precisions, term, center, precision, T, D, U),
                noisy=noise is not logits,
                BD=4,
                BU=rules,
            )
        return Chosen(term, center, precision)

    def distance(self, x: Tensor, center: Tensor, precision: Tensor) -> Tensor:
        """Differences are formed before squaring, and chunks of the attributes are summed one after the other."""
        (B, D), U = x.shape, center.shape[1]
        x, center, precision = map(_dense, (x, center, precision))
        rows, rules = min(_above(B), 32), min(_above(U), 64)
        programs = _cells(B, rows) * _cells(U, rules)
        chunk = max(16, _cells(D, max(1, 512 // max(programs, 1))))
        chunks = _cells(D, chunk)
        out = x.new_empty(chunks, B, U)
        if out.numel():
            grid = _cells(B, rows), _cells(U, rules), chunks
            kernels.distance[grid](x, center, precision, out, B, D, U, chunk, BB=rows, BU=rules)
        return out.sum(dim=0) if chunks != 1 else out[0]

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
        """One pass over the logits."""
        T, D, U = logits.shape
        logits, mask, term, centers, precisions = map(_dense, (logits, mask, term, centers, precisions))
        zeroth, first, second = map(_dense, moments)
        scores = logits if noise is None else _dense(noise)
        grads = torch.empty_like(logits), torch.empty_like(centers), torch.empty_like(precisions)
        if logits.numel():
            kernels.gradient[(_cells(D, 4),)](
                *(
                    logits,
                    scores,
                    mask,
                    term,
                    centers,
                    precisions,
                    zeroth,
                    first,
                    second,
                    rate,
                    *grads,
                    T,
                    D,
                    U,
                ),
                noisy=noise is not None,
                soft=rate > 0,
                per_attribute=zeroth.dim() == 2,
                BD=4,
                BU=min(_above(U), 256),
            )
        return grads

    def uncovered(
        self, x: Tensor, centers: Tensor, precisions: Tensor, mask: Tensor, limit: float
    ) -> Moments:
        """See `Backend`."""
        (B, D), T = x.shape, centers.shape[1]
        x, centers, precisions, mask = map(_dense, (x, centers, precisions, mask))
        moments = Moments(x.new_empty(D), x.new_empty(D), x.new_empty(D))
        kernels.uncovered[(_cells(D, 16),)](
            x, centers, precisions, mask, limit, *moments, B, D, T, BB=64, BD=16
        )
        return moments

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
        """In single precision, for few terms and up to so many numbers as kernels can count."""
        if not (x.dtype == logits.dtype == torch.float32 and len(x) and _few(x, logits)):
            return None
        if len(logits) > MOST_FUSED_TERMS:
            return None
        fired: Tensor = Fire.apply(x, centers, raw_widths, logits, mask, draw, rate)  # type: ignore[no-untyped-call]
        return fired

    def norm_entmax15(
        self, w: Tensor, gain: Tensor, shift: Tensor, factor: float, eps: float
    ) -> Tensor | None:
        """In single precision."""
        if w.dtype != torch.float32 or w.shape[1] > MOST_RULES or not len(w):
            return None
        levels: Tensor = NormEntmax15.apply(w, gain, shift, factor, eps)  # type: ignore[no-untyped-call]
        return levels

    def observe(self, x: Tensor, nursery: Nursery, terms: Terms, limit: float) -> bool:
        """One program for each attribute."""
        T, D, U = nursery.logits.shape
        written = (*nursery[:4], *nursery.statistics, nursery.seed, nursery.batches, *nursery[7:])
        if nursery.statistics.mean.dtype != torch.float32 or not all(map(Tensor.is_contiguous, written)):
            return False
        widest = min(WIDE_ENOUGH, any_width(nursery.raw_widths.dtype) / 2)
        triton_growing.observe[(D,)](
            *(_dense(x), *written, limit, input_limit(nursery.statistics.mean.dtype), widest, WIDTH_FLOOR),
            *(terms.delay, terms.min_count, terms.min_width, terms.deviation or 0.0, len(x), D, T, U),
            drawn=terms.deviation is not None,
            BB=min(_above(len(x)), 64),
            BT=_above(T),
            BU=min(_above(U), 256),
            num_warps=1,
        )
        return True

    def entmax15(self, shifted: Tensor) -> Tensor:
        """See `Backend`."""
        if shifted.shape[1] > MOST_RULES:
            return super().entmax15(shifted)
        levels: Tensor = _Entmax15.apply(shifted)  # type: ignore[no-untyped-call]
        return levels

    def uniform(self, seed: int, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """See `Backend`."""
        out = torch.empty(shape, device=device, dtype=torch.float32)
        signed = (seed + 2**63) % 2**64 - 2**63
        if out.numel():
            grid = (_cells(out.numel(), BLOCK),)
            kernels.uniform[grid](torch.full((1,), signed, device=device), out, out.numel(), BLOCK=BLOCK)
        return out

    def gumbel(
        self,
        seed: Tensor,
        draw: Tensor,
        scale: float,
        fall: float,
        shape: tuple[int, ...],
        dtype: torch.dtype,
    ) -> Tensor:
        """See `Backend`."""
        out = torch.empty(shape, device=seed.device, dtype=dtype)
        grid = (_cells(out.numel(), BLOCK),)
        kernels.gumbel[grid](seed, draw, out, scale, fall, out.numel(), BLOCK=BLOCK)
        return out

    def count_pass(self, x: Tensor, passes: Tensor, spoilt: Tensor, hold: int) -> Tensor:
        """See `Backend`."""
        passes.add_(1)
        x, draw = _dense(x), torch.empty_like(passes)
        grid = (max(1, _cells(x.numel(), 4096)),)
        kernels.count_pass[grid](x, passes, spoilt, draw, hold, x.numel(), BLOCK=4096)
        return draw


class _Entmax15(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, shifted: Tensor) -> Tensor:
        shifted = _dense(shifted)
        B, U = shifted.shape
        levels = torch.empty_like(shifted)
        if B:
            kernels.entmax15[(B,)](shifted, levels, U, steps=STEPS, BLOCK=_above(U))
        ctx.save_for_backward(levels)
        return levels

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (levels,) = ctx.saved_tensors
        B, U = levels.shape
        out = torch.empty_like(levels)
        if B:
            kernels.entmax15_gradient[(B,)](levels, _dense(gradient), out, U, BLOCK=_above(U))
        return out


def _dense(tensor: Tensor) -> Tensor:
    """The tensor in one piece of memory."""
    return tensor.detach().resolve_neg().contiguous()


def _few(x: Tensor, logits: Tensor) -> bool:
    """Whether all places can be counted in 32 bits."""
    return max(logits.numel(), 64 * len(x) * logits.shape[2], 64 * x.numel()) < 2**31


def _above(size: int) -> int:
    """The least power of 2 that is not below."""
    return 1 << max(size - 1, 0).bit_length()


def _cells(size: int, block: int) -> int:
    return -(-size // block)
