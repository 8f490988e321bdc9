"""Runs that are killed by SIGKILL at random moments and resumed end in the same bits as undisturbed ones."""

import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.experiment.trial import Trial
from tests import small_game  # noqa: F401  (makes its tasks known)
from tests.commands import Signal
from tests.kills.victims import MANY, REPLAY, STGE

FINISHED = Path(__file__).parents[1] / "kept" / "v0_1" / "runs" / "finished" / "BP-nfn-tuned-seed3"


@dataclass(frozen=True)
class Case:
    """A run in which everything random takes part, and how its games are shared out where it is killed."""

    task: str
    learner: str
    agent: str
    fields: tuple[object, ...]
    steps: int
    processes: int = 0
    modules: tuple[str, ...] = ()

    def words(self, epochs: int) -> list[object]:
        length = ("--epochs", epochs, "--steps-per-epoch", self.steps, "--episodes", 3)
        named = ("--learner", self.learner, "--agent", self.agent, *self.modules)
        return ["train", self.task, *named, *length, *self.fields]


CASES = {
    "dqn": Case("CartPole-v1", "dqn", "nfn", (*REPLAY, *STGE), steps=40),
    "parallel_q": Case("CartPole-v1", "parallel_q", "nfn", (*MANY, *STGE), steps=160),
    "parallel_q in worker processes": Case(
        "tests.small_game:catch",
        "parallel_q",
        "dnn",
        (*MANY, "--activation", "RReLU"),
        steps=80,
        processes=2,
        modules=("--import", "tests.small_game"),
    ),
}
LONG = Case(
    "PP",
    "parallel_q",
    "nfn",
    ("--preset", "long", "--planes", "motion", "--training-games", 4, "--rollout", 8, "--batch-size", 16),
    steps=64,
    processes=2,
)
TAUGHT = Case(
    "PP",
    "dqn",
    "nfn",
    ("--preset", "taught", "--memory-size", 60, "--batch-size", 8, "--learning-starts", 10),
    steps=40,
    processes=1,
)


def content(run: Path) -> dict[str, bytes]:
    """All that a run leaves but its configuration; its last checkpoint holds networks, optimizer, memory and games."""
    named = [run / name for name in ("metrics.csv", "returns.csv", "births.csv", "best.safetensors")]
    last = max((run / "checkpoints").iterdir())
    assert {file.name for file in last.iterdir()} == {"state.json", "tensors.safetensors"}
    return {str(file.relative_to(run)): file.read_bytes() for file in (*named, *last.iterdir())}


def assert_same_end(cut: Path, whole: Path) -> None:
    ends = content(cut), content(whole)
    assert ends[0].keys() == ends[1].keys()
    assert [name for name in ends[0] if ends[0][name] != ends[1][name]] == []


def killed_run_equals_undisturbed_run(command, tmp_path: Path, case: Case, *, kills: int, seed: int) -> None:
    epochs = kills // 2 + 2
    whole = command(*case.words(epochs), "--processes", 0, "--runs", "whole")
    name = next((tmp_path / "whole").iterdir()).name
    cut = tmp_path / "cut" / name
    resume = ["train", "--resume", cut, *case.modules]
    rng = np.random.default_rng(seed)
    for kill in range(kills):
        # Somewhere in an epoch: in training, evaluation, or as files are written. Every second time in the epoch
        # after the one that it goes on with, so that the run gets on, but never to its end.
        told = int(rng.integers(1, whole.told // epochs)) + (whole.told // epochs) * (kill % 2)
        order = [*case.words(epochs), "--processes", case.processes, "--runs", "cut"]
        moment = Signal(signal.SIGKILL, told, delay=float(rng.uniform(0, 0.02)))
        command(*(resume if cut.exists() else order), signal=moment, code=-signal.SIGKILL)
    command(*resume)
    assert_same_end(cut, tmp_path / "whole" / name)


@pytest.mark.parametrize("case", [case for case in CASES if not CASES[case].processes])
def test_a_run_killed_three_times_ends_in_the_same_bits(case, command, tmp_path):
    killed_run_equals_undisturbed_run(command, tmp_path, CASES[case], kills=3, seed=0)


def test_a_run_with_worker_processes_that_is_killed_ends_in_the_same_bits_as_one_without(command, tmp_path):
    case = CASES["parallel_q in worker processes"]
    killed_run_equals_undisturbed_run(command, tmp_path, case, kills=1, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("case", CASES)
def test_a_run_killed_ten_times_ends_in_the_same_bits(case, seed, command, tmp_path):
    killed_run_equals_undisturbed_run(command, tmp_path, CASES[case], kills=10, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("case", [LONG, TAUGHT], ids=["long", "taught"])
def test_a_run_by_a_preset_in_the_real_game_that_is_killed_ends_in_the_same_bits(case, command, tmp_path):
    killed_run_equals_undisturbed_run(command, tmp_path, case, kills=2, seed=2)


def test_a_run_killed_before_any_one_of_its_files_is_put_in_place_ends_in_the_same_bits(command, tmp_path):
    words = Case("tests.small_game:corridor", "parallel_q", "nfn", (*MANY, "--rules", 4), steps=48).words(2)
    command(*words, "--runs", "whole")
    whole = next((tmp_path / "whole").iterdir())
    number, done = 0, None
    while done is None or done.code != 0:
        number += 1
        done = command(*words, "--runs", f"cut-{number}", dies_before_file=number, code=None)
        cut = tmp_path / f"cut-{number}" / whole.name
        if number == 1:  # no config.json: there is no run yet, and its name is not taken for one
            assert "no runs" in command("runs", "--runs", cut.parent).out
            continue
        command("train", "--resume", cut, "--import", "tests.small_game")
        assert_same_end(cut, whole)
    assert number > 10  # configuration, and twice returns, births, checkpoint, metrics, and the best network


def test_a_second_process_that_would_write_to_a_run_is_refused_by_the_name_of_the_first(command, tmp_path):
    words = Case("tests.small_game:corridor", "parallel_q", "dnn", MANY, steps=48).words(1)
    command(*words)
    (run,) = (tmp_path / "runs").iterdir()
    before = content(run)
    resume = ("train", "--resume", run, "--import", "tests.small_game", "--epochs", 2)
    folder = RunFolder(run)
    with Trial(folder.config(), folder):
        refused = command(*resume, code=2).err
        assert f"{run} is being written by process " in refused
        assert refused.count("\n") == 1
        command("evaluate", run, "--import", "tests.small_game", "--episodes", 1)
    assert content(run) == before
    assert folder.config().protocol.epochs == 1
    assert "epoch  2" in command(*resume).out


@pytest.mark.parametrize("longer", [(), ("--epochs", 9)])
def test_a_finished_run_whose_checkpoints_are_gone_is_left_as_it_is(longer, command, tmp_path):
    run = shutil.copytree(FINISHED, tmp_path / FINISHED.name)
    refused = command("train", "--resume", run, *longer, code=2).err
    assert "its checkpoints are gone: it cannot go on, and is not begun anew" in refused
    (run / "lock").unlink()
    names = sorted(file.relative_to(run) for file in run.rglob("*"))
    assert names == sorted(file.relative_to(FINISHED) for file in FINISHED.rglob("*"))
    assert all((run / name).read_bytes() == (FINISHED / name).read_bytes() for name in names)
