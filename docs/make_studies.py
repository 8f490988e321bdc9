"""Makes docs/doom_studies.md from the studies and their winners. `--collect FILE.db` adds winners learned anew.

Run: `python docs/make_studies.py`.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import optuna
from comparing import compared, spread
from more_trials import beside_the_paper
from more_trials import table as more_trials
from optuna.trial import FrozenTrial
from short_budget import AIMS, TASKS, luckiest
from short_budget import read as read_short
from studies_text import PAGE, WINNERS_COMPARED
from winners import WINNERS, Winner, scores, winners

from neuroplastic.doom.scenarios import SCENARIOS
from neuroplastic.experiment.figures import whole
from neuroplastic.search.best import best_trial, figures_of
from neuroplastic.search.confirmed import new_score
from neuroplastic.search.storage import open_storage
from neuroplastic.search.studies import complete, learned_anew, load_study

HERE = Path(__file__).parent
STUDIES = HERE / "data" / "doom_studies.db"
AGENTS = {"dnn": "DNN", "nfn": "NFN"}
"""in the paper's space, with the preset `tuned`"""
OURS = {"dnn-short": "DNN, our space", "nfn-short": "NFN, our space"}
"""in our space, with the preset `short`"""
PAPER = {
    "DNN": {key: SCENARIOS[key].paper_dnn.mean for key in TASKS},
    "NFN": {key: SCENARIOS[key].paper_nfn.mean for key in TASKS},
}
"""the means of its best trials"""
SEARCHED = {**AGENTS, **OURS, "dnn-ours": "DNN taught", "nfn-ours": "NFN taught"}
"""those, and with the preset `taught`"""
BEST_AIMS = {"BP": 86, "BR": 58, "PP": 0.36, "HTL": 27, "DTC": 14, "TC": 500, "GH": 2100}
"""of the NFN: the best of a study, on its own episodes"""
WANTED, NEW_SEEDS = 40, 5
"""trials of a study, and seeds of its winner"""


@dataclass(frozen=True)
class Search:
    """One study: its finished trials and the best of them, by the paper's rule."""

    task: str
    agent: str
    trials: list[FrozenTrial]
    best: FrozenTrial

    @property
    def greatest(self) -> float:
        """The greatest mean of all trials."""
        return max(trial.values[0] for trial in self.trials)

    @property
    def median(self) -> float:
        """The median of the means of trials that ran to their end."""
        return statistics.median(trial.values[0] for trial in whole(self.trials, figures_of))

    @property
    def pruned(self) -> int:
        """How many trials ended early, for they lagged."""
        return sum(trial.user_attrs.get("pruned", False) for trial in self.trials)

    @property
    def count(self) -> str:
        """How many trials there are, and how many of them ended early."""
        early = f", {self.pruned} ended early" if self.pruned else ""
        return f"{len(self.trials)}{early}"


def copied(storage_file: Path) -> Iterator[optuna.Study]:
    """The studies of a storage; read from a copy, for a storage writes where it is opened."""
    with tempfile.TemporaryDirectory() as folder:
        storage = open_storage(f"sqlite:///{shutil.copy(storage_file, folder)}")
        yield from (load_study(storage, stored.study_name) for stored in storage.get_all_studies())
        storage.engine.dispose()


def searches() -> dict[tuple[str, str], Search]:
    """The published studies, by task and agent (`nfn-ours`: in our space)."""
    found = {}
    for study in copied(STUDIES):
        task, _, agent = study.study_name.partition("-")
        trials = complete(study)
        if trials and not learned_anew(study):
            found[task, agent] = Search(task, agent, trials, best_trial(study))
    return found


