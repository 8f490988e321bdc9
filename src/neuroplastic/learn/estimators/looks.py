"""What a fit tells while it goes on, to whoever asked, and the bar of `verbose`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tqdm import tqdm


@dataclass(frozen=True)
class Look:
    """How far a fit is and how well it does, every twenty updates.

    A fit trains several times: first on parts of the rows, to choose how long to train, and last on all of them.
    """

    update: int
    """of this training, from 1"""
    updates: int
    """of this training at most; the last look of one that stops sooner says so by `updates == update`"""
    loss: float
    """mean over the updates since the look before"""
    held_out: float | None
    """loss on rows that are not trained on, where there are such"""
    born: int
    """fuzzy sets born so far"""
    training: int = 1
    """which one, from 1"""
    trainings: int = 1
    """how many there will be; the last one is kept"""


OnLook = Callable[[Look], None]


@contextmanager
def telling(on_look: OnLook | None, *, verbose: bool) -> Iterator[OnLook]:
    """A function to call at every look, which tells `on_look`, and with `verbose` moves a bar of the last training."""
    with tqdm(desc="fitting", unit="update", disable=not verbose) as bar:

        def tell(look: Look) -> None:
            if look.training == look.trainings:
                bar.total = look.updates
                held_out = look.loss if look.held_out is None else look.held_out
                bar.set_postfix(
                    loss=f"{look.loss:.4f}", held_out=f"{held_out:.4f}", born=look.born, refresh=False
                )
                bar.update(look.update - bar.n)
            if on_look is not None:
                on_look(look)

        yield tell
