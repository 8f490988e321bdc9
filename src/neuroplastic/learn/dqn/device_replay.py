"""Replay memory that lives on the learner's device, and is sampled there without a wait for the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..device_memory import check_room
from ..experience import Observations
from ..teaching import NO_ADVICE
from .replay import Batch, ReplayMemory

# Columns of what is known of a step; whole numbers up to 2**24 are exact in single precision.
_ACTION, _REWARD, _END, _LAST, _ADVICE = range(5)
# Last frames of episodes cut short that there is room for at first.
_FIRST_ROOM = 16
# A multiple of this many values lies in the range drawn from, so that each remainder is as likely, within 1e-9.
_WIDE = 2**53


class DeviceReplay(ReplayMemory):
    """The memory with its frames, actions, advice, rewards and ends on a device; what it gives lies there too.

    `draw` is a function of tensors that stay where they are, and may be recorded as a CUDA graph, until
    `places` changes. Sums of rewards are taken in single precision.
    """

    def __init__(
        self,
        capacity: int,
        *,
        n_step: int = 1,
        discount: float = 0.99,
        device: torch.device,
        generator: torch.Generator,
    ) -> None:
        super().__init__(capacity, n_step=n_step, discount=discount)
        self.device, self._generator = device, generator
        self.places = 0
        """how often tensors were put elsewhere"""
        self._known = torch.zeros(self._slots, 5, device=device)
        self._known[:, _LAST] = -1
        self._known[:, _ADVICE] = NO_ADVICE
        self._bounds = torch.zeros(2, dtype=torch.int64, device=device)  # first step to sample, and how many
        self.change_returns(n_step, discount)
        self._pictures: Tensor | None = None
        self._last: Tensor | None = None
        self._cuts = 0  # episodes cut short so far; of the latest, row k % len(_last) holds the last frame
        self._row_of: dict[int, int] = {}  # by step
        self._current: Observations | None = None

    @property
    def current_frame(self) -> NDArray[Any] | None:
        """The frame not yet acted upon, on the host; None between episodes."""
        return None if self._open_steps is None else self._current

    def begin(self, frame: Observations) -> None:
        """Start an episode with its first frame."""
        super().begin(frame)
        self._tell_bounds()

    def append(
        self,
        action: int,
        reward: float,
        next_frame: Observations | None,
        *,
        last_frame: Observations | None = None,
        advice: int = NO_ADVICE,
    ) -> None:
        """Add what was done at the current frame and what came of it; no next frame ends the episode."""
        super().append(action, reward, next_frame, last_frame=last_frame, advice=advice)
        self._tell(self._added - 1)

    def end_episode(self, *, cut_short: bool = False) -> None:
        """End the episode under way after its last transition, when nothing more of it will come."""
        super().end_episode(cut_short=cut_short)
        if self._added:
            self._tell(self._added - 1)

    def change_returns(self, n_step: int, discount: float) -> None:
        """From now on sum so many rewards, and discount them so, of all that is remembered."""
        super().change_returns(n_step, discount)
        self._weights = discount ** torch.arange(n_step, device=self.device).float()
        self._ahead = torch.arange(n_step, device=self.device)
        self._tell_bounds()
        self.places += 1

    def draw(self, count: int) -> Batch:
        """`count` transitions drawn uniformly by the device's generator; there must be one at least."""
        drawn = torch.randint(_WIDE, (count,), generator=self._generator, device=self.device)
        return self._gathered(self._bounds[0] + drawn % self._bounds[1])

    def gather(self, steps: NDArray[np.int64]) -> Batch:
        """The transitions of these steps, counted from the first one ever added."""
        return self._gathered(torch.from_numpy(steps).to(self.device))

    def _gathered(self, steps: Tensor) -> Batch:
        assert self._pictures is not None
        known = self._known[(steps[:, None] + self._ahead) % self._slots]  # (B, n, 5)
        ends = known[:, :, _END]
        if self.n_step == 1:  # a sum of one: a dozen kernels less
            before, returns, over = torch.zeros_like(ends), known[:, 0, _REWARD], ends[:, 0] > 0
        else:
            before = ends.cumsum(dim=1) - ends  # how many of the steps before ended the episode
            returns = (self._weights * known[:, :, _REWARD]).masked_fill(before > 0, 0.0).sum(dim=1)
            over = ends.any(dim=1)
        discounts = torch.where(over, 0.0, self.discount**self.n_step)
        # Behind an end there may be a slot never written: such rows take their own frame again.
        following = torch.where(over, steps, steps + self.n_step)
        next_states = self._pictures[following % self._slots]
        if self._last is not None:
            rows = (known[:, :, _LAST] + 1).masked_fill(before > 0, 0.0).sum(dim=1).long() - 1
            cut = rows >= 0
            length = 1 + (ends.cumsum(dim=1) == 0).sum(dim=1)  # rewards up to the first end
            discounts = torch.where(cut, self.discount ** length.float(), discounts)
            following = torch.where(cut, -1, following)
            over_cut = cut.reshape(-1, *[1] * (next_states.ndim - 1))
            next_states = torch.where(over_cut, self._last[rows.clamp_min(0)], next_states)
        return Batch(
            states=self._pictures[steps % self._slots],
            actions=known[:, 0, _ACTION].long(),
            returns=returns,
            discounts=discounts,
            next_states=next_states,
            next_steps=following,
            advice=known[:, 0, _ADVICE].long(),
        )

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Remember what was saved, by a memory on any device; the capacity must be the one it was saved with."""
        super().load_state_dict({**state, "frames": state["frames"].cpu()})
        self._current = None
        if self._open_steps is not None and self._pictures is not None:
            self._current = self._pictures[self._added % self._slots].cpu().numpy()
        self._cuts, self._row_of, self._last = 0, {}, None
        known = np.full((self._slots, 5), -1.0, np.float32)
        known[:, _ACTION], known[:, _REWARD], known[:, _END] = self._actions, self._rewards, self._ends
        known[:, _ADVICE] = self._advice
        self._known.copy_(torch.from_numpy(known))
        for step in self._last_frames:
            self._tell(step)
        self._tell_bounds()
        self.places += 1

    def _tell(self, step: int) -> None:
        """Bring what the host knows of a step, and the range to sample from, to the device."""
        slot = step % self._slots
        row = self._keep_last(step) if self._cut_short[slot] else -1
        known = (self._actions[slot], self._rewards[slot], self._ends[slot], row, self._advice[slot])
        self._send(self._known[slot], np.array(known, np.float32))
        self._tell_bounds()

    def _tell_bounds(self) -> None:
        first, stop = self._range()
        self._send(self._bounds, np.array([first, stop - first]))

    def _keep_last(self, step: int) -> int:
        """The row that holds the last frame of the episode that was cut short by this step."""
        if step in self._row_of:
            return self._row_of[step]
        self._row_of = {known: row for known, row in self._row_of.items() if known in self._last_frames}
        if self._last is None or len(self._last_frames) > len(self._last):
            self._make_room()
        assert self._last is not None
        row = self._row_of[step] = self._cuts % len(self._last)
        self._cuts += 1
        self._send(self._last[row], self._last_frames[step])
        return row

    def _make_room(self) -> None:
        """Twice the room for last frames; those that are kept move to its beginning."""
        assert self._first is not None
        rows = max(_FIRST_ROOM, 2 * len(self._last_frames))
        check_room(
            self.device, rows * self._first.nbytes, f"the last frames of {rows} episodes", "memory_size"
        )
        room = torch.zeros(rows, *self._first.shape, dtype=_torch_type(self._first), device=self.device)
        for row, step in enumerate(self._row_of):
            assert self._last is not None
            room[row] = self._last[self._row_of[step]]
            self._known[step % self._slots, _LAST] = row
        self._row_of = {step: row for row, step in enumerate(self._row_of)}
        self._cuts, self._last = len(self._row_of), room
        self.places += 1

    def _put(self, slot: int, frame: Observations) -> None:
        assert self._pictures is not None
        self._current = frame.copy()
        self._send(self._pictures[slot], frame)

    def _taken(self, used: int) -> Tensor:
        assert self._pictures is not None
        return self._pictures[:used].cpu()

    def _bring(self, frames: Observations) -> None:
        assert self._pictures is not None
        self._pictures[: len(frames)].copy_(torch.from_numpy(frames))

    def _reserve(self, frame: Observations) -> None:
        kept = self._pictures
        if kept is not None and kept.shape[1:] == frame.shape and kept.dtype == _torch_type(frame):
            return
        self._pictures = None
        what = f"a memory of {self.capacity} frames {frame.shape}"
        check_room(self.device, self._slots * frame.nbytes, what, "memory_size")
        self._pictures = torch.zeros(self._slots, *frame.shape, dtype=_torch_type(frame), device=self.device)
        self.places += 1

    def _send(self, to: Tensor, values: NDArray[Any]) -> None:
        """Copy to the device without waiting: torch keeps the pinned memory until the copy is done."""
        staged = torch.empty(to.shape, dtype=to.dtype, pin_memory=self.device.type == "cuda")
        staged.numpy()[...] = values
        to.copy_(staged, non_blocking=True)


def _torch_type(frame: Observations) -> torch.dtype:
    return torch.from_numpy(frame).dtype
