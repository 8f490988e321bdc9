"""Play as a recording: what was seen, done and earned, and what the player thought of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from ..errors import at_least
from ..learn.device_memory import observation_bytes
from ..learn.episodes import Stream, episode_seed
from ..learn.offline.recording import Episode
from ..memory import need_memory
from .game import Game
from .protocols import Task
from .teachers import Teacher, picture_of, told


def record_play(
    task: Task,
    player: Teacher,
    *,
    episodes: int,
    seed: int = 0,
    first_episode: int = 0,
    stream: Stream = "training",
    pictures: bool = False,
    random_share: float = 0.0,
) -> Iterator[Episode]:
    """Episodes one after the other; `pictures` too, where an environment has them beside what it shows.

    A `random_share` of the actions is drawn, as a function of seed and episode: what a learner is to improve upon.
    """
    at_least("episodes", episodes, 1)
    # All of it is kept until it is written; of an episode at least one decision, and what was seen before and after.
    need_memory(
        f"a recording of episodes={episodes}, even of one decision each,",
        episodes * 2 * (observation_bytes(task.observation) + 8),
        torch.device("cpu"),
        "record fewer episodes",
    )
    with Game(task, seed=seed, stream=stream) as game:
        for number in range(first_episode, first_episode + episodes):
            yield _episode(game, player, number, pictures=pictures, random_share=random_share, seed=seed)


def _episode(
    game: Game, player: Teacher, number: int, *, pictures: bool, random_share: float, seed: int
) -> Episode:
    drawn = np.random.default_rng([seed, number])
    game.begin(number)
    seen, looks = [game.observation.copy()], [picture_of(game)] if pictures else []
    actions, rewards, values = [], [], []
    while not game.over:
        answer = player.answered(player.look(game)[None])
        action = int(told(answer, 1, game.task)[0][0])
        if answer.ndim == 2:
            values.append(answer[0].astype(np.float32))
        if random_share and drawn.random() < random_share:
            action = int(drawn.integers(len(game.task.actions)))
        game.act(action)
        actions.append(action)
        rewards.append(game.reward)
        seen.append(game.observation.copy())
        if pictures:
            looks.append(picture_of(game))
    stream: Stream = getattr(game.environment, "stream", "training")
    return Episode(
        np.stack(seen),
        np.array(actions, np.int64),
        np.array(rewards, np.float32),
        game.terminated,
        number,
        episode_seed(seed, number, stream=stream),
        np.stack(values) if len(values) == len(actions) else None,
        np.stack(looks) if pictures else None,  # type: ignore[arg-type]
    )
