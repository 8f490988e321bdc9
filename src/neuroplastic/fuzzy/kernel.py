"""The fused C kernel for CPU tensors, where a compiler was at hand when the package was installed.

Everything here has an eager PyTorch twin (`log_firing.py`, `membership.py`, `noise.py`, `network/norm_drop.py`); the
kernel changes speed, not results, but for which units dropout drops: the two draw them in different ways.
`available()` says whether it was built, `disabled()` forces the eager path.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

# The library counts the terms of an attribute in one byte.
MOST_TERMS = 255
# Below this many elements a second thread costs more than it brings.
SERIAL_BELOW = 1 << 15

_TYPES = {torch.float32: ("float", ctypes.c_float), torch.float64: ("double", ctypes.c_double)}


def _open_library() -> ctypes.CDLL | None:
    if os.environ.get("NEUROPLASTIC_KERNEL") == "0":
        return None
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = Path(__file__).with_name(f"_kernel{suffix}")
        if path.exists():
            return ctypes.CDLL(str(path))
    return None


_library = _open_library()
_enabled = True


def available() -> bool:
    """Whether the compiled kernel was built and can be used."""
    return _library is not None


@contextmanager
def disabled() -> Iterator[None]:
    """Run the eager PyTorch path inside the block (for tests and comparisons)."""
    global _enabled
    before, _enabled = _enabled, False
    try:
        yield
    finally:
        _enabled = before


def traced() -> bool:
    """Whether a compiler or exporter is recording the program, so that values must not be looked at."""
    return torch.compiler.is_compiling() or bool(torch.jit.is_tracing())  # type: ignore[attr-defined, no-untyped-call]


def serves(x: Tensor, terms: int = 1) -> bool:
    """Whether the kernel can work on tensors like `x`: on the CPU, in single or double precision, not traced."""
    return (
        _library is not None
        and _enabled
        and x.device.type == "cpu"
        and x.dtype in _TYPES
        and terms <= MOST_TERMS
        and not traced()
    )


def _function(name: str, dtype: torch.dtype) -> ctypes._NamedFuncPointer:
    assert _library is not None
    return getattr(_library, f"{name}_{_TYPES[dtype][0]}")  # type: ignore[no-any-return]


def _address(tensor: Tensor | None) -> ctypes.c_void_p:
    assert tensor is None or tensor.is_contiguous()
    return ctypes.c_void_p(None if tensor is None else tensor.data_ptr())


def _threads(work: int) -> int:
    return 1 if work < SERIAL_BELOW else torch.get_num_threads()


def _long(*sizes: int) -> list[ctypes.c_int64]:
    return [ctypes.c_int64(size) for size in sizes]


def select(
    logits: Tensor, noise: Tensor | None, mask: Tensor, centers: Tensor, precisions: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Chosen term (uint8), its centre and its precision, each (D, U), from (T, D, U) logits and (D, T) sets."""
    T, D, U = logits.shape
    chosen = torch.empty(D, U, dtype=torch.uint8)
    center, precision = logits.new_empty(D, U), logits.new_empty(D, U)
    tensors = (logits, noise, mask, centers, precisions, chosen, center, precision)
    _function("select", logits.dtype)(*map(_address, tensors), *_long(T, D, U), _threads(T * D * U))
    return chosen, center, precision


def distance(x: Tensor, center: Tensor, precision: Tensor) -> Tensor:
    """`-sum_d precision[d,u] * (x[b,d] - center[d,u])**2`, (B, U)."""
    (B, D), U = x.shape, center.shape[1]
    out = x.new_empty(B, U)
    tensors = (x, center, precision, out)
    _function("distance", x.dtype)(*map(_address, tensors), *_long(B, D, U), _threads(B * D * U))
    return out


