"""A file appears whole or not at all, and the umask says who may read it, whoever writes it."""

import errno
import os
import stat
from pathlib import Path

import pytest

import neuroplastic as npl
from neuroplastic import whole_files
from neuroplastic.doom.presets import preset
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.whole_files import put_folder, write_whole

FIRING = npl.Firing(layer_norm=False, alpha=1)
WRITERS = {
    "any content": lambda folder: write_whole(folder / "file", b"content"),
    "network": lambda folder: npl.save(npl.NeuroFuzzyNetwork(2, 1, 2), folder / "net.safetensors"),
    "rules": lambda folder: npl.export(npl.NeuroFuzzyNetwork(2, 1, 2, firing=FIRING), folder / "rules.fis"),
    "run": lambda folder: RunFolder.create(folder, preset("tuned", "BP", "dnn")),
}


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
@pytest.mark.parametrize("writer", WRITERS)
def test_every_writer_leaves_the_mode_to_the_umask(writer, umask, tmp_path):
    before = os.umask(umask)
    try:
        WRITERS[writer](tmp_path)
    finally:
        os.umask(before)
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("writer", WRITERS)
def test_on_a_full_disk_every_writer_names_the_file_and_leaves_nothing(writer, tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        WRITERS[writer](tmp_path)
    assert Path(caught.value.filename).is_relative_to(tmp_path)
    assert not Path(caught.value.filename).name.startswith(".")
    assert not list(tmp_path.rglob("*"))


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError("disk full")

    write_whole(tmp_path / "file", b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_whole(tmp_path / "file", b"new")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_a_folder_that_is_not_there_is_named_and_no_hidden_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder for file: '.*nowhere'"):
        write_whole(tmp_path / "nowhere" / "file", b"new")


def _folders(place):
    for name, content in (("made", "new"), ("model", "old")):
        (place / name).mkdir()
        (place / name / "file").write_text(content)
    return place / "made", place / "model"


@pytest.mark.parametrize("in_one_step", [True, False])
def test_a_folder_takes_the_place_of_another_and_leaves_nothing_beside(in_one_step, tmp_path, monkeypatch):
    if not in_one_step:
        monkeypatch.setattr(whole_files, "_exchanged", lambda *_: False)
    put_folder(*_folders(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model" / "file").read_text() == "new"


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="Linux alone exchanges names in one step")
def test_at_no_moment_is_there_no_folder_of_the_name(tmp_path, monkeypatch):
    made, path = _folders(tmp_path)
    renamed = Path.rename

    def looking(self, target):
        assert path.exists()
        return renamed(self, target)

    monkeypatch.setattr(Path, "rename", looking)
    put_folder(made, path)
    assert (path / "file").read_text() == "new"


def test_a_folder_that_cannot_be_put_in_place_leaves_the_old_one(tmp_path, monkeypatch):
    made, path = _folders(tmp_path)
    monkeypatch.setattr(whole_files, "_exchanged", lambda *_: False)
    renamed = Path.rename

    def failing(self, target):
        if self == made:
            raise OSError("disk full")
        return renamed(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="disk full"):
        put_folder(made, path)
    assert (path / "file").read_text() == "old"
