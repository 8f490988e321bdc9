"""Makes docs/long.md and its picture from the data files. `--collect FOLDER` adds runs to the data.

Run: `python docs/make_long.py`. Rows that are there already, by task, agent, seed and command, are replaced.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import short_budget
from comparing import compared, spread
from long_text import LESSONS, PAGE, PP
from long_trials import Row, collected, earlier, read, write

from neuroplastic.doom.needs import LONG
from neuroplastic.doom.presets import PAPER_DNN
from neuroplastic.doom.scenarios import SCENARIOS
from neuroplastic.usecases.cards import card_of
from neuroplastic.usecases.opening import BOX, box_names

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
MARKS = ("<!-- long scores: made by docs/make_long.py -->", "<!-- end of long scores -->")
TASKS = list(PAPER_DNN)
AIMS = {"BP": 79, "BR": 60, "PP": 0.6, "HTL": 28, "DTC": 20, "TC": 550, "GH": 2095}
OTHERS = {"HTL": "37.0 [1]", "DTC": "25.0 [2]", "TC": "1092 [3]", "GH": "2100 (the most)"}


def by_skip() -> str:
    """What scripts score by how often they decide."""
    found: dict[str, list[str]] = defaultdict(list)
    with (HERE / "data" / "scripted_skip.csv").open(newline="") as file:
        for r in csv.DictReader(file):
            found[r["scenario"]].append(f"{r['mean']} ({r['standard_error']}) every {r['frame_skip']}")
    return (
        "; ".join(f"{key} {', '.join(there)} tics" for key, there in found.items())
        + "; in brackets the standard error."
    )


def missing_agents() -> str:
    """Which agents are not in the box."""
    wanted = [name for key in TASKS for name in (key, f"{key}-dnn")]
    missing = [name for name in wanted if name not in box_names()]
    return f" There is no {', '.join(missing)}." if missing else ""


def scripted() -> dict[str, str]:
    """What scripts over named attributes score that decide every 4 tics."""
    with (HERE / "data" / "students.csv").open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["teacher"] == "scripted" and r["teacher_score"]]
    found = {r["task"]: f"{float(r['teacher_score']):.4g}" for r in rows}
    with (HERE / "data" / "scripted_skip.csv").open(newline="") as file:  # of PP by a later script
        later = {r["scenario"]: r["mean"] for r in csv.DictReader(file) if r["frame_skip"] == "4"}
    return {**found, "PP": later["PP"]}


def overview(rows: list[Row]) -> list[str]:
    """The table of all players."""
    scripts = scripted()
    games = SCENARIOS
    short = short_budget.read()

    def line(name: str, cells: Iterable[str]) -> str:
        return f"| {name} | {' | '.join(cells)} |"

    def learned(preset: str, budget: str) -> Iterator[str]:
        for agent, title, bold in (("dnn", "DNN", ""), ("nfn", "NFN", "**")):
            found = (
                scored(rows, key, agent)
                if preset == "long"
                else short_budget.scored(short, preset, key, agent)
                for key in TASKS
            )
            yield line(
                f"**`{preset}`, {title}**, {budget}", (f"{bold}{spread(there)}{bold}" for there in found)
            )

    return [
        line("", TASKS),
        "|---" * (len(TASKS) + 1) + "|",
        line("random play", (f"{games[key].random_play:g}" for key in TASKS)),
        line("scripted play", (scripts.get(key, "") for key in TASKS)),
        *learned("short", "5,000 steps, rewards alone"),
        *learned("taught", "5,000 steps, advised"),
        *learned("long", "minutes"),
        line("`long`, NFN, best and last epoch in training", (best_and_last(rows, key) for key in TASKS)),
        line("aim for the NFN, 5,000 steps", (f"{short_budget.AIMS[key]:g}" for key in TASKS)),
        line("aim for the NFN, minutes", (f"{AIMS[key]:g}" for key in TASKS)),
        line("the paper's DNN, best of 720", (f"{games[key].paper_dnn.mean:g}" for key in TASKS)),
        line("the paper's NFN, best of 720", (f"{games[key].paper_nfn.mean:g}" for key in TASKS)),
        line("others, at any budget", (OTHERS.get(key, "") for key in TASKS)),
    ]


def scored(rows: list[Row], key: str, agent: str) -> list[float]:
    """What the reported seeds score on 100 new episodes."""
    ours = [r for r in rows if (r.task, r.agent, r.purpose) == (key, agent, "reported")]
    return [float(r.score_100) for r in ours if r.score_100]


def best_and_last(rows: list[Row], key: str) -> str:
    """Means over seeds of the best and of the last epoch, on the episodes of training's own evaluation."""
    ours = [r.epochs for r in rows if (r.task, r.agent, r.purpose) == (key, "nfn", "reported")]
    if not ours:
        return ""
    ends = (statistics.fmean(max(epochs) for epochs in ours), statistics.fmean(epochs[-1] for epochs in ours))
    return " / ".join(f"{mean:.4g}" for mean in ends)


def put_into_readme(table: list[str]) -> None:
    """Replace what stands between the two marks of the README: what is learned, between chance and the paper."""
    before, _, rest = README.read_text().partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    shown = ("| random", "| **`", "| the paper's")
    kept = [line.replace("*", "").replace(", 5 seeds", "") for line in table if line.startswith(shown)]
    README.write_text("\n".join([before + MARKS[0], *table[:2], *kept, MARKS[1] + after]))