def gradient(
    logits: Tensor,
    noise: Tensor | None,
    mask: Tensor,
    chosen: Tensor,
    centers: Tensor,
    precisions: Tensor,
    moments: tuple[Tensor, Tensor, Tensor],
    rate: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of logits, centres and precisions from the moments (zeroth, first, second) of the gradient."""
    T, D, U = logits.shape
    zeroth, first, second = moments
    grads = (torch.empty_like(logits), torch.empty_like(centers), torch.empty_like(precisions))
    inputs = (logits, noise, mask, chosen, centers, precisions, first, second, zeroth)
    real = _TYPES[logits.dtype][1]
    _function("gradient", logits.dtype)(
        *map(_address, inputs), real(rate), *map(_address, grads), *_long(T, D, U), _threads(T * D * U)
    )
    return grads


def uncovered(
    x: Tensor, centers: Tensor, precisions: Tensor, mask: Tensor, limit: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Count, mean and sum of squared deviations, each (D,), of the values farther than `limit` from every set."""
    (B, D), T = x.shape, centers.shape[1]
    planes = [tensor.t().contiguous() for tensor in (centers, precisions, mask)]
    count, mean, m2 = x.new_empty(D), x.new_empty(D), x.new_empty(D)
    real = _TYPES[x.dtype][1]
    _function("uncovered", x.dtype)(
        *map(_address, (x, *planes)),
        real(limit),
        *map(_address, (count, mean, m2)),
        *_long(B, D, T),
        _threads(B * D * T),
    )
    return count, mean, m2


def entmax15(shifted: Tensor) -> Tensor:
    """1.5-entmax over dim 1 of rows whose greatest entry is 0."""
    B, U = shifted.shape
    out = torch.empty_like(shifted)
    _function("entmax15", shifted.dtype)(*map(_address, (shifted, out)), *_long(B, U), _threads(B * U))
    return out


def uniform(seed: int, shape: tuple[int, ...]) -> Tensor:
    """Uniform float32 numbers in (0, 1), a function of seed and position."""
    assert _library is not None
    out = torch.empty(shape)
    count = out.numel()
    _library.uniform_float(
        ctypes.c_uint64(seed & (2**64 - 1)), _address(out), ctypes.c_int64(count), _threads(count)
    )
    return out


def norm_sums(rows: Tensor, center: Tensor | None = None) -> Tensor:
    """Sums over rows (N, R) of x, or of `(x - center)**2` with a center (R,); (R,)."""
    N, R = rows.shape
    threads = _threads(N * R)
    totals = rows.new_empty(threads, R)
    _function("norm_sums", rows.dtype)(*map(_address, (rows, center, totals)), *_long(N, R), threads)
    return totals.sum(dim=0)


def norm_apply(
    rows: Tensor, center: Tensor, slope: Tensor, shift: Tensor, seed: int, dropout: float
) -> Tensor:
    """`max(0, (x - center) * slope + shift)` of rows (N, R), a share `dropout` of it 0, a function of the seed.

    The share is rounded to a multiple of 1 / 65536.
    """
    N, R = rows.shape
    y = torch.empty_like(rows)
    _function("norm_apply", rows.dtype)(
        *map(_address, (rows, center, slope, shift)),
        ctypes.c_uint64(seed & (2**64 - 1)),
        round(dropout * 2**16),
        _address(y),
        *_long(N, R),
        _threads(N * R),
    )
    return y


def norm_gradient_sums(gradient: Tensor, y: Tensor, rows: Tensor, center: Tensor) -> tuple[Tensor, Tensor]:
    """Sums over rows (N, R) of g and of `g * (x - center)`, g being the gradient where y is above 0; each (R,)."""
    N, R = rows.shape
    threads = _threads(N * R)
    totals = rows.new_empty(2, threads, R)
    tensors = (gradient, y, rows, center, totals[0], totals[1])
    _function("norm_gradient_sums", rows.dtype)(*map(_address, tensors), *_long(N, R), threads)
    zeroth, first = totals.sum(dim=1)
    return zeroth, first


def norm_gradient(
    gradient: Tensor, y: Tensor, rows: Tensor, center: Tensor, slope: Tensor, lean: Tensor, shift: Tensor
) -> Tensor:
    """`g * slope + (x - center) * lean + shift`, g being the gradient where y is above 0; (N, R)."""
    N, R = rows.shape
    dx = torch.empty_like(rows)
    tensors = (gradient, y, rows, center, slope, lean, shift, dx)
    _function("norm_gradient", rows.dtype)(*map(_address, tensors), *_long(N, R), _threads(N * R))
    return dx
