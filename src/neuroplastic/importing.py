"""Something to do as soon as another package has been imported, by whomever, without waiting for it or importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Watch(MetaPathFinder):
    """Finds what the other finders find; the module that it waits for is followed by the act."""

    def __init__(self, name: str, act: Callable[[], object]) -> None:
        self.name, self.act = name, act
        self.asking = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name or self.asking:  # asked by a finder that wraps this one
            return None
        self.asking = True
        try:
            spec = self._found(fullname, path, target)
        finally:
            self.asking = False
        if spec is not None and spec.loader is not None:
            self._follow(spec)
        return spec

    def _found(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        others = (
            finder for finder in list(sys.meta_path) if finder is not self and hasattr(finder, "find_spec")
        )
        return next(filter(None, (finder.find_spec(fullname, path, target) for finder in others)), None)

    def _follow(self, spec: ModuleSpec) -> None:
        loader = spec.loader
        assert loader is not None
        load = loader.exec_module

        def load_and_act(module: ModuleType) -> None:
            vars(loader).pop("exec_module", None)  # as it was, whatever becomes of this import
            load(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                self.act()

        loader.exec_module = load_and_act  # type: ignore[method-assign]


def after_import(name: str, act: Callable[[], object]) -> None:
    """Call `act` when the package of that name is imported; at once where it has been.

    A package that cannot be imported here (None in `sys.modules`) is not waited for. One whose import fails is.
    """
    if name not in sys.modules:
        sys.meta_path.insert(0, _Watch(name, act))
    elif sys.modules[name] is not None:
        act()
