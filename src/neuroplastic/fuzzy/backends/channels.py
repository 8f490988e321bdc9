"""Rows of pictures, (N, R) with R = width x channels and channels fastest: what belongs to a channel, and to a row."""

from __future__ import annotations

from torch import Tensor


def sizes(rows: Tensor, weight: Tensor) -> tuple[int, int]:
    """Pixels in a row, and values of a channel in all rows."""
    width = rows.shape[1] // len(weight)
    return width, rows.shape[0] * width


def summed(row: Tensor, width: int) -> Tensor:
    """Sum of a row (W * C,) over its pixels, (C,)."""
    return row.view(width, -1).sum(dim=0)


def input_gradient(
    weight: Tensor, scale: Tensor, of_weight: Tensor, of_bias: Tensor, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Per channel a, b, c of the gradient `a g + b (x - mean) + c` of batch norm's input.

    With h = (x - mean) scale it is `weight * scale * (g - mean(g) - h mean(g h))`.
    """
    slope = weight * scale
    return slope, -slope * scale * of_weight / count, -slope * of_bias / count
