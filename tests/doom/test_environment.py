import warnings
from collections.abc import Iterator
from typing import NamedTuple

import cv2
import gymnasium
import numpy as np
import psutil
import pytest
from gymnasium.utils.env_checker import check_env

from neuroplastic import doom
from neuroplastic.errors import ConfigError


class Ending(NamedTuple):
    terminated: bool
    truncated: bool
    reward: float
    pictures: tuple[np.ndarray, np.ndarray]
    frames: tuple[np.ndarray, np.ndarray]


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
    assert info == {"episode_number": 0, "episode_return": 0.0}
    rewards, truncated, decisions = [], False, 0
    while not truncated:
        frame = env.render()
        assert frame.shape == (480, 640, 3)
        np.testing.assert_array_equal(picture, cv2.resize(frame, (84, 84), interpolation=cv2.INTER_AREA))
        assert picture.std() > 10
        picture, reward, terminated, truncated, info = env.step(0)
        assert not terminated
        rewards.append(reward)
        decisions += 1
    assert decisions == 75
    assert info["timed_out"]
    assert info["episode_return"] == sum(rewards) == -300
    env.close()


def play_randomly(env: doom.DoomEnv, rng: np.random.Generator) -> Ending:
    """One episode; how it ended, the last two pictures and the last two frames."""
    picture, _ = env.reset()
    rewards, over = [], False
    while not over:
        before, frame = picture, env.render()
        picture, reward, terminated, truncated, info = env.step(rng.integers(env.action_space.n))
        rewards.append(reward)
        over = terminated or truncated
    assert info["episode_return"] == pytest.approx(sum(rewards))
    assert info["timed_out"] == truncated
    return Ending(terminated, truncated, sum(rewards[-2:]), (before, picture), (frame, env.render()))


def test_shooting_the_monster_pays_and_terminates_the_episode_and_the_time_out_truncates_it(bp) -> None:
    # Random play kills now and then: 101 for the kill, -5 a shot, -1 a tic, as the shipped scenario has it.
    rng = np.random.default_rng(0)
    endings = [play_randomly(bp, rng) for _ in range(30)]
    assert all(ending.terminated != ending.truncated for ending in endings)
    assert {ending.terminated for ending in endings} == {True, False}
    for ending in endings:  # a hit in a decision's last tic ends the episode in the next decision's first
        assert (ending.reward > 80) == ending.terminated


def test_death_terminates_the_episode() -> None:
    env = doom.make("GH", picture="fast", render_mode="rgb_array")
    assert play_randomly(env, np.random.default_rng(0)).terminated, "the acid kills who collects no medkits"
    env.close()


def test_last_observation_repeats_the_last_picture_drawn_however_the_episode_ends(bp: doom.DoomEnv) -> None:
    rng = np.random.default_rng(1)
    bp.reset(seed=0)
    endings: dict[bool, Ending] = {}
    while len(endings) < 2:
        ending = play_randomly(bp, rng)
        endings[ending.truncated] = ending
    for ending in endings.values():
        np.testing.assert_array_equal(*ending.pictures)
        np.testing.assert_array_equal(*ending.frames)
        assert ending.pictures[1].any()


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
    assert info["episode_number"] == 0
    second, info = bp.reset()
    assert info["episode_number"] == 1
    assert (first != second).any()
    ninth, info = bp.reset(options={"episode": 9})
    assert info["episode_number"] == 9
    assert bp.reset()[1]["episode_number"] == 10
    np.testing.assert_array_equal(bp.reset(options={"episode": 1})[0], second)
    np.testing.assert_array_equal(bp.reset(seed=5)[0], first)
    np.testing.assert_array_equal(bp.reset(seed=5, options={"episode": 9})[0], ninth)
    assert (bp.reset(seed=6)[0] != first).any()


def test_streams_are_two_sets_of_episodes(bp: doom.DoomEnv) -> None:
    judged = doom.make("BP", picture="fast", seed=5, stream="evaluation")
    first, info = judged.reset()
    assert info["episode_number"] == 0
    assert (first != bp.reset(seed=5)[0]).any()
    second, _ = judged.reset()
    np.testing.assert_array_equal(judged.reset(options={"episode": 0})[0], first)
    np.testing.assert_array_equal(judged.reset(options={"episode": 1})[0], second)
    judged.close()
    with pytest.raises(ConfigError, match="did you mean 'evaluation'"):
        doom.make("BP", stream="evaluate")  # type: ignore[arg-type]


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
    with pytest.raises(ConfigError, match="render_mode must be one of 'rgb_array', 'rgb_array_list'"):
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
    while not env.step(0)[3]:
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


def test_motion_shows_the_grey_of_now_and_of_the_two_decisions_before() -> None:
    env, coloured = (doom.make("PP", picture="fast", planes=planes) for planes in ("motion", "colours"))
    seen, colours = [env.reset()[0]], [coloured.reset()[0]]
    for _ in range(3):
        seen.append(env.step(2)[0])
        colours.append(coloured.step(2)[0])
    greys = [picture @ np.array([0.299, 0.587, 0.114]) for picture in colours]
    assert np.ptp(seen[0], axis=2).max() == 0  # an episode begins with three times the same
    for plane, grey in enumerate((greys[3], greys[2], greys[1])):
        np.testing.assert_allclose(seen[3][:, :, plane], grey, atol=1)
    assert (env.picture() == seen[3]).all()
    env.close()
    coloured.close()


def test_an_advised_game_tells_what_the_scripted_player_would_do_and_shows_the_same_pictures() -> None:
    advised, silent = (doom.make("BP", picture="fast", advised=advised) for advised in (True, False))
    pictures = advised.reset()[0], silent.reset()[0]
    over, score = False, 0.0
    while not over:
        assert (pictures[0] == pictures[1]).all()
        assert silent.advice == -1
        action = advised.advice
        picture, reward, terminated, truncated, _ = advised.step(action)
        pictures = picture, silent.step(action)[0]
        over, score = terminated or truncated, score + reward
    assert score > 50  # random play has -150
    advised.close()
    silent.close()
