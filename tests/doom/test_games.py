import random
import threading
import time

import numpy as np
import psutil
import pytest

from neuroplastic import doom
from neuroplastic.errors import ConfigError
from neuroplastic.experiment.play import GamesClosedError


def by_brightness(pictures: np.ndarray) -> np.ndarray:
    """A policy that looks at each picture alone."""
    return pictures.astype(np.int64).sum((1, 2, 3)) % 8


def test_results_do_not_depend_on_the_number_of_games() -> None:
    one, three = (
        doom.play(by_brightness, 7, scenario="BP", picture="fast", seed=3, games=games) for games in (1, 3)
    )
    assert one == three
    assert len({result.return_ for result in one}) > 1


def test_results_are_those_of_the_environment_at_evaluation_seeds() -> None:
    results = doom.play(by_brightness, 2, scenario="BP", picture="fast", seed=3)
    env = doom.make("BP", picture="fast", seed=3, stream="evaluation")
    for result in results:
        picture, _ = env.reset()
        steps, terminated, truncated = 0, False, False
        while not (terminated or truncated):
            picture, _, terminated, truncated, info = env.step(by_brightness(picture[None])[0])
            steps += 1
        assert result == doom.EpisodeResult(info["episode_return"], steps)
    env.close()


def test_pictures_come_in_batches_and_may_be_kept() -> None:
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    threads = set()

    def policy(pictures: np.ndarray) -> np.ndarray:
        threads.add(threading.get_ident())
        kept.append((pictures, pictures.copy()))
        return np.zeros(len(pictures), np.int64)

    doom.play(policy, 4, scenario="BP", picture="fast", games=4)
    assert all(pictures.shape[1:] == (84, 84, 3) and pictures.dtype == np.uint8 for pictures, _ in kept)
    assert max(len(pictures) for pictures, _ in kept) > 1
    assert all((pictures == copy).all() for pictures, copy in kept)
    assert threads == {threading.get_ident()}


def test_batches_do_not_depend_on_timing() -> None:
    def batches(pause: float) -> list[bytes]:
        seen = []

        def policy(pictures: np.ndarray) -> np.ndarray:
            time.sleep(random.uniform(0, pause))
            seen.append(pictures.tobytes())
            return by_brightness(pictures)

        doom.play(policy, 5, scenario="BP", picture="fast", games=3)
        return seen

    assert batches(pause=0.0) == batches(pause=0.01)


def test_engines_stay_open_between_plays_and_close_with_the_block() -> None:
    def engines() -> set[int]:
        return {child.pid for child in psutil.Process().children() if "vizdoom" in child.name()}

    before = engines()
    with doom.Games("BP", games=2, picture="fast") as games:
        first = games.play(by_brightness, 3)
        opened = engines() - before
        assert len(opened) == 2
        assert games.play(by_brightness, 3) == first
        assert engines() - before == opened
    assert not engines() & opened
    with pytest.raises(GamesClosedError, match="these games of BP are closed"):
        games.play(by_brightness, 1)


def test_every_episode_is_told_of_once() -> None:
    told: dict[int, doom.EpisodeResult] = {}
    results = doom.play(by_brightness, 5, scenario="BP", picture="fast", on_episode=told.__setitem__)
    assert [told[episode] for episode in range(5)] == results
    assert doom.play(by_brightness, 0, scenario="BP") == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda k: np.zeros(k + 1, int), "one whole number per observation"),
        (lambda k: np.zeros(k), "one whole number per observation"),
        (lambda k: np.full(k, 8), "at least 0 and below 8"),
        (lambda k: np.full(k, -1), "at least 0 and below 8"),
    ],
)
def test_bad_policy_is_named_and_games_can_go_on(answer, message: str) -> None:
    with doom.Games("BP", games=2, picture="fast") as games:
        with pytest.raises(doom.PolicyError, match=message):
            games.play(lambda pictures: answer(len(pictures)), 4)
        assert len(games.play(by_brightness, 2)) == 2
    assert not [thread for thread in threading.enumerate() if "_work" in thread.name]


def test_dead_engine_reaches_the_caller_and_is_replaced() -> None:
    with doom.Games("BP", games=2, picture="fast") as games:
        expected = games.play(by_brightness, 2)
        victim = max(psutil.Process().children(), key=psutil.Process.create_time)
        victim.kill()
        with pytest.raises(doom.EngineError):
            games.play(by_brightness, 2)
        assert games.play(by_brightness, 2) == expected


def test_random_play_is_a_function_of_its_seed_alone() -> None:
    one, three = (doom.random_play("BP", 4, seed=2, games=games, frame_skip=8) for games in (1, 3))
    assert one == three
    assert doom.random_play("BP", 4, seed=3, frame_skip=8) != one


def test_nonsense_is_refused() -> None:
    with pytest.raises(ConfigError, match="games must be a whole number of at least 1"):
        doom.Games("BP", games=0)
    with pytest.raises(ConfigError, match="did you mean 'fast'"):
        doom.Games("BP", picture="fest")  # type: ignore[arg-type]
    with pytest.raises(doom.UnknownScenario):
        doom.Games("BQQ")


@pytest.mark.slow
@pytest.mark.parametrize("key", doom.SCENARIOS)
def test_random_play_scores_what_the_table_says(key: str) -> None:
    returns = np.array([result.return_ for result in doom.random_play(key, 100, seed=1)])
    error = returns.std() / np.sqrt(len(returns))
    assert abs(returns.mean() - doom.SCENARIOS[key].random_play) < 4 * error
