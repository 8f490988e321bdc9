"""A Gymnasium environment as tasks are played: numbered episodes that repeat, vectors or pictures, frames stacked."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError
from ..experiment.tasks import need_imported
from ..learn.episodes import Stream, episode_seed
from .task import Spaces, need_gymnasium


def _made(environment_id: str, render_mode: str | None) -> Any:
    gymnasium = need_gymnasium()
    if ":" in environment_id:  # Gymnasium would import the module that an id of a file names
        need_imported(environment_id)
    try:
        if render_mode is None:  # not every environment takes the argument
            return gymnasium.make(environment_id)
        return _that_draws(gymnasium, environment_id, render_mode)
    except gymnasium.error.UnregisteredEnv as error:
        raise ConfigError(
            f"Gymnasium cannot make {environment_id!r}: {error}; if a module of your own registers it, add --import "
            "MODULE"
        ) from error
    except (gymnasium.error.Error, ImportError) as error:
        raise ConfigError(f"Gymnasium cannot make {environment_id!r}: {error}") from error


def _that_draws(gymnasium: Any, environment_id: str, render_mode: str) -> Any:
    plain = gymnasium.make(environment_id)
    known = plain.metadata.get("render_modes") or ()
    plain.close()
    if not {"rgb_array", render_mode}.intersection(known):
        raise ConfigError(
            f"{environment_id} cannot be filmed: its metadata lists no render mode 'rgb_array', but {list(known)}"
        )
    try:
        return gymnasium.make(environment_id, render_mode=render_mode)
    except TypeError as error:
        raise ConfigError(
            f"{environment_id} cannot be filmed: it cannot be made with render_mode='rgb_array' ({error})"
        ) from error


def spaces_of(environment_id: str) -> Spaces:
    """What an environment shows and takes; a ConfigError where no agent of ours can play it."""
    gymnasium = need_gymnasium()
    environment = _made(environment_id, None)
    try:
        shown, taken, spec = environment.observation_space, environment.action_space, environment.spec
    finally:
        environment.close()
    if not isinstance(taken, gymnasium.spaces.Discrete) or taken.start != 0:
        raise ConfigError(
            f"{environment_id} takes {taken}; agents here need discrete actions, counted from 0"
        )
    if not isinstance(shown, gymnasium.spaces.Box):
        raise ConfigError(f"{environment_id} shows {shown}; agents here need one box: a vector or a picture")
    shape = tuple(int(size) for size in shown.shape)
    if len(shape) == 2 and shown.dtype == np.uint8:
        shape = (*shape, 1)
    if len(shape) == 3 and shown.dtype != np.uint8:
        raise ConfigError(f"{environment_id} shows pictures of {shown.dtype}; agents here need uint8")
    if len(shape) not in (1, 3):
        raise ConfigError(f"{environment_id} shows arrays {shape}; agents here need a vector or a picture")
    low, high = ((), ()) if len(shape) == 3 else (tuple(map(float, end)) for end in (shown.low, shown.high))
    threshold = None if spec is None else spec.reward_threshold
    return Spaces(shape, low, high, int(taken.n), None if threshold is None else float(threshold))


class GymEnvironment:
    """One game. Episode k begins with `reset(seed=episode_seed(run seed, k))`, so it repeats if the environment does.

    Vectors are float32; a picture without channels gets one. With a stack, the first observation of an episode stands
    in for those before it.
    """

    def __init__(
        self, environment_id: str, frame_stack: int, *, seed: int, stream: Stream, film: bool
    ) -> None:
        self._environment = _made(environment_id, "rgb_array_list" if film else None)
        self._stack: deque[NDArray[Any]] = deque(maxlen=frame_stack)
        self._seed, self._stream = seed, stream
        self.metadata: dict[str, Any] = dict(self._environment.metadata)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin episode `options["episode"]` (default: 0), of another run seed where one is given."""
        if seed is not None:
            self._seed = seed
        episode = (options or {}).get("episode", 0)
        number = episode_seed(self._seed, episode, stream=self._stream)
        observation, info = self._environment.reset(seed=number)
        self._stack.clear()
        return self._seen(observation), info

    def step(self, action: Any, /) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Act."""
        if not 0 <= int(action) < self._environment.action_space.n:
            raise ConfigError(
                f"action must be at least 0 and below {self._environment.action_space.n}, got {action}"
            )
        observation, reward, terminated, truncated, info = self._environment.step(int(action))
        return self._seen(observation), float(reward), bool(terminated), bool(truncated), info

    def render(self) -> Any:
        """The frames since the last call or reset."""
        return self._environment.render()

    def close(self) -> None:
        """Close the environment."""
        self._environment.close()

    def _seen(self, observation: Any) -> NDArray[Any]:
        seen = np.asarray(observation)
        if seen.dtype != np.uint8:
            seen = seen.astype(np.float32)
        elif seen.ndim == 2:
            seen = seen[..., None]
        while len(self._stack) < (self._stack.maxlen or 1) - 1:
            self._stack.append(seen)
        self._stack.append(seen)
        return np.concatenate(self._stack, axis=-1) if len(self._stack) > 1 else np.array(seen)
