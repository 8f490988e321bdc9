"""Writes docs/data/scripted_play.csv, what players score that need not learn: `python docs/scripted_play.py` (slow).

BP, the best play there is. The monster stands still and one hit ends the episode: the best play walks one way, without
a stop, and shoots once at the right moment. For each episode every such play is tried, in hindsight, and the greatest
return kept. No agent that decides as often can do better.

DTC, a simple script. It sees where the monsters are, turns left until one is in the middle, and shoots.
"""

import csv
import os
import statistics
from collections.abc import Iterator
from pathlib import Path

import vizdoom

from neuroplastic.doom import scenario
from neuroplastic.doom.engine import Engine
from neuroplastic.experiment.trial import EVALUATION_SEED
from neuroplastic.learn.episodes import episode_seed

FILE = Path(__file__).parent / "data" / "scripted_play.csv"
PROTOCOL, MANY = 25, 300  # episodes of a trial, and of a steadier mean that begins with them

LONGEST_WALK = 56  # tics; the wall is reached sooner
# A shot leaves the barrel a few tics after the trigger is pulled: it may be pulled so many tics before the walk ends.
TRIGGER_LEADS = (0, 4, 8)
SHOT = 24  # tics within which a shot is fired and hits
MISS = -400.0  # less than any return

MONSTERS = ("Demon", "MarineChainsawVzd")
MIDDLE = 160  # of a picture 320 pixels wide


def seeds(episodes: int) -> list[int]:
    """The engine's seeds of the evaluation episodes."""
    return [episode_seed(EVALUATION_SEED, k, stream="evaluation") for k in range(episodes)]


def best_pistol_play(engine: Engine, seed: int, frame_skip: int) -> float:
    """The greatest return of an episode of BP over all plays."""
    best = MISS
    for side in (0, 1):
        for walk in range(LONGEST_WALK // frame_skip):
            for lead in {min(walk, -(-tics // frame_skip)) for tics in TRIGGER_LEADS}:
                best = max(best, _play(engine, seed, frame_skip, side, walk, lead))
    return best


def _play(engine: Engine, seed: int, frame_skip: int, side: int, walk: int, lead: int) -> float:
    """The return of walking `walk` decisions to a side, the trigger held from `lead` decisions before the end."""
    engine.begin(seed)
    for decision in range(walk + SHOT // frame_skip):
        buttons = [0, 0, int(decision >= walk - lead)]
        buttons[side] = int(decision < walk)
        engine.act(buttons, frame_skip)
        if engine.finished:
            return engine.episode_return
    return MISS


def turning_shooter(game: vizdoom.DoomGame, seed: int, frame_skip: int) -> float:
    """The return of an episode of DTC: turn left until a monster is in the middle, then shoot."""
    game.set_seed(seed)
    game.new_episode()
    while not game.is_episode_finished():
        monsters = [label for label in game.get_state().labels if label.object_name in MONSTERS]
        aimed = any(monster.x <= MIDDLE <= monster.x + monster.width for monster in monsters)
        game.make_action([not aimed, False, aimed], frame_skip)
    return float(game.get_total_reward())


def labelled_game(config: str) -> vizdoom.DoomGame:
    """A game that says what is in its picture."""
    game = vizdoom.DoomGame()
    game.load_config(os.path.join(vizdoom.scenarios_path, f"{config}.cfg"))
    game.set_window_visible(False)
    game.set_screen_resolution(vizdoom.ScreenResolution.RES_320X240)
    game.set_labels_buffer_enabled(True)
    game.init()
    return game


def scores() -> Iterator[tuple[str, str, int, list[float]]]:
    """Scenario, player, frame skip and returns of the episodes."""
    engine = Engine(scenario("BP"), "fast")
    for frame_skip in (8, 4, 2, 1):
        episodes = MANY if frame_skip > 2 else PROTOCOL  # finer walks are many more
        returns = [best_pistol_play(engine, seed, frame_skip) for seed in seeds(episodes)]
        yield "BP", "best play", frame_skip, returns
    engine.close()
    game = labelled_game(scenario("DTC").config)
    for frame_skip in (8, 4, 2):
        returns = [turning_shooter(game, seed, frame_skip) for seed in seeds(PROTOCOL)]
        yield "DTC", "turn and shoot", frame_skip, returns
    game.close()


def main() -> None:
    """Play, write means and standard deviations."""
    with FILE.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["scenario", "player", "frame_skip", "episodes", "mean", "sd"])
        for key, player, frame_skip, returns in scores():
            for episodes in sorted({PROTOCOL, len(returns)}):
                first = returns[:episodes]
                mean, sd = round(statistics.fmean(first), 1), round(statistics.stdev(first), 1)
                rows.writerow([key, player, frame_skip, episodes, mean, sd])
                print(
                    f"{key}, {player}, every {frame_skip} tics, {episodes} episodes: {mean} ({sd})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
