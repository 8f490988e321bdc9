"""The C library: where it lies, whether it is ours, and what its functions take."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from ...compiled import built

# VERSION of _kernel.c. A library of another number was built from other sources and would misread what it is given.
VERSION = 2

# p a tensor, l a size, i a whole number, u a seed, r a number of the functions' own floating type.
_ARGUMENTS = {
    "select": "pppppppp lll i",
    "distance": "pppp lll i",
    "gradient": "ppppppppp r ppp lll i",
    "uncovered": "pppp r ppp lll i",
    "entmax15": "pp ll i",
    "norm_sums": "ppp ll i",
    "norm_apply": "pppp ui p ll i",
    "norm_gradient_sums": "pppppp ll i",
    "norm_gradient": "pppppppp ll i",
}
_LETTERS: dict[str, Any] = {
    "p": ctypes.c_void_p,
    "l": ctypes.c_int64,
    "i": ctypes.c_int,
    "u": ctypes.c_uint64,
}
_REALS: dict[torch.dtype, tuple[str, Any]] = {
    torch.float32: ("float", ctypes.c_float),
    torch.float64: ("double", ctypes.c_double),
}

Functions = dict[str, Callable[..., Any]]


class Library:
    """The functions of the C library by floating type and name, told what they take."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.of: dict[torch.dtype, Functions] = {}
        for dtype, (suffix, real) in _REALS.items():
            letters = {**_LETTERS, "r": real}
            self.of[dtype] = {
                name: _typed(
                    library, f"{name}_{suffix}", [letters[letter] for letter in kinds.replace(" ", "")]
                )
                for name, kinds in _ARGUMENTS.items()
            }
            self.of[dtype]["distance"].restype = ctypes.c_int  # type: ignore[attr-defined]
        self.uniform = _typed(library, "uniform_float", [_LETTERS[letter] for letter in "upli"])


def _typed(library: ctypes.CDLL, name: str, kinds: list[Any]) -> Callable[..., Any]:
    function = getattr(library, name)
    function.argtypes, function.restype = kinds, None
    return function  # type: ignore[no-any-return]


def open_library() -> Library | None:
    """The library, or None where it was not built, was built from other sources, or is not wanted."""
    found = built(Path(__file__).parent.parent, "_kernel")
    return None if found is None else _checked(*found)


def _checked(library: ctypes.CDLL, path: Path) -> Library | None:
    version = getattr(library, "kernel_version", None)
    if version is not None and version() == VERSION:
        return Library(library)
    warnings.warn(
        f"the compiled kernel {path} was built from other sources and is not used, which makes networks slower; "
        "install the package anew to build it (in a checkout: python setup.py build_ext --inplace)",
        RuntimeWarning,
        stacklevel=2,
    )
    return None
