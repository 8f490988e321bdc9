"""The scenarios as Gymnasium environments."""

from __future__ import annotations

from typing import Any, SupportsInt

import gymnasium
import numpy as np

from ..errors import ConfigError, NeuroplasticError, at_least, choose
from ..learn.seeding import episode_seed
from .engine import SIDE, TICS_PER_SECOND, Engine, EngineClosedError, Frame, Picture
from .scenarios import Scenario, scenario

_OPTIONS = ("episode",)
_RENDER_MODES = ("rgb_array",)


def _metadata(frame_skip: int) -> dict[str, Any]:
    return {"render_modes": list(_RENDER_MODES), "render_fps": TICS_PER_SECOND / frame_skip}


class ResetNeededError(NeuroplasticError, RuntimeError):
    """`step` was called where no episode is under way."""


class DoomEnv(gymnasium.Env[Frame, np.int64]):
    """One game of one scenario.

    Observation: the picture, (84, 84, 3), uint8, RGB, rows first. A new array every time: it may be kept.

    Action: a number below 2^n for n buttons; bit i holds button i of `scenario.buttons` down for `frame_skip` tics.
    So 0 presses nothing, and contradictory presses are possible, as in the paper. See `action_meanings`.

    Reward: as the engine counts it over those tics. Shaping, scaling or clipping is the learner's affair.

    End: `terminated` is true when the episode is over, by the time-out too, and `truncated` never. The time-out is part
    of these tasks' rules (what was not scored by then never will be), and the engine draws no frame after it from
    which a value could be bootstrapped. For the same reason the last observation of every episode is all zeros.
    `info["timed_out"]` tells the two endings apart.

    Episodes are numbered from 0. Episode k of run seed s is always the same game, whatever was played before it:
    the engine's seed is `episode_seed(s, k)`. `reset()` goes on to the next number, `reset(seed=s)` to episode 0 of
    that run seed, `reset(options={"episode": k})` to episode k, which is how a run is resumed.

    Given the same actions, rewards and frames repeat bit for bit, in other processes too, and however long the
    program pauses between them. That holds for all seven scenarios, GH included: its acid floor has a texture that
    the engine would move by the wall clock, but without a window, as here, it stands still.
    """

    metadata = _metadata(frame_skip=4)

    def __init__(
        self,
        scenario_name: str | Scenario,
        *,
        picture: Picture = "paper",
        frame_skip: int = 4,
        seed: int = 0,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            choose("render_mode", render_mode, _RENDER_MODES)
        self.frame_skip = at_least("frame_skip", frame_skip, 1)
        self.scenario = scenario(scenario_name)
        self.run_seed = seed
        self.episode = -1
        self.render_mode = render_mode
        self.metadata = _metadata(frame_skip)
        self.observation_space = gymnasium.spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8)
        # Gymnasium's `Discrete` is a space of np.int64 in its type, and takes any integer.
        self.action_space = gymnasium.spaces.Discrete(self.scenario.action_count)
        self._presses = button_presses(self.scenario)
        episode_seed(seed, 0)  # a bad seed is better refused before the engine starts
        self._engine = Engine(self.scenario, picture)

    def action_meanings(self) -> list[str]:
        """What each action presses, such as "MOVE_LEFT+ATTACK"; "NOTHING" for 0."""
        actions = range(self.scenario.action_count)
        return ["+".join(self.scenario.pressed(action)) or "NOTHING" for action in actions]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        """Begin the next episode; with `seed`, episode 0 of that run seed; with `options["episode"]`, that episode."""
        super().reset(seed=seed)
        for option in options or {}:
            choose("option", option, _OPTIONS)
        if seed is not None:
            self.run_seed = seed
        following = 0 if seed is not None else self.episode + 1
        episode = (options or {}).get("episode", following)
        self.episode = at_least("episode", int(episode) if isinstance(episode, np.integer) else episode, 0)
        self._engine.begin(episode_seed(self.run_seed, self.episode))
        return self._picture(), self._info()

    def step(self, action: SupportsInt) -> tuple[Frame, float, bool, bool, dict[str, Any]]:
        """Hold the buttons of `action` down for `frame_skip` tics."""
        if self._engine.finished and not self._engine.closed:
            state = "no episode was begun" if self.episode < 0 else f"episode {self.episode} is over"
            raise ResetNeededError(f"{state}; call reset() before step()")
        number = int(action)
        if not 0 <= number < len(self._presses):
            raise ConfigError(f"action must be at least 0 and below {len(self._presses)}, got {action}")
        reward = self._engine.act(self._presses[number], self.frame_skip)
        return self._picture(), reward, self._engine.finished, False, self._info()

    def render(self) -> Frame | None:  # type: ignore[override]
        """The latest frame in the engine's full size; after the end of an episode, the last that was drawn."""
        if self._engine.closed:
            raise EngineClosedError(f"this game of {self.scenario.key} is closed; there is nothing to render")
        if self.render_mode is None:
            gymnasium.logger.warn('render() without a render_mode: make the environment with "rgb_array"')
            return None
        frame = self._engine.frame
        if frame is None:
            raise ResetNeededError("no episode was begun; call reset() before render()")
        return np.array(frame)

    def close(self) -> None:
        """End the engine. Closing twice does nothing."""
        self._engine.close()

    def _picture(self) -> Frame:
        picture = np.empty((SIDE, SIDE, 3), np.uint8)
        self._engine.read(picture)
        return picture

    def _info(self) -> dict[str, Any]:
        info = {"episode": self.episode, "episode_return": self._engine.episode_return}
        if self._engine.finished:
            info["timed_out"] = self._engine.timed_out
        return info


def button_presses(scenario: Scenario) -> list[list[float]]:
    """For each action, what the engine is told: 1 for each button held down, 0 for the others."""
    buttons = range(len(scenario.buttons))
    return [[float(action >> i & 1) for i in buttons] for action in range(scenario.action_count)]
