"""Small networks gain nothing from a second thread; with several processes (`pytest -n 3`) files stay together."""

import os
import signal
from functools import partial
from pathlib import PurePosixPath

import pytest

# Before PyTorch is imported, and for the processes that tests start: several tests at a time share the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from tests.commands import Commands
from tests.fresh_python import FreshPython

torch.set_num_threads(1)
# A shell has its background jobs ignore Ctrl-C, and so would every process that these tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests that start game engines, worker processes or servers: one process at a time runs them.
BUSY = {"doom", "experiment", "search", "cli", "test_without_the_game.py"}
# Folders whose tests share what takes seconds to start: a studio and a browser.
TOGETHER = {"studio"}
# The groups that take longest. They are begun first: what is left in the end is short, and all processes end together.
LONGEST = (
    "busy",
    "studio",
    "test_docs.py",
    "learn/estimators/test_scikit_learn_checks.py",
    "usecases/test_table_pages.py",
    "network/test_checkpointing.py",
    "test_kept_files.py",
    "rules/test_simplify.py",
    "network/test_learning.py",
    "learn/test_contract.py",
    "network/test_inference_mode.py",
    "fuzz/test_files.py",
    "learn/test_learning.py",
    "usecases/test_tables.py",
    "learn/estimators/test_estimators.py",
    "rules/test_firing_forms.py",
    "network/test_memory.py",
    "network/test_frozen.py",
    "network/test_compile.py",
    "rules/test_pictures.py",
    "test_site.py",
    "test_front_page.py",
    "learn/test_resume.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Have xdist keep our order; of itself it begins with the groups of most tests."""
    config.option.loadscopereorder = False


def group_of(name: str) -> str:
    """Each file is a group of its own, for its fixtures are made once; what is busy is one, and so are some folders."""
    path = PurePosixPath(name.split("::")[0]).relative_to("tests")
    if path.parts[0] in BUSY:
        return "busy"
    return path.parts[0] if path.parts[0] in TOGETHER else path.as_posix()


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
