"""A run on disk: its configuration, metrics, births, best network and checkpoints."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as as_bytes
from torch import nn

from ..errors import NeuroplasticError
from ..learn.checkpoint import CheckpointStore
from ..whole_files import write_whole
from .agent import neuro_fuzzy_parts
from .configuration import RunConfig, as_json, from_json


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
    exploration: float
    sets: int
    born: int
    rules_firing: float | None


class RunFolder:
    """`runs/NAME/`: config.json, {metrics,returns,births}.csv, best.safetensors, checkpoints/, TensorBoard's events."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.checkpoints = CheckpointStore(self.path / "checkpoints")

    @classmethod
    def create(cls, parent: str | os.PathLike[str], config: RunConfig) -> RunFolder:
        """A new folder, named after the run; a number is added where the name is taken."""
        name = f"{config.scenario}-{config.agent}-{config.preset}-seed{config.seed}"
        for number in range(1, 10_000):
            path = Path(parent) / (name if number == 1 else f"{name}-{number}")
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                continue
            folder = cls(path)
            write_whole(path / "config.json", json.dumps(as_json(config), indent=1).encode())
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
        with _reading(self.path / "config.json"):
            return from_json(json.loads((self.path / "config.json").read_text()))

    def write_metrics(self, metrics: Sequence[EpochMetrics]) -> None:
        """Replace metrics.csv."""
        names = [entry.name for entry in fields(EpochMetrics)]
        rows = [",".join(names)]
        rows += [
            ",".join("" if value is None else str(value) for value in asdict(m).values()) for m in metrics
        ]
        write_whole(self.path / "metrics.csv", ("\n".join(rows) + "\n").encode())

    def metrics(self) -> list[EpochMetrics]:
        """What metrics.csv holds; empty before the first evaluation."""
        path = self.path / "metrics.csv"
        if not path.exists():
            return []
        whole = {"epoch", "steps", "training_episodes", "sets", "born"}

        def value(name: str, text: str) -> Any:
            if name == "rules_firing" and text == "":
                return None
            return int(text) if name in whole else float(text)

        with _reading(path), path.open(newline="") as file:
            return [EpochMetrics(**{n: value(n, t) for n, t in row.items()}) for row in csv.DictReader(file)]

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
        with _reading(path), path.open(newline="") as file:
            return [(int(e), int(k), float(r)) for e, k, r in list(csv.reader(file))[1:]]

    def write_births(self, network: nn.Module) -> None:
        """Replace births.csv by the births of all neuro-fuzzy networks inside `network`."""
        rows = ["network,step,attribute,term,center,width,count"]
        for name, part in neuro_fuzzy_parts(network).items():
            rows += [",".join(map(str, (name, *asdict(birth).values()))) for birth in part.births]
        write_whole(self.path / "births.csv", ("\n".join(rows) + "\n").encode())

    def write_best(self, network: nn.Module) -> None:
        """Replace best.safetensors by this network, which is the one that acts."""
        state = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
        write_whole(self.path / "best.safetensors", as_bytes(state))

    def load_into(self, network: nn.Module, which: str) -> None:
        """Load the network that acts (see `QConfig.act_with`), of the 'best' or of the 'last' epoch."""
        if which == "best":
            path = self.path / "best.safetensors"
            if not path.exists():
                raise RunError(f"{self.path} has no evaluated epoch yet; go on with: {self.how_to_resume()}")
            with _reading(path):
                network.load_state_dict(load_file(path))
            return
        checkpoint = self.checkpoints.load()
        if checkpoint is None:
            raise RunError(f"{self.path} has no checkpoint yet; start it anew")
        with _reading(self.checkpoints.path(checkpoint.step)):
            network.load_state_dict(checkpoint.state["trainer"]["learner"][self.config().learner.act_with])

    def how_to_resume(self) -> str:
        """The command that goes on with this run."""
        return f"neuroplastic train --resume {self.path}"


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Say of which file what is read is not what this package wrote; RuntimeError is load_state_dict's."""
    try:
        yield
    except (KeyError, TypeError, ValueError, RuntimeError, csv.Error, SafetensorError) as error:
        raise RunError(
            f"{path} is damaged or of another version ({_short(str(error))}); restore it, or begin the run anew"
        ) from error


def _short(text: str, most: int = 200) -> str:
    """The beginning of a long text: load_state_dict names every tensor that does not fit."""
    return text if len(text) <= most else f"{text[:most]}..."


def run_folders(parent: str | os.PathLike[str]) -> Iterator[RunFolder]:
    """All runs under a folder, by name."""
    if Path(parent).is_dir():
        for path in sorted(Path(parent).iterdir()):
            if (path / "config.json").is_file():
                yield RunFolder(path)
