"""A run that learns from a recording: the trial's epochs, files and resume, without play in training."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import torch

from ..errors import InputError
from ..learn.offline.config import OfflineConfig
from ..learn.offline.learner import OfflineLearning
from ..learn.offline.recording import Recording
from ..learn.seeding import RandomStreams
from ..memory import need_memory
from ..network.encoders.attributes import AttributeEncoder
from ..network.heads import DnnConfig
from .agent import build_agent, diagnosis_of, greedy, neuro_fuzzy_parts
from .configuration import RunConfig
from .play import Games
from .run_folder import EpochMetrics, RunFolder, reading
from .trial import DIAGNOSED, EVALUATION_SEED, Summary, kept_figures, summarise

OnEpoch = Callable[[EpochMetrics], None]

# How many standard deviations of a recorded attribute are a feature of 1. Fuzzy sets begin between -1 and 1; a plain
# network tells small differences apart the better the wider its features are: clones of Acrobot's controller, whose
# torque turns where a velocity of 3.5 on average is 0, scored -84 and -96 with 2 deviations, -84 and -85 with 0.5.
FUZZY_DEVIATIONS, PLAIN_DEVIATIONS = 2.0, 0.5


class OfflineTrial:
    """Epochs of `steps_per_epoch` updates, each followed by greedy episodes; a checkpoint after each."""

    def __init__(self, config: RunConfig, folder: RunFolder, recording: Recording) -> None:
        assert isinstance(config.learner, OfflineConfig)
        self.config, self.folder = config, folder
        need_memory(
            f"an update of batch_size={config.learner.batch_size}",
            config.learner.kept_bytes(config.task.observation),
            torch.device("cpu"),
            "choose a smaller batch_size",
        )
        shape, seen = config.task.observation.shape, recording.episodes[0].observations.shape[1:]
        if shape != seen or recording.actions != len(config.task.actions):
            raise InputError(
                f"the recording must show what {config.task.key} shows, {shape}, with {len(config.task.actions)} "
                f"actions, got {seen} with {recording.actions}"
            )
        streams = RandomStreams(config.seed)
        network = build_agent(config)
        if isinstance(network.encoder, AttributeEncoder):
            recorded: Any = recording.transitions().observations
            if config.learner.method == "cloning":
                # What was done changes at sharp edges, values change smoothly.
                plain = isinstance(config.head, DnnConfig)
                network.encoder.spread_over(recorded, PLAIN_DEVIATIONS if plain else FUZZY_DEVIATIONS)
            elif network.encoder.unsettled:
                network.encoder.settle(recorded)
        self.learner = OfflineLearning(network, config.learner, recording, streams)
        self.metrics: list[EpochMetrics] = []

    def resume(self) -> int:
        """Go back to the newest checkpoint; return its updates, 0 if there is none."""
        checkpoint = self.folder.checkpoint()
        if checkpoint is None:
            return 0
        with reading(self.folder.checkpoints.path(checkpoint.step)):
            self.learner.load_state_dict(checkpoint.state["trainer"]["learner"])
            self.metrics = [EpochMetrics.of(entry) for entry in checkpoint.state["metrics"]]
        return checkpoint.step

    def run(self, on_epoch: OnEpoch = lambda _: None) -> Summary:
        """Learn and evaluate until all epochs are done."""
        protocol, task = self.config.protocol, self.config.task
        with self.folder.lock(), Games(task, games=protocol.games) as games:
            self.folder.write_metrics(
                self.metrics
            )  # a kill may have come between a checkpoint and its figures
            while len(self.metrics) < protocol.epochs:
                losses = [self.learner.update() for _ in range(protocol.steps_per_epoch)]
                policy = partial(greedy, self.learner.network)
                results = games.play(policy, protocol.episodes, seed=EVALUATION_SEED)
                self._finish([result.return_ for result in results], statistics.fmean(losses))
                on_epoch(self.metrics[-1])
        return summarise(self.metrics)

    def _finish(self, returns: list[float], loss: float) -> None:
        network, folder = self.learner.network, self.folder
        parts = neuro_fuzzy_parts(network).values()
        seen = diagnosis_of(network, self.learner.sample_observations(DIAGNOSED))
        made = EpochMetrics.judged(
            returns,
            epoch=len(self.metrics) + 1,
            steps=self.learner.updates,
            training_episodes=0,
            loss=loss,
            sets=sum(int(part.term_mask.sum()) for part in parts),
            born=sum(len(part.births) for part in parts),
            rules_firing=None if seen is None else seen.rules_per_decision,
            figures=kept_figures(seen),
        )
        best_before = max((m.mean for m in self.metrics), default=float("-inf"))
        self.metrics.append(made)
        folder.write_returns(made.epoch, returns)
        if made.mean >= best_before:
            folder.write_best(network)
        folder.write_births(network)
        state = {
            "trainer": {"learner": self.learner.state_dict()},
            "metrics": [asdict(entry) for entry in self.metrics],
        }
        folder.checkpoints.save(self.learner.updates, state)
        folder.write_metrics(self.metrics)
