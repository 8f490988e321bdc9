"""Writes docs/data/scripted_skip.csv: what scripted players score if they decide more or less often, and advisers.

Run: `python docs/scripted_skip.py` (minutes), or with a scenario and frame skips, `... DTC 8`, to print these alone.
"""

from __future__ import annotations

import csv
import statistics
import sys
from contextlib import closing
from pathlib import Path

import numpy as np

from neuroplastic.doom import make
from neuroplastic.doom.scripted import scripted_player

FILE = Path(__file__).parent / "data" / "scripted_skip.csv"
# Training episodes of a seed that nothing is trained with; how many, and the frame skips.
SEED = 779
ADVISED = " as advised"
PLANNED = {
    "HTL": (20, (2, 3, 4, 6, 8)),
    "DTC": (12, (2, 3, 4, 8)),
    "PP": (100, (2, 4, 8)),
    "PP" + ADVISED: (100, (2, 4, 8)),
    "BP" + ADVISED: (100, (4,)),
    "BR" + ADVISED: (100, (4,)),
    "TC" + ADVISED: (100, (4,)),
}
FIELDS = ("scenario", "frame_skip", "episodes", "mean", "standard_error", "decisions")


def played(key: str, frame_skip: int, episodes: int) -> dict[str, object]:
    """Mean score, its standard error, and mean decisions of an episode."""
    task = key.split()[0]
    decide, scores, lengths = scripted_player(task), [], []
    with closing(
        make(
            task,
            picture="fast",
            frame_skip=frame_skip,
            observe="objects",
            seed=SEED,
            advised=key.endswith(ADVISED),
        )
    ) as environment:
        for episode in range(episodes):
            seen, _ = environment.reset(options={"episode": episode})
            score, decisions, over = 0.0, 0, False
            while not over:
                action = environment.advice if key.endswith(ADVISED) else decide(seen[None])[0]
                seen, reward, terminated, truncated, _ = environment.step(action)
                score, decisions, over = score + reward, decisions + 1, terminated or truncated
            scores.append(score)
            lengths.append(decisions)
    error = np.std(scores) / len(scores) ** 0.5
    figures = (round(statistics.fmean(scores), 2), round(float(error), 2), round(statistics.fmean(lengths)))
    return dict(zip(FIELDS, (key, frame_skip, episodes, *figures), strict=True))


def main() -> None:
    """Play."""
    if len(sys.argv) > 1:
        for skip in sys.argv[2:]:
            print(played(sys.argv[1], int(skip), PLANNED[sys.argv[1]][0]))
        return
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for key, (episodes, skips) in PLANNED.items():
            writer.writerows(played(key, skip, episodes) for skip in skips)


if __name__ == "__main__":
    main()
