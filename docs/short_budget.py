"""The trials of 5,000 steps on new episodes, `docs/data/short.csv`, and their tables in long.md.

Run: `python docs/short_budget.py ROWS.jsonl` adds trials: a JSON object a line with task, agent, seed, steps, epochs (a
mean each), command, figures (of rules, in the end), eval_seed, and returns, mean and sd over the episodes of that seed.
"""

from __future__ import annotations

import csv
import json
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from comparing import compared, spread
from winners import scores, winners

from neuroplastic.doom.needs import SHORT
from neuroplastic.doom.presets import PAPER_DNN, short

HERE = Path(__file__).parent
DATA = HERE / "data" / "short.csv"
LEVERS = HERE / "data" / "short_levers.csv"
BOTH_WAYS = HERE / "data" / "both_ways.csv"
TASKS = list(PAPER_DNN)
AIMS = {"BP": 78, "BR": 40, "PP": 0.25, "HTL": 22, "DTC": 10, "TC": 430, "GH": 2000}
"""of the NFN"""
CHOSEN_ON = 10
"""Seeds from here on are those that settings were chosen on."""
REPORTED_SEEDS = {"tuned": range(3, 8)}
"""by preset; 0 to 4 of the others. What was added to them later stands apart."""
REPORTED_ON = "9001"
"""the seed of the 100 episodes that no choice was made on"""
SHARED_OUT = re.compile(r" --(epochs|steps-per-epoch|episodes) \d+")
"""what decides how often a run is evaluated, and not how it learns"""
ONE_WAY = "--mirror-agreement 0.0"
"""said of what was learned before a task's transitions were seen both ways"""
NAMES = (
    *("purpose", "preset", "task", "agent", "seed", "steps", "score_by_epoch", "episodes", "episodes_seed"),
    *("score", "sd", "leading_rules", "carry", "fit", "command"),
)
Row = dict[str, str]


def read() -> list[Row]:
    """All trials of the file."""
    if not DATA.exists():
        return []
    with DATA.open(newline="") as file:
        return list(csv.DictReader(file))


def collected(path: Path) -> Iterator[Row]:
    """Rows from what a run of trials noted down."""
    for line in path.read_text().splitlines():
        found = json.loads(line)
        words = found["command"].split()
        preset = words[words.index("--preset") + 1] if "--preset" in words else "tuned"
        plain = f"neuroplastic train {found['task']} --agent {found['agent']} --preset {preset}"
        told = {n: f"{found['figures'][n]:.2f}" for n in NAMES[-4:-1] if found["figures"].get(n) is not None}
        asked = SHARED_OUT.sub("", found["command"])
        purpose = "reported" if found["seed"] in REPORTED_SEEDS.get(preset, range(5)) else "further"
        purpose = purpose if asked == f"{plain} --seed {found['seed']}" else "earlier"
        yield {
            **dict.fromkeys(NAMES, ""),
            "purpose": "choice" if found["seed"] >= CHOSEN_ON else purpose,
            "preset": preset,
            **{name: str(found[name]) for name in ("task", "agent", "seed", "steps", "command")},
            "score_by_epoch": " / ".join(f"{mean:.2f}" for mean in found["epochs"]),
            "episodes": str(len(found["returns"])),
            "episodes_seed": str(found["eval_seed"]),
            **({"score": f"{found['mean']:.3f}", "sd": f"{found['sd']:.2f}"} if found["returns"] else {}),
            **told,
        }


def ours(rows: list[Row], preset: str, key: str, agent: str, purpose: str = "reported") -> list[Row]:
    """The runs of a preset, task and agent: the reported ones, or those of another purpose."""
    names, wanted = ("purpose", "preset", "task", "agent"), (purpose, preset, key, agent)
    return [row for row in rows if tuple(row[name] for name in names) == wanted]


def scored(rows: list[Row], preset: str, key: str, agent: str, purpose: str = "reported") -> list[float]:
    """What their seeds score on 100 new episodes."""
    found = [row for row in ours(rows, preset, key, agent, purpose) if row["episodes_seed"] == REPORTED_ON]
    return [float(row["score"]) for row in found if row["score"]]


