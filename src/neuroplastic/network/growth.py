"""What a network remembers of its passes and births: counters and tables beside its parameters, read when looked at.

On a GPU, reading a number is a wait for all that was asked of it before. So a training pass writes into tensors here
and reads nothing; whoever asks for counters or births waits, and gets what is true by then.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from ..errors import CapacityWarning, InputError

COUNTERS = ("pass_count", "batch_count", "full", "spoilt")
TABLES = ("born_step", "born")


@dataclass(frozen=True)
class Birth:
    """One fuzzy set that was born: when, where, and how many observations asked for it."""

    step: int
    attribute: int
    term: int
    center: float
    width: float
    count: int


class Growth(nn.Module):
    """Counters of passes and batches, and births, of an antecedent. They are saved in its extra state.

    `full` is D less the first attribute that asked for a set and had no room; `spoilt` the first pass whose input was
    not finite, where nobody looked at it; both 0 if there was none. `born_step` (D, T) and `born` (3, D, T), centre,
    width and count, are the latest births of each place; those after batch `_read` nobody has read yet. They stay
    where they are when they are read: so a copy that is given our buffers now and then, as AveragedModel's is, finds
    them there.
    """

    pass_count: Tensor
    batch_count: Tensor
    full: Tensor
    spoilt: Tensor
    born_step: Tensor
    born: Tensor

    def __init__(self, attributes: int, max_terms: int, like: Tensor) -> None:
        super().__init__()
        for name in COUNTERS:
            self.register_buffer(name, like.new_zeros((), dtype=torch.int64), persistent=False)
        step = like.new_zeros(attributes, max_terms, dtype=torch.int64)
        self.register_buffer("born_step", step, persistent=False)
        self.register_buffer("born", like.new_zeros(3, attributes, max_terms), persistent=False)
        self._births: list[Birth] = []
        self._read = 0
        self._at_capacity = False
        self.max_terms = max_terms

    @property
    def passes(self) -> int:
        """Training passes so far."""
        return 0 if self.pass_count.is_meta else int(self.pass_count)

    @passes.setter
    def passes(self, value: int) -> None:
        self._real("pass_count").fill_(value)

    @property
    def batches(self) -> int:
        """Training batches that births are counted in."""
        return 0 if self.batch_count.is_meta else int(self.batch_count)

    @batches.setter
    def batches(self, value: int) -> None:
        self._real("batch_count").fill_(value)

    @property
    def births(self) -> list[Birth]:
        """Births so far, in order."""
        self.look()
        return self._births

    @property
    def at_capacity(self) -> bool:
        """Whether an attribute asked for a set and had no room; said once."""
        self.look()
        return self._at_capacity

    def _say_full(self, attribute: int) -> None:
        if self._at_capacity:
            return
        self._at_capacity = True
        warnings.warn(
            f"attribute {attribute} is not covered but already has max_terms = {self.max_terms} fuzzy sets; "
            "raise max_terms to let it grow (reported once)",
            CapacityWarning,
            stacklevel=2,
        )

    @torch.no_grad()
    def look(self) -> None:
        """Read what a device has written since the last look: births, a lack of room, an input that was not finite.

        On a GPU this is a wait.
        """
        if self.born_step.is_meta:
            return
        born, full, spoilt = torch.stack((self.born_step.amax(), self.full, self.spoilt)).tolist()
        if born > self._read:
            self._births += self._unread()
            self._read = born
        if full:
            self.full.zero_()
            self._say_full(len(self.born_step) - full)
        if spoilt:
            self.spoilt.zero_()
            raise InputError(
                f"x must be finite, and that of training pass {spoilt} was not; what was trained since is lost. On a "
                "GPU inputs are not waited for, so this is known late; check them where they are made"
            )

    def _unread(self) -> list[Birth]:
        """Births of the tables, as the host would have recorded them: by batch, then by attribute."""
        steps = self.born_step.cpu()
        attributes, terms = (steps > self._read).nonzero(as_tuple=True)
        columns = (attributes, terms, *self.born.cpu()[:, attributes, terms])
        rows = zip(steps[attributes, terms].tolist(), *(column.tolist() for column in columns), strict=True)
        return sorted(
            (Birth(step, a, t, c, w, round(n)) for step, a, t, c, w, n in rows),
            key=lambda birth: (birth.step, birth.attribute),
        )

    def as_dict(self) -> dict[str, object]:
        """A form that JSON can hold."""
        return {
            "batches": self.batches,
            "at_capacity": self.at_capacity,
            "births": [asdict(birth) for birth in self.births],
        }

    @torch.no_grad()
    def restore(self, batches: int, births: Iterable[Birth], *, at_capacity: bool) -> None:
        """Take over what another remembers."""
        for name in (*COUNTERS, *TABLES):
            if name != "pass_count":
                self._real(name).zero_()
        self.batches = batches
        self._births, self._read, self._at_capacity = list(births), 0, at_capacity

    def take_records(self, other: Growth) -> None:
        """Remember what another's host knows; what its device does, lies in the tables."""
        self._births, self._read, self._at_capacity = list(other._births), other._read, other._at_capacity

    def _real(self, name: str) -> Tensor:
        """A counter or table that has memory: a network that was built without any gets it when it is loaded."""
        tensor: Tensor = getattr(self, name)
        if tensor.is_meta:
            tensor = torch.zeros(tensor.shape, dtype=tensor.dtype)
            setattr(self, name, tensor)
        return tensor
