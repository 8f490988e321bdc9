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


def transcript(key: str, *, largest_pause: float = 0.0, warm_up: int = 0) -> list[tuple[float, bool, int]]:
    """Reward, end and checksum of the full frame after each of 200 fixed random actions, from episode 4 on."""
    env = doom.make(key, seed=11, render_mode="rgb_array")
    rng = np.random.default_rng(1)
    for episode in range(warm_up):
        env.reset(options={"episode": episode})
        for _ in range(20 + 7 * episode):
            if env.step(episode % 4)[2]:
                break
    env.reset(options={"episode": 4})
    lines = []
    for _ in range(ACTIONS):
        time.sleep(random.uniform(0, largest_pause))
        picture, reward, ended, _, _ = env.step(rng.integers(env.action_space.n))
        lines.append((reward, ended, zlib.crc32(env.render(), zlib.crc32(picture))))
        if ended:
            env.reset()
    env.close()
    return lines


def test_two_processes_play_the_same_game_in_every_scenario() -> None:
    # One process hurries, the other pauses at random and has played something else before.
    calls = ["largest_pause=0.0, warm_up=0", "largest_pause=0.004, warm_up=3"]
    code = "import json\nfrom tests.doom.test_repeatability import doom, transcript\n"
    code += "print(json.dumps({{key: transcript(key, {}) for key in doom.SCENARIOS}}))"
    children = [
        subprocess.Popen([sys.executable, "-c", code.format(call)], stdout=subprocess.PIPE, text=True)
        for call in calls
    ]
    hurried, paused = (json.loads(child.communicate()[0]) for child in children)
    assert list(hurried) == list(doom.SCENARIOS)
    for key in doom.SCENARIOS:
        assert len(hurried[key]) == ACTIONS
        assert hurried[key] == paused[key], f"{key} does not repeat"


@pytest.mark.slow
@pytest.mark.parametrize("key", doom.SCENARIOS)
def test_long_pauses_do_not_change_the_game(key: str) -> None:
    assert transcript(key) == transcript(key, largest_pause=0.1, warm_up=2)
