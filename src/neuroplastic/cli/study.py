"""`neuroplastic study`: the paper's searches, on one machine or many, stoppable and resumable."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from ..errors import MissingPackageError
from .arguments import add_import, installed, whole
from .terminating import code_of

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

    from ..search.confirmed import Confirmation, NewScore
    from ..usecases.studies import BestTrial


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    group = commands.add_parser("study", help="search for hyperparameters, as in the paper")
    actions = group.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_run(actions)
    _add_confirm(actions)
    status = actions.add_parser("status", help="how far the studies of a storage are")
    best = actions.add_parser("best", help="the best trial, by the paper's rule")
    export = actions.add_parser("export", help="the best trial as a preset, all trials as CSV")
    status.add_argument("name", nargs="?", metavar="STUDY", help="one study only (default: all)")
    for command in (best, export):
        command.add_argument("name", metavar="STUDY", help="name of the study, such as BP-dnn")
    export.add_argument("--preset", metavar="FILE.json", help="for `neuroplastic train --preset FILE.json`")
    export.add_argument("--csv", metavar="FILE.csv", help="a row per finished trial")
    add_import(export)
    export.add_argument("--trial", type=whole(0), help="which trial becomes the preset (default: the best)")
    for command, action in ((status, run_status), (best, run_best), (export, run_export)):
        _add_storage(command)
        command.set_defaults(run=action)


def _add_storage(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--storage",
        default="sqlite:///studies.db",
        metavar="URL",
        help="sqlite:///FILE or postgresql://USER@HOST/DATABASE (default: sqlite:///studies.db)",
    )


def _add_run(actions: Any) -> None:
    run = actions.add_parser(
        "run",
        help="make trials until there are as many as asked for",
        description="Search with the tree Parzen estimator. Ctrl-C stops; the same command goes on. With a "
        "PostgreSQL storage any number of machines may run the same command at once.",
        epilog="Every other field of a run's configuration is an option too, for all trials alike: --epochs 3 "
        "--steps-per-epoch 200 --picture fast; `neuroplastic train --help` lists them.",
        allow_abbrev=False,
    )
    run.takes_fields = True
    run.add_argument(
        "--task", required=True, help="BP, BR, PP, HTL, DTC, TC, GH, or a Gymnasium id such as CartPole-v1"
    )
    run.add_argument(
        "--agent",
        required=True,
        choices=("dnn", "nfn"),
        metavar="AGENT",
        help="dnn (plain network) or nfn (neuro-fuzzy)",
    )
    run.add_argument("--trials", type=whole(1), default=720, help="finished trials wanted (default: 720)")
    run.add_argument("--name", help="of the study (default: TASK-AGENT; in another space TASK-AGENT-SPACE)")
    _add_storage(run)
    run.add_argument(
        "--preset",
        help="what the search leaves open (default: paper, or the task's own; in --space short: short)",
    )
    run.add_argument(
        "--space",
        default="paper",
        choices=("paper", "ours", "short"),
        metavar="SPACE",
        help="what is searched: paper (default), ours, or short (ours about that preset); in these two nothing is "
        "inherited, and the first trial is the preset itself where it lies in the space",
    )
    run.add_argument(
        "--prune",
        action="store_true",
        help="end trials early whose greatest mean is below the median of those that came as far; looked at after the "
        "2nd epoch and later ones, up to half of all",
    )
    run.add_argument("--learner", help="dqn or parallel_q (default: the preset's)")
    run.add_argument(
        "--games",
        type=whole(),
        default=1,
        help="games that a worker plays at once in evaluation (default: 1)",
    )
    run.add_argument(
        "--seed", type=whole(), default=0, help="seed of the search and of its trials (default: 0)"
    )
    run.add_argument(
        "--inherit",
        metavar="STUDY",
        help="nfn: take frame skip, batch, memory and discount from the best trial of this study, or of the "
        "paper with 'paper' (default: TASK-dnn of the same storage)",
    )
    add_import(run)
    _add_workers(run)
    run.add_argument("--objective", help=argparse.SUPPRESS)
    run.set_defaults(run=run_search)


def _add_workers(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--workers", type=whole(1), default=os.cpu_count() or 1, help="default: one per core"
    )
    command.add_argument(
        "--runs", default="runs/studies", metavar="FOLDER", help="where trials keep checkpoints"
    )
    command.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    command.add_argument("--threads", type=whole(1), default=1, help="threads of each worker (default: 1)")
    command.add_argument(
        "--retries", type=whole(0), default=3, help="of a trial whose worker died (default: 3)"
    )
    command.add_argument(
        "--engine",
        default="processes",
        choices=("processes", "ray"),
        metavar="ENGINE",
        help="processes (default) or ray",
    )
    command.add_argument(
        "--ray-address", metavar="HOST:PORT", help="of a Ray cluster (default: the running one)"
    )


def _add_confirm(actions: Any) -> None:
    command = actions.add_parser(
        "confirm",
        help="learn the best trial anew with new seeds: its true figure",
        description="The best of many trials was lucky. Here its settings are learned anew, to the end, with seeds "
        "that the study did not see, and each agent plays episodes that no choice was made on. Ctrl-C stops; the "
        "same command goes on (while the search goes on, too, another trial may become the best: --trial holds one). "
        "These trials are a study of their own, STUDY-trialN, in the same storage.",
    )
    command.add_argument("study", metavar="STUDY", help="name of the study, such as BP-dnn")
    command.add_argument("--trial", type=whole(0), help="which trial (default: the best)")
    command.add_argument("--seeds", type=whole(1), default=5, help="new seeds (default: 5)")
    command.add_argument(
        "--seed",
        type=whole(),
        help="the first of them (default: 1000 after the study's first, or after its last)",
    )
    command.add_argument(
        "--episodes", type=whole(1), default=100, help="new episodes for each seed in the end (default: 100)"
    )
    command.add_argument("--name", help="of the study that these trials make (default: STUDY-trialN)")
    _add_storage(command)
    add_import(command)
    _add_workers(command)
    command.set_defaults(run=run_confirm)


def _need_optuna() -> None:
    for module in ("optuna", "sqlalchemy"):
        if not installed(module):
            raise MissingPackageError(f"studies need {module}: pip install 'neuroplastic[study]'")


def run_search(options: argparse.Namespace) -> int:
    """Make trials; exit code 0 when all are complete, 130 when stopped."""
    _need_optuna()
    from ..search.settings import TRIAL
    from ..usecases.studies import StudyRequest, best_of_study, prepare_study
    from .train import field_values

    study = prepare_study(
        StudyRequest(
            task=options.task,
            agent=options.agent,
            trials=options.trials,
            name=options.name,
            preset=options.preset,
            learner=options.learner,
            games=options.games,
            seed=options.seed,
            fields=field_values(options.fields),
            space=options.space,
            prune=options.prune,
            inherit=options.inherit,
            objective=options.objective or TRIAL,
            **_work(options),
        ),
        also_known=options.parser.option_names,
    )
    settings = study.settings
    print(f"study {study.name}: {settings.task}, {settings.agent}; {settings.protocol}", flush=True)
    if settings.inherited:
        taken = ", ".join(
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in settings.inherited.items()
        )
        print(f"inherited from {settings.inherited_from}: {taken}", flush=True)

    def tell(trial: FrozenTrial, done: int) -> None:
        print(f"{done:4}/{options.trials}  {_line(trial)}", flush=True)

    try:
        study.run(tell)
    except KeyboardInterrupt as error:
        return _stopped(error)
    return _print_best(best_of_study(options.storage, study.name))


def _stopped(error: KeyboardInterrupt) -> int:
    print("\nstopped; finished trials are kept: run the same command to go on", flush=True)
    return code_of(error)


def _work(options: argparse.Namespace) -> dict[str, Any]:
    """Where a study lies, and who makes its trials: what `_add_storage` and `_add_workers` ask for."""
    names = ("storage", "workers", "runs", "device", "threads", "retries", "engine", "ray_address")
    return {name: getattr(options, name) for name in names}


def run_confirm(options: argparse.Namespace) -> int:
    """Learn a trial anew; exit code 0 when all seeds are there, 130 when stopped."""
    _need_optuna()
    from ..usecases.confirming import ConfirmRequest, prepare_confirmation

    prepared = prepare_confirmation(
        ConfirmRequest(
            study=options.study,
            trial=options.trial,
            seeds=options.seeds,
            first_seed=options.seed,
            episodes=options.episodes,
            name=options.name,
            **_work(options),
        )
    )
    study = prepared.study
    print(f"study {study.name}: {study.settings.protocol}", flush=True)

    def tell(score: NewScore, done: int) -> None:
        print(
            f"{done:4}/{options.seeds}  seed {score.seed}: {score.mean:.2f}, SD {score.sd:.2f}, on {score.episodes} "
            f"new episodes; best epoch in training {max(score.epochs):.2f}",
            flush=True,
        )

    try:
        found = prepared.run(tell)
    except KeyboardInterrupt as error:
        return _stopped(error)
    searched = prepared.trial
    print(f"trial {searched.number}, one of {prepared.finished}, in the search: {searched.values[0]:.2f}")
    print(_anew(found))
    return 0


def _anew(found: Confirmation) -> str:
    """In one line; where some seeds are not there yet, those are listed that are."""
    seeds, episodes = [score.seed for score in found.scores], f"{found.scores[0].episodes} new episodes"
    if len(seeds) == 1:
        return f"anew, seed {seeds[0]}, {episodes}: mean {found.mean:.2f}"
    all_between = seeds[-1] - seeds[0] == len(seeds) - 1
    told = f"{seeds[0]} to {seeds[-1]}" if all_between else ", ".join(map(str, seeds))
    return f"anew, seeds {told}, {episodes} each: mean {found.mean:.2f}, SD of the seeds {found.sd:.2f}"


def run_status(options: argparse.Namespace) -> int:
    """Print a table of studies."""
    _need_optuna()
    from ..usecases.studies import study_states

    states = study_states(options.storage, options.name)
    if not states:
        print("no studies yet; start one with: neuroplastic study run --task BP --agent dnn")
    for state in states:
        asked = "" if state.asked is None else f"/{state.asked}"
        print(
            f"{state.name}: {state.complete}{asked} complete, {state.running} running, "
            f"{state.failed} failed or stopped"
        )
        if state.best is not None:
            print(f"  best: {_line(state.best)}")
        if state.confirmed is not None:
            print(f"  {_anew(state.confirmed)}")
        print(f"  {state.protocol or 'protocol unknown: not made by this command'}")
    return 0


def run_best(options: argparse.Namespace) -> int:
    """Print the best trial."""
    _need_optuna()
    from ..usecases.studies import best_of_study

    return _print_best(best_of_study(options.storage, options.name))


def _print_best(best: BestTrial) -> int:
    from ..analysis.enough import TO_CHOOSE

    print(f"best of {best.finished} finished trials of {best.study}: {_line(best.trial)}")
    if len(best.tied) > 1:
        print(
            f"  {len(best.tied)} means lie within a standard error of the greatest, {best.tied[0].values[0]:.2f} "
            f"(trial {best.tied[0].number}); among them: slope above 0, then least SD"
        )
    if best.of_half is not None:
        greatest = best.tied[0].values[0]
        print(
            f"  the greatest mean is {greatest:.2f}; of half as many trials it is {best.of_half:.2f} on average, so "
            f"twice as many may bring about {greatest - best.of_half:.2g} more"
        )
    if best.finished < TO_CHOOSE:
        print(f"  from {TO_CHOOSE} trials on the best is likely (.95) among the best tenth of the space")
    for key, value in best.parameters.items():
        print(f"  {key:14} {value:.6g}" if isinstance(value, float) else f"  {key:14} {value}")
    print(f"  protocol       {best.trial.user_attrs['protocol']}")
    return 0


def run_export(options: argparse.Namespace) -> int:
    """Write a preset, a table, or both."""
    _need_optuna()
    from ..usecases.studies import export_study

    written = export_study(
        options.storage, options.name, preset=options.preset, table=options.csv, number=options.trial
    )
    for name in written:
        print(f"wrote {name}")
    return 0


def _line(trial: FrozenTrial) -> str:
    mean, sd, slope = trial.values
    again = f", retry of {trial.user_attrs['retry_of']}" if "retry_of" in trial.user_attrs else ""
    early = f", ended after epoch {len(trial.user_attrs['epochs'])}" if trial.user_attrs.get("pruned") else ""
    return f"trial {trial.number}: mean {mean:.2f}, SD {sd:.2f}, slope {slope:+.3f}{early}{again}"
