"""Values made of tensors, kept for evaluation until a tensor changes: one policy for all that is kept.

The choice of premises and the folded weights of the picture encoder cost more than an evaluation of one observation,
so they are made once and kept. What has changed since is looked for at every use:

- A tensor that was replaced, got other memory (`.to()`), or was written in a way that autograd counts (in-place
  operations, `load_state_dict`, most optimizers) is noticed at once.
- Writes that autograd does not count (through `.data` or NumPy, by fused optimizers) are found by looking at the bits.
  Tensors of up to 256 KiB (65,536 single-precision entries) are compared whole: whatever was written is noticed at
  once. Larger ones, in practice only logits, would cost more than the evaluation itself. They are looked at whole at
  the first use after `train()`, `eval()`, a pass with gradients or in training mode, or a read of `net.logits`, and
  by every evaluation of 1024 observations or more; smaller ones look at a 64th or more, in turn.

So the promise is: an evaluation sees every write that came before it, but for one case. A few entries of more than
256 KiB, written behind autograd's back and not through a fresh `net.logits`, may be noticed only by the 64th
evaluation after it. `eval()`, called again, has them seen at once, in a module and all below it.

Why not look at everything each time: the logits of the paper's size (8 MB) take as long to read as half an evaluation
of one observation when they lie in the processor's cache, and as four when they do not. A 64th of them is not felt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from ..fuzzy.tracing import recorded
from .keeping import keeping

Value = TypeVar("Value")

# Up to so many 64-bit words (256 KiB) are looked at whole in every use.
WHOLE = 1 << 15
# A larger one is looked at in parts of so many words.
PART = WHOLE // 2
# Of a larger tensor, at least this share is looked at in every use.
LEAST_SHARE = 1 / 64
# An evaluation of so many observations pays for a look at everything.
ENOUGH_WORK = 1024
# Larger tensors are summed by columns of a table this wide. A prime: entries that people exchange (rules, attributes,
# terms) lie a multiple of some size apart and so in different columns, whose sums then change.
COLUMNS = 509

_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Settled(Generic[Value]):
    """One value and the tensors it is made of. Copies begin without a value."""

    def __init__(self) -> None:
        self._kept: tuple[Watch, Value] | None = None
        self._doubted = False

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()

    def doubt(self) -> None:
        """Look at everything at the next use."""
        self._doubted = True

    def forget(self) -> None:
        """Make the value anew at the next use."""
        self._kept = None

    def value(
        self, tensors: Sequence[Tensor], make: Callable[[], Value], *, observations: int | None = None
    ) -> Value:
        """The value that `make` makes of these tensors, made anew if one of them has changed.

        It serves an evaluation of that many observations; without a number, everything is looked at.
        """
        if recorded():  # a recorded program must compute it each time; what it makes is its own
            return make()
        kept = self._kept
        share = 1.0
        if observations is not None and not self._doubted:
            share = min(max(LEAST_SHARE, observations / ENOUGH_WORK), 1.0)
        if kept is None or not kept[0].is_true_of(tensors, share):
            with keeping():
                if any(tensor.is_meta for tensor in tensors):
                    return make()  # there is nothing to watch
                watch = Watch(tensors)
                kept = self._kept = watch, make()
        self._doubted = False
        return kept[1]


class Watch:
    """Tensors as they were at one moment."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._tensors = [(tensor, tensor.data_ptr(), _version(tensor)) for tensor in tensors]
        devices = {tensor.device for tensor in tensors}
        self._on_cpu = devices == {torch.device("cpu")}
        self._one_wait = len(devices) == 1 and not self._on_cpu
        words = [_words(tensor) for tensor in tensors]
        self._small = [part for part in words if len(part) <= WHOLE]
        self._copy = torch.cat(self._small) if self._small else None
        self._large = [_Large(part) for part in words if len(part) > WHOLE]

    def is_true_of(self, tensors: Sequence[Tensor], share: float) -> bool:
        """Whether these are the same tensors, unchanged as far as a look at a share of the larger ones can tell."""
        if len(tensors) != len(self._tensors):
            return False
        for tensor, (before, memory, version) in zip(tensors, self._tensors, strict=True):
            if tensor is not before or tensor.data_ptr() != memory:
                return False
            if version is not None and tensor._version != version:
                return False
        pairs = self._pairs(share if self._on_cpu else 1.0)
        if self._one_wait:  # each comparison would be a wait for the device
            parts = zip(*pairs, strict=True)
            now, before = (torch.cat([part.reshape(-1) for part in side]) for side in parts)
            return torch.equal(now, before)
        return all(torch.equal(now, before) for now, before in pairs)

    def _pairs(self, share: float) -> Iterator[tuple[Tensor, Tensor]]:
        """What is looked at now, and what it was."""
        if self._copy is not None:
            yield torch.cat(self._small), self._copy
        for large in self._large:
            yield from large.pairs(share)


class _Large:
    """Sums over a long row of words, by parts that each lie all over it, and what is left over as it was."""

    def __init__(self, words: Tensor) -> None:
        self._parts = -(-len(words) // PART)
        rows = len(words) // (self._parts * COLUMNS)
        used = rows * self._parts * COLUMNS
        self._body = words[:used].view(rows, self._parts, COLUMNS)
        self._sums = self._body.sum(dim=0)
        self._rest, self._rest_before = words[used:], words[used:].clone()
        self._next = 0

    def pairs(self, share: float) -> Iterator[tuple[Tensor, Tensor]]:
        """Of a share of the parts, whose turn it is, the sums now and before."""
        first = 0 if share == 1.0 else self._next
        count = min(math.ceil(self._parts * share), self._parts - first)
        self._next = (first + count) % self._parts
        yield self._body.narrow(1, first, count).sum(dim=0), self._sums.narrow(0, first, count)
        if first == 0:
            yield self._rest, self._rest_before


def _version(tensor: Tensor) -> int | None:
    """How many writes autograd has counted; it does not count those to inference tensors."""
    return None if tensor.is_inference() else tensor._version


def _words(tensor: Tensor) -> Tensor:
    """The memory that a tensor lies in as a row of whole numbers, of 64 bits where it can be cut so; always a view."""
    span = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
    # Through `.data`: a view that autograd knew of would count as a further use of the tensor.
    row = tensor.data.as_strided((span if tensor.numel() else 0,), (1,)).view(_WORDS[tensor.element_size()])
    size = row.element_size()
    even = len(row) and len(row) * size % 8 == 0 and row.storage_offset() * size % 8 == 0
    return row.view(torch.int64) if even else row