def luckiest(rows: list[Row], preset: str, key: str, agent: str) -> tuple[float, int]:
    """The greatest mean of any epoch of the reported runs, on training's own episodes, and how many runs there are."""
    found = ours(rows, preset, key, agent)
    return max(float(mean) for row in found for mean in row["score_by_epoch"].split(" / ")), len(found)


def further(rows: list[Row]) -> list[str]:
    """Both agents of `short` where seeds were added later: those alone, then all."""
    asked = {}
    for key in TASKS:
        if ours(rows, "short", key, "nfn", "further"):
            asked[f"{key}, added"] = key, ("further",)
            asked[f"{key}, all"] = key, ("reported", "further")

    def found(label: str, agent: str) -> list[float]:
        key, purposes = asked[label]
        return [score for purpose in purposes for score in scored(rows, "short", key, agent, purpose)]

    return compared(asked, found)


def best_epochs(preset: str, agent: str) -> Iterator[tuple[str, str]]:
    """The best epochs of a preset in 5,000 steps, from results.md, by task."""
    for line in (HERE / "results.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 6 and cells[2:4] == [agent, preset]:
            yield cells[1], cells[5]


def by_best_epochs() -> str:
    """Where the flattering best epochs of `tuned` reach the aim."""
    means = {key: float(found.split()[0]) for key, found in best_epochs("tuned", "nfn")}
    return ", ".join(key for key in TASKS if means[key] >= AIMS[key]) or "no task"


def aims(rows: list[Row]) -> list[str]:
    """What is reached in 5,000 steps, and what was wanted."""
    lines = [f"| 5,000 steps | {' | '.join(TASKS)} |", "|---" * (len(TASKS) + 1) + "|"]
    for preset in ("paper", "tuned"):
        best = dict(best_epochs(preset, "nfn"))
        lines.append(f"| `{preset}`, NFN, best epoch | {' | '.join(best[key] for key in TASKS)} |")
    again = winners()
    found = [spread(scores(again, key, "nfn")) for key in TASKS]
    lines.append(f"| `tuned` as its study found it, NFN, 100 new episodes | {' | '.join(found)} |")
    for preset, agent, bold in (
        ("tuned", "nfn", ""),
        *(("short", "dnn", ""), ("short", "nfn", "**")),
        *(("taught", "dnn", ""), ("taught", "nfn", "**")),
    ):
        cells = (f"{bold}{spread(scored(rows, preset, key, agent))}{bold}" for key in TASKS)
        lines.append(f"| {bold}`{preset}`, {agent.upper()}, 100 new episodes{bold} | {' | '.join(cells)} |")
    return [*lines, f"| aim for the NFN | {' | '.join(f'{AIMS[key]:g}' for key in TASKS)} |"]


def reached(rows: list[Row], preset: str) -> str:
    """Where the mean over seeds on new episodes reaches the aim."""
    scores = {key: scored(rows, preset, key, "nfn") for key in TASKS}
    means = {key: statistics.fmean(found) for key, found in scores.items() if found}
    if not means:
        return "it was not run"
    yes = ", ".join(key for key in means if means[key] >= AIMS[key]) or "no task"
    no = ", ".join(key for key in means if means[key] < AIMS[key]) or "none"
    few = ", ".join(f"{key} {len(scores[key])}" for key in means if len(scores[key]) < 5)
    missing = ", ".join(key for key in TASKS if key not in means)
    return (
        f"the NFN reaches the aim in {yes}; short of it: {no}"
        + (f"; fewer than five seeds: {few}" if few else "")
        + (f"; not run: {missing}" if missing else "")
    )


def of_rewards_alone(rows: list[Row]) -> str:
    """Where rules that nobody advised reach the aim, by `short`, `tuned` or as a study about either found them."""
    again = winners()
    ways = {
        "`short`": lambda key: scored(rows, "short", key, "nfn"),
        "`tuned`": lambda key: scored(rows, "tuned", key, "nfn"),
        "the study of `tuned`": lambda key: scores(again, key, "nfn"),
        "the study of `short`": lambda key: scores(again, key, "nfn-short"),
    }
    told = []
    for key in TASKS:
        means = {way: statistics.fmean(found) for way, of in ways.items() if (found := of(key))}
        best = max(means, key=lambda way: means[way])
        told.append((means[best] >= AIMS[key], f"{key} {means[best]:.4g} ({best})"))
    yes, no = (", ".join(text for reached, text in told if reached is kind) for kind in (True, False))
    return (
        "So of rewards alone, by the best of `short`, `tuned` and [their studies](doom_studies.md), which flatters a "
        f"little, the NFN reaches the aim in {yes or 'no task'}; short of it: {no or 'none'}."
    )


def placed() -> list[str]:
    """The tasks in which `short` looks for places."""
    return [key for key in TASKS if SHORT.get(key, {}).get("encoder") == "places"]


def both_ways(agent: str = "nfn") -> list[str]:
    """The tasks in which `short` sees every transition of an agent both ways."""
    return [key for key in TASKS if short(key, agent).learner.mirror_agreement]


def one_way(rows: list[Row]) -> list[Row]:
    """Runs of `short` as it is but for what is seen both ways."""
    wanted = re.compile(
        rf"neuroplastic train \w+ --agent \w+ --preset short( {re.escape(ONE_WAY)})? --seed \d+"
    )
    return [row for row in rows if wanted.fullmatch(row["command"])]


def gains(rows: list[Row]) -> str:
    """By how much rules that learn both ways changed, seed by seed."""
    pairs = (
        zip(
            scored(rows, "short", key, "nfn"),
            scored(one_way(rows), "short", key, "nfn", "earlier"),
            strict=True,
        )
        for key in both_ways()
    )
    return ", ".join(f"{now - then:+.0f}" for found in pairs for now, then in found)


def by_encoder(rows: list[Row]) -> Iterator[str]:
    """What `short` has with the encoder `places`, and had with `pictures` and all that it had then."""
    keys = placed()
    over_pictures = [row for row in rows if "--encoder pictures" in row["command"]]
    over_places = one_way(rows)
    yield f"| | {' | '.join(keys)} |"
    yield "|---" * (len(keys) + 1) + "|"
    for agent in ("dnn", "nfn"):
        before = [scored(over_pictures, "short", key, agent, "earlier") for key in keys]
        then = [
            scored(over_places, "short", key, agent, "earlier" if key in both_ways(agent) else "reported")
            for key in keys
        ]
        yield from (
            f"| {agent.upper()}, {what} | {' | '.join(map(spread, found))} |"
            for what, found in (("`pictures`", before), ("`places`", then))
        )
        if both_ways(agent):
            now = (
                spread(scored(rows, "short", key, agent)) if key in both_ways(agent) else "" for key in keys
            )
            yield f"| {agent.upper()}, `places`, both ways | {' | '.join(now)} |"


def tried_both_ways() -> list[Row]:
    """Networks that learned one way and both ways, with what they scored by how they act."""
    with BOTH_WAYS.open(newline="") as file:
        return list(csv.DictReader(file))


def seen_both_ways() -> Iterator[str]:
    """A line for each of them."""
    ways = ("by_picture", "by_both_sides", "average_by_picture", "average_by_both_sides")
    yield "| task, agent, seed | beside the preset then | by the picture | by both sides | average | average, both |"
    yield "|---" * 6 + "|"
    for row in tried_both_ways():
        asked = f"`{row['options']}`" if row["options"] else "nothing"
        scores = (f"{float(row[way]):.4g}" for way in ways)
        yield f"| {row['task']}, {row['agent'].upper()}, {row['seed']} | {asked} | {' | '.join(scores)} |"


def both_sides_better() -> str:
    """How often, of rules, both sides play better than one, where they learned one way and both ways."""
    rows = [row for row in tried_both_ways() if row["agent"] == "nfn"]
    told = []
    for learned, both in (("one way", False), ("both ways", True)):
        ours = [row for row in rows if ("--mirror-agreement" in row["options"]) is both]
        better = sum(float(row["by_both_sides"]) > float(row["by_picture"]) for row in ours)
        told.append(f"{better} of {len(ours)} runs that learned {learned}")
    return " and ".join(told)


def plain_both_ways(rows: list[Row]) -> str:
    """What the plain networks of GH came to that learned both ways."""
    asked = [row for row in rows if "--mirror-agreement 1" in row["command"]]
    return spread(scored(asked, "short", "GH", "dnn", "earlier"))


def carrying(rows: list[Row]) -> str:
    """From where to where the rules over places carry, and how many lead."""
    found = [row for key in placed() for row in ours(rows, "short", key, "nfn")]
    carry, leading = (sorted(float(row[name]) for row in found) for name in ("carry", "leading_rules"))
    return (
        f"The rules carry: {carry[0]:.2f} to {carry[-1]:.2f} of the decisions change when all fire as on average, and "
        f"{leading[0]:.0f} to {leading[-1]:.0f} of 64 lead."
    )


def levers() -> Iterator[str]:
    """What was tried in code that was not kept."""
    yield "| task, seed | what | score by epoch | on new episodes |"
    yield "|---|---|---|---|"
    with LEVERS.open(newline="") as file:
        for row in csv.DictReader(file):
            score = f"{row['score']}, {row['episodes']}"
            yield f"| {row['task']}, {row['seed']} | {row['what']} | {row['score_by_epoch']} | {score} |"


def ends(rows: list[Row], preset: str) -> str:
    """Means over seeds of the best and of the last epoch, rules, on training's own episodes."""
    told = []
    for key in TASKS:
        found = [row["score_by_epoch"].split(" / ") for row in ours(rows, preset, key, "nfn")]
        epochs = [[float(mean) for mean in means] for means in found]
        if epochs:
            best, last = (statistics.fmean(pick(e) for e in epochs) for pick in (max, lambda e: e[-1]))
            told.append(f"{key} {best:.4g} and {last:.4g}")
    return ", ".join(told)


def trials(rows: list[Row], purpose: str) -> list[str]:
    """A line for each trial."""
    lines = ["| command | score by epoch | on new episodes | leading rules, carry |", "|---|---|---|---|"]
    for row in rows:
        if row["purpose"] == purpose:
            score = (
                f"{float(row['score']):.4g} ({float(row['sd']):.3g}), {row['episodes']}"
                if row["score"]
                else ""
            )
            rules = f"{float(row['leading_rules']):.1f}, {row['carry']}" if row["carry"] else ""
            command = row["command"].removeprefix("neuroplastic ")
            lines.append(f"| `{command}` | {row['score_by_epoch']} | {score} | {rules} |")
    return lines


def parts() -> dict[str, list[str]]:
    """What long.md has of it, by the names in its text."""
    rows = read()
    return {
        "short_aims": aims(rows),
        "short_short_so": [f"On new seeds {reached(rows, 'short')}."],
        "short_taught": [reached(rows, "taught")],
        "short_rewards_alone": [of_rewards_alone(rows)],
        "short_best_epochs": [by_best_epochs()],
        "short_by_encoder": list(by_encoder(rows)),
        "short_places_tasks": [" and ".join(", ".join(placed()).rsplit(", ", 1))],
        "short_both_ways_tasks": [" and ".join(both_ways())],
        "short_both_ways": list(seen_both_ways()),
        "short_both_sides_better": [both_sides_better()],
        "short_both_ways_gains": [gains(rows)],
        "short_plain_both_ways": [plain_both_ways(rows)],
        "short_carrying": [carrying(rows)],
        "short_levers": list(levers()),
        "short_ends": [ends(rows, "taught")],
        "short_short_ends": [ends(rows, "short")],
        "short_compared": compared(TASKS, lambda key, agent: scored(rows, "taught", key, agent)),
        "short_short_compared": compared(TASKS, lambda key, agent: scored(rows, "short", key, agent)),
        "short_further": further(rows),
        "short_reported": trials(rows, "reported"),
        "short_further_runs": trials(rows, "further"),
        "short_choice": trials(rows, "choice"),
    }


def main() -> None:
    """Add trials; of one task, agent, seed and command the newest stays."""
    new = [row for name in sys.argv[1:] for row in collected(Path(name))]
    kept = {(r["task"], r["agent"], r["seed"], r["command"], r["episodes_seed"]): r for r in [*read(), *new]}
    order = {key: place for place, key in enumerate(TASKS)}
    rows = sorted(
        kept.values(),
        key=lambda r: (r["purpose"], r["preset"], order[r["task"]], r["agent"] != "nfn", int(r["seed"])),
    )
    with DATA.open("w", newline="") as file:
        writer = csv.DictWriter(file, NAMES, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
