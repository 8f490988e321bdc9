"""Same seed, same actions, same game: across processes, at any pace, whatever was played before."""

import json
import random
import subprocess
import sys
import time
import zlib

import numpy as np
import pytest

from neuroplastic import doom

ACTIONS = 200


def transcript(
    key: str, picture: doom.Picture = "paper", *, largest_pause: float = 0.0, warm_up: int = 0
) -> list[tuple[float, bool, int]]:
    """Reward, end and checksum of the full frame after each of 200 fixed random actions, from episode 4 on."""
    env = doom.make(key, picture=picture, seed=11, render_mode="rgb_array")
    rng = np.random.default_rng(1)
    for episode in range(warm_up):
        env.reset(options={"episode": episode})
        for _ in range(20 + 7 * episode):
            if any(env.step(episode % 4)[2:4]):
                break
    env.reset(options={"episode": 4})
    lines = []
    for _ in range(ACTIONS):
        time.sleep(random.uniform(0, largest_pause))
        shrunk, reward, terminated, truncated, _ = env.step(rng.integers(env.action_space.n))
        ended = terminated or truncated
        lines.append((reward, ended, zlib.crc32(env.render(), zlib.crc32(shrunk))))
        if ended:
            env.reset()
    env.close()
    return lines


def transcripts(pictures: dict[str, doom.Picture], **pace: float) -> dict[str, list[list[object]]]:
    return {key: [list(line) for line in transcript(key, p, **pace)] for key, p in pictures.items()}  # type: ignore[arg-type]


def two_processes_agree(pictures: dict[str, doom.Picture]) -> None:
    """This process hurries, the other pauses at random and has played something else before."""
    code = "import json\nfrom tests.doom.test_repeatability import transcripts\n"
    code += f"print(json.dumps(transcripts({pictures}, largest_pause=0.004, warm_up=3)))"
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    hurried = transcripts(pictures)
    paused = json.loads(other.communicate()[0])
    assert list(hurried) == list(paused) == list(pictures)
    for key in pictures:
        assert len(hurried[key]) == ACTIONS
        assert hurried[key] == paused[key], f"{key} does not repeat"


@pytest.mark.parametrize("keys", [("DTC", "GH"), pytest.param(tuple(doom.SCENARIOS), marks=pytest.mark.slow)])
def test_two_processes_play_the_same_game_in_every_scenario(keys: tuple[str, ...]) -> None:
    # GH in full size: where a frame's floor could move, if anywhere.
    two_processes_agree({key: "paper" if key == "GH" else "fast" for key in keys})


@pytest.mark.slow
def test_two_processes_draw_the_same_frames_in_full_size() -> None:
    two_processes_agree(dict.fromkeys(doom.SCENARIOS, "paper"))


@pytest.mark.slow
@pytest.mark.parametrize("key", doom.SCENARIOS)
def test_long_pauses_do_not_change_the_game(key: str) -> None:
    assert transcript(key) == transcript(key, largest_pause=0.1, warm_up=2)
