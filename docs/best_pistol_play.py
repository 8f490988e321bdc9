"""Writes docs/data/best_pistol_play.csv, the best that any player can score in pistol practice (BP).

The monster stands still, and one hit ends the episode: the best play walks one way, without a stop, and shoots once at
the right moment. So for each evaluation episode every such play is tried, in hindsight, and the greatest return kept.
No agent that decides as often can do better. `python docs/best_pistol_play.py` takes about a quarter of an hour.
"""

import csv
import statistics
from pathlib import Path

from neuroplastic.doom import scenario
from neuroplastic.doom.engine import Engine
from neuroplastic.learn.seeding import episode_seed
from neuroplastic.study.trial import EVALUATION_SEED

FILE = Path(__file__).parent / "data" / "best_pistol_play.csv"
FRAME_SKIPS = (8, 4, 2, 1)
EPISODES = 300  # the first 25 are those of the trial protocol
LONGEST_WALK = 56  # tics; the wall is reached sooner
# A shot leaves the barrel a few tics after the trigger is pulled: it may be pulled so many tics before the walk ends.
TRIGGER_LEADS = (0, 4, 8)
SHOT = 24  # tics within which a shot is fired and hits


def best_return(engine: Engine, seed: int, frame_skip: int) -> float:
    """The greatest return of one episode over all plays."""
    best = -400.0
    for side in (0, 1):
        for walk in range(LONGEST_WALK // frame_skip):
            for lead in {min(walk, -(-tics // frame_skip)) for tics in TRIGGER_LEADS}:
                best = max(best, play(engine, seed, frame_skip, side, walk, lead))
    return best


def play(engine: Engine, seed: int, frame_skip: int, side: int, walk: int, lead: int) -> float:
    """The return of walking `walk` decisions to a side, the trigger held from `lead` decisions before the end."""
    engine.begin(seed)
    for decision in range(walk + SHOT // frame_skip):
        buttons = [0, 0, int(decision >= walk - lead)]
        buttons[side] = int(decision < walk)
        engine.act(buttons, frame_skip)
        if engine.finished:
            return engine.episode_return
    return -400.0  # a miss, which never is the best play


def main() -> None:
    """Try all plays, write the means."""
    engine = Engine(scenario("BP"), "fast")
    with FILE.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["frame_skip", "episodes", "mean", "sd"])
        for frame_skip in FRAME_SKIPS:
            episodes = EPISODES if frame_skip > 2 else 25  # finer walks are many more
            seeds = [episode_seed(EVALUATION_SEED, k, stream="evaluation") for k in range(episodes)]
            returns = [best_return(engine, seed, frame_skip) for seed in seeds]
            for count in sorted({25, episodes}):
                first = returns[:count]
                rows.writerow(
                    [frame_skip, count, round(statistics.fmean(first), 2), round(statistics.stdev(first), 2)]
                )
                print(f"every {frame_skip} tics, {count} episodes: {statistics.fmean(first):.1f}", flush=True)
    engine.close()


if __name__ == "__main__":
    main()
