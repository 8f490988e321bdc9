import warnings

import numpy as np
from gymnasium.utils.env_checker import check_env

from tests.learn.catch import Catch


def test_it_passes_the_checks_of_gymnasium():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(render|spec|metadata).*")
        check_env(Catch())


def test_an_episode_depends_on_seed_and_number_alone():
    first, second = Catch(seed=3), Catch(seed=3)
    for k in range(5):
        second.reset(options={"episode": k})
    frames = [game.reset(options={"episode": 9})[0] for game in (first, second)]
    assert np.array_equal(*frames)
    starts = {Catch(seed=3).reset(options={"episode": k})[0].tobytes() for k in range(200)}
    assert len(starts) == 16  # 4 columns for the ball, 4 for the paddle


def test_following_the_ball_always_wins():
    game = Catch()
    for k in range(50):
        frame, _ = game.reset(options={"episode": k})
        over = False
        while not over:
            ball, paddle = (int(frame[..., channel].any(axis=0).argmax()) for channel in (0, 1))
            frame, reward, over, _, _ = game.step(1 + int(np.sign(ball - paddle)))
        assert reward == 1.0
