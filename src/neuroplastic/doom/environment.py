"""The scenarios as Gymnasium environments."""

from __future__ import annotations

from typing import Any, SupportsInt

import numpy as np

from ..errors import ConfigError, NeuroplasticError, at_least, choose
from ..learn.episodes import Stream, episode_seed
from .advising import adviser
from .engine import Engine, EngineClosedError, Frame, grey_of
from .film import Film
from .objects import NEEDS_DEPTH, Look, attributes_of, observation_of
from .packages import missing
from .pictures import OBSERVE, PLANES, SIDE, TICS_PER_SECOND, Observe, Picture, Planes
from .scenarios import Scenario, scenario

try:
    import gymnasium
except ImportError as error:
    raise missing(error) from error

_OPTIONS = ("episode",)
_FILM = "rgb_array_list"
_RENDER_MODES = ("rgb_array", _FILM)


def _metadata(render_mode: str | None, frame_skip: int) -> dict[str, Any]:
    tics = 1 if render_mode == _FILM else frame_skip
    return {"render_modes": list(_RENDER_MODES), "render_fps": TICS_PER_SECOND / tics}


class ResetNeededError(NeuroplasticError, RuntimeError):
    """`step` was called where no episode is under way."""


class DoomEnv(gymnasium.Env[Any, np.int64]):
    """One game of one scenario.

    Observation: the picture, (84, 84, 3), uint8, RGB, rows first. A new array every time: it may be kept. With
    `observe="objects"`, a vector of float32 instead, of named attributes of what a player sees, see `attribute_names`
    and `doom.objects`; with "both", a dictionary of the two, "picture" and "objects". Rewards do not depend on it.
    With `planes="motion"` the three planes are not colours, but the grey of now and of the two decisions before: where
    something was, and so where it goes. An episode begins with three times the same. Where it is `advised`, `advice`
    is what `doom.advising` would do now, whatever is observed.

    Action: a number below 2^n for n buttons; bit i holds button i of `scenario.buttons` down for `frame_skip` tics.
    So 0 presses nothing, and contradictory presses are possible, as in the paper. See `action_meanings`.

    Reward: as the engine counts it over those tics. Shaping, scaling or clipping is the learner's affair.

    End: where the time is up, `truncated`; where the player dies, or has scored and the task is over, `terminated`;
    never both. (`info["timed_out"]` says the same at the end.) The engine draws no frame after the end: the last
    observation of every episode, however it ends, repeats the last picture drawn, at most `frame_skip` tics old. A
    learner that bootstraps through truncation takes the value of that picture.

    Info: `episode_number`, `episode_return` so far and, at the end, `timed_out`. (`episode` is Gymnasium's own key.)

    Episodes are numbered from 0. Episode k of run seed s is always the same game, whatever was played before it:
    the engine's seed is `episode_seed(s, k, stream=stream)`, and no episode belongs to both streams. `reset()` goes on
    to the next number, `reset(seed=s)` to episode 0 of that run seed, `reset(options={"episode": k})` to episode k,
    which is how a run is resumed. So two environments that nobody gave a seed play the same episodes: seed those of
    a vector, as `envs.reset(seed=0)` does.

    Rendering: "rgb_array" is the latest frame in the size that the engine draws. "rgb_array_list" is all frames since
    the last call or reset, every tic of the game at 640x480, from a second engine that plays along; who does not call
    `render` in that mode keeps every frame, 0.9 MB each, until the next reset.

    Given the same actions, rewards and frames repeat bit for bit, in other processes too, and however long the
    program pauses between them. That holds for all seven scenarios, GH included: its acid floor has a texture that
    the engine would move by the wall clock, but without a window, as here, it stands still.
    """

    metadata = _metadata(None, frame_skip=4)

    def __init__(
        self,
        scenario_name: str | Scenario,
        *,
        picture: Picture = "paper",
        frame_skip: int = 4,
        seed: int = 0,
        stream: Stream = "training",
        render_mode: str | None = None,
        observe: Observe = "pictures",
        planes: Planes = "colours",
        advised: bool = False,
    ) -> None:
        self.observe = choose("observe", observe, OBSERVE)
        self.planes = choose("planes", planes, PLANES)
        if render_mode is not None:
            choose("render_mode", render_mode, _RENDER_MODES)
        self.frame_skip = at_least("frame_skip", frame_skip, 1)
        self.scenario = scenario(scenario_name)
        self.run_seed = seed
        self.stream = stream
        self.episode = -1
        self.render_mode = render_mode
        self.metadata = _metadata(render_mode, frame_skip)
        self.observation_space = _space(self.scenario, observe)
        # Gymnasium's `Discrete` is a space of np.int64 in its type, and takes any integer.
        self.action_space = gymnasium.spaces.Discrete(self.scenario.action_count)
        self._presses = button_presses(self.scenario)
        episode_seed(seed, 0, stream=stream)  # what is bad is better refused before the engine starts
        sights = observe != "pictures" or advised
        depth = sights and self.scenario.key in NEEDS_DEPTH
        self._engine = Engine(self.scenario, picture, sights=sights, depth=depth)
        self._look: Look | None = None
        self._adviser = adviser(self.scenario.key) if advised else None
        self._greys: Frame = np.zeros((SIDE, SIDE, 3), np.uint8)  # of now and of the two decisions before
        self._film = Film(self.scenario) if render_mode == _FILM else None

    def action_meanings(self) -> list[str]:
        """What each action presses, such as "MOVE_LEFT+ATTACK"; "NOTHING" for 0."""
        actions = range(self.scenario.action_count)
        return ["+".join(self.scenario.pressed(action)) or "NOTHING" for action in actions]

    def attribute_names(self) -> list[str]:
        """What the entries of the vector are called."""
        return list(observation_of(self.scenario.key).names)

    def picture(self) -> Frame:
        """The picture (84, 84, 3) of now, whatever is observed."""
        if self.planes == "motion":
            greys: Frame = self._greys.copy()
            return greys
        picture = np.empty((SIDE, SIDE, 3), np.uint8)
        self._engine.read(picture)
        return picture

    @property
    def advice(self) -> int:
        """What `doom.advising` would do now; -1 where the environment was not made to be `advised`."""
        if self._adviser is None or self._look is None:
            return -1
        return self._adviser(self._look)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin the next episode; with `seed`, episode 0 of that run seed; with `options["episode"]`, that episode."""
        super().reset(seed=seed)
        for option in options or {}:
            choose("option", option, _OPTIONS)
        if seed is not None:
            self.run_seed = seed
        following = 0 if seed is not None else self.episode + 1
        episode = (options or {}).get("episode", following)
        self.episode = at_least("episode", int(episode) if isinstance(episode, np.integer) else episode, 0)
        number = episode_seed(self.run_seed, self.episode, stream=self.stream)
        self._engine.begin(number)
        if self._film is not None:
            self._film.begin(number)
        self._look = None
        if self.planes == "motion":
            self._greys[:] = self._grey()[:, :, None]
        return self._observed(pressed=False), self._info()

    def step(self, action: SupportsInt) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Hold the buttons of `action` down for `frame_skip` tics."""
        if self._engine.finished and not self._engine.closed:
            state = "no episode was begun" if self.episode < 0 else f"episode {self.episode} is over"
            raise ResetNeededError(f"{state}; call reset() before step()")
        number = int(action)
        if not 0 <= number < len(self._presses):
            raise ConfigError(f"action must be at least 0 and below {len(self._presses)}, got {action}")
        reward = self._engine.act(self._presses[number], self.frame_skip)
        if self._film is not None:
            self._film.act(self._presses[number], self.frame_skip)
        truncated = self._engine.finished and self._engine.timed_out
        terminated = self._engine.finished and not truncated
        if self.planes == "motion" and not self._engine.finished:  # after the end nothing is drawn
            self._greys[:, :, 1:] = self._greys[:, :, :2]  # NumPy copies what overlaps first
            self._greys[:, :, 0] = self._grey()
        pressed = "ATTACK" in self.scenario.pressed(number)
        return self._observed(pressed=pressed), reward, terminated, truncated, self._info()

    def render(self) -> Frame | list[Frame] | None:  # type: ignore[override]
        """The latest frame drawn, or, where the environment was made to film, all since the last call or reset."""
        if self._engine.closed:
            raise EngineClosedError(f"this game of {self.scenario.key} is closed; there is nothing to render")
        if self.render_mode is None:
            gymnasium.logger.warn('render() without a render_mode: make the environment with "rgb_array"')
            return None
        frame = self._engine.frame
        if frame is None:
            raise ResetNeededError("no episode was begun; call reset() before render()")
        return np.array(frame) if self._film is None else self._film.take()

    def close(self) -> None:
        """End the engine. Closing twice does nothing."""
        self._engine.close()
        if self._film is not None:
            self._film.close()

    def _grey(self) -> Frame:
        picture = np.empty((SIDE, SIDE, 3), np.uint8)
        self._engine.read(picture)
        return grey_of(picture)

    def _observed(self, *, pressed: bool) -> Any:
        if self.observe == "pictures" and self._adviser is None:
            return self.picture()
        sight = self._engine.sight
        assert sight is not None
        if not self._engine.finished or self._look is None:  # after the end, as after the frame before
            before = None if self._look is None else self._look.now
            self._look = Look(sight, before, pressed, self.frame_skip)
        if self.observe == "pictures":
            return self.picture()
        objects = attributes_of(self.scenario.key, self._look)
        return objects if self.observe == "objects" else {"picture": self.picture(), "objects": objects}

    def _info(self) -> dict[str, Any]:
        info = {"episode_number": self.episode, "episode_return": self._engine.episode_return}
        if self._engine.finished:
            info["timed_out"] = self._engine.timed_out
        return info


