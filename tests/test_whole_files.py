"""A file appears whole or not at all, and the umask says who may read it, whoever writes it."""

import os
import stat

import pytest

import neuroplastic as npl
from neuroplastic.doom.presets import preset
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.whole_files import write_whole

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


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError("disk full")

    write_whole(tmp_path / "file", b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_whole(tmp_path / "file", b"new")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]
