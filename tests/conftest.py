"""Small networks gain nothing from a second thread; with two processes (`pytest -n 2`) a file's tests stay together."""

import os
import signal
from functools import partial
from pathlib import PurePosixPath

import pytest

# Before PyTorch is imported, and for the processes that tests start: two tests at a time have two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from tests.commands import Commands
from tests.fresh_python import FreshPython

torch.set_num_threads(1)
# A shell has its background jobs ignore Ctrl-C, and so would every process that these tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Folders whose tests start game engines, worker processes or servers: one process at a time runs them.
BUSY = {"doom", "experiment", "search", "cli"}
# The groups that take longest. They are begun first: what is left in the end is short, and both processes end together.
LONGEST = (
    "busy",
    "learn/test_learning.py",
    "test_kept_files.py",
    "test_docs.py",
    "network/test_learning.py",
    "learn/estimators/test_estimators.py",
    "learn/estimators/test_scikit_learn_checks.py",
    "fuzz/test_model_files.py",
    "learn/test_resume.py",
    "network/test_frozen.py",
    "network/test_memory.py",
    "rules/test_simplify.py",
    "rules/test_pictures.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Have xdist keep our order; of itself it begins with the groups of most tests."""
    config.option.loadscopereorder = False


def group_of(name: str) -> str:
    """Each file is a group of its own, for its fixtures are made once; the busy folders have a common one."""
    path = PurePosixPath(name.split("::")[0]).relative_to("tests")
    return "busy" if path.parts[0] in BUSY else path.as_posix()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest groups first."""
    rank = {group: place for place, group in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(group_of(item.nodeid), len(rank)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Hand out whole groups. (xdist's own `--dist loadgroup` writes the groups where this pytest does not look.)"""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return ByGroup(config, log)


@pytest.fixture(scope="session")
def command_server():
    server = Commands()
    yield server
    server.close()


@pytest.fixture(scope="session")
def fresh_python():
    """Runs a program in a process that has imported PyTorch, and nothing of ours."""
    python = FreshPython()
    yield python
    python.close()


@pytest.fixture
def command(command_server, tmp_path):
    """Runs a command in a process and a folder of its own."""
    return partial(command_server, folder=tmp_path)
