"""A readable student of any teacher: fitted, judged, and kept as a run whose play can be told in sentences."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import InputError, at_most
from ..experiment.agent import build_agent, diagnosis_of, greedy
from ..experiment.configuration import MOST_EPISODES, RunConfig, TrialProtocol
from ..experiment.decision import sentences
from ..experiment.demonstrating import demonstrate
from ..experiment.game import Game
from ..experiment.play import Games
from ..experiment.protocols import Task
from ..experiment.run_folder import EpochMetrics, RunFolder, need_folder
from ..experiment.teachers import Teacher, asked
from ..experiment.trial import EVALUATION_SEED, kept_figures
from ..learn.device_memory import observation_bytes
from ..learn.imitation.config import ImitationConfig
from ..learn.imitation.demonstrations import Demonstrations, costs_of
from ..learn.imitation.rounds import Judged, Round, best, imitate
from ..learn.imitation.student import Student, fit_student
from ..learn.offline.recording import Episode, Recording
from ..memory import need_memory
from ..network.dueling import DuelingNetwork
from ..network.encoders.attributes import AttributeEncoderConfig
from ..rules.diagnosis import Diagnosis

PRESET = "student"
# Of each state: as it was seen, and for the fit in double precision.
KEPT_COPIES = 3
# Episodes and states by which the best of the rounds is chosen, none of which are those of evaluation; and states of a
# report.
JUDGED_BY, JUDGED_IN, JUDGING_SEED, REPORTED = 10, 1000, 7_000_001, 4000


@dataclass(frozen=True, eq=False)
class Imitated:
    """A student in a run folder, and what is to be said of it."""

    folder: Path
    config: RunConfig
    agent: DuelingNetwork
    rounds: Sequence[Round]
    agreement: float
    """share of the states of the student's own play in which it does what the teacher would do"""
    as_good: float
    """share of them in which it does that, or something about as good by the teacher's own values"""
    weighted: float
    """agreement, where a state counts by what lies between the teacher's best and worst action"""
    taken: tuple[float, ...]
    """(A,): how often it takes each action there"""
    returns: tuple[float, ...]
    teacher_returns: tuple[float, ...]
    diagnosis: Diagnosis
    sentences: tuple[str, ...]

    @property
    def score(self) -> float:
        """The student's mean return."""
        return statistics.fmean(self.returns)

    @property
    def teacher_score(self) -> float:
        """The teacher's mean return on the same episodes."""
        return statistics.fmean(self.teacher_returns)


def imitate_teacher(
    task: Task,
    teacher: Teacher,
    config: ImitationConfig,
    *,
    episodes: int = 25,
    seed: int = 0,
    runs: str = "runs",
    on_round: Callable[[Round], None] = lambda _: None,
) -> Imitated:
    """Fit a student of a teacher on a task of named attributes, and evaluate both on the same episodes."""
    at_most("episodes", episodes, MOST_EPISODES)
    need_folder(runs)
    need_memory(
        f"rounds={config.rounds} of states={config.states}",
        config.rounds * config.states * (KEPT_COPIES * observation_bytes(task.observation) + 24),
        torch.device("cpu"),
        "choose fewer rounds or states",
    )

    def run_of(student: Student) -> tuple[RunConfig, DuelingNetwork]:
        return _run_of(student, task, replace(config, teacher=teacher.name), episodes, seed)

    def collect(student: Student | None, number: int) -> Demonstrations:
        player = None if student is None else partial(greedy, run_of(student)[1])
        first = number * config.states  # no episode twice
        played = demonstrate(task, teacher, player, states=config.states, seed=seed, first_episode=first)
        return played.shown

    with Games(task, games=1, threads=False) as games:

        def judge(student: Student) -> Judged:
            policy, judging = partial(greedy, run_of(student)[1]), JUDGING_SEED + seed
            results = games.play(policy, JUDGED_BY, seed=judging)
            seen = demonstrate(task, teacher, policy, states=JUDGED_IN, seed=judging, first_episode=JUDGED_BY)
            return Judged(tuple(result.return_ for result in results), seen.agreement)

        rounds = imitate(config, collect, judge, actions=len(task.actions), seed=seed, on_round=on_round)
        chosen = best(rounds)
        made, agent = run_of(chosen.student)
        results = games.play(partial(greedy, agent), episodes, seed=EVALUATION_SEED)
    returns = tuple(result.return_ for result in results)
    played = demonstrate(
        task,
        teacher,
        partial(greedy, agent),
        states=REPORTED,
        seed=EVALUATION_SEED,
        stream="evaluation",
    )
    diagnosis = diagnosis_of(agent, played.shown.attributes)
    assert diagnosis is not None
    folder = RunFolder.create(
        runs, made, lambda new: _write(new, agent, rounds, returns, played.agreement, diagnosis)
    )
    return Imitated(
        folder.path,
        made,
        agent,
        rounds,
        played.agreement,
        played.as_good,
        played.weighted_agreement,
        _shares(played.taken, len(task.actions)),
        returns,
        teacher_returns(task, teacher, episodes),
        diagnosis,
        tuple(sentences(made, agent, played.shown.attributes)),
    )


