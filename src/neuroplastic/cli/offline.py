"""`neuroplastic record-play` and `offline`: recordings, and what is learned from them."""

from __future__ import annotations

import argparse

from ..errors import ConfigError
from ..experiment.run_folder import EpochMetrics
from ..usecases.offline import (
    PlayRequest,
    begin_offline,
    offline_configuration,
    record_to_file,
    resume_offline,
)
from .progress import Meter
from .train import field_values


def run_record_play(options: argparse.Namespace) -> int:
    """Record."""
    request = PlayRequest(
        options.player,
        options.out,
        options.task,
        options.episodes,
        options.seed,
        options.observe,
        options.random,
    )
    with Meter("recording", options.episodes, unit="episode") as bar:
        made = record_to_file(request, on_episode=bar.update)
    print(
        f"{options.out}: {len(made.episodes)} episodes, {len(made)} decisions, mean score {made.mean_score:.4g}"
    )
    return 0


def run_offline(options: argparse.Namespace) -> int:
    """Learn from a recording."""
    if options.resume is None:
        if options.task is None or options.data is None:
            raise ConfigError("offline needs a TASK and --data FILE, or --resume RUN")
        fields = field_values(options.fields)
        config = offline_configuration(
            options.task,
            options.data,
            agent=options.agent,
            method=options.method,
            fields=fields,
            seed=options.seed,
        )
        trial = begin_offline(config, runs=options.runs)
    else:
        given = field_values(options.fields)
        epochs = given.pop("epochs", None)
        if given or options.task or options.data or (epochs is not None and not epochs.isdecimal()):
            raise ConfigError(
                "--resume goes on with the run's own configuration: give nothing but --epochs N"
            )
        trial = resume_offline(options.resume, epochs=None if epochs is None else int(epochs))

    def told(made: EpochMetrics) -> None:
        print(f"epoch {made.epoch}: score {made.mean:.4g} +- {made.sd:.3g}, loss {made.loss:.4g}", flush=True)

    summary = trial.run(told)
    print(f"best {summary.best.mean:.4g} (epoch {summary.best.epoch}); {trial.folder.path}")
    return 0
