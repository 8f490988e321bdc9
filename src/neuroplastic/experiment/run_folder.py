"""A run on disk: its configuration, metrics, births, best network and checkpoints."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from safetensors.torch import load_file
from safetensors.torch import save as as_bytes
from torch import nn

from .. import safe_json
from ..catalog import UnknownKindError
from ..decoding import decoded
from ..errors import NeuroplasticError, in_short
from ..learn.checkpoint import Checkpoint, CheckpointStore
from ..learn.offline.config import OfflineConfig
from ..locks import FileLock, HeldError
from ..whole_files import need_regular, write_whole
from .agent import neuro_fuzzy_parts
from .configuration import RunConfig, TrialProtocol, as_json, from_json
from .earlier import upgraded
from .tasks import modules_of


class RunError(NeuroplasticError):
    """A run folder is missing, is not one, or is in the way."""


@dataclass(frozen=True)
class EpochMetrics:
    """What one epoch of training and its evaluation gave."""

    epoch: int
    steps: int
    mean: float
    sd: float
    least: float
    most: float
    training_episodes: int
    loss: float
    sets: int
    born: int
    rules_firing: float | None
    figures: Mapping[str, float] = field(default_factory=dict)
    """further ones by name: what the learner tells of itself, its exploration rate, say, and how rules carry"""

    @classmethod
    def judged(
        cls,
        returns: Sequence[float],
        *,
        epoch: int,
        steps: int,
        training_episodes: int,
        loss: float,
        sets: int,
        born: int,
        rules_firing: float | None,
        figures: Mapping[str, float],
    ) -> EpochMetrics:
        """Of an evaluation whose episodes had these returns."""
        mean, sd = statistics.fmean(returns), statistics.stdev(returns) if len(returns) > 1 else 0.0
        ends = min(returns), max(returns)
        return cls(epoch, steps, mean, sd, *ends, training_episodes, loss, sets, born, rules_firing, figures)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> EpochMetrics:
        """From names and values; a name that is no field is a figure, and a field that is missing a ValueError."""
        missing = [entry.name for entry in fields(cls) if entry.name != "figures" and entry.name not in row]
        if missing:
            raise ValueError(f"it has no {', '.join(missing)}")
        figures = {**row.get("figures", {}), **{name: row[name] for name in row if name not in _OWN}}
        return cls(**{**{name: row[name] for name in row if name in _OWN}, "figures": figures})

    def row(self) -> dict[str, Any]:
        """Names and values in the order of metrics.csv: the further figures after the loss."""
        row = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "figures"}
        names = list(row)
        place = names.index("loss") + 1
        values = {**row, **self.figures}
        return {name: values[name] for name in [*names[:place], *self.figures, *names[place:]]}


START = "start.safetensors"
_OWN = {entry.name for entry in fields(EpochMetrics)}
_WHOLE = {"epoch", "steps", "training_episodes", "sets", "born"}


def need_folder(parent: str | os.PathLike[str]) -> None:
    """Raise a RunError where no run can be written, before anything is done that would be lost; makes nothing."""
    wanted = Path(parent).absolute()
    nearest = next(path for path in (wanted, *wanted.parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise RunError(f"no run can be written to {parent}: {nearest} is no folder that can be written to")


class RunFolder:
    """`runs/NAME/`: config.json, {metrics,returns,births}.csv, best.safetensors, checkpoints/, TensorBoard's events.

    A run that began from another's network keeps that as start.safetensors; where something is amiss in how it learns,
    notices.txt says so.

    One process at a time may write to it: see `lock`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.checkpoints = CheckpointStore(self.path / "checkpoints")
        self._lock = FileLock(self.path / "lock")

    @classmethod
    def create(
        cls,
        parent: str | os.PathLike[str],
        config: RunConfig,
        fill: Callable[[RunFolder], None] = lambda _: None,
    ) -> RunFolder:
        """A new folder, named after the run; a number is added where the name is taken.

        What `fill` writes is there before config.json, without which a folder is no run: a run that is made at once
        is there whole or not at all.
        """
        name = config.name
        for number in range(1, 10_000):
            path = Path(parent) / (name if number == 1 else f"{name}-{number}")
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                continue
            folder = cls(path)
            try:
                fill(folder)
                folder.write_config(config)
            except BaseException:  # a full disk, or somebody who stops it
                shutil.rmtree(path, ignore_errors=True)
                raise
            return folder
        raise RunError(f"{Path(parent) / name} and 9,999 variations of it exist already")

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> RunFolder:
        """An existing run, by its path, or by its name under runs/."""
        for candidate in (Path(path), Path("runs") / path):
            if (candidate / "config.json").is_file():
                return cls(candidate)
        raise RunError(f"{path} is not a run (it has no config.json); `neuroplastic runs` lists the runs")

    def config(self) -> RunConfig:
        """The run's configuration."""
        with reading(self.path / "config.json"):
            return from_json(safe_json.read(self.path / "config.json"))

    def protocol(self) -> TrialProtocol:
        """The run's protocol, which can be told of a task that is not known here, too."""
        with reading(self.path / "config.json"):
            saved = upgraded(safe_json.read(self.path / "config.json"))
            protocol: TrialProtocol = decoded(TrialProtocol, saved["protocol"], "protocol")
            return protocol

    def extended(self, epochs: int) -> RunConfig:
        """The run's configuration with so many epochs; not fewer than it has made."""
        made, config = len(self.metrics()), self.config()
        if epochs < made:
            raise RunError(f"{self.path} has made {made} epochs already; it cannot end after {epochs}")
        return replace(config, protocol=replace(config.protocol, epochs=epochs))

    def write_config(self, config: RunConfig) -> None:
        """Replace config.json."""
        write_whole(self.path / "config.json", json.dumps(as_json(config), indent=1).encode())

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the one that writes; a RunError names who does so already."""
        try:
            self._lock.acquire()
        except HeldError as error:
            raise RunError(f"{self.path} is being written by {error}; wait for its end, or stop it") from None
        try:
            yield
        finally:
            self._lock.release()

    @property
    def is_locked(self) -> bool:
        """Whether somebody writes to it now."""
        try:
            with FileLock(self.path / "lock"):
                return False
        except HeldError:
            return True

    def write_metrics(self, metrics: Sequence[EpochMetrics]) -> None:
        """Replace metrics.csv; a figure that an epoch does not have is left empty."""
        if not metrics:
            return
        figures = {name: math.nan for m in metrics for name in m.figures}
        header = list(replace(metrics[0], figures=figures).row())
        lines = [",".join(header)]
        for row in (m.row() for m in metrics):
            values = [row.get(name) for name in header]
            lines.append(",".join("" if value is None else str(value) for value in values))
        write_whole(self.path / "metrics.csv", ("\n".join(lines) + "\n").encode())

    def metrics(self) -> list[EpochMetrics]:
        """What metrics.csv holds; empty before the first evaluation."""
        path = self.path / "metrics.csv"
        if not path.exists():
            return []

        def value(name: str, text: str) -> Any:
            if name == "rules_firing" and text == "":
                return None
            return int(text) if name in _WHOLE else float(text)

        need_regular(path)
        with reading(path), path.open(newline="") as file:
            rows = list(csv.DictReader(file))
            given = [{n: t for n, t in row.items() if t != "" or n in _OWN} for row in rows]
            return [EpochMetrics.of({n: value(n, t) for n, t in row.items()}) for row in given]

    def write_returns(self, epoch: int, returns: Sequence[float]) -> None:
        """Add an evaluation's episode returns to returns.csv; what it held of this epoch or later goes."""
        rows = [(e, k, r) for e, k, r in self._returns() if e < epoch]
        rows += [(epoch, episode, value) for episode, value in enumerate(returns)]
        lines = ["epoch,episode,return", *(f"{e},{k},{r!r}" for e, k, r in rows)]
        write_whole(self.path / "returns.csv", ("\n".join(lines) + "\n").encode())

    def returns(self, epoch: int) -> list[float]:
        """The episode returns of an epoch's evaluation; empty before it."""
        return [value for number, _, value in self._returns() if number == epoch]

    def _returns(self) -> list[tuple[int, int, float]]:
        path = self.path / "returns.csv"
        if not path.exists():
            return []
        need_regular(path)
        with reading(path), path.open(newline="") as file:
            return [(int(e), int(k), float(r)) for e, k, r in list(csv.reader(file))[1:]]

    def write_notices(self, lines: Sequence[str]) -> None:
        """Replace notices.txt, what should be known of the run; there is none where there is nothing to say."""
        if lines:
            write_whole(self.path / "notices.txt", ("\n".join(lines) + "\n").encode())

    def write_births(self, network: nn.Module) -> None:
        """Replace births.csv by the births of all neuro-fuzzy networks inside `network`."""
        rows = ["network,step,attribute,term,center,width,count"]
        for name, part in neuro_fuzzy_parts(network).items():
            rows += [",".join(map(str, (name, *asdict(birth).values()))) for birth in part.births]
        write_whole(self.path / "births.csv", ("\n".join(rows) + "\n").encode())

    def write_best(self, network: nn.Module) -> None:
        """Replace best.safetensors by this network, which is the one that acts."""
        self._write_network(network, "best.safetensors")

    def write_start(self, network: nn.Module) -> None:
        """Keep the network that training begins from, where it is another run's."""
        self._write_network(network, START)

    @property
    def has_start(self) -> bool:
        """Whether training begins from a network that was given, and not from a new one."""
        return (self.path / START).is_file()

    def load_start(self, network: nn.Module) -> None:
        """Load the network that training begins from."""
        with reading(self.path / START):
            network.load_state_dict(load_file(self.path / START))

    def _write_network(self, network: nn.Module, name: str) -> None:
        state = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
        write_whole(self.path / name, as_bytes(state))

    def load_into(self, network: nn.Module, which: str) -> None:
        """Load the network that acts, of the 'best' or of the 'last' epoch."""
        if which == "best":
            path = self.path / "best.safetensors"
            if not path.exists():
                raise RunError(
                    f"{self.path} has no evaluated epoch yet; take --which last, or go on with: {self.how_to_resume()}"
                )
            need_regular(path)
            with reading(path):
                network.load_state_dict(load_file(path))
            return
        checkpoint = self.checkpoints.load()
        if checkpoint is None:
            raise RunError(f"{self.path} has no checkpoint yet; start it anew")
        with reading(self.checkpoints.path(checkpoint.step)):
            learner = checkpoint.state["trainer"]["learner"]
            # A learner whose target acts says so; the others have no such option.
            network.load_state_dict(learner[getattr(self.config().learner, "act_with", "network")])

    def checkpoint(self) -> Checkpoint | None:
        """The newest checkpoint, or None before the first; a RunError where a run has results but no checkpoint."""
        found = self.checkpoints.load()
        if found is None and self.metrics():
            raise RunError(
                f"{self.path} has results, but its checkpoints are gone: it cannot go on, and is not begun "
                "anew over them; start another run"
            )
        return found

    def how_to_resume(self) -> str:
        """The command that goes on with this run."""
        modules = "".join(f" --import {module}" for module in modules_of(self.config().task))
        command = "offline" if isinstance(self.config().learner, OfflineConfig) else "train"
        return f"neuroplastic {command} --resume {self.path}{modules}"


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say of which file what is read is not what this package wrote.

    Whatever kind of error that ends in: optimizers and modules take what they load for their own.
    """
    try:
        yield
    except UnknownKindError as error:
        raise RunError(
            f"{path}: {in_short(error, 200)}; if a module of your own registers it, add --import MODULE"
        ) from error
    except (OSError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, NeuroplasticError) and not isinstance(error, ValueError):
            raise  # it says itself what is wrong, and not with the file
        raise RunError(
            f"{path} is damaged or of another version ({in_short(error, 200)}); restore it, or begin the run anew"
        ) from error


def run_folders(parent: str | os.PathLike[str]) -> Iterator[RunFolder]:
    """All runs under a folder, by name."""
    if Path(parent).is_dir():
        for path in sorted(Path(parent).iterdir()):
            if (path / "config.json").is_file():
                yield RunFolder(path)
