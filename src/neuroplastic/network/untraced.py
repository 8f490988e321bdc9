"""Methods that `torch.compile` leaves alone, at no cost to programs that do not compile."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import torch

P = ParamSpec("P")
R = TypeVar("R")

COMPILER = "torch._dynamo"


def untraced(function: Callable[P, R]) -> Callable[P, R]:
    """The function as `torch.compiler.disable` makes it, made so when the compiler is there.

    `torch.compiler.disable` imports the compiler, which takes longer than all of torch. A program that compiles
    has imported it; until then there is nothing that could trace the function, and it is called as it is.
    """

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        # In this order: while it traces, the compiler knows the first answer and never looks at the second.
        if torch.compiler.is_compiling() or COMPILER in sys.modules:
            return _disabled(function)(*args, **kwargs)
        return function(*args, **kwargs)

    return called


def _disabled(function: Callable[P, R]) -> Callable[P, R]:
    """The function without compilation; made once and kept with it."""
    found: Any = getattr(function, "_uncompiled", None)
    if found is None:
        found = function._uncompiled = torch.compiler.disable(function)  # type: ignore[attr-defined, no-untyped-call]
    return cast("Callable[P, R]", found)