def reached(rows: list[Row]) -> str:
    """Where the mean over seeds reaches the aim."""
    scores = {key: scored(rows, key, "nfn") for key in TASKS}
    means = {key: statistics.fmean(there) for key, there in scores.items() if there}
    yes = ", ".join(key for key in means if means[key] >= AIMS[key]) or "no task"
    no = ", ".join(key for key in means if means[key] < AIMS[key]) or "none"
    few = ", ".join(key for key in means if len(scores[key]) < 5)
    missing = ", ".join(key for key in TASKS if key not in means)
    return (
        f"the NFN reaches the aim in {yes}; short of it: {no}"
        + (f"; by fewer than five seeds: {few}" if few else "")
        + (f"; without reported seeds: {missing}." if missing else ".")
    )


def trials(rows: list[Row], purpose: str) -> list[str]:
    """A line for each trial."""
    lines = ["| command | score by epoch | on 100 new episodes | leading rules, carry |", "|---|---|---|---|"]
    for row in rows:
        if row.purpose == purpose:
            score = f"{float(row.score_100):.4g} ({float(row.sd_100):.3g})" if row.score_100 else ""
            rules = f"{float(row.leading_rules):.1f}, {float(row.carry):.2f}" if row.carry else ""
            command = row.command.removeprefix("neuroplastic ")
            lines.append(f"| `{command}` | {row.score_by_epoch} | {score} | {rules} |")
    return lines


def cards() -> list[str]:
    """A line for each agent in the box."""
    lines = ["| name | score | how chosen | rules that lead | carry | fit |", "|---|---|---|---|---|---|"]
    for name in box_names():
        card = card_of(BOX / name)
        if card is None:
            continue
        d = card.diagnosis
        rules = (
            f"{d['leading_rules']:.1f} of {d['rules']:.0f} | {d['carry']:.2f} | {d['fit']:.2f}"
            if d
            else " | | "
        )
        lines.append(f"| {name} | {card.mean:.4g} ({card.sd:.3g}) | {card.chosen} | {rules} |")
    return lines


def draw(rows: list[Row], path: Path) -> None:
    """Learning curves: mean over seeds, and from the least to the greatest."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(12, 5.2), layout="constrained")
    for key, axis in zip(TASKS, axes.flat, strict=False):
        for agent, colour in (("nfn", "tab:blue"), ("dnn", "tab:orange")):
            known = [r for r in rows if (r.task, r.agent) == (key, agent) and len(r.epochs) > 1]
            runs = [r for r in known if r.purpose == "reported"]
            runs = runs or [r for r in known if r.by_preset]  # of the seed that was chosen on
            if not runs:
                continue
            length = min(len(r.epochs) for r in runs)
            x = [runs[0].decisions * (k + 1) / len(runs[0].epochs) / 1000 for k in range(length)]
            by_epoch = [[r.epochs[k] for r in runs] for k in range(length)]
            axis.plot(
                x,
                [statistics.fmean(v) for v in by_epoch],
                "o-",
                ms=3,
                color=colour,
                label=f"{agent}, {len(runs)}",
            )
            if len(runs) > 1:
                lows, highs = [min(v) for v in by_epoch], [max(v) for v in by_epoch]
                axis.fill_between(x, lows, highs, color=colour, alpha=0.2, lw=0)
        axis.axhline(AIMS[key], color="gray", lw=0.8, ls=":")
        axis.axhline(SCENARIOS[key].paper_nfn.mean, color="black", lw=0.8, ls="--")
        axis.set_title(key, fontsize=10)
        axis.tick_params(labelsize=8)
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize=7)
    axes.flat[-1].axis("off")
    words = "thousand decisions (x), score of the\nepisodes of training's evaluation (y)\n\n"
    words += "line: mean over seeds\nshade: least to greatest\ndotted: aim\ndashed: the paper's NFN"
    axes.flat[-1].text(0, 0.5, words, va="center", fontsize=9)
    figure.savefig(path, dpi=90, metadata={"Software": None})


def main() -> None:
    """Collect if asked to, then write the page."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--collect", type=Path, metavar="FOLDER")
    asked = options.parse_args()
    rows = read()
    if asked.collect is not None:
        new = list(collected(asked.collect))
        known = {(r.task, r.agent, r.seed, r.command) for r in new}
        rows = [r for r in rows if (r.task, r.agent, r.seed, r.command) not in known] + new
        order = {key: place for place, key in enumerate(TASKS)}
        rows.sort(key=lambda r: (r.purpose, order[r.task], r.agent != "nfn", r.seed))
        write(rows)
    shown = rows + earlier()
    draw(shown, HERE / "long_curves.png")
    text = PAGE
    parts = {
        "overview": overview(shown),
        "reached": [reached(shown)],
        "reported": trials(shown, "reported"),
        "compared": compared(TASKS, lambda key, agent: scored(shown, key, agent)),
        "by_skip": [by_skip()],
        "lessons": [LESSONS.replace("{{pp}}", PP)],
        "missing_agents": [missing_agents()],
        "taught_tasks": [", ".join(key for key, needs in LONG.items() if "taught" in needs)],
        "earlier": trials(shown, "earlier"),
        "choice": trials(rows, "choice"),
        "cards": cards(),
        **short_budget.parts(),
    }
    for name, lines in parts.items():
        text = text.replace(f"{{{{{name}}}}}", "\n".join(lines))
    (HERE / "long.md").write_text(text)
    put_into_readme(parts["overview"])


if __name__ == "__main__":
    main()
