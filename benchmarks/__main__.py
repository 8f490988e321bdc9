"""Runs all benchmarks, or those named: `python -m benchmarks [rule_part] [--markdown] [--seconds 60]`.

`python -m benchmarks gpu [--parallel 16] [--trial 10]` is the rule part and the agents on a CUDA device. `tables` is
accuracy on tables of data, `frontier` accuracy against size of rule learners, `many_rows` accuracy with more and more
rows; they take hours and options of their own. So do those of readable agents: `students`, `ceiling`, `pointing`,
`cloning`, `read_back`, `ten_pictures` and `objects_speed`, which take minutes.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys

from benchmarks import rule_part
from benchmarks.table import table_of_reached

OTHERS = ("doom_environment", "parallel_games", "training_step", "explaining", "simplifying", "workers")
# Those with options of their own.
WITH_OPTIONS = (
    *("tables", "frontier", "many_rows", "students", "pointing", "cloning", "read_back", "ten_pictures"),
    *("objects_speed", "ceiling", "pixel_ablation", "carrying", "control"),
)
# Those of the others that can print their table as Markdown.
MARKDOWN = ("simplifying",)


def gpu(arguments: list[str]) -> None:
    """The rule part, then the agents, whose options these are; and one table of what was asked and reached."""
    from benchmarks import gpu_agents, gpu_rules

    reached = [*gpu_rules.main(), *gpu_agents.main(arguments)]
    if reached:
        print("\n" + table_of_reached(reached, markdown=True))


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] in WITH_OPTIONS:
        importlib.import_module(f"benchmarks.{sys.argv[1]}").main(sys.argv[2:])
        return
    if sys.argv[1:2] == ["gpu"]:
        gpu(sys.argv[2:])
        return
    present = [name for name in OTHERS if importlib.util.find_spec(f"benchmarks.{name}")]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"which to run: {', '.join(['rule_part', *present])} (default: all)"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print tables as Markdown where there are any"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=rule_part.SECONDS,
        help="time for the race of rule_part (default: %(default)s)",
    )
    options = parser.parse_args()
    unknown = set(options.names) - {"rule_part", *present}
    if unknown:
        parser.error(
            f"no benchmark named {', '.join(sorted(unknown))}; there are rule_part, {', '.join(present)}"
        )
    names = options.names or ["rule_part", *present]
    sys.argv[1:] = []  # the other benchmarks take no arguments
    for name in names:
        if name == "rule_part":
            rule_part.main(markdown=options.markdown, seconds=options.seconds)
        else:
            print(f"\n{name}", flush=True)
            arguments = {"markdown": options.markdown} if name in MARKDOWN else {}
            importlib.import_module(f"benchmarks.{name}").main(**arguments)


if __name__ == "__main__":
    main()
