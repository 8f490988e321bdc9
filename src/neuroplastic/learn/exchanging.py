"""Passes over what others write into memory of the host: there, the pass and back are one CUDA graph."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .capturing import RecordedStep
from .experience import Observations

# Memory that nobody reads from any more. It is let go of before other memory is pinned, and not when it is collected,
# which may happen while a graph is recorded.
_left: list[Tensor] = []
_pinned: weakref.WeakValueDictionary[tuple[int, int], Pinned] = weakref.WeakValueDictionary()


class Pinned:
    """Memory that others write to, where a GPU can read it: pinned where it lies, or, if it cannot be, a copy."""

    def __init__(self, memory: Observations) -> None:
        self._memory = memory
        self._held = torch.from_numpy(memory)
        self.copied = not _pin(self._held)
        """whether `look` has to copy it first"""
        if self.copied:
            self._held = torch.empty_like(self._held, pin_memory=True)
        else:
            # As long as it is pinned, the memory must not be given back, which `held` sees to.
            leaving = weakref.finalize(self, _left.append, self._held)
            leaving.atexit = False  # the process takes it along

    @classmethod
    def of(cls, memory: Observations) -> Pinned:
        """That of this memory, which is pinned once."""
        key = memory.ctypes.data, memory.nbytes
        held = _pinned.get(key)
        if held is None:
            held = _pinned[key] = cls(memory)
        return held

    def part(self, rows: slice) -> Tensor:
        """Some rows of it, where the GPU reads them."""
        return self._held[rows]

    def look(self, rows: slice) -> None:
        """See that these rows are what was written last."""
        if self.copied:
            np.copyto(self._held.numpy()[rows], self._memory[rows])


class Exchange:
    """A pass over some rows of pinned memory, begun and waited for: nothing is asked of the host in between."""

    def __init__(
        self,
        what: str,
        network_pass: Callable[[Tensor], Tensor],
        pinned: Pinned,
        rows: slice,
        device: torch.device,
        *,
        why_not: Callable[[], str | None] = lambda: None,
        silent: bool = False,
    ) -> None:
        self._pass, self._pinned, self._rows = network_pass, pinned, rows
        with torch.inference_mode(False):  # it is written to in any mode
            self._seen = torch.empty_like(pinned.part(rows), device=device)
        self._answer: Tensor | None = None
        self._done = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._step = RecordedStep(
            what, self._exchanged, device, why_not=why_not, silent=silent, urgent=True, kept=False
        )

    def launch(self) -> None:
        """Begin; `answer` is to be asked before the rows are written to again."""
        self._pinned.look(self._rows)
        self._step()
        self._done.record()  # type: ignore[no-untyped-call]

    def answer(self) -> NDArray[np.float32]:
        """What the pass gives, waited for."""
        self._done.synchronize()  # type: ignore[no-untyped-call]
        assert self._answer is not None
        answer: NDArray[np.float32] = self._answer.numpy().copy()
        return answer

    @torch.inference_mode()
    def _exchanged(self) -> Tensor:
        self._seen.copy_(self._pinned.part(self._rows), non_blocking=True)
        given = self._pass(self._seen).float()
        if self._answer is None:
            with torch.inference_mode(False):
                self._answer = torch.empty(given.shape, pin_memory=True)
        self._answer.copy_(given, non_blocking=True)
        return given


def _pin(held: Tensor) -> bool:
    """Whether the memory of a tensor is pinned now."""
    runtime = torch.cuda.cudart()  # type: ignore[no-untyped-call]
    while _left:
        runtime.cudaHostUnregister(_left.pop().data_ptr())
    if int(runtime.cudaHostRegister(held.data_ptr(), held.nbytes, 0)) == 0:
        return True
    with contextlib.suppress(RuntimeError):  # whoever launches next is told of the error
        torch.zeros(1, device="cuda").add_(1)
    return False
