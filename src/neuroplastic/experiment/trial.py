"""The paper's trial protocol: epochs of training, each followed by greedy evaluation; resumable anywhere."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from types import TracebackType

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..learn.device_memory import learner_bytes
from ..learn.episodes import mix
from ..learn.experience import Setting
from ..learn.seeding import RandomStreams
from ..memory import free_what_is_left, need_memory
from ..network.dueling import DuelingNetwork
from ..network.encoders.attributes import AttributeEncoder
from ..rules.diagnosis import Diagnosis
from .agent import build_agent, diagnosis_of, neuro_fuzzy_parts, rules_firing
from .arena import Arena
from .configuration import RunConfig, TrialProtocol
from .divergence import warn_of_divergence
from .figures import slope_of
from .play import EpisodeResult, Games
from .run_folder import EpochMetrics, RunFolder, reading
from .trainer import StepReport, Trainer

# Evaluation plays the same episodes after every epoch of every run; no training episode has their seeds.
EVALUATION_SEED = 0
# Decisions of random play from which an encoder learns the ranges of attributes that have no bounds.
SETTLING_STEPS = 2000
# Observations on which the rules that fire are counted after each epoch.
LOOKED_AT = 32
# Observations on which the rules are diagnosed after each epoch, and what is kept of it.
DIAGNOSED, KEPT_FIGURES = 256, ("leading_rules", "carry", "fit", "premises", "rules_per_decision")


def evaluation_seed(protocol: TrialProtocol, *, run: int, epoch: int) -> int:
    """The seed of the episodes that are played after an epoch: one for all, or one for each run and epoch."""
    if protocol.episode_seeds == "fixed":
        return EVALUATION_SEED
    return 1 + mix(mix(run) ^ epoch) % (2**31 - 1)


def kept_figures(diagnosis: Diagnosis | None) -> dict[str, float]:
    """What metrics.csv keeps of a diagnosis; nothing of a plain agent."""
    return {} if diagnosis is None else {name: float(getattr(diagnosis, name)) for name in KEPT_FIGURES}


@dataclass(frozen=True)
class Summary:
    """A trial's figures: the best and the last epoch, and the slope of the means over epochs."""

    best: EpochMetrics
    last: EpochMetrics
    slope: float


def summarise(metrics: list[EpochMetrics]) -> Summary:
    """The figures of the epochs so far (at least one). Of equals the last is the best: it has seen most."""
    slope = slope_of([m.mean for m in metrics])
    return Summary(max(metrics, key=lambda m: (m.mean, m.epoch)), metrics[-1], slope)


@dataclass(frozen=True)
class Progress:
    """What a display may show during a trial: after each training step, and after each evaluation episode."""

    step: StepReport | None
    evaluated: int | None
    latest: EpochMetrics | None
    born: int


class Stopped(Exception):  # noqa: N818
    """A trial was asked to stop; its state has been saved."""


