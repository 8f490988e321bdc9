"""The DOOM tests need the game engine; without it they are not collected. They leave nothing behind."""

import gc
import os
from collections.abc import Iterator
from importlib.util import find_spec

import psutil
import pytest

if any(find_spec(name) is None for name in ("vizdoom", "gymnasium", "cv2")):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    """After the last test no engine of this process runs, and none made its folder in the working folder."""
    was_there = os.path.exists("_vizdoom")
    yield
    gc.collect()
    assert was_there or not os.path.exists("_vizdoom")
    children = psutil.Process().children()
    running = [child for child in children if child.status() != psutil.STATUS_ZOMBIE]
    assert not [child for child in running if child.name() == "vizdoom"]