def imitate_recording(
    task: Task,
    recording: Recording,
    config: ImitationConfig,
    *,
    name: str,
    episodes: int = 25,
    seed: int = 0,
    runs: str = "runs",
) -> Imitated:
    """Clone what somebody did in a recording; agreement is told on its last fifth, which is not learned from."""
    need_folder(runs)
    held_out = max(1, len(recording.episodes) // 5)
    if held_out == len(recording.episodes) or recording.episodes[0].observations.ndim != 2:
        raise InputError("a student needs a recording of at least two episodes, with vectors of attributes")
    learned, kept = recording.episodes[:-held_out], recording.episodes[-held_out:]
    shown, new = _shown(learned), _shown(kept)
    student = fit_student(shown, config, actions=recording.actions, seed=seed)
    made, agent = _run_of(student, task, replace(config, teacher=name, method="cloning"), episodes, seed)
    with Games(task, games=1, threads=False) as games:
        results = games.play(partial(greedy, agent), episodes, seed=EVALUATION_SEED)
    returns = tuple(result.return_ for result in results)
    does = greedy(agent, new.attributes)
    agreement = float((does == new.actions).mean())
    weighted = new.agreement_with(does, costs=True)
    diagnosis = diagnosis_of(agent, new.attributes)
    assert diagnosis is not None
    rounds = [Round(0, student, len(shown), Judged(returns, agreement))]
    folder = RunFolder.create(
        runs, made, lambda new: _write(new, agent, rounds, returns, agreement, diagnosis)
    )
    told = tuple(sentences(made, agent, new.attributes))
    scores = tuple(episode.score for episode in recording.episodes)
    shares = _shares(does, len(task.actions))
    return Imitated(
        folder.path,
        made,
        agent,
        rounds,
        agreement,
        agreement,
        weighted,
        shares,
        returns,
        scores,
        diagnosis,
        told,
    )


def _shares(actions: NDArray[np.int64], count: int) -> tuple[float, ...]:
    return tuple((np.bincount(actions, minlength=count) / len(actions)).tolist())


def _shown(episodes: Sequence[Episode]) -> Demonstrations:
    """What was done, and what the player thought the worst action would have cost, where that is known."""
    values = [episode.values for episode in episodes]
    known = [value for value in values if value is not None]
    states = np.concatenate([episode.observations[:-1] for episode in episodes]).astype(np.float32)
    actions = np.concatenate([episode.actions for episode in episodes])
    costs = (
        costs_of(np.concatenate(known).astype(float)) if len(known) == len(values) else np.ones(len(actions))
    )
    return Demonstrations(states, actions, costs)


def _run_of(
    student: Student, task: Task, config: ImitationConfig, episodes: int, seed: int
) -> tuple[RunConfig, DuelingNetwork]:
    """The configuration of a student's run, and its agent."""
    protocol = TrialProtocol(epochs=1, steps_per_epoch=config.rounds * config.states, episodes=episodes)
    encoder = AttributeEncoderConfig(clip=True)
    made = RunConfig(task, PRESET, config, encoder, student.head, protocol, seed)
    agent = build_agent(made)
    student.write_into(agent)
    return made, agent.eval()


def teacher_returns(task: Task, teacher: Teacher, episodes: int) -> tuple[float, ...]:
    """What the teacher itself scores on the evaluation episodes."""
    found = []
    with Game(task, seed=EVALUATION_SEED, stream="evaluation") as game:
        for episode in range(episodes):
            game.begin(episode)
            while not game.over:
                game.act(int(asked(teacher, teacher.look(game)[None], task)[0][0]))
            found.append(game.total_reward)
    return tuple(found)


def _write(
    folder: RunFolder,
    agent: DuelingNetwork,
    rounds: Sequence[Round],
    returns: Sequence[float],
    agreement: float,
    diagnosis: Diagnosis,
) -> None:
    """One row: what is kept is one student, whatever rounds there were before."""
    row = EpochMetrics.judged(
        returns,
        epoch=1,
        steps=max(made.states for made in rounds),
        training_episodes=0,
        loss=1 - agreement,
        sets=0,
        born=0,
        rules_firing=diagnosis.rules_per_decision,
        figures={"agreement": agreement, **kept_figures(diagnosis)},
    )
    folder.write_returns(1, list(returns))
    folder.write_best(agent)
    folder.write_births(agent)
    folder.write_metrics([row])
