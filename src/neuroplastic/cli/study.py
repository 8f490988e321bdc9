"""`neuroplastic study`: the paper's searches, on one machine or many, stoppable and resumable."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError, MissingPackageError
from .arguments import installed, whole

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

    from ..search.studies import StudySettings

_SETTINGS = {
    "preset": ("paper", "what the search leaves open: paper or tuned"),
    "epochs": (10, "epochs of a trial"),
    "steps_per_epoch": (500, "training steps of an epoch"),
    "episodes": (25, "greedy episodes after each epoch"),
    "picture": ("paper", "rendering: paper (640x480) or fast (160x120)"),
    "games": (1, "games that a worker plays at once in evaluation"),
    "seed": (0, "seed of the search and of its trials"),
}


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    group = commands.add_parser("study", help="search for hyperparameters, as in the paper")
    actions = group.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_run(actions)
    status = actions.add_parser("status", help="how far the studies of a storage are")
    best = actions.add_parser("best", help="the best trial, by the paper's rule")
    export = actions.add_parser("export", help="the best trial as a preset, all trials as CSV")
    status.add_argument("name", nargs="?", metavar="STUDY", help="one study only (default: all)")
    for command in (best, export):
        command.add_argument("name", metavar="STUDY", help="name of the study, such as BP-dnn")
    export.add_argument("--preset", metavar="FILE.json", help="for `neuroplastic train --preset FILE.json`")
    export.add_argument("--csv", metavar="FILE.csv", help="a row per finished trial")
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
    )
    run.add_argument("--task", required=True, help="BP, BR, PP, HTL, DTC, TC or GH")
    run.add_argument(
        "--agent",
        required=True,
        choices=("dnn", "nfn"),
        metavar="AGENT",
        help="dnn (plain network) or nfn (neuro-fuzzy)",
    )
    run.add_argument("--trials", type=whole(1), default=720, help="finished trials wanted (default: 720)")
    run.add_argument("--workers", type=whole(1), default=os.cpu_count() or 1, help="default: one per core")
    run.add_argument("--name", help="of the study (default: TASK-AGENT)")
    _add_storage(run)
    for name, (default, text) in _SETTINGS.items():
        kind = whole() if isinstance(default, int) else str
        run.add_argument(
            f"--{name.replace('_', '-')}", type=kind, default=default, help=f"{text} (default: {default})"
        )
    run.add_argument(
        "--inherit",
        metavar="STUDY",
        help="nfn: take frame skip, batch, memory and discount from the best trial of this study, or of the "
        "paper with 'paper' (default: TASK-dnn of the same storage)",
    )
    run.add_argument("--runs", default="runs/studies", metavar="FOLDER", help="where trials keep checkpoints")
    run.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    run.add_argument("--threads", type=whole(1), default=1, help="threads of each worker (default: 1)")
    run.add_argument("--retries", type=whole(0), default=3, help="of a trial whose worker died (default: 3)")
    run.add_argument(
        "--engine",
        default="processes",
        choices=("processes", "ray"),
        metavar="ENGINE",
        help="processes (default) or ray",
    )
    run.add_argument("--ray-address", metavar="HOST:PORT", help="of a Ray cluster (default: the running one)")
    run.add_argument("--objective", help=argparse.SUPPRESS)
    run.set_defaults(run=run_search)


def _need_optuna() -> None:
    for module in ("optuna", "sqlalchemy"):
        if not installed(module):
            raise MissingPackageError(f"studies need {module}: pip install 'neuroplastic[study]'")


def run_search(options: argparse.Namespace) -> int:
    """Make trials; exit code 0 when all are complete, 130 when stopped."""
    _need_optuna()
    from ..doom.scenarios import scenario
    from ..search.storage import open_storage, storage_url
    from ..search.studies import create_study
    from ..search.worker import Job
    from .train import usable_device

    scenario(options.task)
    if options.engine == "processes":
        usable_device(options.device)
    _checked_settings(options)
    storage = open_storage(options.storage)
    name = options.name or f"{scenario(options.task).key}-{options.agent}"
    settings = create_study(storage, name, _settings(options, storage, name))
    job = Job(
        storage=storage_url(options.storage),
        study=name,
        trials=options.trials,
        runs=os.path.abspath(options.runs),
        device=options.device,
        threads=options.threads,
        retries=options.retries,
    )
    print(f"study {name}: {settings.task}, {settings.agent}; {settings.protocol}", flush=True)
    if settings.inherited:
        taken = ", ".join(
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in settings.inherited.items()
        )
        print(f"inherited from {settings.inherited_from}: {taken}", flush=True)
    try:
        _engine(options, job)
    except KeyboardInterrupt:
        print("\nstopped; finished trials are kept: run the same command to go on", flush=True)
        return 130
    return _print_end(storage, name)


def _engine(options: argparse.Namespace, job: Any) -> None:
    def tell(trial: FrozenTrial, done: int) -> None:
        print(f"{done:4}/{job.trials}  {_line(trial)}", flush=True)

    if options.engine == "ray":
        from ..search.ray_engine import run_on_ray

        run_on_ray(job, options.workers, tell, address=options.ray_address)
    else:
        from ..search.workers import run_workers

        run_workers(job, options.workers, tell)


def _checked_settings(options: argparse.Namespace) -> StudySettings:
    """The settings but for what is inherited: mistakes are found before a storage is touched."""
    from ..search.studies import StudySettings

    if options.agent == "dnn" and options.inherit:
        raise ConfigError("--inherit is for --agent nfn: the plain agent searches all of its own values")
    values = {key: getattr(options, key) for key in _SETTINGS}
    if options.objective:
        values["objective"] = options.objective
    return StudySettings(task=options.task, agent=options.agent, **values)


def _settings(options: argparse.Namespace, storage: optuna.storages.RDBStorage, name: str) -> StudySettings:
    from ..search.studies import StudyError, load_study

    settings = _checked_settings(options)
    if options.agent == "nfn":
        there: dict[str, Any] = {}
        if not options.inherit:
            # A study that was begun goes on with what it took over then.
            try:
                there = load_study(storage, name).user_attrs.get("settings", {})
            except StudyError:
                there = {}
        taken = there or _inherited(options, storage)
        return replace(settings, inherited=taken["inherited"], inherited_from=taken["inherited_from"])
    return settings


def _inherited(options: argparse.Namespace, storage: optuna.storages.RDBStorage) -> dict[str, Any]:
    from ..doom.presets import PAPER_DNN
    from ..doom.scenarios import scenario
    from ..search.best import best_trial
    from ..search.space import inherited_from
    from ..search.studies import StudyError, load_study, settings_of

    key = scenario(options.task).key
    if options.inherit == "paper":
        return {
            "inherited": inherited_from(PAPER_DNN[key]._asdict()),
            "inherited_from": "the paper's best DNN",
        }
    source = options.inherit or f"{key}-dnn"
    try:
        study = load_study(storage, source)
        trial = best_trial(study)
    except StudyError as error:
        raise StudyError(
            f"the neuro-fuzzy agent takes frame skip, batch, memory and discount from the plain agent's best trial, "
            f"but {error}. Run `neuroplastic study run --task {key} --agent dnn` first, name its study with "
            "--inherit STUDY, or take the paper's with --inherit paper"
        ) from None
    if settings_of(study).task != key:
        raise ConfigError(f"study {source!r} is of task {settings_of(study).task}, not of {key}")
    return {
        "inherited": inherited_from(trial.params),
        "inherited_from": f"trial {trial.number} of study {source} ({settings_of(study).protocol})",
    }


def run_status(options: argparse.Namespace) -> int:
    """Print a table of studies."""
    _need_optuna()
    import optuna as optuna_
    from optuna.trial import TrialState

    from ..search.best import best_of
    from ..search.slots import Slots
    from ..search.storage import open_storage
    from ..search.studies import load_study

    storage = open_storage(options.storage, create=False)
    names = [options.name] if options.name else sorted(optuna_.get_all_study_names(storage))
    if not names:
        print("no studies yet; start one with: neuroplastic study run --task BP --agent dnn")
    for name in names:
        study = load_study(storage, name)
        trials = study.get_trials(deepcopy=False)
        number = {state: sum(trial.state == state for trial in trials) for state in TrialState}
        slots = Slots(storage.engine, name)
        asked = f"/{sum(slots.count().values())}" if slots.exist() else ""
        print(
            f"{name}: {number[TrialState.COMPLETE]}{asked} complete, {number[TrialState.RUNNING]} running, "
            f"{number[TrialState.FAIL]} failed or stopped"
        )
        finished = [trial for trial in trials if trial.state == TrialState.COMPLETE]
        if finished and "settings" in study.user_attrs:  # another's study may have other objectives
            print(f"  best: {_line(best_of(finished))}")
        print(f"  {study.user_attrs.get('protocol', 'protocol unknown: not made by this command')}")
    return 0


def run_best(options: argparse.Namespace) -> int:
    """Print the best trial."""
    _need_optuna()
    from ..search.storage import open_storage
    from ..search.studies import load_study

    return _print_best(load_study(open_storage(options.storage, create=False), options.name))


def _print_end(storage: optuna.storages.RDBStorage, name: str) -> int:
    from ..search.studies import load_study

    return _print_best(load_study(storage, name))


def _print_best(study: optuna.Study) -> int:
    from ..search.best import best_trial, near_ties
    from ..search.studies import complete, settings_of

    settings = settings_of(study)  # first of all: the best of another's study means nothing
    trial, finished = best_trial(study), complete(study)
    print(f"best of {len(finished)} finished trials of {study.study_name}: {_line(trial)}")
    tied = near_ties(finished)
    if len(tied) > 1:
        print(
            f"  {len(tied)} means lie within a standard error of the greatest, {tied[0].values[0]:.2f} (trial "
            f"{tied[0].number}); among them: slope above 0, then least SD"
        )
    for key, value in {**settings.inherited, **trial.params}.items():
        print(f"  {key:14} {value:.6g}" if isinstance(value, float) else f"  {key:14} {value}")
    print(f"  protocol       {trial.user_attrs['protocol']}")
    return 0


def run_export(options: argparse.Namespace) -> int:
    """Write a preset, a table, or both."""
    _need_optuna()
    from ..search.best import best_trial
    from ..search.export import export_preset, export_table, write_new
    from ..search.storage import open_storage
    from ..search.studies import StudyError, complete, load_study, settings_of

    if not options.preset and not options.csv:
        raise ConfigError("say what to write: --preset FILE.json, --csv FILE.csv, or both")
    study = load_study(open_storage(options.storage, create=False), options.name)
    settings_of(study)  # refuses another's study
    trial = best_trial(study)
    if options.trial is not None:
        chosen = [entry for entry in complete(study) if entry.number == options.trial]
        if not chosen:
            raise StudyError(f"study {options.name!r} has no finished trial {options.trial}")
        trial = chosen[0]
    contents = {}
    if options.preset:
        if not options.preset.endswith(".json"):
            raise ConfigError(f"--preset must name a .json file, got {options.preset!r}")
        contents[options.preset] = export_preset(study, trial)
    if options.csv:
        contents[options.csv] = export_table(study)
    write_new(contents)
    for name in contents:
        print(f"wrote {name}")
    return 0


def _line(trial: FrozenTrial) -> str:
    mean, sd, slope = trial.values
    again = f", retry of {trial.user_attrs['retry_of']}" if "retry_of" in trial.user_attrs else ""
    return f"trial {trial.number}: mean {mean:.2f}, SD {sd:.2f}, slope {slope:+.3f}{again}"
