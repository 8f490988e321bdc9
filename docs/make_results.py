"""Writes docs/results.md from docs/data/doom_trials.csv: `python docs/make_results.py`."""

import csv
import statistics
from collections import defaultdict
from pathlib import Path

from neuroplastic.doom.scenarios import SCENARIOS

HERE = Path(__file__).parent
TARGETS = {"BP": 82, "BR": 20, "PP": 0.15, "HTL": 20, "DTC": 8, "TC": 400, "GH": 1900}

HEAD = """# DOOM scores

Made by `python docs/make_results.py` from [data/doom_trials.csv](data/doom_trials.csv), which holds every complete
trial: 10 epochs of 500 training steps, 25 greedy episodes after each. "Best" is the epoch with the greatest mean,
"last" the tenth; both are means over the seeds, with the standard deviation over seeds in brackets. A row is made by

```
neuroplastic train SCENARIO --agent AGENT --preset PRESET --seed 0    # and 1, 2
```

How to read them, the bad with the good:

- **One scenario of seven reaches the level we aim at with the NFN (BR); BP, GH, HTL, TC, DTC and PP fall short.** The
  plain network falls short with the same learner too, so the learner is the first suspect, not the rules.
- The best epoch is a maximum over ten noisy ones on the same 25 episodes; the last epoch is often far below it.
- `tuned` was chosen per scenario on seed 0, so seed 0 flatters it. The changes that were tried are listed below.
- The trials ran with `--device cuda`, where equal seeds do not give bit-equal runs, on two states of the code shortly
  before this one. On the CPU runs repeat bit for bit.
- The preset `paper` has not been run in full yet: three seeds of the DNN are missing in places, the NFN's altogether.
"""


def spread(values: list[float]) -> str:
    """Mean and, with several values, their standard deviation."""
    digits = 2 if abs(statistics.fmean(values)) < 10 else 1
    text = f"{statistics.fmean(values):.{digits}f}"
    return text + (f" ({statistics.stdev(values):.{digits}f})" if len(values) > 1 else "")


def main() -> None:
    """Read the trials, write the page."""
    with (HERE / "data" / "doom_trials.csv").open(newline="") as file:
        trials = list(csv.DictReader(file))
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for trial in trials:
        groups[trial["scenario"], trial["agent"], trial["preset"], trial["chosen"], trial["changes"]].append(
            trial
        )
    lines = [HEAD, "| scenario | agent | preset | seeds | best | last | random play | the paper | aim |"]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    others = [
        "",
        "## Changes tried in `tuned`, NFN",
        "",
        "Each against the common recipe; not taken over.",
        "",
    ]
    others += ["| scenario | change | seeds | best | last |", "|---|---|---|---|---|"]
    for (key, agent, preset, chosen, changes), group in groups.items():
        game = SCENARIOS[key]
        best = spread([float(trial["best_mean"]) for trial in group])
        last = spread([float(trial["last_mean"]) for trial in group])
        if chosen == "1":
            theirs = game.paper_nfn if agent == "nfn" else game.paper_dnn
            aim = TARGETS[key] if (agent, preset) == ("nfn", "tuned") else ""
            lines.append(
                f"| {key} | {agent} | {preset} | {len(group)} | {best} | {last} | {game.random_play:g} "
                f"| {theirs.mean:g} ({theirs.sd:g}) | {aim} |"
            )
        elif agent == "nfn":
            others.append(f"| {key} | {changes or 'common recipe'} | {len(group)} | {best} | {last} |")
    (HERE / "results.md").write_text("\n".join([*lines, *others]) + "\n")


if __name__ == "__main__":
    main()
