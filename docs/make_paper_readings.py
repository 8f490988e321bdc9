"""Writes docs/paper_readings.md: `python docs/make_paper_readings.py`, from docs/data/paper_readings.csv."""

from __future__ import annotations

import math
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from make_results import read_groups
from paper_readings_text import PAGE, REPORTED, VERDICT
from paper_readings_trials import CHOSEN_ON, READINGS, Lever, Row, read
from stability_pairs import table as stability

from neuroplastic.analysis.paper import best_trials
from neuroplastic.doom.scenarios import SCENARIOS
from neuroplastic.experiment.figures import slope_of

HERE = Path(__file__).parent
TASKS = ("BP", "BR", "PP", "HTL", "DTC", "TC", "GH")
EPOCHS = 10


def yardstick(task: str) -> float:
    """The paper's SD of a task: the root mean square of its two agents', as one of them is 0 in GH."""
    game = SCENARIOS[task]
    return math.sqrt((game.paper_dnn.sd**2 + game.paper_nfn.sd**2) / 2)


def of_paper(task: str, agent: str) -> float:
    """The paper's mean."""
    game = SCENARIOS[task]
    return float((game.paper_dnn if agent == "dnn" else game.paper_nfn).mean)


@dataclass(frozen=True)
class Cell:
    """Trials that differ in their seed alone."""

    task: str
    agent: str
    rows: tuple[Row, ...]

    def mean(self, column: str = "best_mean") -> float:
        """Over the seeds."""
        return statistics.fmean(getattr(row, column) for row in self.rows)

    def text(self, column: str = "best_mean") -> str:
        """Mean over seeds, their standard deviation if there are several, and how many they are."""
        values = [getattr(row, column) for row in self.rows]
        digits = 2 if abs(self.mean(column)) < 10 else 0 if abs(self.mean(column)) > 200 else 1
        spread = f" ({statistics.stdev(values):.{digits}f})" if len(values) > 1 else ""
        return f"{self.mean(column):.{digits}f}{spread}"

    @property
    def distance(self) -> float:
        """Of the best epoch from the paper's figure, in the paper's SDs."""
        return abs(self.mean() - of_paper(self.task, self.agent)) / yardstick(self.task)


Cells = dict[tuple[str, str, str], Cell]


def cells(rows: Iterable[Row]) -> Cells:
    """Complete trials by reading, agent and task."""
    found: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.epochs == EPOCHS:
            found[row.reading, row.agent, row.task].append(row)
    return {key: Cell(key[2], key[1], tuple(group)) for key, group in found.items()}


def played(known: Cells) -> list[str]:
    """The tasks in which some reading was tried, in the paper's order."""
    tried = {task for name, _, task in known if not isinstance(READINGS.get(name), Lever)}
    return [task for task in TASKS if task in tried]


def far(known: Cells, reading: str, agent: str, tasks: Iterable[str]) -> float:
    """Mean distance over tasks."""
    return statistics.fmean(known[reading, agent, task].distance for task in tasks)


def table(known: Cells, base: str = "base") -> str:
    """A line for each reading and agent: best epochs by task, and how far they are from the paper."""
    tasks = played(known)
    lines = [
        f"| open | reading | agent | {' | '.join(tasks)} | trials | distance | of `paper` there | slope in BP |",
        "|---" * (len(tasks) + 7) + "|",
    ]
    for agent in ("dnn", "nfn"):
        if not any(key[1] == agent for key in known):
            continue
        figures = " | ".join(f"{of_paper(task, agent):g}" for task in tasks)
        slope = best_trials(agent)["BP"].slope
        lines.append(f"| | **the paper** | {agent} | {figures} | | 0 | | {slope:g} |")
        for name, reading in READINGS.items():
            mine = [task for task in tasks if (name, agent, task) in known]
            if not mine or isinstance(reading, Lever):
                continue
            texts = [known[name, agent, task].text() if task in mine else "" for task in tasks]
            seeds = sorted({len(known[name, agent, task].rows) for task in mine})
            counted = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
            shared = [task for task in mine if (base, agent, task) in known]
            beside = f"{far(known, base, agent, shared):.2f}" if shared and name != base else ""
            asked = f"`{reading.options}`" if reading.options else ""
            slope = known[name, agent, "BP"].text("slope") if "BP" in mine else ""
            lines.append(
                f"| {reading.question} | {reading.answer} {asked} | {agent} | {' | '.join(texts)} | {counted} "
                f"| {far(known, name, agent, mine):.2f} | {beside} | {slope} |"
            )
    return "\n".join(lines)


