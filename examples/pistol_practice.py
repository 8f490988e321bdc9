"""Shows the trained agent in the box, then trains a neuro-fuzzy agent on pistol practice, films it and explains it.

Run: `make demo`, or `python examples/pistol_practice.py`. It begins no epoch that would end after SECONDS.
"""

import argparse
from pathlib import Path

import torch

from neuroplastic import doom
from neuroplastic.cli.train import show
from neuroplastic.doom.presets import preset
from neuroplastic.experiment.decision import head_rules
from neuroplastic.rules.text.plain import plain_sentences
from neuroplastic.rules.text.sentences import numbered
from neuroplastic.usecases.opening import open_run
from neuroplastic.usecases.runs import evaluate_run, record_run
from neuroplastic.usecases.training import begin_run

SECONDS = 250
BOXED, EPISODES, RULES_SHOWN, PREMISES_SHOWN = "DTC", 3, 3, 3
RUNS = Path("runs")


def show_boxed() -> None:
    """What comes along trained: its card, a few episodes, a film, some of its rules."""
    opened = open_run(BOXED)
    print(f"In the box: an agent that plays {opened.config.task.title.lower()} ({BOXED}).")
    if opened.card is not None:
        print("\n  ".join(["On its card:", *opened.card.lines()]))
    played = evaluate_run(BOXED, episodes=EPISODES, seed=7)
    print(f"score now, in {EPISODES} other episodes: {', '.join(f'{score:g}' for score in played.returns)}")
    RUNS.mkdir(exist_ok=True)
    made = record_run(BOXED, seed=7, out=str(RUNS / f"{BOXED}-in-the-box.mp4"))
    print(f"filmed {made.path}; for more: neuroplastic play {BOXED}")
    sentences = plain_sentences(head_rules(opened.config, opened.agent)[0], premises=PREMISES_SHOWN)
    print(f"{RULES_SHOWN} of its {len(sentences)} rules (neuroplastic rules {BOXED}):")
    for each in sentences[:RULES_SHOWN]:
        print(f"  {numbered(*each)}")
    print()


def main() -> None:
    """Show what is trained already; train, compare, film, explain."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seconds", type=float, default=SECONDS, help=f"for training (default: {SECONDS})")
    options.add_argument("--runs", default="runs", help="where the run folder goes (default: runs)")
    chosen = options.parse_args()
    show_boxed()

    config = preset("short", "BP", "nfn", seed=0)
    planned = config.protocol.steps
    with begin_run(config, runs=chosen.runs) as trial:
        folder = trial.folder
        print(f"Pistol practice: shoot the monster, soon and with few shots. Run folder: {folder.path}")
        print(f"Training for as many of the protocol's {planned} steps as fit into {chosen.seconds:.0f} s.")
        summary = show(trial, seconds=chosen.seconds)
        steps = trial.trainer.steps
    print(f"\n{steps} of {planned} steps done; to do the rest: {folder.how_to_resume()}")

    game = doom.scenario("BP")
    random = [result.return_ for result in doom.random_play("BP", 25, frame_skip=config.task.frame_skip)]
    print(
        f"score of the best epoch, mean of {config.protocol.episodes} greedy episodes: {summary.best.mean:.1f} "
        f"(sd {summary.best.sd:.1f})"
    )
    print(f"random play, 25 episodes:                            {sum(random) / len(random):.1f}")
    print(
        f"the paper's best trial of 720:                       {game.paper_nfn.mean} (sd {game.paper_nfn.sd})"
    )
    print(f"\n{trial.diagnose()}")

    made = record_run(str(folder.path), explain=True)
    print(f"\nfilmed {made.path}: {made.film.decisions} decisions, score {made.film.score:.0f}")
    print(made.explained)


if __name__ == "__main__":
    torch.manual_seed(0)
    main()
