"""An engine starts, or says why it cannot; several that start together do not get in each other's way."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import vizdoom

from neuroplastic import doom
from neuroplastic.doom import engine, lifeline


@pytest.fixture
def installed(tmp_path, monkeypatch) -> Path:
    """An installation of ViZDoom whose engine would end at once."""
    program = tmp_path / "vizdoom"
    program.write_text("#!/bin/false\n")
    program.chmod(0o755)
    for name in ("vizdoom.pk3", "freedoom2.wad"):
        (tmp_path / name).touch()
    monkeypatch.setattr(vizdoom, "exe_path", str(program))
    return tmp_path


def test_intact_installation_is_accepted(installed) -> None:
    assert engine._engine_program() == installed / "vizdoom"


@pytest.mark.parametrize("name", ["vizdoom", "vizdoom.pk3", "freedoom2.wad"])
def test_missing_file_of_the_engine_is_named_with_the_fix(name, installed) -> None:
    (installed / name).unlink()
    with pytest.raises(doom.EngineError, match=rf"{installed / name}, which is not there; .*pip install"):
        doom.make("BP")


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such bit there")
def test_engine_that_may_not_be_executed_is_named_with_the_fix(installed) -> None:
    program = installed / "vizdoom"
    program.chmod(0o644)
    with pytest.raises(doom.EngineError, match=rf"must be executable, and is not; run: chmod \+x {program}"):
        doom.make("BP")


class WatchedGame:
    """Stands for ViZDoom's; notes whether the engine's folder is there when the engine would start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: list[bool] = []

    def set_vizdoom_path(self, path: str) -> None:
        assert Path(path).parent == self.folder

    def init(self) -> None:
        self.found.append((self.folder / "_vizdoom").is_dir())

    def get_instance_id(self) -> str:
        return "TestTest01"


@pytest.mark.skipif(sys.platform != "linux", reason="the lifeline is Linux's")
def test_engines_find_their_folder_made_even_after_a_cleaner_of_temporary_files() -> None:
    line = lifeline.lifeline(Path(vizdoom.exe_path))
    assert line is not None
    game = WatchedGame(line.folder)
    engine._start(game, line)
    (line.folder / "_vizdoom").rmdir()
    engine._start(game, line)
    assert game.found == [True, True]


def test_without_a_lifeline_the_folder_is_there_while_an_engine_starts_and_gone_after(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    game = WatchedGame(tmp_path)
    engine._start(game, None)
    assert game.found == [True]
    assert not list(tmp_path.iterdir())


def test_a_folder_of_the_users_is_left_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "_vizdoom").mkdir()
    engine._start(WatchedGame(tmp_path), None)
    assert (tmp_path / "_vizdoom").is_dir()


def test_where_the_folder_cannot_be_made_the_error_says_so(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lifeline, "_unavailable", True)
    (tmp_path / "_vizdoom").touch()  # a read-only folder would do as well, but not for root
    with pytest.raises(
        doom.EngineError, match=rf"needs a folder {tmp_path / '_vizdoom'}, which cannot be made"
    ):
        doom.make("BP")


def start_together(count: int) -> None:
    with ThreadPoolExecutor(count) as pool:
        for env in pool.map(lambda _: doom.make("BP", picture="fast"), range(count)):
            env.reset()
            env.close()


@pytest.mark.parametrize("protected", [True, False], ids=["lifeline", "no_lifeline"])
def test_engines_that_start_together_leave_the_working_folder_empty(protected, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    if not protected:
        monkeypatch.setattr(lifeline, "_unavailable", True)
    start_together(3)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_thirty_times_four_engines_start_together_in_a_fresh_folder(monkeypatch) -> None:
    for _ in range(30):
        monkeypatch.setattr(lifeline, "_of_this_program", None)
        start_together(4)
