"""A configuration kept in a file, with where it comes from, for `neuroplastic train --preset FILE.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from .. import safe_json
from ..errors import ConfigError
from .configuration import RunConfig, as_json, from_json
from .protocols import Task

FORMAT = "neuroplastic preset 1"


def preset_text(config: RunConfig, origin: Mapping[str, Any]) -> str:
    """The file's content; `origin` says which study, trial and protocol the configuration comes from."""
    return json.dumps({"format": FORMAT, "origin": dict(origin), "config": as_json(config)}, indent=1) + "\n"


def load_preset(path: str | os.PathLike[str], task: Task, agent: str) -> RunConfig:
    """The configuration of a file, which must be for this task and agent."""
    try:
        content = safe_json.read(path)
        if content["format"] != FORMAT:
            raise ConfigError(f"{path} has format {content['format']!r}, this version reads {FORMAT!r}")
        config = from_json(content["config"])
    except OSError as error:
        raise ConfigError(f"the preset {path} cannot be read: {error.strerror}") from error
    except (KeyError, TypeError, safe_json.JsonError) as error:
        raise ConfigError(
            f"{path} is not a preset (write one with: neuroplastic study export --preset FILE.json)"
        ) from error
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    if (task.key, agent) != (config.task.key, config.agent):
        raise ConfigError(
            f"{path} is a preset for {config.task.key} --agent {config.agent}, not for {task.key} --agent {agent}"
        )
    return config
