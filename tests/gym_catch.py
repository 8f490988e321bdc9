"""The small game of pictures as an environment of Gymnasium: importing this module registers `SmallCatch-v0`."""

import gymnasium
import numpy as np

from tests.small_game import Catch, CatchTask

TASK = CatchTask()


class GymCatch(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 255, TASK.observation.shape, np.uint8)
        self.action_space = gymnasium.spaces.Discrete(len(TASK.actions))
        self.render_mode = render_mode
        self._game = Catch(TASK, 0, "training", film=False)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        number = int(self.np_random.integers(2**31))
        return self._game.reset(seed=number, options={"episode": 0})

    def step(self, action):
        return self._game.step(int(action))

    def render(self):
        return np.kron(self._game.look(), np.ones((4, 4, 1), np.uint8))


gymnasium.register("SmallCatch-v0", GymCatch)
