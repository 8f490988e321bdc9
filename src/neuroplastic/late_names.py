"""Names of a package that are imported when somebody asks for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def late_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package; `homes` has the names, with blanks between, by relative module.

    A name that was asked for is the package's own from then on.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def get(name: str) -> object:
        itself = sys.modules[package]
        if name not in home:
            # With name and object, Python itself adds "did you mean".
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=itself)
        found = vars(itself)[name] = getattr(import_module(home[name], package), name)
        return found

    def listed() -> list[str]:
        itself = vars(sys.modules[package])
        return sorted({*itself, *itself["__all__"]})

    return get, listed
