"""The trials behind docs/paper_readings.md: the readings, their rows, and how runs become rows.

`python docs/paper_readings_trials.py RUNS` adds the runs below a folder to docs/data/paper_readings.csv.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from neuroplastic.doom.presets import PAPER_NFN
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.experiment.trial import summarise
from neuroplastic.usecases.boxing import train_command

HERE = Path(__file__).parent
DATA = HERE / "data" / "paper_readings.csv"
ALWAYS = "--episode-seeds anew"
"""Every trial has evaluation episodes of its own, as the paper's had."""
CHOSEN_ON = 20
"""Seeds from here on are those that readings were chosen on."""


@dataclass(frozen=True)
class Reading:
    """A way to read what the paper leaves open."""

    question: str
    answer: str
    options: str
    """what is said beside `--preset paper`; RULES stands for the table's number of rules"""
    agents: tuple[str, ...] = ("dnn", "nfn")

    def command(self, task: str, agent: str, seed: int) -> str:
        """The command of one trial."""
        options = self.options.replace("RULES", str(PAPER_NFN[task].rules))
        words = ["neuroplastic train", task, f"--agent {agent}", f"--preset {self.preset}", options, ALWAYS]
        return " ".join([*(word for word in words if word), f"--seed {seed}"])

    @property
    def preset(self) -> str:
        """The preset that is changed."""
        return "paper"


@dataclass(frozen=True)
class Lever(Reading):
    """A change to `tuned` that might bring best and last epoch closer."""

    @property
    def preset(self) -> str:
        """The preset that is changed."""
        return "tuned"


READINGS = {
    "base": Reading("", "the preset `paper` as it is", ""),
    "target_1": Reading("target copies", "none: every update", "--target-every 1"),
    "target_100": Reading("target copies", "every 100 updates", "--target-every 100"),
    "no_end": Reading("time-out", "no end: values count on", "--bootstrap-truncated true"),
    "fast": Reading("picture", "160 x 120 before it is shrunk", "--picture fast"),
    "training": Reading(
        "dropout, noise and batch statistics", "in exploring and target passes too", "--always-training true"
    ),
    "huber": Reading("loss", "Huber's", "--loss huber"),
    "two_linear": Reading("read-out of the DNN", "none: Linear, h, Linear", "--readout false", ("dnn",)),
    "literal": Reading(
        "read-out of the DNN", "none: Linear, h, Linear, h", "--readout false --bounded true", ("dnn",)
    ),
    "levels": Reading(
        "levels of the NFN", "two, as wide as there are rules; constants below", "--levels RULES", ("nfn",)
    ),
    "levels_affine": Reading(
        "levels of the NFN",
        "two, 32 wide; affine THEN parts below too",
        "--levels 32 --hidden-consequent affine",
        ("nfn",),
    ),
    "levels_100": Reading(
        "levels and target copies",
        "two levels, copies every 100 updates",
        "--target-every 100 --levels RULES",
        ("nfn",),
    ),
    "linear_1": Reading(
        "read-out and target copies",
        "Linear, h, Linear; copies every update",
        "--target-every 1 --readout false",
        ("dnn",),
    ),
    "zeros": Reading("start of THEN parts", "zeros", "--consequent-init zeros", ("nfn",)),
    "room": Reading("most sets of an attribute", "12 instead of 6", "--max-terms 12", ("nfn",)),
    "skip_4": Reading("no question: frames", "4 where the table says 8", "--frame-skip 4"),
    "tuned": Lever("", "none", ""),
    "average": Lever("weights", "an average acts", "--target-every 1 --target-rate 0.01 --act-with target"),
    "anneal": Lever("step size", "the step size falls to a tenth", "--anneal-updates 5000"),
    "average_anneal": Lever(
        "weights, step size",
        "both",
        "--anneal-updates 5000 --target-every 1 --target-rate 0.01 --act-with target",
    ),
    "batch_128": Lever("batch", "batches of 128", "--batch-size 128"),
    "late_batch": Lever("batch", "batches of 128 in the second half", "--late-batch 128"),
    "n_step_1": Lever("returns", "one-step returns", "--n-step 1"),
    "n_step_5": Lever("returns", "returns of five steps", "--n-step 5"),
    "fewer_steps": Lever(
        "returns", "returns of five steps, of one in the second half", "--n-step 5 --late-n-step 1"
    ),
    "further_sight": Lever(
        "discount", ".9, then .97 in the second half", "--discount 0.9 --late-discount 0.97"
    ),
    "reset": Lever("heads", "heads begin anew at half time", "--reset-heads true"),
    "normalised": Lever("rewards", "rewards on one scale", "--normalise-rewards true"),
    "quiet": Lever("noise", "the noise falls to none by half time", "--noise-passes 2500", ("nfn",)),
}


@dataclass(frozen=True)
class Row:
    """A trial."""

    reading: str
    task: str
    agent: str
    seed: int
    device: str
    epochs: int
    best_mean: float
    best_sd: float
    best_epoch: int
    last_mean: float
    last_sd: float
    slope: float
    diverged: int
    """epochs whose loss ran away"""
    seconds: int
    """0: not measured"""
    epoch_means: str
    command: str


def row_of(run: RunFolder, reading: str, *, device: str, seconds: float = 0) -> Row:
    """A run's row."""
    metrics, config = run.metrics(), run.config()
    summary = summarise(metrics)
    best, last = summary.best, summary.last
    notices = run.path / "notices.txt"
    diverged = len(notices.read_text().splitlines()) if notices.exists() else 0
    figures = (round(x, 3) for x in (best.mean, best.sd))
    return Row(
        reading,
        config.task.key,
        config.agent,
        config.seed,
        device,
        len(metrics),
        *figures,
        best.epoch,
        round(last.mean, 3),
        round(last.sd, 3),
        round(summary.slope, 3),
        diverged,
        round(seconds),
        " ".join(f"{m.mean:.2f}" for m in metrics),
        train_command(config),
    )


def reading_of(command: str, task: str, agent: str, seed: int) -> str:
    """The name of the reading that a command runs, whatever the order of its options."""
    for name, reading in READINGS.items():
        if _options(reading.command(task, agent, seed)) == _options(command):
            return name
    return "other"


def _options(command: str) -> set[str]:
    """All but how many games are evaluated at once, which are the same one after another."""
    parts = {part.strip() for part in command.split(" --")}
    return {part for part in parts if not part.startswith("games ")}


def read() -> list[Row]:
    """All trials of the file."""
    if not DATA.exists():
        return []
    kinds = {entry.name: {"int": int, "float": float}.get(str(entry.type), str) for entry in fields(Row)}
    with DATA.open(newline="") as file:
        return [
            Row(**{name: kinds[name](text) for name, text in row.items()}) for row in csv.DictReader(file)
        ]


def write(rows: Iterable[Row]) -> None:
    """Replace the file."""
    with DATA.open("w", newline="") as file:
        writer = csv.DictWriter(file, [entry.name for entry in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def main() -> None:
    """Add runs to the file."""
    rows = {(row.command, row.device): row for row in read()}
    for path in sorted(Path(sys.argv[1]).rglob("config.json")):
        run = RunFolder(path.parent)
        if run.metrics():
            row = row_of(run, "", device=sys.argv[2] if len(sys.argv) > 2 else "cpu")
            name = reading_of(row.command, row.task, row.agent, row.seed)
            rows[row.command, row.device] = Row(**{**asdict(row), "reading": name})
    write(rows.values())


if __name__ == "__main__":
    main()
