import subprocess
import sys
import warnings
from collections.abc import Iterator

import cv2
import gymnasium
import numpy as np
import psutil
import pytest
from gymnasium.utils.env_checker import check_env

from neuroplastic import doom
from neuroplastic.errors import ConfigError


@pytest.fixture(scope="module")
def bp() -> Iterator[doom.DoomEnv]:
    env = doom.make("BP", picture="fast", render_mode="rgb_array")
    yield env
    env.close()


@pytest.mark.parametrize("key", doom.SCENARIOS)
def test_gymnasium_finds_no_fault(key: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(f"neuroplastic/{key}-v0", picture="fast", render_mode="rgb_array")
        check_env(env.unwrapped)
        env.close()


def test_real_scenario_is_played_to_its_end_with_the_paper_picture() -> None:
    env = doom.make("BP", render_mode="rgb_array")
    picture, info = env.reset()
    assert picture.shape == (84, 84, 3)
    assert picture.dtype == np.uint8
    assert info == {"episode": 0, "episode_return": 0.0}
    rewards, terminated, decisions = [], False, 0
    while not terminated:
        frame = env.render()
        assert frame.shape == (480, 640, 3)
        np.testing.assert_array_equal(picture, cv2.resize(frame, (84, 84), interpolation=cv2.INTER_AREA))
        assert picture.std() > 10
        picture, reward, terminated, truncated, info = env.step(0)
        assert not truncated
        rewards.append(reward)
        decisions += 1
    assert decisions == 75
    assert info["timed_out"]
    assert info["episode_return"] == sum(rewards) == -300
    env.close()


def test_shooting_the_monster_pays_and_ends_the_episode(bp: doom.DoomEnv) -> None:
    # Random play kills now and then: 101 for the kill, -5 a shot, -1 a tic, as the shipped scenario has it.
    rng = np.random.default_rng(0)
    for _ in range(30):
        bp.reset()
        rewards, terminated = [], False
        while not terminated:
            _, reward, terminated, _, info = bp.step(rng.integers(8))
            rewards.append(reward)
        assert info["episode_return"] == pytest.approx(sum(rewards))
        if not info["timed_out"]:
            assert rewards[-1] > 80
            return
    pytest.fail("thirty episodes and no kill")


def test_last_observation_is_all_zeros_and_the_last_frame_stays(bp: doom.DoomEnv) -> None:
    bp.reset()
    terminated = False
    while not terminated:
        frame = bp.render()
        picture, _, terminated, _, _ = bp.step(0)
    assert not picture.any()
    np.testing.assert_array_equal(bp.render(), frame)


def test_observations_may_be_kept(bp: doom.DoomEnv) -> None:
    first, _ = bp.reset(seed=0)
    copy = first.copy()
    for _ in range(10):
        bp.step(1)
    np.testing.assert_array_equal(first, copy)


def test_render_flags_of_the_paper_are_set() -> None:
    env = doom.make("HTL", picture="fast", render_mode="rgb_array")
    env.reset()
    bar = env.render()[-19:]
    env.close()
    red = bar[..., 0].astype(int) - bar[..., 1]
    assert (red > 80).sum() > 50, "the heads-up display shows red figures along the bottom"


def test_reset_goes_on_jumps_and_starts_over(bp: doom.DoomEnv) -> None:
    first, info = bp.reset(seed=5)
    assert info["episode"] == 0
    second, info = bp.reset()
    assert info["episode"] == 1
    assert (first != second).any()
    ninth, info = bp.reset(options={"episode": 9})
    assert info["episode"] == 9
    assert bp.reset()[1]["episode"] == 10
    np.testing.assert_array_equal(bp.reset(options={"episode": 1})[0], second)
    np.testing.assert_array_equal(bp.reset(seed=5)[0], first)
    np.testing.assert_array_equal(bp.reset(seed=5, options={"episode": 9})[0], ninth)
    assert (bp.reset(seed=6)[0] != first).any()


def test_every_button_combination_is_an_action(bp: doom.DoomEnv) -> None:
    assert bp.action_meanings() == [
        "NOTHING",
        "MOVE_LEFT",
        "MOVE_RIGHT",
        "MOVE_LEFT+MOVE_RIGHT",
        "ATTACK",
        "MOVE_LEFT+ATTACK",
        "MOVE_RIGHT+ATTACK",
        "MOVE_LEFT+MOVE_RIGHT+ATTACK",
    ]


def test_an_action_presses_the_buttons_it_means(bp: doom.DoomEnv) -> None:
    def moved(action: int) -> np.ndarray:
        bp.reset(seed=0)
        for _ in range(4):
            picture = bp.step(action)[0]
        return picture.astype(int)

    stay, left, right, both = (moved(action) for action in range(4))
    np.testing.assert_array_equal(stay, both)
    assert np.abs(left - right).mean() > np.abs(left - stay).mean() / 2 > 0
    bp.reset(seed=0)
    assert sum(bp.step(0b100)[1] for _ in range(4)) == -16 - 5  # a tic costs 1, a shot that misses 5


def test_frame_skip_is_the_length_of_a_decision() -> None:
    env = doom.make("TC", picture="fast", frame_skip=7)
    env.reset()
    assert env.step(0)[1] == 7.0
    assert env.metadata["render_fps"] == 5.0
    env.close()


def test_wrong_use_is_named(bp: doom.DoomEnv) -> None:
    bp.reset()
    with pytest.raises(ConfigError, match="action must be at least 0 and below 8, got 8"):
        bp.step(8)
    with pytest.raises(ConfigError, match="did you mean 'episode'"):
        bp.reset(options={"episod": 3})
    with pytest.raises(ConfigError, match="did you mean 'paper'"):
        doom.make("BP", picture="papre")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="frame_skip must be a whole number of at least 1"):
        doom.make("BP", frame_skip=0)
    with pytest.raises(ConfigError, match="render_mode must be one of 'rgb_array'"):
        doom.make("BP", render_mode="human")
    with pytest.raises(ConfigError, match="run_seed"):
        doom.make("BP", seed=-1)


