"""Training an agent on a task: a new run, or one that goes on."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from ..errors import ConfigError
from ..experiment.agent import check_same_build
from ..experiment.configuration import RunConfig
from ..experiment.options import options, parse, with_values
from ..experiment.run_folder import RunFolder
from ..experiment.saved_preset import load_preset
from ..experiment.tasks import find_task, preset_of
from ..experiment.trial import Trial
from ..learn.imitation.config import ImitationConfig
from .devices import usable_device
from .opening import OpenedRun, open_run


@dataclass(frozen=True)
class TrainRequest:
    """A run that is to begin."""

    task: str
    agent: str | None = None
    """None: that of `start`, else 'nfn'"""
    preset: str | None = None
    """a name, or a FILE.json; None: the task's default"""
    learner: str | None = None
    """None: the preset's own"""
    fields: Mapping[str, str] = field(default_factory=dict)
    """further fields of the configuration, by name, as text"""
    runs: str = "runs"
    device: str = "cpu"
    start: str | None = None
    """a run, or an agent in the box, whose network the run begins with"""


def configuration(request: TrainRequest, *, also_known: Sequence[str] = ()) -> RunConfig:
    """The whole configuration of a request; `also_known` are words that a mistyped field may have meant."""
    task = find_task(request.task)
    agent = request.agent or ("nfn" if request.start is None else open_run(request.start).config.agent)
    # What is seen decides which presets there are.
    if "observe" in request.fields and hasattr(task, "observe"):
        task = replace(task, observe=request.fields["observe"])  # type: ignore[type-var]
    name = request.preset
    if name is not None and name.endswith(".json"):
        if request.learner is not None:
            raise ConfigError(f"{name} says how to learn; leave --learner out")
        base = load_preset(name, task, agent)
    else:
        base = preset_of(task, name, agent, request.learner)
    return changed_by_text(base, request.fields, also_known=also_known)


def started(
    run: str, texts: Mapping[str, str], *, also_known: Sequence[str] = ()
) -> tuple[OpenedRun, RunConfig]:
    """A run whose agent another one is to begin from, and that one's configuration: its own, with fields changed."""
    found = open_run(run)
    if isinstance(found.config.learner, ImitationConfig):
        raise ConfigError(
            f"{run}: a student learns from its teacher, by `neuroplastic imitate`, and not by play: it knows no values "
            f"of states to go on from. Rules over the same attributes learn by play with: "
            f"neuroplastic train {found.config.task.key} --observe objects"
        )
    return found, changed_by_text(found.config, texts, also_known=also_known)


def changed_by_text(
    base: RunConfig, texts: Mapping[str, str], *, also_known: Sequence[str] = ()
) -> RunConfig:
    """A configuration with fields changed that are given as text."""
    kinds = [
        name for name in ("encoder", "consequent") if name in texts
    ]  # first: they decide which fields there are
    config: RunConfig = with_values(base, {name: texts[name] for name in kinds})
    types = {option.name: option.type for option in options(config)}
    changed: RunConfig = with_values(config, parsed_fields(texts, types, also_known=also_known))
    return changed


def parsed_fields(
    texts: Mapping[str, str], types: Mapping[str, Any], *, also_known: Sequence[str] = ()
) -> dict[str, Any]:
    """Values of fields that are given as text, by their declared types; an unknown one may have meant another word."""
    for name in texts:
        near = get_close_matches(name, also_known, n=1, cutoff=0.75)
        if name not in types and near:
            raise ConfigError(f"unknown option '--{name}'; did you mean '--{near[0]}'?")
    return {name: parse(name, types.get(name, str), text) for name, text in texts.items()}


def begin_run(
    config: RunConfig, *, runs: str = "runs", device: str = "cpu", start: OpenedRun | None = None
) -> Trial:
    """A new run in a folder of its own; a run that cannot begin leaves none behind.

    With `start` it begins from the network of that one's best epoch: weights, fuzzy sets, their statistics and births;
    frozen rules stay frozen. All else is new: optimizer, memory, schedules, random numbers. A ConfigError names what
    differs where the configuration builds another agent.
    """
    where = usable_device(device)
    if start is not None:
        try:
            check_same_build(config, start.config, start.agent)
        except ConfigError as error:
            raise ConfigError(
                f"--from {start.path.name}: {error}; change that, or leave --from out"
            ) from error
    folder = RunFolder.create(runs, config)
    with ExitStack() as undone:
        undone.callback(
            shutil.rmtree, folder.path
        )  # a run that never began must not take the name of the next
        if start is not None:
            folder.write_start(start.agent)
        trial = undone.enter_context(Trial(config, folder, device=where))
        trial.trainer.begin()  # here it is found out if the game is not installed
        undone.pop_all()
    return trial


def resume_run(run: str, *, epochs: int | None = None, device: str = "cpu") -> tuple[Trial, int]:
    """A run that goes on, with the step that it goes on after; `epochs` lets a finished one go on for longer."""
    where = usable_device(device)
    folder = RunFolder.open(run)
    config = folder.config() if epochs is None else folder.extended(epochs)
    trial = Trial(config, folder, device=where)
    try:
        step = trial.resume()
        if epochs is not None:  # only now is it known that the run can go on
            folder.write_config(config)
        return trial, step
    except BaseException:
        trial.__exit__(None, None, None)
        raise
