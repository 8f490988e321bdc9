"""`neuroplastic train`: a trial with progress, resumable."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from .. import catalog
from ..errors import ConfigError
from ..experiment.configuration import RunConfig
from ..experiment.options import options as fields_of
from ..experiment.options import with_values
from ..experiment.run_folder import EpochMetrics
from ..experiment.tasks import find_task
from ..experiment.trial import Progress as Told
from ..experiment.trial import Stopped, Summary, Trial
from ..memory import keep_freed_memory
from ..usecases.devices import threads_in_use
from ..usecases.opening import open_run
from ..usecases.training import TrainRequest, begin_run, configuration, resume_run, started
from .progress import Meter


def field_help() -> str:
    """The fields of every configuration, for the end of the help."""
    lines = ["any field of the configuration (defaults: the preset's):"]
    seen: set[str] = set()
    for config in _one_of_every_kind():
        for option in fields_of(config):
            if option.name not in seen:
                seen.add(option.name)
                lines.append(f"  --{option.name.replace('_', '-'):24} {option.help}")
    lines += ["and for Gymnasium environments:"]
    lines += [f"  --{'frame-stack':24} how many observations, the newest last, are seen at once"]
    lines += [f"  --{'names':24} names of the attributes, with commas between"]
    return "\n".join(lines)


def _one_of_every_kind() -> Iterator[RunConfig]:
    """Configurations in which every agent, learner, encoder and kind of conclusion occurs."""
    for agent in reversed(catalog.names("head")):
        for learner in catalog.names("learner"):
            yield find_task("BP").preset("tuned", agent, learner)
    rules = find_task("BP").preset("tuned", "nfn")
    for group in ("encoder", "consequent"):
        for name in catalog.names(group):
            yield with_values(rules, {group: name})


def run(options: argparse.Namespace) -> int:
    """Train as asked; exit code 0 when the trial is complete, 130 when it was stopped."""
    prepared = _resumed(options) if options.resume else _begun(options)
    wanted = options.computing_threads or prepared.threads_before
    keep_freed_memory()
    with prepared as trial, interruptible(trial), threads_in_use(wanted, options.device):
        try:
            summary = show(trial, seconds=options.seconds)
        except Stopped:
            print(f"\nstopped after step {trial.trainer.steps}; go on with: {trial.folder.how_to_resume()}")
            return 130
    report(trial.config, summary)
    diagnosis = trial.diagnose()
    if diagnosis is not None:
        print(f"After epoch {summary.last.epoch}, on observations of training: {diagnosis}")
    if len(trial.metrics) < trial.config.protocol.epochs:
        print(f"time is up after epoch {len(trial.metrics)}; go on with: {trial.folder.how_to_resume()}")
    return 0


def _resumed(options: argparse.Namespace) -> Trial:
    values = field_values(options.fields)
    epochs = values.pop("epochs", None)
    given = (options.task, options.agent, options.preset, options.learner, options.runs, options.start)
    if values or any(given):
        raise ConfigError(
            "--resume goes on with the run's own configuration: give no TASK, --agent, --preset, --learner, --runs, "
            "--from or fields but --epochs"
        )
    if epochs is not None and not epochs.isdecimal():
        raise ConfigError(f"epochs must be a whole number, got {epochs!r}")
    trial, step = resume_run(
        options.resume, epochs=None if epochs is None else int(epochs), device=options.device
    )
    print(f"going on with {trial.folder.path} after step {step}")
    return trial


def _begun(options: argparse.Namespace) -> Trial:
    known = options.parser.option_names
    if options.start and not options.task:
        if any((options.agent, options.preset, options.learner)):
            raise ConfigError(
                "--from has its run's configuration: give a TASK too, or no --agent, --preset or --learner"
            )
        found, config = started(options.start, field_values(options.fields), also_known=known)
        return _told(begin_run(config, runs=options.runs or "runs", device=options.device, start=found))
    if not options.task:
        raise ConfigError(
            "name a TASK (a DOOM scenario such as BP, or a Gymnasium id such as CartPole-v1) or --resume RUN"
        )
    request = TrainRequest(
        options.task,
        options.agent,
        options.preset,
        options.learner,
        field_values(options.fields),
        start=options.start,
    )
    config = configuration(request, also_known=known)
    start = None if options.start is None else open_run(options.start)
    return _told(begin_run(config, runs=options.runs or "runs", device=options.device, start=start))


def _told(trial: Trial) -> Trial:
    print(f"run folder: {trial.folder.path}")
    return trial


def field_values(words: list[str]) -> dict[str, str]:
    """Words `--some-field=value` as a dictionary."""
    values: dict[str, str] = {}
    for word in words:
        if not word.startswith("--"):
            raise ConfigError(f"expected --field value, got {word!r}")
        name, _, value = word[2:].partition("=")
        if not value:
            raise ConfigError(f"--{name} needs a value")
        values[name.replace("-", "_")] = value
    return values


@contextmanager
def interruptible(trial: Trial) -> Iterator[None]:
    """Let the first Ctrl-C stop the trial cleanly and a second one end the program at once."""

    def stop(number: int, _: object) -> None:
        trial.stop_requested = True
        signal.signal(number, signal.default_int_handler)
        print("\nstopping after this step (Ctrl-C again to stop at once)", file=sys.stderr)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def show(trial: Trial, *, seconds: float | None = None) -> Summary:
    """Run a trial under a progress bar, with events for TensorBoard."""
    config, protocol = trial.config, trial.config.protocol
    what = f"{config.task.key} {config.agent}"
    with (
        _events(trial) as write,
        Meter(what, protocol.steps, unit="step", done=trial.trainer.steps) as bar,
    ):

        def on_progress(told: Told) -> None:
            bar.show(_figures(config, told))
            if told.step is not None:
                bar.update(told.step.step - bar.done)
            elif told.evaluated is None and told.latest is not None:
                write(told.latest)
                bar.write(_epoch_line(told.latest))

        return trial.run(on_progress, seconds=seconds)


def _figures(config: RunConfig, told: Told) -> str:
    latest = told.latest
    shown = [f"score {'-' if latest is None else format(latest.mean, '.4g')}"]
    if config.agent == "nfn":
        shown.append(f"born {told.born}")
        if latest is not None and latest.rules_firing is not None:
            shown.append(f"rules firing {latest.rules_firing:.0f}")
    if told.evaluated is not None:
        shown.append(f"evaluated {told.evaluated}/{config.protocol.episodes}")
    return ", ".join(shown)


def _epoch_line(m: EpochMetrics) -> str:
    grown = f", {m.born} sets born, {m.rules_firing:.1f} rules firing" if m.rules_firing is not None else ""
    if "carry" in m.figures:
        grown += f", {m.figures['leading_rules']:.1f} leading, carry {m.figures['carry']:.2f}"
    return f"epoch {m.epoch:2}: {m.mean:.2f} +- {m.sd:.2f} over the episodes ({m.least:.4g} to {m.most:.4g}){grown}"


def _events(trial: Trial) -> AbstractContextManager[Callable[[EpochMetrics], None]]:
    """A function that writes an epoch's metrics as TensorBoard events; does nothing where that is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return nullcontext(lambda _: None)

    @contextmanager
    def writing() -> Iterator[Callable[[EpochMetrics], None]]:
        with SummaryWriter(str(trial.folder.path), purge_step=trial.trainer.steps + 1) as writer:  # type: ignore[no-untyped-call]

            def write(m: EpochMetrics) -> None:
                skipped = ("epoch", "steps", "least", "most", "training_episodes")
                for name, value in m.row().items():
                    if value is not None and name not in skipped:
                        writer.add_scalar(f"trial/{name}", value, m.steps)  # type: ignore[no-untyped-call]

            yield write

    return writing()


def report(config: RunConfig, summary: Summary) -> None:
    """Print a trial's figures, and beside them what others score."""
    task, best, last = config.task, summary.best, summary.last
    title = f" ({task.title})" if task.title != task.key else ""
    print(f"{task.key}{title}, {config.agent}, preset {config.preset}, seed {config.seed}:")
    print(f"  best epoch  {best.mean:9.2f} +- {best.sd:.2f} (epoch {best.epoch})")
    print(f"  last epoch  {last.mean:9.2f} +- {last.sd:.2f}, slope {summary.slope:+.2f} per epoch")
    for who, score in task.scores.items():
        spread = "" if score.sd is None else f" +- {score.sd:.2f}"
        print(f"  {who:11} {score.mean:9.2f}{spread}")
