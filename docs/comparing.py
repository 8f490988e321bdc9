"""Scores over seeds as words, and rules beside plain networks by Welch's test."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable

from neuroplastic.analysis import welch_t_test

LEVEL = 0.05
"""of a difference that is none by chance"""
FEWEST = 3
"""scores of each to be compared"""


def spread(values: list[float]) -> str:
    """Mean, standard deviation and number of seeds."""
    if not values:
        return "not run"
    mean = statistics.fmean(values)
    digits = 0 if abs(mean) >= 200 else 1 if abs(mean) >= 10 else 2
    sd = f" ({statistics.stdev(values):.{digits}f})" if len(values) > 1 else ""
    return f"{mean:.{digits}f}{sd}, {len(values)} seed{'s' * (len(values) > 1)}"


def is_tested(rules: list[float], plain: list[float]) -> bool:
    """Whether there are enough scores of both, and not all alike."""
    return min(len(rules), len(plain)) >= FEWEST and len({*rules, *plain}) > 1


def holm(found: dict[str, float]) -> dict[str, float]:
    """The p of several tests, corrected by Holm: the least times their number, the next times one less, and so on."""
    corrected, greatest = {}, 0.0
    for rank, key in enumerate(sorted(found, key=lambda key: found[key])):
        greatest = min(1.0, max(greatest, found[key] * (len(found) - rank)))
        corrected[key] = greatest
    return corrected


def compared(tasks: Iterable[str], scored: Callable[[str, str], list[float]]) -> list[str]:
    """A table of rules beside plain networks; `scored(task, agent)` gives a score a seed."""
    lines = ["| | NFN | DNN | difference | Welch's t | degrees of freedom | p | Holm | |", "|---" * 9 + "|"]
    pairs = {key: (scored(key, "nfn"), scored(key, "dnn")) for key in tasks}
    corrected = holm({key: welch_t_test(*pair).p for key, pair in pairs.items() if is_tested(*pair)})
    for key, (rules, plain) in pairs.items():
        if key not in corrected:
            few = min(len(rules), len(plain)) < FEWEST
            verdict = " | | | | | too few seeds" if few else "0 | | | | | level: all alike"
            lines.append(f"| {key} | {spread(rules)} | {spread(plain)} | {verdict} |")
            continue
        test = welch_t_test(rules, plain)
        gap = statistics.fmean(rules) - statistics.fmean(plain)
        verdict = "level" if test.p >= LEVEL else "NFN ahead" if gap > 0 else "DNN ahead"
        figures = f"{gap:+.3g} | {test.statistic:.2f} | {test.df:.1f} | {test.p:.3f} | {corrected[key]:.3f}"
        lines.append(f"| {key} | {spread(rules)} | {spread(plain)} | {figures} | {verdict} |")
    return lines
