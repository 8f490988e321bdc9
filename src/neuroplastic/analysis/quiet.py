"""Optuna's log for a while at a level of our choosing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_optuna(*, warnings: bool) -> Iterator[None]:
    """Optuna logs nothing below warnings, or below errors; the level that was set is then set again."""
    from optuna import logging

    before = logging.get_verbosity()
    logging.set_verbosity(logging.WARNING if warnings else logging.ERROR)
    try:
        yield
    finally:
        logging.set_verbosity(before)
