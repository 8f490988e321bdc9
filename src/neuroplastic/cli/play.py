"""`neuroplastic evaluate`, `record` and `runs`: what a run has learned."""

from __future__ import annotations

import argparse
import statistics
import sys
from functools import partial

from tqdm import tqdm

from .. import doom
from ..errors import InputError
from ..experiment.agent import build_agent, greedy
from ..experiment.configuration import RunConfig
from ..experiment.decision import explain_decision
from ..experiment.recording import record_episode
from ..experiment.run_folder import RunError, RunFolder, run_folders
from ..experiment.trial import EVALUATION_SEED, summarise
from ..network.dueling import DuelingNetwork
from .arguments import new_file


def load_agent(folder: RunFolder, which: str) -> tuple[RunConfig, DuelingNetwork]:
    """A run's configuration and its network, in evaluation mode."""
    config = folder.config()
    network = build_agent(config)
    folder.load_into(network, which)
    return config, network.eval()


def _seed(options: argparse.Namespace) -> int:
    """Of the episodes: those of the evaluation in training, where none is given."""
    return EVALUATION_SEED if options.seed is None else int(options.seed)


def run_evaluate(options: argparse.Namespace) -> int:
    """Play and print mean, spread and range."""
    config, network = load_agent(RunFolder.open(options.folder), options.which)
    protocol = config.protocol
    with tqdm(total=options.episodes, unit="episode") as bar:
        results = doom.play(
            partial(greedy, network),
            options.episodes,
            scenario=config.scenario,
            picture=protocol.picture,
            frame_skip=protocol.frame_skip,
            seed=_seed(options),
            games=protocol.games,
            on_episode=lambda _, __: bar.update() and None,
        )
    returns = [result.return_ for result in results]
    spread = statistics.stdev(returns) if len(returns) > 1 else 0.0
    print(
        f"{config.scenario} {config.agent} ({options.which} epoch): {statistics.fmean(returns):.2f} +- {spread:.2f} "
        f"over {len(returns)} episodes, {min(returns):.4g} to {max(returns):.4g}"
    )
    return 0


def run_record(options: argparse.Namespace) -> int:
    """Film an episode."""
    folder = RunFolder.open(options.folder)
    if options.out is not None:
        new_file("--out", options.out, replace=True)
    config, network = load_agent(folder, options.which)
    if options.explain and config.agent != "nfn":
        raise InputError(f"{options.folder} is a {config.agent} run: it has no rules; leave --explain out")
    out = options.out or folder.path / f"episode-{options.episode}.mp4"
    episode = record_episode(config, network, out, episode=options.episode, seed=_seed(options))
    print(f"{out}: {episode.decisions} decisions, score {episode.score:.4g}")
    if options.explain:
        print(explain_decision(config, network, episode.pictures[len(episode.pictures) // 2]))
    return 0


def run_list(options: argparse.Namespace) -> int:
    """Print a line per run."""
    rows: list[tuple[str, ...]] = [("run", "epochs", "steps", "best", "sd", "last", "slope", "born")]
    for folder in run_folders(options.runs):
        try:
            metrics, config = folder.metrics(), folder.config()
        except (RunError, OSError) as error:
            rows.append((folder.path.name, "unreadable", "-", "-", "-", "-", "-", "-"))
            print(f"neuroplastic: {error}", file=sys.stderr)
            continue
        done = f"{len(metrics)}/{config.protocol.epochs}"
        if not metrics:
            rows.append((folder.path.name, done, "0", "-", "-", "-", "-", "-"))
            continue
        s = summarise(metrics)
        figures = (s.best.mean, s.best.sd, s.last.mean, s.slope)
        rows.append(
            (folder.path.name, done, str(s.last.steps), *(f"{f:.2f}" for f in figures), str(s.last.born))
        )
    if len(rows) == 1:
        print(f"no runs in {options.runs}/; start one with: neuroplastic train BP")
        return 0
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *cells]))
    return 0
