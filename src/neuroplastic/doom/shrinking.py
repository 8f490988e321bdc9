"""Pictures shrunk by area, by our own C where it was built: OpenCV's answer to the last bit, sooner."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compiled import built
from .packages import missing

try:
    import cv2
except ImportError as error:
    raise missing(error) from error

Frame = npt.NDArray[np.uint8]
Taps = tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]

# Of _area.c. A library of another number was built from other sources.
VERSION = 1
MOST_COLUMNS, MOST_WIDTH, MOST_TAPS = 1024, 128, 16
# What of a cell's side OpenCV takes for nothing.
_NOTHING = 1e-3


def shrink(frame: Frame, picture: Frame) -> None:
    """Write the frame (rows, columns, 3), shrunk by area, into `picture` (height, width, 3)."""
    function = _function()
    if function is None or not _serves(frame, picture):
        height, width, _ = picture.shape
        cv2.resize(frame, (width, height), dst=picture, interpolation=cv2.INTER_AREA)
        return
    (rows, columns, _), (height, width, _) = frame.shape, picture.shape
    function(frame.ctypes.data, rows, columns, picture.ctypes.data, *_plan(rows, columns, height, width))


def _serves(frame: Frame, picture: Frame) -> bool:
    """Whether our function takes these: whole, three channels, and no case of OpenCV's shortcuts."""
    if frame.ndim != 3 or frame.shape[2] != 3 or picture.shape[2:] != (3,):
        return False
    if not (
        frame.flags.c_contiguous and picture.flags.c_contiguous and frame.dtype == picture.dtype == np.uint8
    ):
        return False
    (rows, columns, _), (height, width, _) = frame.shape, picture.shape
    return _planned(rows, columns, height, width)


@cache
def _planned(rows: int, columns: int, height: int, width: int) -> bool:
    if not (0 < width < columns <= MOST_COLUMNS and 0 < height < rows and width <= MOST_WIDTH):
        return False
    if rows % height == 0 and columns % width == 0:
        return False  # OpenCV adds up whole numbers then
    return max(rows / height, columns / width) + 2 <= MOST_TAPS


@cache
def _plan(rows: int, columns: int, height: int, width: int) -> tuple[Any, ...]:
    """What the function takes beside the pictures, and what keeps it alive."""
    x_first, x_share = taps(columns, width)
    y_first, y_share = taps(rows, height)
    _kept.extend((x_first, x_share, y_first, y_share))
    x = (x_first.ctypes.data, x_share.ctypes.data, x_share.shape[1])
    y = (y_first.ctypes.data, y_share.ctypes.data, y_share.shape[1])
    return height, width, *x, *y


_kept: list[npt.NDArray[Any]] = []


def taps(before: int, after: int) -> Taps:
    """For each of `after` cells, the first of the `before` that it covers, and its share of that and the next ones."""
    scale = before / after
    cells: list[tuple[int, list[float]]] = []
    for cell in range(after):
        low = cell * scale
        high, wide = low + scale, min(scale, before - low)
        last = min(math.floor(high), before - 1)
        first = min(math.ceil(low), last)
        shares = [1.0 / wide] * (last - first)
        if high - last > _NOTHING:
            shares.append(min(high - last, 1.0, wide) / wide)
        if first - low > _NOTHING:
            first, shares = first - 1, [(first - low) / wide, *shares]
        cells.append((first, shares))
    most = max(len(shares) for _, shares in cells)
    filled = [shares + [0.0] * (most - len(shares)) for _, shares in cells]
    return np.array([first for first, _ in cells], np.int32), np.array(filled, np.float32)


@cache
def _function() -> Callable[..., None] | None:
    """The C function; None where it was not built, was built from other sources, or is not wanted."""
    found = built(Path(__file__).parent, "_area")
    if found is None:
        return None
    library, _ = found
    version = getattr(library, "area_version", None)
    if version is None or version() != VERSION:
        return None
    function = library.shrink_area
    letters: dict[str, Any] = {"p": ctypes.c_void_p, "l": ctypes.c_int64}
    function.argtypes, function.restype = [letters[letter] for letter in "pllpllpplppl"], None
    return function  # type: ignore[no-any-return]
