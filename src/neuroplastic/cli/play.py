"""`neuroplastic play`, `evaluate`, `record`, `box` and `runs`: what a run has learned."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import InputError
from ..usecases.boxing import BoxRequest, boxed_cards, put_in_box
from ..usecases.cards import Card
from ..usecases.devices import threads_in_use, usable_device
from ..usecases.opening import open_run
from ..usecases.playing import Shown, checked, play_run
from ..usecases.runs import evaluate_run, list_runs, record_run
from .arguments import new_file
from .progress import Meter


def run_evaluate(options: argparse.Namespace) -> int:
    """Play and print mean, spread and range."""
    with (
        threads_in_use(options.computing_threads, usable_device(options.device)),
        Meter("evaluation", options.episodes, unit="episode") as bar,
    ):
        played = evaluate_run(
            options.folder,
            which=options.which,
            episodes=options.episodes,
            seed=options.seed,
            games=options.games,
            device=options.device,
            on_episode=lambda _, __: bar.update(),
        )
    config, returns = played.config, played.returns
    print(
        f"{config.task.key} {config.agent} ({options.which} epoch): {played.mean:.2f} +- {played.sd:.2f} "
        f"over {len(returns)} episodes, {min(returns):.4g} to {max(returns):.4g}"
    )
    print_card(played.card)
    return 0


def print_card(card: Card | None) -> None:
    """Say what is known of an agent in the box."""
    if card is not None:
        print("\n  ".join(["On its card:", *card.lines()]))


def run_box(options: argparse.Namespace) -> int:
    """List the agents in the box, show one's card, or put a run into a box."""
    if options.folder is None:
        for name, card in boxed_cards():
            print(f"{name}: {card.lines()[0] if card is not None else 'no card'}")
        return 0
    if options.out is None:
        card = open_run(checked(options.folder)).card
        if card is None:
            raise InputError(f"{options.folder} has no card; make one with --out FOLDER")
        print("\n".join(card.lines()))
        return 0
    request = BoxRequest(
        options.folder,
        Path(options.out),
        episodes=options.episodes,
        seed=options.seed,
        chosen=options.chosen,
        command=options.trained_by,
        half=options.half,
    )
    with Meter("card", options.episodes, unit="episode") as bar:
        made = put_in_box(request, on_episode=lambda _, __: bar.update())
    print("\n".join(made.lines()))
    return 0


def run_play(options: argparse.Namespace) -> int:
    """Show episodes, and say where."""
    if options.out is not None:
        new_file("--out", options.out, replace=True)

    def tell(where: Shown) -> None:
        print_card(where.card)
        task = where.config.task
        title = f" ({task.title})" if task.title != task.key else ""
        if where.film is None:
            print(f"{task.key}{title} in a window; close it to stop")
        elif where.no_window is None:
            print(f"{task.key}{title} goes on film: {where.film}")
        else:
            print(f"{task.key}{title}: no window can be opened here ({where.no_window}), so it goes on film")

    shown = play_run(
        options.folder,
        which=options.which,
        episodes=options.episodes,
        seed=options.seed,
        out=options.out,
        explain=options.explain,
        on_screen=tell,
        on_episode=lambda score: print(f"score {score:.4g}", flush=True),
    )
    if shown.film is not None:
        print(f"film: {shown.film}")
    return 0


def run_record(options: argparse.Namespace) -> int:
    """Film an episode."""
    if options.out is not None:
        new_file("--out", options.out, replace=True)
    made = record_run(
        options.folder,
        which=options.which,
        episode=options.episode,
        seed=options.seed,
        out=options.out,
        explain=options.explain,
        episodes=options.episodes,
    )
    many = len(made.episodes)
    scores = ", ".join(f"{film.score:.4g}" for film in made.episodes)
    print(
        f"{made.path}: {sum(film.decisions for film in made.episodes)} decisions"
        + (f", score {scores}" if many == 1 else f" in {many} episodes, scores {scores}")
    )
    if made.explained is not None:
        print(made.explained)
    return 0


def run_list(options: argparse.Namespace) -> int:
    """Print a line per run."""
    rows: list[tuple[str, ...]] = [("run", "epochs", "steps", "best", "sd", "last", "slope", "born")]
    for listed in list_runs(options.runs):
        if listed.problem is not None:
            rows.append((listed.name, "unreadable", "-", "-", "-", "-", "-", "-"))
            print(f"neuroplastic: {listed.problem}", file=sys.stderr)
            continue
        done = f"{listed.epochs}/{listed.wanted}"
        s = listed.summary
        if s is None:
            rows.append((listed.name, done, str(listed.steps), "-", "-", "-", "-", "-"))
            continue
        figures = (s.best.mean, s.best.sd, s.last.mean, s.slope)
        rows.append((listed.name, done, str(s.last.steps), *(f"{f:.2f}" for f in figures), str(s.last.born)))
    if len(rows) == 1:
        print(f"no runs in {options.runs}/; start one with: neuroplastic train BP")
        return 0
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *cells]))
    return 0
