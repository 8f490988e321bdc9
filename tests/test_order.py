"""The tests that take longest are begun first: a file that was given another name would be begun last."""

from pathlib import Path

from tests.conftest import BUSY, LONGEST, TOGETHER, group_of

HERE = Path(__file__).parent


def test_every_group_of_tests_that_is_named_exists():
    assert all((HERE / name).exists() for name in (*BUSY, *TOGETHER))
    made = {group_of(f"tests/{path.relative_to(HERE).as_posix()}") for path in HERE.rglob("test_*.py")}
    assert set(LONGEST) <= made
