"""Teachers by the names that people give them, and the task that their students see."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import catalog
from ..errors import ConfigError, InputError, MissingPackageError
from ..experiment.protocols import Task
from ..experiment.tasks import find_task
from ..experiment.teachers import Teacher, agent_teacher, model_teacher
from .opening import RUN, in_the_box, kind_of, open_run

SCRIPTED = "scripted"
TEACHERS = (
    f"{SCRIPTED!r} (of a DOOM scenario), a run or an agent in the box, a Stable-Baselines3 model (FILE.zip), or "
    "MODULE:FUNCTION"
)
ALGORITHMS = ("DQN", "PPO", "A2C")


def student_task(name: str, observe: str = "objects") -> Task:
    """The task of a name as a student sees it: attributes with names. What has none but pictures is refused."""
    task = find_task(name)
    if hasattr(task, "observe"):
        task = replace(task, observe=observe, picture="fast")  # type: ignore[type-var]
    if task.observation.is_picture:
        raise ConfigError(
            f"a readable student needs named attributes, {task.key} shows it pictures"
            f"{'; use --observe objects' if hasattr(task, 'observe') else ''}"
        )
    return task


def find_teacher(name: str | None, task: Task) -> tuple[Teacher, Task]:
    """The teacher of that name, and the task as its student is to see it: as often, and drawn alike."""
    if name is None:
        if _script(task) is None:
            raise ConfigError(f"nobody wrote a player for {task.key}; give --teacher: {TEACHERS}")
        name = SCRIPTED
    if name == SCRIPTED:
        script = _script(task)
        if script is None:
            raise ConfigError(f"nobody wrote a player for {task.key}; the teacher may be {TEACHERS}")
        return Teacher(SCRIPTED, script), task
    path = Path(name)
    if path.suffix == ".zip":
        return model_teacher(path.name, _model(path)), task
    if ":" in name:
        return Teacher(name, _function(name)), task
    if in_the_box(name) is None and kind_of(name) != RUN:
        raise InputError(f"{name} is no run; the teacher may be {TEACHERS}")
    return _of_run(name, task)


def _of_run(name: str, task: Task) -> tuple[Teacher, Task]:
    opened = open_run(name)
    theirs = opened.config.task
    if theirs.key != task.key:
        raise InputError(f"{name} plays {theirs.key}; a teacher must play {task.key}")
    pictures = theirs.observation.is_picture
    if hasattr(task, "observe"):
        task = replace(theirs, observe=getattr(task, "observe"))  # type: ignore[type-var]  # noqa: B009
    return agent_teacher(opened.path.name, opened.agent, pictures=pictures), task


def _script(task: Task) -> Any:
    """A scripted player of a scenario of DOOM; None of other tasks."""
    if catalog.name_of("task", task) != "doom":
        return None
    from ..doom.scripted import scripted_player

    return scripted_player(task.key)


def _model(path: Path) -> Any:
    try:
        import stable_baselines3
    except ImportError as error:
        raise MissingPackageError(
            f"{path} needs Stable-Baselines3 ({error}): pip install stable-baselines3"
        ) from error
    problems = []
    for name in ALGORITHMS:
        try:
            return getattr(stable_baselines3, name).load(path, device="cpu")
        except Exception as error:  # the file does not say which of them wrote it
            problems.append(f"{name}: {error}")
    raise InputError(f"{path} is none of {', '.join(ALGORITHMS)} ({problems[0]:.200})")


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    catalog.import_own(module)
    found = getattr(import_module(module), function, None)
    if not callable(found):
        raise ConfigError(f"{name}: {module} has no function {function!r}")
    return found
