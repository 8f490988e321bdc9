"""Small networks gain nothing from a second thread; with two processes (`pytest -n 2`) a file's tests stay together."""

import signal
from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)
# A shell has its background jobs ignore Ctrl-C, and so would every process that these tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Folders whose tests start game engines, worker processes or servers: one process at a time runs them.
BUSY = {"doom", "study", "cli"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each file a group of its own, for its fixtures are made once, and the busy folders a common one."""
    here = Path(__file__).parent
    for item in items:
        folder = item.path.relative_to(here).parts[0]
        item.add_marker(pytest.mark.xdist_group("busy" if folder in BUSY else str(item.path)))
