"""What runs have learned: their list, an evaluation, a film, the episode of a decision."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, at_least
from ..experiment.agent import greedy
from ..experiment.configuration import RunConfig
from ..experiment.decision import explain_decision
from ..experiment.filming import RecordedEpisode, film_at
from ..experiment.play import EpisodeResult, Games
from ..experiment.run_folder import RunError, run_folders
from ..experiment.showing import show_episodes
from ..experiment.trial import EVALUATION_SEED, Summary, summarise
from ..rules.explanations.hiding import usual_picture
from .cards import Card
from .commenting import Commentary
from .devices import usable_device
from .opening import OpenedRun, in_the_box, open_run


@dataclass(frozen=True)
class Evaluation:
    """Greedy episodes of an agent."""

    config: RunConfig
    returns: tuple[float, ...]
    card: Card | None = None
    """what is known of an agent in the box"""

    @property
    def mean(self) -> float:
        """Of the episodes' returns."""
        return statistics.fmean(self.returns)

    @property
    def sd(self) -> float:
        """Their standard deviation; 0 for one episode."""
        return statistics.stdev(self.returns) if len(self.returns) > 1 else 0.0


def evaluate_run(
    run: str,
    *,
    which: str = "best",
    episodes: int = 25,
    seed: int | None = None,
    games: int | None = None,
    device: str = "cpu",
    on_episode: Callable[[int, EpisodeResult], None] | None = None,
) -> Evaluation:
    """Play greedy episodes: those of the evaluation in training, or of another seed.

    `games` are played at once, as many as in training unless told.
    """
    place = usable_device(device)
    opened = open_run(run, which)
    with Games(opened.config.task, games=games or opened.config.protocol.games) as played:
        results = played.play(
            partial(greedy, opened.agent.to(place)),
            episodes,
            seed=EVALUATION_SEED if seed is None else seed,
            on_episode=on_episode,
        )
    return Evaluation(opened.config, tuple(result.return_ for result in results), opened.card)


@dataclass(frozen=True)
class Recording:
    """A film of one or more episodes, and the rules behind the decision in its middle where they were asked for."""

    path: Path
    episodes: tuple[RecordedEpisode, ...]
    explained: str | None

    @property
    def film(self) -> RecordedEpisode:
        """The first episode."""
        return self.episodes[0]


# A film that explains shows so many seconds, or episodes: one may be over at once.
ENOUGH_SECONDS, ENOUGH_EPISODES = 20.0, 5


def record_run(
    run: str,
    *,
    which: str = "best",
    episode: int = 0,
    seed: int | None = None,
    out: str | None = None,
    explain: bool = False,
    episodes: int | None = None,
) -> Recording:
    """Film evaluation episodes as an mp4: in the run's folder, or here where the agent is one in the box.

    Without `episodes` it is one; a film that explains goes on for 20 s or five episodes, and shows action values, the
    leading rule, the words of a student, and for pictures where the agent looks.
    """
    if episodes is not None:
        at_least("episodes", episodes, 1)
    opened = open_run(run, which)
    config = opened.config
    if explain and config.agent != "nfn":
        raise InputError(f"{run} is a {config.agent} run: it has no rules; leave --explain out")
    name = f"episode-{episode}.mp4"
    own = Path(f"{opened.path.name}-{name}") if in_the_box(run) else opened.path / name
    path = Path(out) if out else own
    commentary = Commentary(opened) if explain else None
    films: list[RecordedEpisode] = []

    def numbers() -> Iterator[int]:
        most = episodes or (ENOUGH_EPISODES if explain else 1)
        for number in range(episode, episode + most):
            yield number
            if episodes is None and sum(film.seconds for film in films) >= ENOUGH_SECONDS:
                return

    show_episodes(
        config.task if commentary is None else commentary.task,
        partial(greedy, opened.agent),
        film_at(path),
        episodes=numbers(),
        seed=EVALUATION_SEED if seed is None else seed,
        commentary=commentary,
        on_episode=films.append,
    )
    return Recording(path, tuple(films), _middle_decision(opened, films[0].observations) if explain else None)


def _middle_decision(run: OpenedRun, seen: Sequence[Any]) -> str:
    """Why the agent decided as it did half-way through an episode."""
    number = len(seen) // 2
    usual = usual_picture(np.stack(seen), number) if run.config.task.observation.is_picture else None
    return explain_decision(run.config, run.agent, seen[number], usual=usual)


@dataclass(frozen=True)
class ListedRun:
    """One run in the list: how far it is and what it scored, or why it cannot be read."""

    name: str
    epochs: int = 0
    wanted: int = 0
    steps: int = 0
    summary: Summary | None = None
    problem: str | None = None


def list_runs(parent: str) -> list[ListedRun]:
    """All runs under a folder; one that cannot be read does not hide the others."""
    found = []
    for folder in run_folders(parent):
        try:
            metrics, protocol = folder.metrics(), folder.protocol()
            steps = max(folder.checkpoints.steps(), default=0)
        except (RunError, OSError) as error:
            found.append(ListedRun(folder.path.name, problem=str(error)))
            continue
        summary = summarise(metrics) if metrics else None
        found.append(ListedRun(folder.path.name, len(metrics), protocol.epochs, steps, summary))
    return found
