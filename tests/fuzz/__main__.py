"""Damages files of every kind and says what became of them.

    python -m tests.fuzz --files 20000 --seed 0 --log fuzz.log --jobs 2

Half by structure, half by bytes. The log has a line for each piece of work and one for each fault; a fault's files go
to `tests/fuzz/kept/KIND/NUMBER/`, where a test opens them from then on. Exit code 1 if there was one.
"""

import argparse
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from tests.fuzz.cases import BYTES, KINDS, case
from tests.fuzz.judging import Verdict, forked, judge

KEPT = Path(__file__).parent / "kept"
PIECE = 250
# What commands import only when they run: once here, and not in every fork.
LATE = (
    *("alembic.command", "optuna.storages", "pandas", "sklearn.ensemble", "torch._dynamo"),
    *("neuroplastic.cli.play", "neuroplastic.cli.train"),
    *(f"neuroplastic.usecases.{name}" for name in ("explaining", "rules", "studies", "study_views")),
)


def names(kind: str, count: int, seed: int) -> list[str]:
    """So many cases of a kind: half by structure, half by bytes, other ones with another seed."""
    generator = np.random.default_rng((seed, *kind.encode()))
    structure = generator.integers(BYTES, size=count - count // 2)
    numbers = generator.integers(BYTES, 2**31, size=count // 2)
    return [f"{kind}:{number}" for number in (*structure, *numbers)]


def pieces(count: int, seed: int, kinds: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The work in pieces of one kind each, all kinds in turn: whenever it is stopped, all have been tried."""
    share = -(-count // len(kinds))
    work = {kind: names(kind, share, seed) for kind in kinds}
    for start in range(0, share, PIECE):
        for kind, found in work.items():
            yield kind, found[start : start + PIECE]


def keep(name: str) -> None:
    """Write a fault's files where a test will open them."""
    kind, number = name.split(":")
    for path, content in case(kind, int(number)).files.items():
        target = KEPT / kind / number / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def judge_forked(work: tuple[str, list[str]]) -> Verdict:
    """Judge a piece of work in a fork of its own."""
    return judge(work[1], forked)


def main() -> int:
    """Run, tell, keep."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="wait for no piece after so many")
    parser.add_argument("--jobs", type=int, default=1, help="pieces of work at once")
    parser.add_argument("--log", type=Path, default=Path("fuzz.log"))
    options = parser.parse_args()
    began, all_of_it = time.monotonic(), Verdict()
    for module in LATE:
        with suppress(ImportError):
            import_module(module)
    work = list(pieces(options.files, options.seed, options.kinds))
    with (
        options.log.open("a") as log,
        ProcessPoolExecutor(options.jobs, mp_context=get_context("fork")) as pool,
    ):
        for (kind, _), verdict in zip(work, pool.map(judge_forked, work), strict=True):
            all_of_it.merge(verdict)
            print(f"seed {options.seed} {kind}: {verdict}", file=log)
            for fault in verdict.faults:
                print(f"FAULT {fault}", file=log)
                keep(fault.partition(" ")[0].rstrip(":"))
            log.flush()
            if time.monotonic() - began > options.seconds:
                pool.shutdown(wait=False, cancel_futures=True)
                break
        total = f"{len(options.kinds)} kinds, {time.monotonic() - began:.0f} s: {all_of_it}"
        print(f"seed {options.seed} in all, {total}", file=log)
    print(total)
    return 1 if all_of_it.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
