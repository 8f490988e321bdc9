"""Tests that play DOOM are not collected where the game engine is missing. They leave nothing behind."""

import gc
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

TOLD_WITHOUT_THE_GAME = ("test_missing_packages.py", "test_task.py")

if any(find_spec(name) is None for name in ("vizdoom", "gymnasium", "cv2")):
    here = Path(__file__).parent
    collect_ignore = [path.name for path in here.glob("test_*.py") if path.name not in TOLD_WITHOUT_THE_GAME]


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