def make(
    key: str | Scenario,
    *,
    picture: Picture = "paper",
    frame_skip: int = 4,
    seed: int = 0,
    stream: Stream = "training",
    render_mode: str | None = None,
    observe: Observe = "pictures",
    planes: Planes = "colours",
    advised: bool = False,
) -> DoomEnv:
    """The environment of one scenario, by its key ("BP") or ViZDoom's name ("basic"). See `DoomEnv`."""
    return DoomEnv(
        key,
        picture=picture,
        frame_skip=frame_skip,
        seed=seed,
        stream=stream,
        render_mode=render_mode,
        observe=observe,
        planes=planes,
        advised=advised,
    )


def _space(scenario: Scenario, observe: Observe) -> Any:
    picture = gymnasium.spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8)
    if observe == "pictures":
        return picture
    seen = observation_of(scenario.key)
    objects = gymnasium.spaces.Box(np.array(seen.low, np.float32), np.array(seen.high, np.float32))
    return objects if observe == "objects" else gymnasium.spaces.Dict(picture=picture, objects=objects)


def button_presses(scenario: Scenario) -> list[list[float]]:
    """For each action, what the engine is told: 1 for each button held down, 0 for the others."""
    buttons = range(len(scenario.buttons))
    return [[float(action >> i & 1) for i in buttons] for action in range(scenario.action_count)]
