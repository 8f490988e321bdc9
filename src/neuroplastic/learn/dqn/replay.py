"""Replay memory of frames: every frame is kept once, as it came, and serves two transitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import ConfigError, InputError, at_least
from ..experience import Observations
from ..teaching import NO_ADVICE

_TYPES = (np.dtype(np.uint8), np.dtype(np.float32))


class Batch(NamedTuple):
    """Sampled transitions; bootstrapped targets are `returns + discounts * Q(next_states, .)`."""

    states: Tensor
    """uint8 or float32, (B, *frame)"""
    actions: Tensor
    """int64 (B,)"""
    returns: Tensor
    """float32 (B,): discounted sum of the next n rewards, or of those up to the episode's end"""
    discounts: Tensor
    """float32 (B,): discount to the power of the rewards summed; 0 where the episode ended on the way"""
    next_states: Tensor
    """(B, *frame): the frame n steps on, or the last of an episode cut short; of no meaning where the discount is 0"""
    next_steps: Tensor
    """int64 (B,): number of the step that `next_states` is the frame of, which never changes; -1: of none"""
    advice: Tensor
    """int64 (B,): what the game advised to do in the states, -1 where it did not say"""


class ReplayMemory:
    """The last `capacity` transitions, sampled uniformly, with n-step returns.

    Slot t holds the frame of step t, the action taken there, the one that was advised, the reward and whether the
    episode ended by it. The next frame of t is the frame of t + 1; an episode's last transition has none. One slot
    more than `capacity` holds the frame that was not yet acted upon. A step can be sampled as soon as its n-step return
    is known: n steps later, or when its episode ends.

    An episode may be cut short: then its last frame, which nobody acts upon, is kept beside the slots, and returns
    go on with its value. Without one, an end is an end.

    Memory is reserved at the first frame but, as the system maps pages when they are first written, used
    only as it fills.
    """

    def __init__(self, capacity: int, *, n_step: int = 1, discount: float = 0.99) -> None:
        self.capacity = at_least("capacity", capacity, 1)
        self.n_step = at_least("n_step", n_step, 1)
        if n_step > capacity:
            raise ConfigError(f"n_step must be at most the capacity {capacity}, got {n_step}")
        self.discount = discount
        self._slots = capacity + 1
        self._frames: Observations | None = None
        self._first: Observations | None = None  # what all frames are like
        self._actions = np.zeros(self._slots, np.int64)
        self._rewards = np.zeros(self._slots, np.float32)
        self._advice = np.full(self._slots, NO_ADVICE)
        self._ends = np.zeros(self._slots, np.bool_)
        self._cut_short = np.zeros(self._slots, np.bool_)
        self._last_frames: dict[int, Observations] = {}  # of episodes cut short, by step, oldest first
        self._added = 0  # transitions ever added; the next one is written to slot _added % _slots
        self._open_steps: int | None = None  # steps of the episode under way; None between episodes

    def __len__(self) -> int:
        """How many transitions can be sampled."""
        first, stop = self._range()
        return stop - first

    @property
    def added(self) -> int:
        """How many transitions were ever added."""
        return self._added

    @property
    def advice(self) -> NDArray[np.int64]:
        """What was advised in the steps that are kept, in no order; -1 where nothing was."""
        return self._advice

    @property
    def current_frame(self) -> NDArray[Any] | None:
        """The frame not yet acted upon; None between episodes. A view: valid until the next `append`."""
        if self._open_steps is None or self._frames is None:
            return None
        frame: NDArray[Any] = self._frames[self._added % self._slots]
        return frame

    def begin(self, frame: Observations) -> None:
        """Start an episode with its first frame."""
        if self._open_steps is not None:
            raise InputError("an episode is under way; end it before the next one begins")
        self._write(frame)
        self._open_steps = 0

    def append(
        self,
        action: int,
        reward: float,
        next_frame: Observations | None,
        *,
        last_frame: Observations | None = None,
        advice: int = NO_ADVICE,
    ) -> None:
        """Add what was done at the current frame and what came of it; no next frame ends the episode.

        The `last_frame` of an episode that ends so is for one cut short. The `advice` is what the game advised to do.
        """
        if self._open_steps is None:
            raise InputError("no episode is under way; give its first frame to begin()")
        for frame in (next_frame, last_frame):
            if frame is not None:
                self._check(frame)
        slot = self._added % self._slots
        self._actions[slot] = action
        self._rewards[slot] = reward
        self._advice[slot] = advice
        self._ends[slot] = self._cut_short[slot] = False
        self._added += 1
        self._open_steps += 1
        self._forget_last_frames()
        if next_frame is None:
            self._end(last_frame)
        else:
            self._write(next_frame)

    def change_returns(self, n_step: int, discount: float) -> None:
        """From now on sum so many rewards, and discount them so, of all that is remembered."""
        self.n_step, self.discount = at_least("n_step", n_step, 1), discount

    def replace_current(self, frame: Observations) -> None:
        """Replace the frame not yet acted upon, which is also the next frame of the step before.

        The one exception to a step's frame never changing: for an environment that cannot repeat an episode.
        """
        if self._open_steps is None:
            raise InputError("no episode is under way; give its first frame to begin()")
        self._write(frame)

    def end_episode(self, *, cut_short: bool = False) -> None:
        """End the episode under way after its last transition, when nothing more of it will come.

        One that is `cut_short` keeps the frame not acted upon as its last.
        """
        self._end(self.current_frame if cut_short else None)

    def _end(self, last_frame: Observations | None) -> None:
        if self._open_steps:
            slot = (self._added - 1) % self._slots
            self._ends[slot] = True
            self._cut_short[slot] = last_frame is not None
            if last_frame is not None:
                self._last_frames[self._added - 1] = last_frame.copy()
        self._open_steps = None

    def _forget_last_frames(self) -> None:
        first, _ = self._range()
        while self._last_frames and (oldest := next(iter(self._last_frames))) < first:
            del self._last_frames[oldest]

    def sample(self, count: int, generator: np.random.Generator) -> Batch:
        """Draw `count` transitions uniformly, with replacement."""
        first, stop = self._range()
        if stop == first or self._first is None:
            raise InputError("the memory holds no complete transition yet")
        return self.gather(generator.integers(first, stop, count))

    def gather(self, steps: NDArray[np.int64]) -> Batch:
        """The transitions of these steps, counted from the first one ever added."""
        assert self._frames is not None
        window = (steps[:, None] + np.arange(self.n_step)) % self._slots
        ends = self._ends[window]
        # weights[b, k] is discount**k as long as no step before k ended the episode.
        before = np.zeros_like(ends)
        before[:, 1:] = np.logical_or.accumulate(ends, axis=1)[:, :-1]
        weights = np.where(before, 0.0, self.discount ** np.arange(self.n_step))
        returns = (weights * self._rewards[window]).sum(axis=1)
        over = ends.any(axis=1)
        discounts = np.where(over, 0.0, self.discount**self.n_step)
        # Behind an end there may be a slot never written: such rows take their own frame again.
        following = np.where(over, steps, steps + self.n_step)
        picked = self._frames[np.concatenate((window[:, 0], following % self._slots))]
        if self._last_frames:
            ending = ends.argmax(axis=1)  # of rows that are over: place of the first end
            rows = np.arange(len(steps))
            cut = (over & self._cut_short[window[rows, ending]]).nonzero()[0]
            discounts[cut] = self.discount ** (ending[cut] + 1)
            following[cut] = -1
            for row in cut:
                picked[len(steps) + row] = self._last_frames[int(steps[row] + ending[row])]
        frames = torch.from_numpy(picked)
        return Batch(
            states=frames[: len(steps)],
            actions=torch.from_numpy(self._actions[window[:, 0]]),
            returns=torch.from_numpy(returns.astype(np.float32)),
            discounts=torch.from_numpy(discounts.astype(np.float32)),
            next_states=frames[len(steps) :],
            next_steps=torch.from_numpy(following),
            advice=torch.from_numpy(self._advice[window[:, 0]]),
        )

    def state_dict(self) -> dict[str, Any]:
        """Everything remembered. The tensors are views: save or copy them before the next `append`."""
        used = min(self._added + (self._open_steps is not None), self._slots)
        state: dict[str, Any] = {
            "added": self._added,
            "open_steps": self._open_steps,
            "frames": torch.empty(0, 0, dtype=torch.uint8) if self._first is None else self._taken(used),
            "actions": torch.from_numpy(self._actions[:used]),
            "rewards": torch.from_numpy(self._rewards[:used]),
            "ends": torch.from_numpy(self._ends[:used]),
            "advice": torch.from_numpy(self._advice[:used]),
        }
        if self._last_frames:
            state["cut_short"] = {
                "steps": torch.tensor(list(self._last_frames)),
                "last_frames": torch.from_numpy(np.stack(list(self._last_frames.values()))),
            }
        return state

    def _taken(self, used: int) -> Tensor:
        assert self._frames is not None
        return torch.from_numpy(self._frames[:used])

    def _bring(self, frames: Observations) -> None:
        assert self._frames is not None
        self._frames[: len(frames)] = frames

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Remember what was saved; the capacity must be the one it was saved with."""
        frames: Observations = state["frames"].numpy()
        self._added, self._open_steps = state["added"], state["open_steps"]
        if len(frames) > self._slots or len(frames) < min(self._added, self._slots):
            raise InputError(
                f"{len(frames)} frames were saved, which does not fit a capacity of {self.capacity}"
            )
        self._first = None
        if len(frames):
            self._reserve(frames[0])
            self._first = frames[0].copy()
            self._bring(frames)
        for mine, saved in ((self._actions, "actions"), (self._rewards, "rewards"), (self._ends, "ends")):
            mine[: len(frames)] = state[saved].numpy()
            mine[len(frames) :] = 0
        self._advice[:] = NO_ADVICE
        if "advice" in state:  # earlier states hold none
            self._advice[: len(frames)] = state["advice"].numpy()
        self._last_frames, self._cut_short[:] = {}, False
        if "cut_short" in state:
            saved_steps, last_frames = (state["cut_short"][name] for name in ("steps", "last_frames"))
            for step, frame in zip(saved_steps.tolist(), last_frames.numpy(), strict=True):
                self._last_frames[step] = frame.copy()
                self._cut_short[step % self._slots] = True

    def _range(self) -> tuple[int, int]:
        """The steps that can be sampled: first and one past the last."""
        waiting = min(self.n_step - 1, self._open_steps or 0)
        first = max(0, self._added - self.capacity)
        return first, max(first, self._added - waiting)

    def _check(self, frame: Observations) -> None:
        first = self._first
        if first is None:
            if frame.dtype not in _TYPES:
                raise InputError(f"frames must be uint8 or float32, got {frame.dtype}")
            return
        if frame.dtype != first.dtype:
            raise InputError(f"frames must be {first.dtype} like the first, got {frame.dtype}")
        if frame.shape != first.shape:
            raise InputError(f"frames must have the shape of the first, {first.shape}, got {frame.shape}")

    def _write(self, frame: Observations) -> None:
        self._check(frame)
        if self._first is None:
            self._reserve(frame)
            self._first = frame.copy()
        self._put(self._added % self._slots, frame)

    def _put(self, slot: int, frame: Observations) -> None:
        assert self._frames is not None
        self._frames[slot] = frame

    def _reserve(self, frame: Observations) -> None:
        try:
            self._frames = np.empty((self._slots, *frame.shape), frame.dtype)
        except MemoryError as error:
            gigabytes = self._slots * frame.nbytes / 1e9
            raise ConfigError(
                f"a memory of {self.capacity} frames {frame.shape} needs {gigabytes:.1f} GB, more than can be had; "
                "choose a smaller memory_size"
            ) from error