def figure(known: Cells, reading: str, agent: str, what: str) -> str:
    """A task's mean best epoch, or by 'far' the mean distance, over the tasks that this agent's other rows compare."""
    if what != "far":
        return known[reading, agent, what].text().partition(" ")[0]
    compared = "levels" if agent == "nfn" else "two_linear"
    return f"{far(known, reading, agent, [task for task in TASKS if (compared, agent, task) in known]):.2f}"


def levers(known: Cells) -> str:
    """A line for each change to `tuned`, agent and task: best and last epoch, and what lies between."""
    if not any(isinstance(READINGS[name], Lever) for name, _, _ in known):
        return ""
    lines = [
        "| task | agent | change to `tuned` | seeds | best | last | between |",
        "|---|---|---|---|---|---|---|",
    ]
    for task in TASKS:
        for agent in ("dnn", "nfn"):
            for name, lever in READINGS.items():
                cell = known.get((name, agent, task))
                if cell is not None and isinstance(lever, Lever):
                    lines.append(
                        f"| {task} | {agent} | {lever.answer} {f'`{lever.options}`' if lever.options else ''} "
                        f"| {len(cell.rows)} | {cell.text()} | {cell.text('last_mean')} "
                        f"| {cell.mean() - cell.mean('last_mean'):.1f} |"
                    )
    return "\n".join(lines)


def told(rows: Iterable[Row], reading: str, task: str, seed: int) -> str:
    """The best epoch of one trial, and how many epochs it had if not all."""
    row = next(row for row in rows if (row.reading, row.task, row.seed) == (reading, task, seed))
    return f"{row.best_mean:.1f}" + (f" after {row.epochs} epochs" if row.epochs < EPOCHS else "")


def slopes() -> str:
    """The slope over epochs with copies every 500 and every 100 updates, from docs/data/doom_trials.csv."""
    found: dict[tuple[str, str, str], str] = {}
    for group in read_groups():
        if group.preset:
            each = [slope_of([float(mean) for mean in t["epoch_means"].split()]) for t in group.trials]
            found[group.preset, group.agent, group.scenario] = f"{statistics.fmean(each):.2f}"
    lines = [f"| | {' | '.join(TASKS)} |", "|---" * (len(TASKS) + 1) + "|"]
    for agent in ("dnn", "nfn"):
        printed = best_trials(agent)
        lines.append(f"| the paper, {agent} | {' | '.join(f'{printed[task].slope:g}' for task in TASKS)} |")
        for name, copied in (("paper", 500), ("tuned", 100)):
            cells_of = " | ".join(found.get((name, agent, task), "") for task in TASKS)
            lines.append(f"| `{name}`, copies every {copied}, {agent} | {cells_of} |")
    return "\n".join(lines)


def cut_off(rows: Iterable[Row]) -> str:
    """Trials without their tenth epoch, in words."""
    told = [
        f"{row.task}, {row.agent}, `{READINGS[row.reading].options}`: best {row.best_mean:g} of {row.epochs} epochs"
        for row in rows
        if row.epochs < EPOCHS
    ]
    return "; ".join(told) or "none"


def main() -> None:
    """Read the trials, write the page."""
    rows = read()
    choosing = cells(row for row in rows if row.seed >= CHOSEN_ON)
    reported = cells(row for row in rows if row.seed < CHOSEN_ON)
    text = PAGE
    for name, part in {
        "trials": str(len(rows)),
        "cut_off": cut_off(rows),
        "diverged": str(sum(row.diverged > 0 for row in rows)),
        "readings": table(choosing),
        "verdict": VERDICT.replace("{{two_linear_so}}", told(rows, "two_linear", "DTC", 21)),
        "reported": REPORTED.replace("{{table}}", table(reported)) if reported else "",
        "levers": levers(choosing),
        "slopes": slopes(),
        "stability": stability({task: yardstick(task) for task in TASKS}),
    }.items():
        text = text.replace("{{" + name + "}}", part)
    text = re.sub(
        r"\{\{(DNN|NFN) (\w+) (\w+)\}\}",
        lambda found: figure(choosing, found[2], found[1].lower(), found[3]),
        text,
    )
    (HERE / "paper_readings.md").write_text(text)


if __name__ == "__main__":
    main()
