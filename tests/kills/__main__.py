"""Kills every long command by SIGKILL at random moments, gives it again, and holds its end beside an undisturbed one.

    python -m tests.kills --kills 50 --seed 0 --only fit --log kills.csv

Prints a row for each: how often it was killed, how many of the kills found something finished, in how many lives it
came to its end, and whether that was the same to the bit. Exit code 1 if anything finished was lost or differs.
The log gets the rows as CSV; rows of the same command with other seeds may be added up.
"""

import argparse
import csv
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from tests.commands import Commands, Done, Signal
from tests.kills.victims import VICTIMS, State, Victim, Words, prepare

Command = Callable[..., Done]


@dataclass
class Row:
    """What became of one command."""

    name: str
    kills: int = 0
    found: int = 0
    """kills after which something finished lay there"""
    lives: int = 0
    """how often it came to its end in between, each time compared and begun anew"""
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"| {self.name} | {self.kills} | {self.found} | {self.lives} | 0 | {self.lives} of {self.lives} |"
        )


# Imported once and not by every command: kills then come while something is computed or written.
EARLY = ("matplotlib.figure", "minari", "optuna.storages", "pandas", "sklearn.ensemble")
HEAD = (
    "| command | kills | of these with something finished | came to its end | finished and lost | same to the bit |\n"
    "|---|---|---|---|---|---|"
)


def kill_often(
    command: Command,
    victim: Victim,
    row: Row,
    place: Path,
    *,
    kills: int,
    seed: int,
    seconds: float = float("inf"),
) -> None:
    """Kill a command so many times, or for so long; an AssertionError says what was lost or differs."""
    rng = np.random.default_rng((seed, *row.name.encode()))
    whole, cut = place / "whole", place / "cut"
    _begin(command, victim, whole)
    began = time.monotonic()
    command(*victim.words(whole), folder=whole)
    row.seconds = time.monotonic() - began
    end = victim.end(whole)
    earlier = _begin(command, victim, cut)
    kept: State = earlier
    until = time.monotonic() + seconds

    def enough() -> bool:
        return row.kills >= kills or time.monotonic() > until

    while not enough() or cut.exists():
        begun = _begin(command, victim, cut)
        words, began = victim.words(cut), time.monotonic()
        moment = Signal(signal.SIGKILL, 0, delay=float(rng.uniform(0, victim.span * row.seconds)))
        done = command(*words, folder=cut, signal=None if enough() else moment, code=None)
        if done.code == 0:
            assert _differing(victim.end(cut), end) == [], "not the undisturbed end"
            row.lives += 1
            if (
                begun == earlier
            ):  # from its start to its end: the machine may have more time for it than at first
                row.seconds = min(row.seconds, time.monotonic() - began)
            shutil.rmtree(cut)
            if not enough():
                kept = _begin(command, victim, cut)
            continue
        assert done.code == -signal.SIGKILL, f"{words} ended with {done.code}: {done.out}{done.err}"
        row.kills += 1
        now = victim.finished(cut)
        row.found += bool(now)
        _nothing_lost(kept, now, end, earlier)
        kept = now


def _begin(command: Command, victim: Victim, folder: Path) -> State:
    """A folder in which what was there before has been finished; what that left."""
    if not folder.exists():
        folder.mkdir()
        if victim.before:
            command(*_without_force(victim.words(folder)), *victim.before, folder=folder)
    return victim.finished(folder)


def _without_force(words: Words) -> Words:
    return tuple(word for word in words if word != "--force")


def _nothing_lost(kept: State, now: State, end: State, earlier: State) -> None:
    """What was finished is there still, and is what the undisturbed command made, or what was there before it."""
    if earlier and now == earlier:
        return
    for name, was in kept.items():
        assert name in now or earlier, f"{name} was finished and is gone"
        if isinstance(was, list):
            assert now[name][: len(was)] == was, f"{name} had other lines"  # type: ignore[index]
    for name, value in now.items():
        wanted = end[name]
        if isinstance(value, list):
            assert isinstance(wanted, bytes)
            assert wanted.decode().splitlines()[: len(value)] == value, f"{name} has lines of another run"
        else:
            assert value == wanted, f"{name} is not what the undisturbed command made"
    assert not earlier or now.keys() == end.keys()


def _differing(one: State, other: State) -> list[str]:
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


def _there(modules: Sequence[str]) -> list[str]:
    """Those of the modules whose packages are installed."""
    return [module for module in modules if find_spec(module.partition(".")[0]) is not None]


def main() -> int:
    """Kill, compare, tell."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="no kill of a command after so many"
    )
    parser.add_argument(
        "--log", type=Path, default=Path(os.devnull), help="a CSV file that gets the rows, too"
    )
    parser.add_argument("--only", nargs="*", default=list(VICTIMS), choices=list(VICTIMS))
    options = parser.parse_args()
    server, faults = Commands(_there(EARLY)), 0
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "data"
        data.mkdir()
        prepare(partial(server, folder=data), data, options.only)
        for name in options.only:
            row, fault, limits = Row(name), "", {"kills": options.kills, "seconds": options.seconds}
            try:
                kill_often(server, VICTIMS[name], row, Path(place), seed=options.seed, **limits)
                print(row, flush=True)
            except AssertionError as error:
                faults, fault = faults + 1, f"FAULT: {error}"
                print(f"| {name} | {row.kills} | {row.found} | {row.lives} | {fault} | |", flush=True)
            with options.log.open("a", newline="") as log:
                figures = (row.kills, row.found, row.lives, f"{row.seconds:.1f}", fault)
                csv.writer(log).writerow((name, options.seed, *figures))
            for folder in ("whole", "cut"):
                shutil.rmtree(Path(place) / folder, ignore_errors=True)
    server.close()
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
