"""The trials of the preset `long`: their rows, where they are kept, and how runs become rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from neuroplastic.experiment.configuration import RunConfig
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.usecases.boxing import train_command

HERE = Path(__file__).parent
DATA = HERE / "data" / "long.csv"
SCORED = re.compile(r"(-?[\d.]+) \+- ([\d.]+) over (\d+) episodes")
CHOSEN_ON = 10
"""Seeds from here on are those that settings were chosen on."""


@dataclass(frozen=True)
class Row:
    """A trial."""

    purpose: str
    """reported; choice: of settings, on other seeds; earlier: by settings that the preset had before, or has not"""
    task: str
    agent: str
    seed: int
    decisions: int
    score_by_epoch: str
    score_100: str
    """mean over 100 episodes of seed 9001 that no choice was made on, by the network of the best epoch; of a choice on
    40 to 100 episodes of another seed"""
    sd_100: str
    leading_rules: str
    carry: str
    fit: str
    """the last three at the end of training"""
    command: str

    @property
    def epochs(self) -> list[float]:
        """The score after each epoch."""
        return [float(score) for score in self.score_by_epoch.split(" / ")]

    @property
    def by_preset(self) -> bool:
        """Whether its settings are those of the preset."""
        return self.command == plain_command(self.task, self.agent, self.seed)


def collected(folder: Path) -> Iterable[Row]:
    """A row for each run below a folder; its score on new episodes is read from the text files beside it."""
    for path in sorted(folder.rglob("config.json")):
        run = RunFolder(path.parent)
        metrics, config = run.metrics(), run.config()
        if not metrics:
            continue
        texts = [*path.parent.glob("eval*.txt"), *path.parent.parent.glob("eval*.txt")]
        scored = next((m for t in texts if (m := SCORED.search(t.read_text(errors="replace")))), None)
        command = train_command(config)
        start = path.parent.parent / "start.txt"  # what it went on from, which its configuration does not say
        if start.exists():
            command += f" --from {start.read_text().strip()}"
        last = metrics[-1].figures
        told = [f"{last[name]:.2f}" if name in last else "" for name in ("leading_rules", "carry", "fit")]
        means = " / ".join(f"{m.mean:.2f}" for m in metrics)
        score = ("", "") if scored is None else scored.groups()[:2]
        yield Row(
            _purpose(config, command),
            config.task.key,
            config.agent,
            config.seed,
            metrics[-1].steps,
            means,
            *score,
            *told,
            command,
        )


def _purpose(config: RunConfig, command: str) -> str:
    """Reported is what the preset alone does."""
    if config.seed >= CHOSEN_ON:
        return "choice"
    plain = plain_command(config.task.key, config.agent, config.seed)
    return "reported" if command == plain else "earlier"


def plain_command(task: str, agent: str, seed: int) -> str:
    """The command that trains by the preset alone."""
    return f"neuroplastic train {task} --agent {agent} --preset long --seed {seed}"


def read() -> list[Row]:
    """All trials of the file."""
    if not DATA.exists():
        return []
    with DATA.open(newline="") as file:
        rows = csv.DictReader(file)
        return [Row(**{**row, "seed": int(row["seed"]), "decisions": int(row["decisions"])}) for row in rows]


def write(rows: list[Row]) -> None:
    """Replace the file."""
    with DATA.open("w", newline="") as file:
        writer = csv.DictWriter(file, [entry.name for entry in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def earlier() -> list[Row]:
    """Trials of other pages by what the preset was then for these two tasks."""
    found = []
    with (HERE / "data" / "pixels.csv").open(newline="") as file:
        for r in csv.DictReader(file):
            if r["purpose"] == "report":
                told = (r["score_100_episodes"], r["sd"], r["leading_rules"], r["carry"], r["fit"])
                start = ("earlier", r["task"], "nfn", int(r["seed"]), int(r["decisions"]))
                found.append(Row(*start, r["score_by_epoch"], *told, r["command"]))
    with (HERE / "data" / "parallel_q.csv").open(newline="") as file:
        for r in csv.DictReader(file):
            kind = (r["task"], r["agent"], r["learner"], r["decisions"], r["episodes"])
            if kind == ("DTC", "dnn", "parallel_q", "300000", "100") and not r["command"].startswith("first"):
                start = ("earlier", "DTC", "dnn", int(r["seed"]), 300_000)
                found.append(Row(*start, r["mean"], r["mean"], r["sd"], "", "", "", r["command"]))
    return found
