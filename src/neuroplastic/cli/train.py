"""`neuroplastic train`: a trial of the paper's protocol, with progress, resumable."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from difflib import get_close_matches

import torch
from tqdm import tqdm

from ..doom.presets import preset
from ..doom.scenarios import scenario
from ..errors import ConfigError
from ..experiment.configuration import RunConfig, leaf_types, leaves, parse, with_values
from ..experiment.run_folder import EpochMetrics, RunFolder
from ..experiment.saved_preset import load_preset
from ..experiment.trial import Progress, Stopped, Summary, Trial


def field_help() -> str:
    """The fields of every configuration, for the end of the help."""
    lines = ["any field of the configuration (defaults: the preset's):"]
    seen: set[str] = set()
    for agent in ("nfn", "dnn"):
        for name, entry, _ in leaves(preset("tuned", "BP", agent)):
            if name not in seen:
                seen.add(name)
                lines.append(f"  --{name.replace('_', '-'):20} {entry.metadata.get('help', '')}")
    return "\n".join(lines)


def run(options: argparse.Namespace) -> int:
    """Train as asked; exit code 0 when the trial is complete, 130 when it was stopped."""
    if options.threads:
        torch.set_num_threads(options.threads)
    device = usable_device(options.device)
    values = field_values(options.fields)
    if options.resume:
        if values or options.scenario or options.agent or options.preset or options.runs:
            raise ConfigError(
                "--resume goes on with the run's own configuration: give no scenario, --agent, --preset, --runs "
                "or fields"
            )
        folder = RunFolder.open(options.resume)
        config = folder.config()
    else:
        if not options.scenario:
            raise ConfigError("name a scenario (BP, BR, PP, HTL, DTC, TC, GH) or --resume RUN")
        config = configured(
            options.scenario,
            options.agent or "nfn",
            options.preset or "tuned",
            values,
            own=options.parser.option_names,
        )
        folder = RunFolder.create(options.runs or "runs", config)
    try:
        prepared = Trial(config, folder, device=device)
    except BaseException:
        if not options.resume:
            shutil.rmtree(folder.path)  # a run that never began must not take the name of the next
        raise
    with prepared as trial, interruptible(trial):
        try:
            if options.resume:
                print(f"going on with {folder.path} after step {trial.resume()}")
            else:
                print(f"run folder: {folder.path}")
            summary = show(trial, seconds=options.seconds)
        except Stopped:
            print(f"\nstopped after step {trial.trainer.steps}; go on with: {folder.how_to_resume()}")
            return 130
    report(config, summary)
    if len(trial.metrics) < config.protocol.epochs:
        print(f"time is up after epoch {len(trial.metrics)}; go on with: {folder.how_to_resume()}")
    return 0


def configured(
    scenario_name: str, agent: str, preset_name: str, texts: dict[str, str], *, own: Sequence[str]
) -> RunConfig:
    """A preset with fields changed, given as text; `own` are the command's options, which a typo may mean too."""
    saved = preset_name.endswith(".json")
    base = (
        load_preset(preset_name, scenario_name, agent) if saved else preset(preset_name, scenario_name, agent)
    )
    kinds = leaf_types(base)
    for name in texts:
        near = get_close_matches(name, own, n=1, cutoff=0.75)
        if name not in kinds and near:
            raise ConfigError(f"unknown option '--{name}'; did you mean '--{near[0]}'?")
    values = {name: parse(name, kinds.get(name, str), text) for name, text in texts.items()}
    config: RunConfig = with_values(base, values)
    return config


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


def usable_device(name: str) -> torch.device:
    """The device of that name, if there is one that a run can use, else a ConfigError."""
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise ConfigError(f"--device must be cpu, cuda or cuda:NUMBER, got {name!r}")
    if device.type == "cuda":
        count = torch.cuda.device_count()
        if count == 0:
            raise ConfigError(f"--device {name}: this PyTorch sees no CUDA device; use --device cpu")
        if (device.index or 0) >= count:
            raise ConfigError(f"--device {name}: the last CUDA device here is cuda:{count - 1}")
    return device


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
    protocol = trial.config.protocol
    total = protocol.epochs * protocol.steps_per_epoch
    with _events(trial) as write, tqdm(total=total, initial=trial.trainer.steps, unit="step") as bar:
        bar.set_description(f"{trial.config.scenario} {trial.config.agent}")

        def on_progress(progress: Progress) -> None:
            latest = progress.latest
            shown = {"score": "-" if latest is None else f"{latest.mean:.4g}"}
            if trial.config.agent == "nfn":
                shown["born"] = str(progress.born)
                if latest is not None and latest.rules_firing is not None:
                    shown["rules firing"] = f"{latest.rules_firing:.0f}"
            if progress.evaluated is not None:
                shown["evaluated"] = f"{progress.evaluated}/{protocol.episodes}"
            elif progress.step is not None:
                bar.update()
            elif latest is not None:
                write(latest)
                bar.write(_epoch_line(latest))
            bar.set_postfix(shown, refresh=progress.evaluated is not None)

        return trial.run(on_progress, seconds=seconds)


def _epoch_line(m: EpochMetrics) -> str:
    grown = f", {m.born} sets born, {m.rules_firing:.1f} rules firing" if m.rules_firing is not None else ""
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
                for name in ("mean", "sd", "loss", "exploration", "sets", "born", "rules_firing"):
                    value = getattr(m, name)
                    if value is not None:
                        writer.add_scalar(f"trial/{name}", value, m.steps)  # type: ignore[no-untyped-call]

            yield write

    return writing()


def report(config: RunConfig, summary: Summary) -> None:
    """Print a trial's figures beside random play's and the paper's."""
    game = scenario(config.scenario)
    theirs = game.paper_nfn if config.agent == "nfn" else game.paper_dnn
    best, last = summary.best, summary.last
    print(f"{game.key} ({game.title}), {config.agent}, preset {config.preset}, seed {config.seed}:")
    print(f"  best epoch  {best.mean:9.2f} +- {best.sd:.2f} (epoch {best.epoch})")
    print(f"  last epoch  {last.mean:9.2f} +- {last.sd:.2f}, slope {summary.slope:+.2f} per epoch")
    print(
        f"  random play {game.random_play:9.2f}    the paper's best trial {theirs.mean:.2f} +- {theirs.sd:.2f}"
    )
