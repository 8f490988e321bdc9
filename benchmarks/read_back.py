"""Is a student all in its text? `python -m benchmarks read_back [STUDENT ...] [--states 1000]`.

A student's rules are printed (`rules --exact`) and read back by `from_rules`; in new states of its teacher's play, what
share of the student's actions, and of the teacher's, does the network of the text foretell? Students are runs of
`neuroplastic imitate` or in the box; every one is a row of docs/data/read_back.csv.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

FILE = Path(__file__).parents[1] / "docs" / "data" / "read_back.csv"
FIELDS = ("student", "teacher", "states", "rules", "student_foretold", "teacher_foretold")
FIRST_EPISODE = 20_000  # of evaluation: no student learned from it, or was chosen on it


def main(arguments: list[str]) -> None:
    import torch

    from neuroplastic.experiment.agent import greedy
    from neuroplastic.experiment.decision import head_rules
    from neuroplastic.experiment.demonstrating import demonstrate
    from neuroplastic.experiment.trial import EVALUATION_SEED
    from neuroplastic.rules.text.experts import from_rules
    from neuroplastic.usecases.opening import open_run
    from neuroplastic.usecases.rules import rules_of
    from neuroplastic.usecases.teaching import find_teacher

    parser = argparse.ArgumentParser(prog="python -m benchmarks read_back", description=__doc__)
    parser.add_argument("students", nargs="*", default=["DTC-student"])
    parser.add_argument("--states", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    new = not options.out.exists()
    with options.out.open("a", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        if new:
            rows.writerow(FIELDS)
        for name in options.students:
            run = open_run(name)
            teacher, task = find_teacher(run.config.learner.teacher, run.config.task)
            rules = head_rules(run.config, run.agent)[
                0
            ]  # of which the sets' places and the way of firing are told
            reread = from_rules(rules_of(run).text(exact=True), rules.inputs, firing=rules.firing).eval()
            shown = demonstrate(
                task,
                teacher,
                None,
                states=options.states,
                seed=EVALUATION_SEED,
                first_episode=FIRST_EPISODE,
                stream="evaluation",
            ).shown
            low, high = run.agent.encoder.low.numpy(), run.agent.encoder.high.numpy()
            with torch.inference_mode():
                seen = torch.from_numpy(shown.attributes.clip(low, high)).to(reread.centers.dtype)
                foretold = reread(seen).argmax(dim=1).numpy()
            own = greedy(run.agent, shown.attributes)
            row = [run.path.name, teacher.name, len(shown), reread.rules]
            row += [f"{(foretold == own).mean():.4g}", f"{(foretold == shown.actions).mean():.4g}"]
            rows.writerow(row)
            file.flush()
            print(*row, flush=True)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
