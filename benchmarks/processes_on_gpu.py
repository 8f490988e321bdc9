"""Steps a second of several processes on one GPU: `python -m benchmarks.processes_on_gpu 16`.

A step is a decision and an update of BP's `tuned` neuro-fuzzy agent, as in a trial, but for the game. To compare, run
it again after `nvidia-cuda-mps-control -d`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import torch

SECONDS = 4.0
WARM_UP = 30


def steps_a_second(folder: Path, number: int) -> float:
    """Make a learner, wait for the others, and go on for a while."""
    from benchmarks.gpu_agents import make_learner

    warnings.simplefilter("ignore")
    learner = make_learner("nfn", name="tuned")
    picture = np.random.default_rng(1).integers(0, 256, (1, 84, 84, 3), dtype=np.uint8)

    def step() -> None:
        learner.greedy(picture)
        learner.step()

    for _ in range(WARM_UP):
        step()
    torch.cuda.synchronize()
    (folder / f"ready{number}").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        step()
        count += 1
    torch.cuda.synchronize()
    return count / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("processes", type=int)
    parser.add_argument("--member", nargs=2, metavar=("FOLDER", "NUMBER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.member:
        print(steps_a_second(Path(options.member[0]), int(options.member[1])))
        return
    command = [sys.executable, "-m", "benchmarks.processes_on_gpu", str(options.processes), "--member"]
    with tempfile.TemporaryDirectory() as folder:
        members = [
            subprocess.Popen([*command, folder, str(number)], stdout=subprocess.PIPE, text=True)
            for number in range(options.processes)
        ]
        while len(list(Path(folder).glob("ready*"))) < len(members):
            if any(member.poll() for member in members):
                sys.exit("a process failed")
            time.sleep(0.05)
        (Path(folder) / "go").touch()
        speeds = [float(member.communicate()[0]) for member in members]
    print(
        f"{len(speeds)} processes: {sum(speeds):.0f} steps/s together, {min(speeds):.0f} to {max(speeds):.0f} each"
    )


if __name__ == "__main__":
    main()
