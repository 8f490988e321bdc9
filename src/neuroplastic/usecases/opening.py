"""Whatever has rules, opened by its path: a model of a table, a saved network or estimator, a run.

What each kind needs is imported when one is opened: a table needs no game, and a run no scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from ..experiment.configuration import RunConfig
    from ..learn.table_model import TableModel
    from ..network.dueling import DuelingNetwork
    from ..network.hierarchy import Hierarchy
    from ..network.nfn import NeuroFuzzyNetwork
    from ..rules.estimators import FittedEstimator
    from .cards import Card

SOURCES = "a folder made by `neuroplastic fit`, a run of `neuroplastic train`, or a file written by npl.save"
TABLE, FILE, RUN = "table", "file", "run"


@dataclass(frozen=True, eq=False)
class OpenedTable:
    """A folder made by `neuroplastic fit`."""

    path: Path
    model: TableModel


@dataclass(frozen=True, eq=False)
class OpenedEstimator:
    """A file that `npl.save` wrote of a fitted estimator."""

    path: Path
    estimator: FittedEstimator


@dataclass(frozen=True, eq=False)
class OpenedNetwork:
    """A file that `npl.save` wrote of a network."""

    path: Path
    network: NeuroFuzzyNetwork | Hierarchy


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """A run of `neuroplastic train`, its agent in evaluation mode; not every agent has rules."""

    path: Path
    config: RunConfig
    agent: DuelingNetwork
    card: Card | None = None
    """what is known of an agent in the box"""

    def need_rules(self) -> None:
        """Raise an InputError unless the agent is neuro-fuzzy."""
        if self.config.agent != "nfn":
            raise InputError(
                f"{self.path} is a {self.config.agent} run: it has no rules; train with --agent nfn"
            )


Opened = OpenedTable | OpenedEstimator | OpenedNetwork | OpenedRun


BOX = Path(__file__).parent.parent / "box"
"""Trained agents that the package brings along, run folders by the names of their tasks."""


def _is_own_run(path: Path) -> bool:
    """Whether a run folder lies at the path, or under `runs/`; what `RunFolder.open` opens, without loading it."""
    return any((folder / "config.json").is_file() for folder in (path, Path("runs") / path))


def in_the_box(source: str | Path) -> Path | None:
    """The run folder of the trained agent of that name in the package, where no run of one's own has it."""
    path = Path(source)
    if len(path.parts) != 1 or _is_own_run(path):
        return None
    found = BOX / path.name
    return found if (found / "config.json").is_file() else None


def box_names() -> list[str]:
    """The names of the agents in the box: the keys of their tasks, with `-dnn` for a plain one beside it, and
    `-student` for one that can be read."""
    return sorted(path.parent.name for path in BOX.glob("*/config.json"))


def near_in_the_box(name: str | Path) -> str:
    """`; did you mean 'DTC', an agent in the box?` where a name is nearly one of them, in any case; else nothing."""
    boxed = {known.lower(): known for known in box_names()}
    close = get_close_matches(str(name).lower(), boxed, n=1, cutoff=0.6)
    return f"; did you mean {boxed[close[0]]!r}, an agent in the box?" if close else ""


def student_of(run: OpenedRun) -> OpenedRun | None:
    """The readable student of an agent, the newest that lies beside it: in the box, or among one's own runs.

    A run's own name says that it is a student, and its configuration whose; of the others nothing is read.
    """
    from ..experiment.run_folder import RunError, RunFolder
    from ..learn.imitation.config import ImitationConfig

    found = sorted(
        run.path.absolute().parent.glob("*-student*/config.json"), key=lambda file: file.stat().st_mtime
    )
    for file in reversed(found):
        try:
            config = RunFolder(file.parent).config()
        except (RunError, OSError):
            continue
        learned = config.learner
        if (
            isinstance(learned, ImitationConfig)
            and learned.teacher == run.path.name
            and config.task.key == run.config.task.key
            and (file.parent / "best.safetensors").is_file()
        ):
            return open_run(file.parent)
    return None


def kind_of(source: str | Path) -> str:
    """TABLE, FILE or RUN, by what lies at the path; a run may be named without its `runs/`. Reads nothing."""
    path = Path(source)
    if path.is_file():
        return FILE
    # The file of a TableModel, by name: to ask that class would need scikit-learn for a run, too.
    if (path / "columns.json").is_file():
        return TABLE
    if _is_own_run(path) or in_the_box(path) is not None:
        return RUN
    what = "holds neither a model nor a run" if path.is_dir() else "does not exist"
    raise InputError(f"{path} {what}; give {SOURCES}{near_in_the_box(path)}")


def open_anything(source: str | Path, *, which: str = "best") -> Opened:
    """Open what lies at a path. A run keeps the networks of its 'best' and of its 'last' epoch: `which` chooses."""
    kind = kind_of(source)
    if kind == RUN:
        return open_run(source, which)
    if kind == FILE:
        return _opened_file(Path(source))
    from ..learn.table_model import TableModel

    return OpenedTable(Path(source), TableModel.load(source))


def _opened_file(path: Path) -> OpenedEstimator | OpenedNetwork:
    from ..network.storage import StorageError, load
    from ..rules.estimators import is_estimator

    try:
        found = load(path)
    except StorageError as error:
        raise InputError(f"{error}; give {SOURCES}") from error
    return OpenedEstimator(path, found) if is_estimator(found) else OpenedNetwork(path, found)


def open_run(source: str | Path, which: str = "best") -> OpenedRun:
    """A run by its path or name, or an agent in the box, with the network of its 'best' or 'last' epoch."""
    from ..experiment.agent import build_agent
    from ..experiment.run_folder import RunError, RunFolder
    from .cards import check_card

    boxed = in_the_box(source)
    try:
        folder = RunFolder.open(source) if boxed is None else RunFolder(boxed)
    except RunError as error:
        raise RunError(f"{error}{near_in_the_box(source)}") from error
    card = check_card(folder.path)
    config = folder.config()
    agent = build_agent(config)
    folder.load_into(agent, which)
    return OpenedRun(folder.path, config, agent.eval(), card)
