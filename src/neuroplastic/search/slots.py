"""Which worker makes which trial: a table beside Optuna's, with a row per trial that was asked for.

A study of n trials has n slots. A worker takes an open slot, makes a trial for it, and fills it; a slot holds exactly
one complete trial in the end. Each time a slot is taken its `attempt` goes up: whoever holds an older attempt can
no longer finish it. A worker shows that it lives by counting up `beat`; nobody compares clocks.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import sqlalchemy as sa

_metadata = sa.MetaData()
_slots = sa.Table(
    "neuroplastic_slots",
    _metadata,
    sa.Column("study", sa.String(512), primary_key=True),
    sa.Column("slot", sa.Integer, primary_key=True),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("worker", sa.String(256), nullable=False),
    sa.Column("beat", sa.Integer, nullable=False),
    sa.Column("stop", sa.Boolean, nullable=False),
)
OPEN, TAKEN, FINISHING, DONE = "open", "taken", "finishing", "done"


@dataclass(frozen=True)
class Lease:
    """A slot as taken by a worker."""

    slot: int
    attempt: int
    tries: int
    """How often the slot's present parameters were tried before, and came to grief."""
    worker: str
    beat: int = 0


class Slots:
    """The slots of one study. Every method is one transaction."""

    def __init__(self, engine: sa.Engine, study: str) -> None:
        self.engine, self.study = engine, study
        self._mine = _slots.c.study == study

    def create(self, count: int) -> None:
        """See to it that slots 0 to count - 1 exist; those that do are left alone. Any number may do this at once."""
        for attempt in range(10):
            try:
                _metadata.create_all(self.engine)
                with self.engine.begin() as connection:
                    there = set(connection.scalars(sa.select(_slots.c.slot).where(self._mine)))
                    rows = [
                        {
                            "study": self.study,
                            "slot": slot,
                            "state": OPEN,
                            "attempt": 0,
                            "tries": 0,
                            "worker": "",
                        }
                        for slot in range(count)
                        if slot not in there
                    ]
                    if rows:
                        connection.execute(
                            _slots.insert(), [{**row, "beat": 0, "stop": False} for row in rows]
                        )
                return
            except (sa.exc.IntegrityError, sa.exc.ProgrammingError, sa.exc.OperationalError):
                if attempt == 9:  # another process was faster, ten times over: then it is something else
                    raise
                time.sleep(random.uniform(0.02, 0.2))

    def exist(self) -> bool:
        """Whether this storage has the table at all."""
        return sa.inspect(self.engine).has_table(_slots.name)

    def take(self, worker: str, below: int) -> Lease | None:
        """The lowest open slot below a number, now the worker's; None if there is none."""
        with self.engine.begin() as connection:
            row = connection.execute(
                sa.select(_slots)
                .where(self._mine, _slots.c.slot < below, _slots.c.state == OPEN)
                .order_by(_slots.c.slot)
                .limit(1)
                .with_for_update(skip_locked=True)
            ).first()
            if row is None:
                return None
            connection.execute(
                _slots.update()
                .where(self._mine, _slots.c.slot == row.slot)
                .values(state=TAKEN, attempt=row.attempt + 1, worker=worker, beat=0, stop=False)
            )
        return Lease(row.slot, row.attempt + 1, row.tries, worker)

    def beat(self, lease: Lease) -> bool:
        """Show that the lease's worker lives; False if it should stop, or if the lease is no longer its own."""
        with self.engine.begin() as connection:
            held = connection.execute(
                _slots.update().where(*self._held(lease)).values(beat=_slots.c.beat + 1)
            ).rowcount
            stop = connection.scalar(sa.select(_slots.c.stop).where(self._mine, _slots.c.slot == lease.slot))
        return held == 1 and not stop

    def begin_finish(self, lease: Lease) -> bool:
        """Ask to complete the lease's trial: False if the lease was lost, and the trial must not be completed."""
        return self._move(lease, FINISHING, lease.tries)

    def finish(self, lease: Lease) -> None:
        """The slot is filled for good."""
        self._move(lease, DONE, lease.tries)

    def reopen(self, lease: Lease, *, tries: int) -> None:
        """Let others have the slot."""
        self._move(lease, OPEN, tries)

    def held(self) -> list[Lease]:
        """Every lease that is out."""
        with self.engine.begin() as connection:
            rows = connection.execute(
                sa.select(_slots).where(self._mine, _slots.c.state.in_((TAKEN, FINISHING)))
            ).all()
        return [Lease(row.slot, row.attempt, row.tries, row.worker, row.beat) for row in rows]

    def count(self, below: int | None = None) -> dict[str, int]:
        """Number of slots in each state."""
        where = [self._mine] if below is None else [self._mine, _slots.c.slot < below]
        with self.engine.begin() as connection:
            rows = connection.execute(
                sa.select(_slots.c.state, sa.func.count()).where(*where).group_by(_slots.c.state)
            ).all()
        return {OPEN: 0, TAKEN: 0, FINISHING: 0, DONE: 0, **{state: number for state, number in rows}}

    def ask_to_stop(self, worker: str) -> None:
        """Have a worker's next beat tell it to stop."""
        with self.engine.begin() as connection:
            connection.execute(
                _slots.update().where(self._mine, _slots.c.worker.contains(worker)).values(stop=True)
            )

    def _held(self, lease: Lease) -> list[sa.ColumnElement[bool]]:
        return [
            self._mine,
            _slots.c.slot == lease.slot,
            _slots.c.attempt == lease.attempt,
            _slots.c.state.in_((TAKEN, FINISHING)),
        ]

    def _move(self, lease: Lease, state: str, tries: int) -> bool:
        with self.engine.begin() as connection:
            moved = connection.execute(
                _slots.update().where(*self._held(lease)).values(state=state, tries=tries)
            )
        return bool(moved.rowcount == 1)
