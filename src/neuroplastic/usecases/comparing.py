"""The next episodes of an agent with its rules edited, beside those of the original: the same games by both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ..experiment.agent import greedy
from ..experiment.play import EpisodeResult, Games
from ..experiment.trial import EVALUATION_SEED
from ..learn.experience import Observations
from ..rules.leading import leaders_of
from .agent_editing import deciding_rules, edited_agent
from .drawing import BARS
from .edits import Edit
from .opening import OpenedRun

EPISODES = 20
# Observations that are kept of the original's play, every so many: enough to tell which rules lead.
KEPT, EVERY = 4000, 4
PICTURES_KEPT, EVERY_PICTURE = 400, 10


@dataclass(frozen=True)
class Played:
    """An episode that was played by the original or by the edited agent."""

    edited: bool
    episode: int
    score: float


@dataclass(frozen=True)
class Seen:
    """What the original met in its play: how attributes lie, and how many of the decisions each rule leads."""

    ranges: tuple[tuple[float, float, tuple[int, ...]], ...]
    """least, greatest and a histogram of each attribute; none of pictures"""
    leads: tuple[int, ...]
    """of the original's decisions, by rules as edited"""


class Comparing:
    """Plays the same evaluation episodes by an agent's original and by edits of it; keeps the games open."""

    def __init__(self, run: OpenedRun, *, episodes: int = EPISODES) -> None:
        self.run, self.episodes = run, episodes
        self.games = Games(run.config.task, games=min(run.config.protocol.games, 2))
        self.original: list[float] = []
        self._met: list[Observations] = []

    def play(self, edits: Sequence[Edit], on_episode: Callable[[Played], None]) -> Seen:
        """Play the original, if that was not done, and the edited agent; what `on_episode` raises ends it."""
        edited = edited_agent(self.run, edits)  # first: what cannot be edited is not waited for
        if not self.original:
            self._met.clear()
            self.original = self._scores(self.run, on_episode, edited=False)
        else:
            for episode, score in enumerate(self.original):
                on_episode(Played(False, episode, score))
        seen = self._seen(edited)
        if edits:
            self._scores(edited, on_episode, edited=True)
        return seen

    def close(self) -> None:
        """End the games."""
        self.games.close()

    def _scores(self, run: OpenedRun, on_episode: Callable[[Played], None], *, edited: bool) -> list[float]:
        pictures = run.config.task.observation.is_picture
        most, every = (PICTURES_KEPT, EVERY_PICTURE) if pictures else (KEPT, EVERY)
        asked = 0

        def decide(observations: Observations) -> NDArray[np.int64]:
            nonlocal asked
            if not edited and asked % every == 0 and len(self._met) < most:
                self._met.append(observations[0].copy())
            asked += 1
            return greedy(run.agent, observations)

        def tell(episode: int, result: EpisodeResult) -> None:
            on_episode(Played(edited, episode, result.return_))

        results = self.games.play(decide, self.episodes, seed=EVALUATION_SEED, on_episode=tell)
        return [result.return_ for result in results]

    @torch.inference_mode()
    def _seen(self, edited: OpenedRun) -> Seen:
        met, level = np.stack(self._met), deciding_rules(edited)
        parts = [
            edited.agent.encoder(torch.from_numpy(part)) for part in np.array_split(met, -(-len(met) // 64))
        ]
        counts = np.bincount(leaders_of(level, torch.cat(parts)), minlength=level.rules)
        ranges = (
            () if edited.config.task.observation.is_picture else tuple(_range(column) for column in met.T)
        )
        return Seen(ranges, tuple(int(count) for count in counts))


def _range(values: NDArray[np.float32]) -> tuple[float, float, tuple[int, ...]]:
    low, high = float(values.min()), float(values.max())
    if high <= low:
        low, high = low - 0.5, high + 0.5
    counts, _ = np.histogram(values, bins=BARS, range=(low, high))
    return low, high, tuple(int(count) for count in counts)