def test_step_needs_an_episode_and_a_game() -> None:
    env = doom.make("BP", picture="fast", render_mode="rgb_array")
    with pytest.raises(doom.ResetNeededError, match="no episode was begun"):
        env.step(0)
    with pytest.raises(doom.ResetNeededError, match="no episode was begun"):
        env.render()
    env.reset()
    while not env.step(0)[2]:
        pass
    with pytest.raises(doom.ResetNeededError, match="episode 0 is over"):
        env.step(0)
    env.close()
    env.close()
    for use in (env.reset, lambda: env.step(0), env.render):
        with pytest.raises(doom.EngineClosedError, match="is closed"):
            use()


def test_dead_engine_is_named_and_a_new_game_goes_on() -> None:
    env = doom.make("BP", picture="fast")
    before = env.reset(options={"episode": 3})[0]
    newest_child = max(psutil.Process().children(), key=psutil.Process.create_time)
    newest_child.kill()
    newest_child.wait()
    with pytest.raises(doom.EngineError, match=r"BP stopped in the middle of an episode: .* make another"):
        env.step(0)
    with pytest.raises(doom.EngineClosedError):
        env.reset()
    env.close()
    again = doom.make("BP", picture="fast")
    np.testing.assert_array_equal(again.reset(options={"episode": 3})[0], before)
    again.close()


def test_override_file_in_the_working_folder_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "_vizdoom.cfg").write_text("living_reward = 99\n")
    with pytest.raises(doom.EngineError, match="would override"):
        doom.make("BP")


def test_nothing_is_written_to_the_working_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    env = doom.make("BP", picture="fast")
    env.reset()
    env.close()
    assert list(tmp_path.iterdir()) == []


def test_gymnasium_imports_the_module_that_an_id_names() -> None:
    code = """
import gymnasium
env = gymnasium.make("neuroplastic.doom:neuroplastic/BP-v0", picture="fast")
assert env.reset(seed=3)[0].shape == (84, 84, 3)
assert env.unwrapped.scenario.key == "BP"
env.close()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_without_the_extra_says_what_to_install() -> None:
    code = """
import sys
for missing in ("vizdoom", "gymnasium", "cv2"):
    present = sys.modules.pop(missing, None)
    sys.modules[missing] = None
    try:
        import neuroplastic.doom
    except ImportError as error:
        assert missing in str(error) and "pip install 'neuroplastic[doom]'" in str(error), error
    else:
        raise AssertionError(missing)
    del sys.modules[missing]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
