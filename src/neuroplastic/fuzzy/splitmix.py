"""Random numbers as a function of a seed and a position (SplitMix64), not of a stream."""

from __future__ import annotations

import math

import torch
from torch import Tensor

_GOLDEN = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_WORD = 2**64
_AT_ONCE = 1 << 18


def mix(seed: int, position: int) -> int:
    """One SplitMix64 output: an unsigned 64-bit integer that depends on both arguments."""
    z = (seed + (position + 1) * _GOLDEN) % _WORD
    z = (z ^ (z >> 30)) * _FIRST % _WORD
    z = (z ^ (z >> 27)) * _SECOND % _WORD
    return z ^ (z >> 31)


def _signed(value: int) -> int:
    """The same 64 bits, read as a signed integer (PyTorch multiplies those modulo 2**64)."""
    value %= _WORD
    return value - _WORD if value >= _WORD // 2 else value


def _shifted(z: Tensor, bits: int) -> Tensor:
    """Logical (zero-filling) shift to the right of signed 64-bit integers."""
    return (z >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def mixed(seed: Tensor, position: Tensor | int) -> Tensor:
    """`mix` of 64-bit integers that nobody looks at, as the signed integers of the same bits."""
    return _stirred(seed + (position + 1) * _signed(_GOLDEN))


def _stirred(z: Tensor) -> Tensor:
    z = (z ^ _shifted(z, 30)) * _signed(_FIRST)
    z = (z ^ _shifted(z, 27)) * _signed(_SECOND)
    return z ^ _shifted(z, 31)


def uniform_of(seed: Tensor, shape: tuple[int, ...]) -> Tensor:
    """`uniform` for a seed, one 64-bit integer, that nobody looks at."""
    positions = torch.arange(math.prod(shape), device=seed.device)
    numbers = _shifted(mixed(seed, positions), 41).to(torch.float32)
    return numbers.add_(0.5).mul_(2.0**-23).view(shape)


def uniform(seed: int, shape: tuple[int, ...], device: torch.device) -> Tensor:
    """Uniform float32 numbers in (0, 1), never 0 or 1, from the upper 23 bits of each `mix(seed, i)`."""
    out = torch.empty(shape, device=device, dtype=torch.float32)
    start = 1
    for part in torch.split(out.view(-1), _AT_ONCE):  # 64-bit integers take twice the room
        z = torch.arange(start, start + len(part), device=device)
        start += len(part)
        z.mul_(_signed(_GOLDEN)).add_(_signed(seed))
        z.bitwise_xor_(_shifted(z, 30)).mul_(_signed(_FIRST))
        z.bitwise_xor_(_shifted(z, 27)).mul_(_signed(_SECOND))
        z.bitwise_xor_(_shifted(z, 31))
        part.copy_(_shifted(z, 41))
    return out.add_(0.5).mul_(2.0**-23)


def normal_of(seed: Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Normal(0, 1) numbers for a seed that nobody looks at: of two uniform ones each (Box and Muller)."""
    uniform = uniform_of(seed, (*shape, 2)).to(dtype)
    return uniform[..., 0].log().mul(-2).sqrt() * (2 * math.pi * uniform[..., 1]).cos()
