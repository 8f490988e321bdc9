"""Fifty SIGKILLs of every long command: nothing finished is lost, and the end is the undisturbed one to the bit."""

from functools import partial

import pytest

from tests.kills.__main__ import Row, kill_often
from tests.kills.victims import VICTIMS, prepare


@pytest.fixture(scope="module")
def place(command_server, tmp_path_factory):
    made = tmp_path_factory.mktemp("kills")
    (made / "data").mkdir()
    prepare(partial(command_server, folder=made / "data"), made / "data", VICTIMS)
    return made


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", VICTIMS)
def test_a_command_killed_fifty_times_ends_in_the_same_bits(name, command_server, place, tmp_path, capsys):
    (tmp_path / "data").symlink_to(place / "data")
    row = Row(name)
    kill_often(command_server, VICTIMS[name], row, tmp_path, kills=50, seed=0)
    with capsys.disabled():
        print(f"\n{row}")
    assert row.kills == 50
    assert row.lives >= 1
