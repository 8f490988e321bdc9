"""A configuration kept in a file, with where it comes from, for `neuroplastic train --preset FILE.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..doom.scenarios import scenario
from ..errors import ConfigError
from .configuration import RunConfig, as_json, from_json

FORMAT = "neuroplastic preset 1"


def preset_text(config: RunConfig, origin: Mapping[str, Any]) -> str:
    """The file's content; `origin` says which study, trial and protocol the configuration comes from."""
    return json.dumps({"format": FORMAT, "origin": dict(origin), "config": as_json(config)}, indent=1) + "\n"


def load_preset(path: str | os.PathLike[str], scenario_name: str, agent: str) -> RunConfig:
    """The configuration of a file, which must be for this scenario and agent."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ConfigError(f"{path} has format {content['format']!r}, this version reads {FORMAT!r}")
        config = from_json(content["config"])
    except OSError as error:
        raise ConfigError(f"the preset {path} cannot be read: {error.strerror}") from error
    except (KeyError, TypeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} is not a preset (write one with: neuroplastic study export --preset FILE.json)"
        ) from error
    asked = (scenario(scenario_name).key, agent)
    if asked != (config.scenario, config.agent):
        raise ConfigError(
            f"{path} is a preset for {config.scenario} --agent {config.agent}, not for {asked[0]} --agent {asked[1]}"
        )
    return config
