"""What the best of more trials would be: exactly up to as many as there are, and if it goes on so, of 720."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log2

from neuroplastic.analysis.enough import expected_best

COUNTS = (1, 5, 10, 20, 40)
PAPER = 720
MOST = {"GH": 2100.0}
"""returns that an episode cannot exceed"""


def best_of_more(task: str, means: Sequence[float]) -> tuple[float, float]:
    """The least and the most that the best of 720 would be: growing as in the last doubling, or in the last two."""
    there = len(means)
    now, doublings = max(means), log2(PAPER / there)
    rates = (now - expected_best(means, there // 2), (now - expected_best(means, there // 4)) / 2)
    low, high = sorted(min(now + rate * doublings, MOST.get(task, float("inf"))) for rate in rates)
    return low, high


def table(
    made: Mapping[str, Mapping[str, Sequence[float]]],
    paper: Mapping[str, Mapping[str, float]],
    number: Callable[[float], str],
) -> Iterator[str]:
    """Of both agents, by name and task: the best of few, of all, of 720 if it goes on so, and the paper's."""
    tasks = list(next(iter(paper.values())))
    yield f"| | {' | '.join(tasks)} |"
    yield "|---" * (len(tasks) + 1) + "|"
    for agent, means in made.items():
        for count in COUNTS:
            found = (number(expected_best(means[task], count)) for task in tasks)
            yield f"| {agent}, best of {count} | {' | '.join(found)} |"
        ranges = (best_of_more(task, means[task]) for task in tasks)
        told = (number(low) if low == high else f"{number(low)} to {number(high)}" for low, high in ranges)
        yield f"| **{agent}, of {PAPER}**, if it goes on so | {' | '.join(told)} |"
        theirs = (f"{paper[agent][task]:g}" for task in tasks)
        yield f"| the paper's {agent}, best of {PAPER} | {' | '.join(theirs)} |"


def beside_the_paper(
    made: Mapping[str, Mapping[str, Sequence[float]]], paper: Mapping[str, Mapping[str, float]]
) -> str:
    """Where this reaches the paper's figure, and where not."""
    told = []
    for agent, means in made.items():
        more = [task for task in means if paper[agent][task] > best_of_more(task, means[task])[1]]
        rest = [task for task in means if task not in more]
        told.append(f"{agent} in {', '.join(rest) or 'no task'}, but not in {', '.join(more) or 'any'}")
    return f"This reaches the paper's figure: {'; '.join(told)}."
