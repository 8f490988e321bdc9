"""Recordings of play, and agents that learn from them alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import ConfigError, InputError, choose
from ..experiment.configuration import RunConfig, TrialProtocol
from ..experiment.offline_trial import OfflineTrial
from ..experiment.protocols import Task
from ..experiment.recording_play import record_play
from ..experiment.run_folder import RunFolder
from ..experiment.tasks import find_task
from ..gym.recordings import read_recording, write_recording
from ..learn.offline.config import OfflineConfig
from ..learn.offline.recording import Episode, Recording
from .opening import open_run
from .teaching import SCRIPTED, find_teacher, student_task
from .training import changed_by_text

PRESET = "offline"


@dataclass(frozen=True)
class PlayRequest:
    """Play that is to be recorded."""

    player: str
    """a run, an agent in the box, or any other teacher of `task`"""
    out: str
    task: str | None = None
    episodes: int = 200
    seed: int = 0
    observe: str = "both"
    """of DOOM: 'objects', 'pictures' or 'both'"""
    random_share: float = 0.0


def record_to_file(request: PlayRequest, *, on_episode: object = None) -> Recording:
    """Play and write a Minari data set."""
    task = _task(request)
    choose("observe", request.observe, ("objects", "pictures", "both"))
    if Path(request.out).exists():
        raise ConfigError(f"{request.out} exists and is not overwritten; choose another --out")
    doom = hasattr(task, "observe")
    if doom and request.observe == "pictures":
        raise ConfigError("pictures come with what is seen in them: --observe both")
    player, task = find_teacher(request.player, task)

    def told() -> Iterator[Episode]:
        for episode in record_play(
            task,
            player,
            episodes=request.episodes,
            seed=request.seed,
            pictures=doom and request.observe == "both",
            random_share=request.random_share,
        ):
            if callable(on_episode):
                on_episode()
            yield episode

    return write_recording(request.out, task, told(), player=player.name)


def _task(request: PlayRequest) -> Task:
    """The task that is played, with attributes where it has some."""
    if request.task is None and (request.player == SCRIPTED or ":" in request.player):
        raise ConfigError(f"say what {request.player} is to play: --task TASK")
    task = open_run(request.player).config.task if request.task is None else find_task(request.task)
    return student_task(task.key) if hasattr(task, "observe") else task


def offline_configuration(
    task: str, data: str, *, agent: str, method: str, fields: dict[str, str], seed: int = 0
) -> RunConfig:
    """A run that learns a task from a recording: the task's own encoder and head, and what is asked for."""
    found = find_task(task)
    if hasattr(found, "observe"):
        found = student_task(task)
    learner = OfflineConfig(data=data, method=method)  # type: ignore[arg-type]
    plain = find_task("CartPole-v1") if hasattr(found, "observe") else found
    base = plain.preset("standard", agent)  # heads for vectors do not depend on what the vectors are
    if agent == "nfn":
        learner = replace(learner, learning_rate=5e-3, structure_rate=0.1)
    protocol = TrialProtocol(epochs=5, steps_per_epoch=2000, episodes=20)
    config = RunConfig(found, PRESET, learner, base.encoder, base.head, protocol, seed)
    return changed_by_text(config, fields)


def begin_offline(config: RunConfig, *, runs: str = "runs") -> OfflineTrial:
    """A new run in a folder of its own; a run that cannot begin leaves none behind."""
    assert isinstance(config.learner, OfflineConfig)
    recording = read_recording(config.learner.data)
    folder = RunFolder.create(runs, config)
    with ExitStack() as undone:
        undone.callback(shutil.rmtree, folder.path)
        trial = OfflineTrial(config, folder, recording)
        undone.pop_all()
    return trial


def resume_offline(run: str, *, epochs: int | None = None) -> OfflineTrial:
    """A run that goes on, for longer where `epochs` says so."""
    folder = RunFolder.open(run)
    config = folder.config() if epochs is None else folder.extended(epochs)
    if not isinstance(config.learner, OfflineConfig):
        raise InputError(f"{run} does not learn from a recording; go on with: {folder.how_to_resume()}")
    trial = OfflineTrial(config, folder, read_recording(config.learner.data))
    trial.resume()
    if epochs is not None:
        folder.write_config(config)
    return trial
