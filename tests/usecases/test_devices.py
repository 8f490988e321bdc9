"""With how many threads is computed: as many as are asked for, or as are faster at the moment."""

import time

import pytest
import torch

from neuroplastic.cli.main import parser
from neuroplastic.memory import keep_freed_memory
from neuroplastic.usecases import devices


@pytest.mark.parametrize(("busy", "expected"), [(True, 1), (False, 4)])
def test_all_cores_are_used_only_where_that_is_faster(monkeypatch, busy, expected):
    def step() -> None:
        alone = torch.get_num_threads() == 1
        time.sleep(0.001 if alone != busy else 0.0001)

    monkeypatch.setattr(devices, "_small_step", lambda: step)
    monkeypatch.setattr(devices, "cores", lambda: 4)
    with devices.threads_in_use(4):
        assert devices.faster_threads() == expected
        assert devices.faster_threads("cuda") == 1
        assert torch.get_num_threads() == 4


def test_whoever_allows_one_thread_gets_one_without_a_race(monkeypatch):
    monkeypatch.setattr(devices, "_small_step", lambda: pytest.fail("no need to race"))
    monkeypatch.setattr(devices, "cores", lambda: 4)
    with devices.threads_in_use(1):
        assert devices.faster_threads() == 1


def test_threads_are_given_back():
    before = torch.get_num_threads()
    with devices.threads_in_use(before + 2) as threads:
        assert threads == torch.get_num_threads() == before + 2
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    "command", ["train", "evaluate", "record", "fit", "predict", "rules", "explain", "simplify", "imitate"]
)
def test_every_command_that_computes_takes_threads(command):
    words = {"train": ["BP"], "fit": ["a.csv", "--target", "y"], "predict": ["model", "a.csv"]}
    options, rest = parser().parse_known_args([command, *words.get(command, ["model"]), "--threads", "3"])
    assert options.computing_threads == 3
    assert not rest


def test_memory_that_is_freed_is_used_again():
    resource = pytest.importorskip("resource")
    if not keep_freed_memory():
        pytest.skip("only glibc can be told")
    for _ in range(20):  # the first few are pieces of memory that lie side by side
        torch.ones(1 << 21)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        torch.ones(1 << 21)  # 2,048 pages each
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 2048
