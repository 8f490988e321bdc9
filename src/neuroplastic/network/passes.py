"""What one training pass sees of noise and fuzzy sets, and how a pass that is computed again finds the same.

Gradient checkpointing (`torch.utils.checkpoint`) throws away what a forward pass computed and runs it again inside
the backward pass. The second run must see what the first saw, though later passes may have renewed the noise and
given birth to sets since, and it must count for nothing.

That a pass is a repetition is known by where it runs: inside a backward pass. Which pass it repeats is known by its
mark: the input, bit by bit, and the state of torch's generator, which checkpointing sets back. No number is drawn for
it, so a run with checkpointing goes through the same random numbers as one without. Passes that saw different things
and still share a mark are refused when one of them is to be repeated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..errors import RecomputationError

# So many passes may wait for their backward pass at once; an unrolled recurrence has one per step.
MOST_WAITING = 4096

_hooks_on_saved_tensors = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)


class Pass(NamedTuple):
    """The number of the noise draw, and which of the sets (D, T) existed."""

    draw: int | Tensor
    mask: Tensor


class PassBook:
    """The passes of one network that may have to be computed again, by mark. Copies begin empty."""

    def __init__(self) -> None:
        self._passes: dict[int, list[Pass]] = {}
        self._repeated: set[int] = set()

    def __len__(self) -> int:
        return len(self._passes)

    def __reduce__(self) -> tuple[Any, ...]:
        return PassBook, ()

    def enter(self, mark: int, one: Pass) -> None:
        """Remember a pass; when there are too many, the oldest is forgotten."""
        if self._passes:
            latest = next(reversed(self._passes.values()))[-1]
            if _same_mask(latest, one):
                one = one._replace(mask=latest.mask)  # births are rare: most passes share one mask
        before = self._passes.pop(mark, [])
        if mark in self._repeated:  # training on one batch over and over: the earlier passes are done
            before = []
            self._repeated.remove(mark)
        self._passes[mark] = [*(old for old in before if not _same(old, one)), one]
        if len(self._passes) > MOST_WAITING:
            oldest = next(iter(self._passes))
            del self._passes[oldest]
            self._repeated.discard(oldest)

    def find(self, mark: int) -> Pass:
        """The pass that is computed again."""
        found = self._passes.get(mark, [])
        if not found:
            raise RecomputationError(
                "a training pass inside a backward pass must repeat an earlier one (gradient checkpointing), and none "
                "is known that had this input; checkpoint with preserve_rng_state=True, which is the default, and at "
                f"most {MOST_WAITING} passes at once; any other pass belongs outside, or in evaluation mode"
            )
        if len(found) > 1:
            raise RecomputationError(
                f"{len(found)} training passes had this input, each with other noise or sets, and gradient "
                "checkpointing does not say which of them it repeats; tell them apart by drawing a number from torch's "
                "generator before each checkpoint, torch.rand(()), or do not checkpoint them"
            )
        self._repeated.add(mark)
        return found[0]


def _same(one: Pass, other: Pass) -> bool:
    return bool(one.draw == other.draw) and _same_mask(one, other)


def _same_mask(one: Pass, other: Pass) -> bool:
    return one.mask.device == other.mask.device and torch.equal(one.mask, other.mask)


def recomputing() -> bool:
    """Whether a backward pass is running in this thread, so that a forward pass is a repetition."""
    return not torch.compiler.is_compiling() and torch._C._current_graph_task_id() != -1


def repeatable() -> bool:
    """Whether this pass may be computed again: it runs under checkpointing of either kind, or what looks like it."""
    if _hooks_on_saved_tensors is None:  # an older torch does not say
        return True
    in_autograd_function = not (torch._C._is_fwd_grad_enabled() or torch.is_inference_mode_enabled())
    return in_autograd_function or _hooks_on_saved_tensors(False) is not None


def mark_of(x: Tensor) -> int:
    """What the pass on x that begins now has in common with its repetitions."""
    bits = (
        part.contiguous().view(torch.uint8).cpu().numpy().tobytes() for part in (x, torch.get_rng_state())
    )
    return hash((x.shape, *bits))
