"""Commands that are killed: how each is given again after it, what counts as finished, and what it ends in."""

import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests import small_game  # noqa: F401  (makes its tasks known)

Words = tuple[object, ...]
State = Mapping[str, object]
"""What lies in a folder, by name."""


@dataclass(frozen=True)
class Victim:
    """A command in a folder of its own, and beside it `data`, which all commands have in common."""

    words: Callable[[Path], Words]
    """the command, or how it goes on with what lies in the folder"""
    finished: Callable[[Path], State]
    """what nobody may lose any more; entries of files that grow are the files' lines"""
    end: Callable[[Path], State]
    """all that it leaves, to the bit"""
    span: float = 1.0
    """kills come within so much of the time that the command takes undisturbed"""
    before: Words = ()
    """a command that has finished in the folder before, whose results stay until the other's are whole"""


def prepare(command: Callable[..., object], data: Path, names: Collection[str]) -> None:
    """Make what these commands learn from: a table and a recording."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4))
    wanted = np.where(rows[:, 0] * rows[:, 1] > 0.2, "yes", "no")
    lines = [
        ",".join([*(f"{value:.4f}" for value in row), label]) for row, label in zip(rows, wanted, strict=True)
    ]
    (data / "table.csv").write_text("\n".join(["a,b,c,d,label", *lines]) + "\n")
    if not any(name.startswith("offline") for name in names):
        return
    player = "tests.kills.victims:balance"
    command(
        "record-play",
        player,
        "--task",
        "CartPole-v1",
        "--episodes",
        8,
        "--random",
        0.3,
        "--out",
        data / "played",
    )


def balance(observations: np.ndarray) -> np.ndarray:
    """A teacher of CartPole: against the way in which the pole turns."""
    turns = observations[:, 3]
    return np.stack([-turns, turns], axis=1)


def _one(folder: Path) -> Path | None:
    """The run in a folder; what has no configuration is none."""
    runs = [path for path in sorted((folder / "runs").glob("*")) if (path / "config.json").is_file()]
    assert len(runs) < 2, runs
    return runs[0] if runs else None


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _epochs(folder: Path) -> State:
    run = _one(folder)
    return {} if run is None else {name: _lines(run / name) for name in ("metrics.csv", "returns.csv")}


def _run_files(folder: Path) -> State:
    """All that a run leaves but its configuration, which holds a path; of checkpoints the last."""
    run = _one(folder)
    assert run is not None
    names = [run / name for name in ("metrics.csv", "returns.csv", "births.csv", "best.safetensors")]
    kept = sorted((run / "checkpoints").glob("checkpoint-*"))[-1:]
    return {
        str(file.relative_to(run)): file.read_bytes()
        for file in (*names, *(f for k in kept for f in k.iterdir()))
    }


def _trained(*words: object) -> Victim:
    def order(folder: Path) -> Words:
        run = _one(folder)
        shutil.rmtree(folder / "runs", ignore_errors=True) if run is None else None  # a name, and no run
        known = ("--import", "tests.small_game") if "tests.small_game" in words else ()
        return words if run is None else ("train", "--resume", run, *known)

    return Victim(order, _epochs, _run_files, span=0.4)


def _offline(method: str) -> Victim:
    def order(folder: Path) -> Words:
        run = _one(folder)
        shutil.rmtree(folder / "runs", ignore_errors=True) if run is None else None
        sizes = ("--epochs", 6, "--steps-per-epoch", 30, "--episodes", 1, "--batch-size", 16, "--rules", 6)
        begin = (
            "offline",
            "CartPole-v1",
            "--data",
            folder.parent / "data" / "played",
            "--method",
            method,
            *sizes,
        )
        return begin if run is None else ("offline", "--resume", run)

    return Victim(order, _epochs, _run_files, span=0.4)


def _imitated() -> Victim:
    """It is not gone on with but given again; a student that is there is whole, and all that is left is to read it."""
    sizes = ("--rounds", 2, "--states", 150, "--episodes", 2, "--rules", 4)
    words = ("imitate", "CartPole-v1", "--teacher", "tests.kills.victims:balance", *sizes)

    def order(folder: Path) -> Words:
        run = _one(folder)
        if run is not None:
            return ("rules", run, "--exact")
        shutil.rmtree(folder / "runs", ignore_errors=True)
        return words

    return Victim(order, lambda folder: {} if _one(folder) is None else _run_files(folder), _run_files)


def _fitted(*options: object) -> Victim:
    """A model stands there from before; it is replaced by a whole one, or stays."""

    def words(folder: Path, *more: object) -> Words:
        table = (folder.parent / "data" / "table.csv", "--target", "label", "--no-baselines", "--folds", 2)
        return ("fit", *table, "--out", folder / "model", *more)

    def files(folder: Path) -> State:
        model = folder / "model"
        return {
            str(path.relative_to(model)): path.read_bytes() for path in model.rglob("*") if path.is_file()
        }

    return Victim(lambda folder: words(folder, "--force", *options), files, files, before=("--seed", 7))


def _study() -> Victim:
    """One worker, so that the trials are the same whatever was killed."""
    cheap = ("--objective", "tests.search.objectives:fifth_of_a_second", "--epochs", 2, "--episodes", 3)
    words = (
        "study",
        "run",
        "--task",
        "BP",
        "--agent",
        "dnn",
        "--workers",
        1,
        "--trials",
        12,
        "--retries",
        1000,
        *cheap,
    )

    def finished(folder: Path) -> State:
        if not (folder / "studies.db").exists():
            return {}
        from neuroplastic.search.storage import open_storage  # these need what studies need
        from neuroplastic.search.studies import study_names
        from tests.search.studies import trials_of

        database = f"sqlite:///{folder}/studies.db"
        if "BP-dnn" not in study_names(open_storage(database)):  # killed before it was made
            return {}
        trials = trials_of(database, "BP-dnn")
        whole = [trial for trial in trials if trial.state.name == "COMPLETE"]
        return {f"slot {t.user_attrs['slot']}": (t.params, t.values, t.user_attrs["seed"]) for t in whole}

    return Victim(lambda _: words, finished, finished, span=0.5)


REPLAY = (
    "--batch-size",
    16,
    "--learning-starts",
    16,
    "--target-every",
    10,
    "--n-step",
    3,
    "--memory-size",
    60,
)
MANY = ("--training-games", 8, "--rollout", 6, "--batch-size", 16)
STGE = ("--rules", 8, "--estimator", "stge", "--noise-hold", 4)
SHORT = ("--epochs", 6, "--episodes", 3)
CATCH = (
    "train",
    "tests.small_game:catch",
    "--learner",
    "parallel_q",
    "--agent",
    "dnn",
    "--import",
    "tests.small_game",
)
VICTIMS: Mapping[str, Victim] = {
    "dqn": _trained(
        *("train", "CartPole-v1", "--learner", "dqn", "--agent", "nfn", *SHORT, "--steps-per-epoch", 40),
        *(*REPLAY, *STGE),
    ),
    "parallel_q": _trained(
        *(
            "train",
            "CartPole-v1",
            "--learner",
            "parallel_q",
            "--agent",
            "nfn",
            *SHORT,
            "--steps-per-epoch",
            160,
        ),
        *(*MANY, *STGE),
    ),
    "parallel_q in worker processes": _trained(
        *(*CATCH, *SHORT, "--steps-per-epoch", 80, *MANY, "--activation", "RReLU", "--processes", 2)
    ),
    "offline cql": _offline("cql"),
    "offline iql": _offline("iql"),
    "offline cloning": _offline("cloning"),
    "imitate": _imitated(),
    "fit": _fitted(),
    "fit readable": _fitted("--readable"),
    "study": _study(),
}