class Trial:
    """One run of the protocol. Use as a context manager: it owns games, and the run folder's lock."""

    def __init__(self, config: RunConfig, folder: RunFolder, *, device: torch.device | str = "cpu") -> None:
        self.config, self.folder = config, folder
        self.stop_requested = False
        task, protocol = config.task, config.protocol
        free_what_is_left()  # of the runs before: a process may make many
        need_memory(
            "what this learner keeps of observations",
            learner_bytes(config.learner, task.observation),
            torch.device("cpu"),
            "choose a smaller memory_size, rollout or training_games",
        )
        streams = RandomStreams(config.seed)
        self.network = build_agent(config)
        if folder.has_start:
            folder.load_start(self.network)
        settle_encoder(config, self.network)
        self._fuzzy_parts = list(neuro_fuzzy_parts(self.network).values())
        setting = Setting(
            len(task.actions), streams, protocol.steps, torch.device(device), task.mirrored_actions
        )
        self.learner = config.learner.build(self.network, setting)
        with ExitStack() as stack:
            stack.enter_context(folder.lock())
            self.games = stack.enter_context(Games(task, games=protocol.games))
            arena = Arena(
                task,
                games=self.learner.games,
                seed=config.seed,
                processes=protocol.processes,
                # A GPU is faster than the games; of one worker's, none waits for another's.
                spares=torch.device(device).type != "cpu" and protocol.processes != 1,
            )
            stack.enter_context(closing(arena))
            self._held = stack.pop_all()
        self.trainer = Trainer(arena, self.learner)
        self.metrics: list[EpochMetrics] = []
        self.threads_before = 0
        """that computed before this run was taken up again, as rounding depends on them; 0: unknown"""
        self._losses: list[float] = []
        self._unread: list[Tensor] = []  # losses on the device: to read each would be a wait
        self._looks_often = torch.device(device).type == "cpu"
        self._born = 0

    def __enter__(self) -> Trial:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    def resume(self) -> int:
        """Go back to the newest checkpoint; return its step, 0 if there is none."""
        checkpoint = self.folder.checkpoint()
        if checkpoint is None:
            return 0
        with reading(self.folder.checkpoints.path(checkpoint.step)):
            self.trainer.load_state_dict(checkpoint.state["trainer"])
            self.threads_before = checkpoint.state.get("threads", 0)
            self.metrics = [EpochMetrics.of(entry) for entry in checkpoint.state["metrics"]]
            self.folder.write_metrics(self.metrics)  # a kill may have come between the two
            self._losses, self._unread = list(checkpoint.state["losses"]), []
        return checkpoint.step

    def save(self) -> None:
        """Write a checkpoint of the whole state."""
        state = {
            "trainer": self.trainer.state_dict(),
            "metrics": [asdict(entry) for entry in self.metrics],
            "losses": self._read_losses(),
            "threads": torch.get_num_threads(),
        }
        self.folder.checkpoints.save(self.trainer.steps, state)

    def run(
        self, on_progress: Callable[[Progress], None] = lambda _: None, *, seconds: float | None = None
    ) -> Summary:
        """Train and evaluate until all epochs are done, or one is done and another would outlast `seconds`.

        Setting `stop_requested` (from a signal handler, say) ends it with `Stopped` once the state is saved.
        """
        began = epoch_began = time.monotonic()
        longest = 0.0
        protocol = self.config.protocol
        while len(self.metrics) < protocol.epochs:
            if self.stop_requested:  # at the end of an epoch, whose checkpoint is there
                raise Stopped
            until = (len(self.metrics) + 1) * protocol.steps_per_epoch
            while self.trainer.steps < until:
                left = -(-(until - self.trainer.steps) // self.learner.games)
                report = self.trainer.step(rounds=left)
                if report.loss is not None:
                    self._unread.append(report.loss)
                on_progress(self._progress(step=report))
                self._maybe_stop()
            self._finish_epoch(on_progress)
            longest = max(longest, time.monotonic() - epoch_began)
            epoch_began = time.monotonic()
            if seconds is not None and epoch_began - began + longest > seconds:
                break
        return summarise(self.metrics)

    def evaluate(self, on_progress: Callable[[Progress], None]) -> list[EpisodeResult]:
        """Play the greedy episodes of an evaluation."""
        done = 0

        def on_episode(_: int, __: EpisodeResult) -> None:
            nonlocal done
            done += 1
            on_progress(self._progress(evaluated=done))
            self._maybe_stop()

        protocol = self.config.protocol
        seed = evaluation_seed(protocol, run=self.config.seed, epoch=len(self.metrics) + 1)
        return self.games.play(self.learner.greedy, protocol.episodes, seed=seed, on_episode=on_episode)

    def _finish_epoch(self, on_progress: Callable[[Progress], None]) -> None:
        returns = [result.return_ for result in self.evaluate(on_progress)]
        self.folder.write_returns(len(self.metrics) + 1, returns)
        parts = self._fuzzy_parts
        firing = self._rules_firing()
        losses = self._read_losses()
        metrics = EpochMetrics.judged(
            returns,
            epoch=len(self.metrics) + 1,
            steps=self.trainer.steps,
            training_episodes=len(self.trainer.episodes),
            loss=statistics.fmean(losses) if losses else float("nan"),
            sets=sum(int(part.term_mask.sum()) for part in parts),
            born=sum(len(part.births) for part in parts),
            rules_firing=firing,
            figures={**self.learner.figures(), **kept_figures(self.diagnose())},
        )
        self._born = metrics.born
        best_before = max((m.mean for m in self.metrics), default=float("-inf"))
        self.metrics.append(metrics)
        self._losses = []
        if metrics.mean >= best_before:
            self.folder.write_best(self.learner.actor)
        self.folder.write_births(self.network)
        # In this order: results without a checkpoint are those of a run that can no longer go on.
        self.save()
        self.folder.write_metrics(self.metrics)
        warn_of_divergence(self.folder, self.metrics)
        on_progress(self._progress())

    def _read_losses(self) -> list[float]:
        """The losses of the epoch so far, all read at once."""
        if self._unread:
            self._losses += torch.stack(self._unread).tolist()
            self._unread = []
        return self._losses

    def diagnose(self) -> Diagnosis | None:
        """Whether the rules of the agent that acts decide, on observations of late; None for a plain agent."""
        seen = self.learner.sample_observations(DIAGNOSED)
        return None if seen is None else diagnosis_of(self.learner.actor, seen)

    @torch.no_grad()
    def _rules_firing(self) -> float | None:
        """Mean number of rules that fire on observations of late; None for a plain agent."""
        seen = self.learner.sample_observations(LOOKED_AT)
        return None if seen is None else rules_firing(self.network, seen)

    def _progress(self, *, step: StepReport | None = None, evaluated: int | None = None) -> Progress:
        if self._looks_often:
            self._born = sum(len(part.antecedent.growth.births) for part in self._fuzzy_parts)
        return Progress(step, evaluated, self.metrics[-1] if self.metrics else None, self._born)

    def _maybe_stop(self) -> None:
        if self.stop_requested:
            self.save()
            raise Stopped


def settle_encoder(config: RunConfig, network: DuelingNetwork) -> None:
    """Let an encoder that has to, see random play; what it sees depends on the run's seed alone."""
    encoder = network.encoder
    if not isinstance(encoder, AttributeEncoder) or not encoder.unsettled:
        return
    generator = np.random.default_rng(config.seed)
    with closing(config.task.environment(seed=config.seed)) as environment:
        seen: list[NDArray[np.float32]] = []
        episode, over = 0, True
        while len(seen) < SETTLING_STEPS:
            if over:
                observation, _ = environment.reset(options={"episode": episode})
                episode += 1
            else:
                action = generator.integers(len(config.task.actions))
                observation, _, terminated, truncated, _ = environment.step(action)
            over = not over and bool(terminated or truncated)
            seen.append(np.asarray(observation))
    encoder.settle(np.stack(seen))
