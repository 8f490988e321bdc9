"""Transitions seen as they are and in a mirror, and the values of both drawn together."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from .augmentation import in_mirror
from .replay import Batch


class BothWays:
    """A batch of B transitions as 2 B: first as they are, then in a mirror, where action a is `actions[a]`.

    In a world that looks and pays alike in a mirror, a picture s and its mirror image s' have the values

        Q(s, a) = Q(s', actions[a])

    of all actions, also of those that nobody took. A network has to learn that: `together` is the mean of both sides,
    which errs less than either, and `apart` the mean square of their difference.
    """

    def __init__(self, actions: Tensor) -> None:
        self._actions = actions

    def seen(self, batch: Batch) -> Batch:
        """Both halves of a batch (B,): (2 B,)."""
        turn = torch.ones_like(batch.actions, dtype=torch.bool)
        turned = in_mirror(batch, self._actions, turn)
        return Batch(*(torch.cat(halves) for halves in zip(batch, turned, strict=True)))

    def together(self, values: Tensor) -> Tensor:
        """Values (2 B, actions) of both halves, each the mean of what is seen both ways."""
        plain, turned = self._halves(values)
        mean = (plain + turned) / 2
        return torch.cat((mean, mean[:, self._actions]))

    def apart(self, values: Tensor) -> Tensor:
        """How far the values (2 B, actions) are from what they are in the mirror, on average."""
        return functional.mse_loss(*self._halves(values))

    def _halves(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Values (B, actions) of the first half, and what the second says of the same actions."""
        plain, turned = values.chunk(2)
        return plain, turned[:, self._actions]
