"""Tasks by the names that people give them: "BP", "basic", "CartPole-v1", "my_module:MyGame"."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from .. import catalog
from ..errors import ConfigError, choose, suggestion
from .protocols import Task

if TYPE_CHECKING:
    from .configuration import RunConfig


def find_task(name: str | Task) -> Task:
    """The task of that name; an unknown one is a ConfigError that suggests the nearest. A task is handed back.

    Each kind of task in the catalogue is asked, those that were registered first: the module of its class may have
    `find(name)`, which gives a task or None, and `suggestions()`. Of a name `module:rest` the module is imported first,
    for it may register a kind of its own: where the name was not given by a person, call `known_task`.
    """
    if isinstance(name, str) and ":" in name:
        catalog.import_own(name.partition(":")[0])
    return known_task(name)


def known_task(name: str | Task) -> Task:
    """The task of a name that a file may hold: a module that it names must have been imported before."""
    if not isinstance(name, str):
        return name
    if ":" in name:
        need_imported(name)
    homes = list(map(_home, reversed(catalog.names("task"))))
    for home in homes:
        found: Task | None = home.find(name) if hasattr(home, "find") else None
        if found is not None:
            return found
    near = [word for home in homes if hasattr(home, "suggestions") for word in home.suggestions()]
    hint = suggestion(name[:80], near) or (
        "; give the key of a DOOM scenario, such as BP, the id of a Gymnasium environment, or add --import "
        "MODULE for a task of your own"
    )
    raise ConfigError(f"there is no task {name!r:.80}{hint}")


def _home(kind: str) -> ModuleType:
    return sys.modules[catalog.kind("task", kind).__module__]


def preset_of(task: Task, name: str | None, agent: str, learner: str | None = None) -> RunConfig:
    """A preset of a task for an agent and a learner (None: the preset's own).

    Without a name it is the task's first, its default, or with a learner the first that there is for that.

    What does not exist is a ConfigError that suggests the nearest. So is a preset that comes with another agent or
    learner: a task may pay no heed to what it is asked for, and nobody should train something else unawares.
    """
    choose("agent", agent, catalog.names("head"))
    if learner is not None:
        choose("learner", learner, catalog.names("learner"))
    if name is not None:
        return _preset(task, choose("preset", name, task.presets), agent, learner)
    unfit: ConfigError | None = None
    for each in task.presets[: 1 if learner is None else None]:
        try:
            return _preset(task, each, agent, learner)
        except ConfigError as error:
            unfit = unfit or error
    assert unfit is not None, "a task has a preset"
    raise unfit


def _preset(task: Task, name: str, agent: str, learner: str | None) -> RunConfig:
    config = task.preset(name, agent, learner)
    learns = catalog.name_of("learner", config.learner)
    for what, asked, made in (("agent", agent, config.agent), ("learner", learner or learns, learns)):
        if asked != made:
            raise ConfigError(f"the preset {name!r} of {task.key} is for the {what} {made!r}, got {asked!r}")
    return config


def need_imported(name: str) -> None:
    """Raise a ConfigError unless the module of a name `module:rest` has been imported."""
    module = name.partition(":")[0]
    if module not in sys.modules:
        raise ConfigError(
            f"the task {name!r:.80} is of a module that was not imported; add --import {module:.80}, if you trust it"
        )


def modules_of(task: Task) -> tuple[str, ...]:
    """The modules outside this package that have to be imported for the task to be found or played."""
    home, package = type(task).__module__, __name__.partition(".")[0]
    inside = home.partition(".")[0] == package or home == "__main__"
    return tuple(dict.fromkeys((*catalog.own_modules(), *(() if inside else (home,)))))
