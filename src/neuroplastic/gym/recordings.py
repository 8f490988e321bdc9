"""Recordings as Minari data sets, both ways."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ConfigError, InputError, MissingPackageError, in_short
from ..experiment.protocols import Task
from ..learn.offline.recording import Episode, Recording

PICTURE, OBJECTS, VALUES = "picture", "objects", "action_values"


def write_recording(
    path: str | os.PathLike[str], task: Task, episodes: Iterable[Episode], *, player: str
) -> Recording:
    """Write a Minari data set, a folder that `minari.MinariDataset(path)` opens; what was written is handed back.

    Where there are pictures beside attributes, observations are dictionaries of "picture" and "objects"; what the
    player thought of its actions is in the infos, "action_values".
    """
    minari, spaces = need_minari()
    target = Path(path)
    if target.exists():
        raise ConfigError(f"{target} exists and is not overwritten; choose another name")
    kept = list(episodes)
    recording = Recording(tuple(kept), len(task.actions))
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place, so that it appears there by a change of name: whole or not at all.
    beside = tempfile.TemporaryDirectory(prefix=f".{target.name}-new-", dir=target.parent.absolute())
    with beside as folder, _datasets_in(folder), warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", module="minari"
        )  # it would like to know an author, and an environment's id
        name = re.sub(r"[^A-Za-z0-9]+", "", task.key) or "task"
        made = minari.create_dataset_from_buffers(
            f"neuroplastic/{name}-v0",
            [_buffer(minari, number, episode) for number, episode in enumerate(kept)],
            observation_space=_space(spaces, task, kept[0]),
            action_space=spaces.Discrete(len(task.actions)),
            algorithm_name=player,
            description=f"{task.title}, played by {player}. Actions: {', '.join(task.actions)}. "
            f"Attributes: {', '.join(task.observation.attribute_names) or 'none, pictures'}.",
            jpeg_encoding=False,
        )
        Path(made.storage.data_path).rename(target)
    return recording


def read_recording(path: str | os.PathLike[str], *, part: str | None = None) -> Recording:
    """A Minari data set with discrete actions, by its folder, or by its name where Minari knows it.

    Of observations that are dictionaries `part` says which entry is meant (default: "objects").
    """
    minari, spaces = need_minari()
    try:
        if Path(path).is_dir():
            here = Path(path) / "data" if (Path(path) / "data").is_dir() else Path(path)
            data = minari.MinariDataset(here)
        else:
            data = minari.load_dataset(str(path))
    except Exception as error:  # whatever kind: Minari takes what it reads for its own
        raise InputError(f"{path} is no Minari data set that can be read: {in_short(error)}") from error
    if not isinstance(data.action_space, spaces.Discrete):
        raise InputError(f"{path} must have discrete actions, got {in_short(data.action_space)}")
    first = int(data.action_space.start)
    try:
        episodes = tuple(_episode(each, first, part) for each in data.iterate_episodes())
        return Recording(episodes, int(data.action_space.n))
    except Exception as error:  # as above; our own say what is wrong, too
        raise InputError(f"{path} is no Minari data set that can be read: {in_short(error)}") from error


def need_minari() -> tuple[Any, Any]:
    """Minari and Gymnasium's spaces, or a MissingPackageError that names the extra."""
    try:
        import minari
        from gymnasium import spaces
    except ImportError as error:
        raise MissingPackageError(
            f"recordings need Minari ({error}): pip install 'neuroplastic[recordings]'"
        ) from error
    return minari, spaces


class _datasets_in:  # noqa: N801
    """Minari keeps data sets in one folder, which a variable names; here it is another one."""

    def __init__(self, folder: str) -> None:
        self._folder, self._before = folder, os.environ.get("MINARI_DATASETS_PATH")

    def __enter__(self) -> None:
        os.environ["MINARI_DATASETS_PATH"] = self._folder

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            os.environ.pop("MINARI_DATASETS_PATH", None)
        else:
            os.environ["MINARI_DATASETS_PATH"] = self._before


def _space(spaces: Any, task: Task, example: Episode) -> Any:
    seen = task.observation
    if seen.is_picture:
        return spaces.Box(0, 255, seen.shape, np.uint8)
    vector = spaces.Box(np.array(seen.low, np.float32), np.array(seen.high, np.float32), dtype=np.float32)
    if example.pictures is None:
        return vector
    return spaces.Dict({PICTURE: spaces.Box(0, 255, example.pictures.shape[1:], np.uint8), OBJECTS: vector})


def _buffer(minari: Any, number: int, episode: Episode) -> Any:
    steps = len(episode.actions)
    observations: Any = episode.observations
    if episode.pictures is not None:
        observations = {PICTURE: episode.pictures, OBJECTS: episode.observations}
    ends = np.arange(steps) == steps - 1
    infos = None
    if episode.values is not None:
        # One for each observation: Minari wants them so; of the last one nothing was asked.
        infos = {VALUES: np.concatenate([episode.values, np.zeros_like(episode.values[:1])])}
    return minari.data_collector.EpisodeBuffer(
        id=number,
        seed=episode.seed,
        options={"episode": episode.number},
        observations=observations,
        actions=episode.actions,
        rewards=episode.rewards.tolist(),
        terminations=(ends & episode.terminated).tolist(),
        truncations=(ends & (not episode.terminated)).tolist(),
        infos=infos,
    )


def _episode(found: Any, first: int, part: str | None) -> Episode:
    seen, pictures = found.observations, None
    if isinstance(seen, dict):
        wanted = part or (OBJECTS if OBJECTS in seen else next(iter(seen)))
        if wanted not in seen:
            raise InputError(f"observations have {', '.join(seen)}, there is no {wanted!r}")
        pictures = np.asarray(seen[PICTURE]) if PICTURE in seen and wanted != PICTURE else None
        seen = seen[wanted]
    seen = np.asarray(seen)
    if seen.ndim == 1:  # a discrete observation: a number as a vector of one
        seen = seen[:, None]
    if seen.dtype != np.uint8:
        seen = seen.astype(np.float32)
    infos = found.infos or {}
    values = np.asarray(infos[VALUES], np.float32)[: len(found.actions)] if VALUES in infos else None
    return Episode(
        seen,
        np.asarray(found.actions, np.int64) - first,
        np.asarray(found.rewards, np.float32),
        bool(np.asarray(found.terminations)[-1]),
        int(found.id),
        None,
        values,
        pictures,
    )
