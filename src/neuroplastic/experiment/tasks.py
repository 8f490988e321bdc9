"""Tasks by the names that people give them: "BP", "basic", "CartPole-v1", "my_module:MyGame"."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from .. import catalog
from ..errors import ConfigError, suggestion
from .protocols import Task


def find_task(name: str | Task) -> Task:
    """The task of that name; an unknown one is a ConfigError that suggests the nearest. A task is handed back.

    Each kind of task in the catalogue is asked, those that were registered first: the module of its class may have
    `find(name)`, which gives a task or None, and `suggestions()`. Of a name `module:rest` the module is imported first,
    for it may register a kind of its own.
    """
    if not isinstance(name, str):
        return name
    if ":" in name:
        _imported(name.partition(":")[0], name)
    homes = list(map(_home, reversed(catalog.names("task"))))
    for home in homes:
        found: Task | None = home.find(name) if hasattr(home, "find") else None
        if found is not None:
            return found
    near = [word for home in homes if hasattr(home, "suggestions") for word in home.suggestions()]
    raise ConfigError(
        f"there is no task {name!r:.80}{suggestion(name[:80], near)}; give a DOOM scenario (BP, BR, PP, HTL, DTC, TC, "
        "GH) or the id of a Gymnasium environment"
    )


def _home(kind: str) -> ModuleType:
    return sys.modules[catalog.kind("task", kind).__module__]


def _imported(module: str, name: str) -> None:
    try:
        importlib.import_module(module)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"the task {name!r:.80} names a module that cannot be imported: {error}") from error
