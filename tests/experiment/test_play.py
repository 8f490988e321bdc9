"""Evaluation plays the same episodes, whatever the number of games, the threads and the time it takes."""

import random
import threading
import time

import numpy as np
import pytest

from neuroplastic.errors import ConfigError
from neuroplastic.experiment.game import Game, GameError, PolicyError
from neuroplastic.experiment.play import EpisodeResult, Games, GamesClosedError, watch_episode
from tests.experiment.unruly import UnrulyTask
from tests.small_game import CatchTask, CorridorTask

TASKS = (CatchTask(cells=5), CorridorTask())
every_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.key)


def by_sum(observations: np.ndarray) -> np.ndarray:
    """A policy that looks at each observation alone; the brightness of the corridor decides where one goes."""
    return (observations.reshape(len(observations), -1).astype(np.float64).sum(1) * 7).astype(np.int64) % 2


@every_task
def test_results_are_those_of_environments_played_one_by_one_in_the_evaluation_stream(task):
    with Games(task, games=3) as games:
        results = games.play(by_sum, 7, seed=3)
    environment = task.environment(seed=3, stream="evaluation")
    for episode, result in enumerate(results):
        observation, _ = environment.reset(options={"episode": episode})
        seen, total, over = [], 0.0, False
        while not over:
            seen.append(observation)
            observation, reward, terminated, truncated, _ = environment.step(
                int(by_sum(observation[None])[0])
            )
            total, over = total + reward, terminated or truncated
        assert result == EpisodeResult(total, len(seen))
        watched = watch_episode(task, by_sum, episode=episode, seed=3)
        assert len(watched) == len(seen)
        assert all((a == b).all() for a, b in zip(watched, seen, strict=True))
    assert len(set(results)) > 1


@every_task
def test_results_depend_neither_on_the_number_of_games_nor_on_threads(task):
    def results(games: int, threads: bool) -> list[EpisodeResult]:
        with Games(task, games=games, threads=threads) as opened:
            return opened.play(by_sum, 9, seed=1)

    one, *others = (results(games, threads) for games in (1, 4, 20) for threads in (False, True))
    assert all(other == one for other in others)


def test_threads_are_for_pictures():
    assert [Games(task).threads for task in TASKS] == [True, False]


def test_observations_come_in_batches_to_the_callers_thread_and_may_be_kept():
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    threads = set()

    def policy(pictures: np.ndarray) -> np.ndarray:
        threads.add(threading.get_ident())
        kept.append((pictures, pictures.copy()))
        return np.zeros(len(pictures), np.int64)

    with Games(TASKS[0], games=4) as games:
        games.play(policy, 4)
    assert all(pictures.shape[1:] == (12, 12, 3) and pictures.dtype == np.uint8 for pictures, _ in kept)
    assert max(len(pictures) for pictures, _ in kept) == 2  # two groups take turns
    assert all((pictures == copy).all() for pictures, copy in kept)
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("threads", [False, True])
def test_batches_do_not_depend_on_timing(threads):
    def batches(pause: float) -> list[bytes]:
        seen = []

        def policy(pictures: np.ndarray) -> np.ndarray:
            time.sleep(random.uniform(0, pause))
            seen.append(pictures.tobytes())
            return by_sum(pictures)

        with Games(TASKS[0], games=3, threads=threads) as games:
            games.play(policy, 5)
        return seen

    assert batches(pause=0.0) == batches(pause=0.01)


def test_environments_stay_open_between_plays_of_one_seed_and_close_with_the_block(monkeypatch):
    made = []
    environment_of = CatchTask.environment

    def environment(self, **options):
        made.append(environment_of(self, **options))
        return made[-1]

    monkeypatch.setattr(CatchTask, "environment", environment)
    with Games(TASKS[0], games=2) as games:
        first = games.play(by_sum, 3)
        assert games.play(by_sum, 3) == first
        assert len(made) == 2
        games.play(by_sum, 3, seed=1)
        assert [(one.seed, one.closed) for one in made] == [(0, True), (0, True), (1, False), (1, False)]
        assert games.play(by_sum, 3) == first
    assert all(one.closed for one in made)
    games.close()
    with pytest.raises(GamesClosedError, match="these games of catch are closed"):
        games.play(by_sum, 1)


@every_task
def test_every_episode_is_told_of_once(task):
    told: dict[int, EpisodeResult] = {}
    with Games(task) as games:
        results = games.play(by_sum, 5, on_episode=told.__setitem__)
        assert [told[episode] for episode in range(5)] == results
        assert games.play(by_sum, 0) == []


@every_task
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda k: np.zeros(k + 1, int), "one whole number per observation"),
        (lambda k: np.zeros(k), "one whole number per observation"),
        (lambda k: np.full(k, 3), "at least 0 and below"),
        (lambda k: np.full(k, -1), "at least 0 and below"),
    ],
)
def test_bad_policy_is_named_and_games_can_go_on(task, answer, message):
    with Games(task, games=2) as games:
        with pytest.raises(PolicyError, match=message):
            games.play(lambda observations: answer(len(observations)), 4)
        assert len(games.play(by_sum, 2)) == 2
    with pytest.raises(PolicyError, match=message):
        watch_episode(task, lambda observations: answer(len(observations)))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("game-")]


@pytest.mark.parametrize("threads", [False, True])
def test_failed_environment_reaches_the_caller_and_is_replaced(threads, tmp_path):
    task = UnrulyTask(fault="fails", notes=str(tmp_path))
    with Games(task, games=2, threads=threads) as games:
        with pytest.raises(GameError, match=r"episode 1 of unruly, after 1 steps: .* ZeroDivisionError"):
            games.play(lambda observations: np.ones(len(observations), int), 2)
        assert len(games.play(by_sum, 1)) == 1
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("game-")]


@every_task
def test_random_play_is_a_function_of_its_seed_alone(task):
    def results(games: int, seed: int) -> list[EpisodeResult]:
        with Games(task, games=games) as opened:
            return opened.play_randomly(12, seed=seed)

    assert results(1, 2) == results(3, 2)
    assert results(1, 2) != results(1, 3)


def test_nonsense_is_refused():
    with pytest.raises(ConfigError, match="games must be a whole number of at least 1"):
        Games(TASKS[0], games=0)
    with Games(TASKS[0]) as games, pytest.raises(ConfigError, match="episodes must be a whole number"):
        games.play(by_sum, -1)


@pytest.mark.parametrize("advice", [2, -2, 10**30, 0.5, None, "left"])
def test_advice_that_is_no_action_is_refused_by_the_name_of_the_task(advice):
    game = Game(CorridorTask())
    game.environment.advice = advice
    with pytest.raises(GameError, match=r"the advice of corridor must be one of its actions, 0 to 1, or -1"):
        assert game.advice
