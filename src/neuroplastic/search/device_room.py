"""Whether the trials that a study makes at once fit on one GPU: looked at before the first begins."""

from __future__ import annotations

import torch

from ..errors import ConfigError
from ..experiment.configuration import RunConfig
from ..experiment.options import with_values
from ..learn.device_memory import free_bytes, learner_bytes
from .settings import StudySettings
from .space import Steps

# What a process keeps on a GPU beside its replay memory: libraries, networks, optimizer, recorded graphs.
PER_PROCESS = 1_000_000_000


def largest_trial(settings: StudySettings) -> RunConfig:
    """The configuration with the largest memory that the study may draw."""
    space, config = settings.space(), settings.base(settings.seed)
    drawn = space.get("memory_size")
    if isinstance(drawn, Steps):
        config = with_values(config, {"memory_size": drawn.high})
    elif "memory_size" in settings.inherited:
        config = with_values(config, {"memory_size": settings.inherited["memory_size"]})
    return config


def check_room_for_workers(settings: StudySettings, workers: int, device: torch.device) -> None:
    """Raise a ConfigError unless so many trials at once fit on the device, each with the largest memory there is."""
    free = free_bytes(device)
    if free is None:
        return
    config = largest_trial(settings)
    memory = learner_bytes(config.learner, config.task.observation)
    each = memory + PER_PROCESS
    if workers * each <= free:
        return
    fitting = free // each
    raise ConfigError(
        f"{workers} workers need up to {workers * each / 1e9:.1f} GB on {device} ({memory / 1e9:.2f} GB of memory for "
        f"each and about {PER_PROCESS / 1e9:.0f} GB beside it), and {free / 1e9:.1f} GB are free there; "
        + (f"use --workers {fitting}, or" if fitting else "use")
        + " --device cpu"
    )
