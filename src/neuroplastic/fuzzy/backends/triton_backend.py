"""Triton kernels, for CUDA tensors in single and double precision."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..welford import Moments
from . import triton_kernels as kernels
from .eager import Eager
from .interface import Chosen

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
        """On an NVIDIA GPU, in single or double precision, with at most 255 terms."""
        return tensor.is_cuda and tensor.dtype in (torch.float32, torch.float64) and terms <= MOST_TERMS

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

    def entmax15(self, shifted: Tensor) -> Tensor:
        """See `Backend`."""
        if shifted.shape[1] > MOST_RULES:
            return super().entmax15(shifted)
        levels: Tensor = _Entmax15.apply(shifted)  # type: ignore[no-untyped-call]
        return levels

    def uniform(self, seed: int, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """See `Backend`."""
        signed = (seed + 2**63) % 2**64 - 2**63
        return self._numbers(torch.full((1,), signed, device=device), shape, torch.float32, gumbel=False)

    def gumbel(self, seed: Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """See `Backend`."""
        return self._numbers(seed, shape, dtype, gumbel=True)

    def _numbers(self, seed: Tensor, shape: tuple[int, ...], dtype: torch.dtype, *, gumbel: bool) -> Tensor:
        out = torch.empty(shape, device=seed.device, dtype=dtype)
        count = out.numel()
        if count:
            kernels.uniform[(_cells(count, BLOCK),)](seed, out, count, gumbel=gumbel, BLOCK=BLOCK)
        return out


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
    @once_differentiable  # type: ignore[untyped-decorator]
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


def _above(size: int) -> int:
    """The least power of 2 that is not below."""
    return 1 << max(size - 1, 0).bit_length()


def _cells(size: int, block: int) -> int:
    return -(-size // block)
