"""Scores over seeds as words, and rules beside plain networks by Welch's test."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable

from neuroplastic.analysis import welch_t_test

LEVEL = 0.05
"""of a difference that is none by chance"""


def spread(values: list[float]) -> str:
    """Mean, standard deviation and number of seeds."""
    if not values:
        return "not run"
    mean = statistics.fmean(values)
    digits = 0 if abs(mean) >= 200 else 1 if abs(mean) >= 10 else 2
    sd = f" ({statistics.stdev(values):.{digits}f})" if len(values) > 1 else ""
    return f"{mean:.{digits}f}{sd}, {len(values)} seed{'s' * (len(values) > 1)}"


def compared(tasks: Iterable[str], scored: Callable[[str, str], list[float]]) -> list[str]:
    """A table of rules beside plain networks; `scored(task, agent)` gives a score a seed, three are needed of both."""
    lines = ["| | NFN | DNN | difference | Welch's t | degrees of freedom | p | |", "|---" * 8 + "|"]
    for key in tasks:
        rules, plain = scored(key, "nfn"), scored(key, "dnn")
        if min(len(rules), len(plain)) < 3:
            lines.append(f"| {key} | {spread(rules)} | {spread(plain)} | | | | | too few seeds |")
            continue
        if len({*rules, *plain}) == 1:
            lines.append(f"| {key} | {spread(rules)} | {spread(plain)} | 0 | | | | level: all alike |")
            continue
        test = welch_t_test(rules, plain)
        gap = statistics.fmean(rules) - statistics.fmean(plain)
        verdict = "level" if test.p >= LEVEL else "NFN ahead" if gap > 0 else "DNN ahead"
        figures = f"{gap:+.3g} | {test.statistic:.2f} | {test.df:.1f} | {test.p:.3f}"
        lines.append(f"| {key} | {spread(rules)} | {spread(plain)} | {figures} | {verdict} |")
    return lines