def collect(storage_file: Path) -> None:
    """Put the winners that `neuroplastic study confirm` learned anew there in the place of earlier ones."""
    rows = winners()
    for study in copied(storage_file):
        if not learned_anew(study):
            continue
        searched, _, trial = study.study_name.rpartition("-trial")
        task, _, agent = searched.partition("-")
        rows = [row for row in rows if (row.task, row.agent) != (task, agent)]
        for score in (new_score(study.study_name, made) for made in complete(study)):
            epochs = " / ".join(f"{mean:.2f}" for mean in score.epochs)
            found = Winner(
                *(task, agent, int(trial), score.seed, epochs),
                *(round(score.mean, 4), round(score.sd, 4), score.episodes),
            )
            rows.append(found)
    with WINNERS.open("w", newline="") as file:
        table = csv.DictWriter(file, [f.name for f in fields(Winner)])
        table.writeheader()
        table.writerows(map(asdict, sorted(rows, key=lambda row: (row.task, row.agent, row.seed))))


def number(value: float) -> str:
    """With as many digits as matter."""
    return f"{value:.0f}" if abs(value) >= 200 else f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"


def luckiest_runs(agent: str) -> dict[str, tuple[float, int]]:
    """By task what the best run of `short` says of itself, and of how many it is the best."""
    rows = read_short()
    return {key: luckiest(rows, "short", key, agent) for key in TASKS}


def overview(made: dict[tuple[str, str], Search], again: list[Winner]) -> Iterator[str]:
    """The lucky and the true figure of both agents beside the paper's."""

    def line(name: str, cells: Iterator[str]) -> str:
        return f"| {name} | {' | '.join(cells)} |"

    yield line("", iter(TASKS))
    yield "|---" * (len(TASKS) + 1) + "|"
    for agent, title in SEARCHED.items():
        here = {key: made.get((key, agent)) for key in TASKS}
        if not any(here.values()):
            continue
        yield line(f"{title}, trials", (there.count if (there := here[key]) else "none" for key in TASKS))
        yield line(
            f"**{title}, best trial**, its own episodes (SD)",
            (
                f"**{number(there.best.values[0])}** ({number(there.best.values[1])})"
                if (there := here[key])
                else ""
                for key in TASKS
            ),
        )
        yield line(
            f"{title}, greatest mean",
            (number(there.greatest) if (there := here[key]) else "" for key in TASKS),
        )
        yield line(
            f"{title}, median of those that ran to their end",
            (number(there.median) if (there := here[key]) else "" for key in TASKS),
        )
        yield line(
            f"**{title}, the winner on new seeds**, 100 new episodes",
            (spread(scores(again, key, agent)) for key in TASKS),
        )
        if agent in AGENTS:
            runs = luckiest_runs(agent)
            yield line(
                f"`short`, {title}, its best run's best epoch",
                (f"{number(mean)}, best of {count}" for mean, count in runs.values()),
            )
            yield line(f"the paper's {title}, best of 720", (f"{mean:g}" for mean in PAPER[title].values()))
    yield line("aim for the NFN, best of a study", (f"{BEST_AIMS[key]:g}" for key in TASKS))
    yield line("aim for the NFN, new seeds", (f"{AIMS[key]:g}" for key in TASKS))


def reached(made: dict[tuple[str, str], Search]) -> str:
    """Where the greatest mean of the NFN reaches the aim, in each space."""
    told = []
    greatest = {
        agent: {key: made[key, agent].greatest for key in TASKS if (key, agent) in made}
        for agent in ("nfn", "nfn-short", "nfn-ours")
    }
    for rules, where in (
        (greatest["nfn"], "of rewards alone, in the paper's space"),
        (
            {key: mean for key, (mean, _) in luckiest_runs("nfn").items()},
            "by a run of `short`, of rewards alone",
        ),
        (greatest["nfn-short"], "of rewards alone, in our space"),
        (greatest["nfn-ours"], "taught"),
    ):
        if not rules:
            continue
        yes = [key for key in rules if rules[key] >= BEST_AIMS[key]]
        no = [f"{key} ({number(rules[key])})" for key in rules if key not in yes]
        told.append(f"{where}, in {', '.join(yes) or 'no task'}; short of it: {', '.join(no) or 'none'}")
    return f" By its greatest mean the NFN reaches the aim for the best of a study: {'. And '.join(told)}."


