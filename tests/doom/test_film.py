"""render_mode "rgb_array_list": every tic of the game that is played, in full size."""

import itertools

import gymnasium
import numpy as np
import pytest

from neuroplastic import doom

STATUS_BAR = 400
"""The first row of a full-size frame in which the status bar may be seen."""


@pytest.mark.parametrize("key", doom.SCENARIOS)
def test_the_film_shows_the_game_that_is_played(key: str) -> None:
    env = doom.make(key, picture="paper", frame_skip=3, seed=5, render_mode="rgb_array_list")
    env.reset()
    assert len(env.render()) == 1
    rng = np.random.default_rng(0)
    for _ in range(40):
        _, _, terminated, truncated, _ = env.step(rng.integers(env.action_space.n))
        frames = env.render()
        if terminated or truncated:
            assert len(frames) < 3, "the engine draws no frame after the end"
            break
        assert len(frames) == 3
        # Three single tics of the one engine lead where three at once lead the other. Only the status bar differs:
        # its figures and its face move a little whenever a frame is drawn.
        np.testing.assert_array_equal(frames[-1][:STATUS_BAR], env._engine.frame[:STATUS_BAR])
    assert env._film._engine.episode_return == pytest.approx(env._engine.episode_return, abs=1e-9)
    assert env._film._engine.finished == env._engine.finished
    env.close()


def test_frames_are_given_once_each_and_forgotten_at_reset() -> None:
    env = doom.make("BP", picture="fast", render_mode="rgb_array_list")
    assert env.metadata["render_fps"] == 35
    with pytest.raises(doom.ResetNeededError, match="no episode was begun"):
        env.render()
    env.reset(options={"episode": 7})
    env.step(1)
    env.step(1)
    frames = env.render()
    assert len(frames) == 1 + 4 + 4
    assert all(frame.shape == (480, 640, 3) and frame.dtype == np.uint8 for frame in frames)
    assert all((before != after).any() for before, after in itertools.pairwise(frames))
    assert env.render() == []
    env.step(2)
    (again,) = env.reset(options={"episode": 7}) and env.render()
    np.testing.assert_array_equal(again, frames[0])
    env.close()
    with pytest.raises(doom.EngineClosedError, match="nothing to render"):
        env.render()


def test_what_the_agent_sees_does_not_depend_on_the_film() -> None:
    plain = doom.make("BP", picture="fast")
    filmed = doom.make("BP", picture="fast", render_mode="rgb_array_list")
    for env_step in range(30):
        pictures = [env.reset()[0] if env_step == 0 else env.step(env_step % 8)[0] for env in (plain, filmed)]
        np.testing.assert_array_equal(*pictures)
    plain.close()
    filmed.close()


def test_gymnasium_makes_the_film_without_a_wrapper_of_its_own() -> None:
    env = gymnasium.make("neuroplastic/BP-v0", picture="fast", frame_skip=8, render_mode="rgb_array_list")
    env.reset(seed=0)
    env.step(0)
    assert len(env.render()) == 9
    env.close()