def missing(made: dict[tuple[str, str], Search], again: list[Winner]) -> str:
    """What of the studies is not there yet."""
    counts = {
        (key, agent): len(made[key, agent].trials) if (key, agent) in made else 0
        for agent in (*AGENTS, *OURS)
        for key in TASKS
    }
    few = [f"{key}-{agent} {count or 'none'}" for (key, agent), count in counts.items() if count < WANTED]
    lone = [study for study in counts if len(scores(again, *study)) < NEW_SEEDS]
    if not few and not lone:
        return ""
    studies = f"Fewer than {WANTED} trials: {', '.join(few)}. " if few else ""
    seeds = f"Winners on fewer than {NEW_SEEDS} new seeds: {len(lone)} of {len(counts)}. " if lone else ""
    more = "For want of time; `make study-all` goes on with these trials, `make study-winners` confirms what is best."
    return f"**Not finished.** {studies}{seeds}{more}"


def lucky(made: dict[tuple[str, str], Search], again: list[Winner]) -> str:
    """What best trials say of themselves, and what their settings do on new seeds."""
    told = []
    for agent, title in {**AGENTS, **OURS}.items():
        pairs = [
            f"{key} {number(made[key, agent].best.values[0])} and {number(statistics.fmean(found))}"
            for key in TASKS
            if (found := scores(again, key, agent))
        ]
        told += [f"{title} {', '.join(pairs)}"] if pairs else []
    return (
        "**How lucky the best trial is**, its own figure and that of its settings on new seeds: "
        f"{'; '.join(told)}."
        if told
        else ""
    )


def winners_compared(again: list[Winner]) -> str:
    """Both agents by Welch's test, once there is something to compare."""
    text = ""
    for heading, space in (("in the paper's space", ""), ("in our space", "-short")):
        there = [
            key for key in TASKS if scores(again, key, f"nfn{space}") and scores(again, key, f"dnn{space}")
        ]
        if there:
            table = "\n".join(compared(there, lambda key, agent: scores(again, key, f"{agent}{space}")))  # noqa: B023
            text += WINNERS_COMPARED.replace("{{heading}}", heading).replace("{{compared}}", table)
    return text


def settings(made: dict[tuple[str, str], Search]) -> Iterator[str]:
    """The best trials' hyperparameters."""
    for agent, title in SEARCHED.items():
        there = [made[key, agent] for key in TASKS if (key, agent) in made]
        if not there:
            continue
        names = list(there[0].best.params)
        yield f"| {title} | trial | slope | {' | '.join(names)} |"
        yield "|---" * (len(names) + 3) + "|"
        for search in there:
            found = (search.best.params[name] for name in names)
            values = " | ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in found)
            yield f"| {search.task} | {search.best.number} | {search.best.values[2]:+.3g} | {values} |"
        yield ""


def means_of(made: dict[tuple[str, str], Search]) -> dict[str, dict[str, list[float]]]:
    """The means of all trials in the paper's space, by agent and task."""
    return {
        title: {key: [trial.values[0] for trial in made[key, agent].trials] for key in TASKS}
        for agent, title in AGENTS.items()
    }


def page(made: dict[tuple[str, str], Search], again: list[Winner]) -> str:
    """The whole page."""
    parts = {
        "overview": "\n".join(overview(made, again)),
        "reached": reached(made),
        "more_trials": "\n".join(more_trials(means_of(made), PAPER, number)),
        "beside_the_paper": beside_the_paper(means_of(made), PAPER),
        "lucky": lucky(made, again),
        "winners": winners_compared(again),
        "settings": "\n".join(settings(made)),
        "missing": missing(made, again),
        "trials": str(sum(len(there.trials) for there in made.values())),
    }
    text = PAGE
    for name, part in parts.items():
        text = text.replace(f"{{{{{name}}}}}", part)
    return text


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--collect", type=Path, metavar="FILE.db", help="storage of winners that were learned anew"
    )
    options = parser.parse_args()
    if options.collect:
        collect(options.collect)
    (HERE / "doom_studies.md").write_text(page(searches(), winners()))


if __name__ == "__main__":
    main()
