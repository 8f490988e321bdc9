import errno
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
import safetensors.torch
import torch

from neuroplastic.learn import CheckpointError, CheckpointStore, CheckpointWarning
from neuroplastic.learn import checkpoint as module


def state_of(number: int) -> dict[str, object]:
    generator = torch.Generator().manual_seed(number)
    return {
        "number": number,
        "third": 1 / 3,
        "huge": 2**127 + number,
        "nothing": None,
        "names": ["a", {"deep": torch.full((2, 3), float(number), dtype=torch.float64)}],
        "weights": {
            "w": torch.randn(300, 40, generator=generator),
            "_extra_state": torch.arange(5).to(torch.uint8),
        },
        "scalar": torch.tensor(number),
        "flags": torch.tensor([True, False]),
        "half": torch.ones(3, dtype=torch.bfloat16),
        "empty": torch.empty(0, 4),
        "strided": torch.arange(12.0).view(3, 4).t(),
    }


def assert_equal(a: object, b: object) -> None:
    if isinstance(a, torch.Tensor):
        assert isinstance(b, torch.Tensor)
        assert a.dtype == b.dtype
        assert torch.equal(a, b)
    elif isinstance(a, dict):
        assert isinstance(b, dict)
        assert a.keys() == b.keys()
        for key in a:
            assert_equal(a[key], b[key])
    elif isinstance(a, list):
        assert isinstance(b, list)
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_equal(x, y)
    else:
        assert a == b


def test_what_was_saved_comes_back_bit_for_bit(tmp_path):
    store = CheckpointStore(tmp_path / "new" / "folder")
    assert store.load() is None
    store.save(12, state_of(1))
    loaded = store.load()
    assert loaded is not None
    assert loaded.step == 12
    assert_equal(loaded.state, state_of(1))


def test_the_tensors_are_a_safetensors_file_and_nothing_is_pickled(tmp_path):
    path = CheckpointStore(tmp_path).save(1, state_of(1))
    assert sorted(file.name for file in path.iterdir()) == ["state.json", "tensors.safetensors"]
    tensors = safetensors.torch.load_file(path / "tensors.safetensors")
    assert torch.equal(tensors["weights.w"], state_of(1)["weights"]["w"])
    assert json.loads((path / "state.json").read_text())["step"] == 1


def test_the_last_two_are_kept_and_leftovers_removed(tmp_path):
    store = CheckpointStore(tmp_path)
    left_over = tmp_path / ".unfinished-0123abcd-000000007"
    left_over.mkdir()
    os.utime(left_over, (time.time() - 3600,) * 2)
    for step in (10, 20, 30):
        store.save(step, state_of(step))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "checkpoint-000000020",
        "checkpoint-000000030",
    ]


def test_what_another_is_writing_at_this_moment_is_left_alone(tmp_path, monkeypatch):
    """A worker that was taken for dead wakes, and saves the same step while its successor does."""
    woken, successor = CheckpointStore(tmp_path), CheckpointStore(tmp_path)
    write = module._write

    def interrupted(directory, step, state):
        monkeypatch.setattr(module, "_write", write)
        write(directory, step, state)
        woken.save(10, state_of(1))

    monkeypatch.setattr(module, "_write", interrupted)
    successor.save(10, state_of(2))
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-000000010"]
    assert_equal(successor.load().state, state_of(2))


def test_a_run_taken_up_from_before_drops_the_checkpoints_ahead_of_it(tmp_path):
    store = CheckpointStore(tmp_path, keep=3)
    for step in (10, 20, 30):
        store.save(step, state_of(step))
    store.save(20, state_of(99))
    assert store.steps() == [10, 20]
    assert_equal(store.load().state, state_of(99))


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size * 2 // 3)


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("name", ["tensors.safetensors", "state.json"])
@pytest.mark.parametrize("damage", [truncate, flip_a_bit, empty, Path.unlink])
def test_a_damaged_newest_checkpoint_is_passed_over_with_a_warning(tmp_path, name, damage):
    store = CheckpointStore(tmp_path)
    store.save(1, state_of(1))
    damage(store.save(2, state_of(2)) / name)
    with pytest.warns(
        CheckpointWarning, match=r"checkpoint-000000002 is damaged .*; going back to .* step 1"
    ):
        loaded = store.load()
    assert loaded.step == 1
    assert_equal(loaded.state, state_of(1))
    store.save(2, state_of(2))  # the run goes on and comes by step 2 again
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.load().step == 2


def test_every_flipped_bit_of_the_state_is_noticed(tmp_path):
    store = CheckpointStore(tmp_path)
    file = store.save(1, {"rate": 0.25, "name": "x", "w": torch.ones(2)}) / "state.json"
    original = file.read_bytes()
    meaning = json.loads(original)
    for place in range(len(original)):
        for bit in range(8):
            changed = bytearray(original)
            changed[place] ^= 1 << bit
            file.write_bytes(changed)
            try:
                harmless = json.loads(bytes(changed)) == meaning  # white space
            except ValueError:
                harmless = False
            if not harmless:
                with pytest.raises(CheckpointError):
                    store.load()


def test_all_damaged_is_an_error(tmp_path):
    store = CheckpointStore(tmp_path)
    truncate(store.save(1, state_of(1)) / "tensors.safetensors")
    with pytest.raises(CheckpointError, match="no intact checkpoint is left"):
        store.load()


class Killed(BaseException):
    """Stands for SIGKILL: nothing that catches errors catches it."""


@pytest.mark.parametrize("resaved", [False, True])
def test_a_kill_at_any_moment_of_saving_leaves_an_intact_checkpoint(tmp_path, monkeypatch, resaved):
    calls = {"left": 0}

    def counted(function):
        def call(*arguments, **options):
            calls["left"] -= 1
            if calls["left"] == 0:
                raise Killed
            return function(*arguments, **options)

        return call

    monkeypatch.setattr(module.os, "fsync", counted(os.fsync))
    monkeypatch.setattr(module.json, "dump", counted(json.dump))
    monkeypatch.setattr(Path, "rename", counted(Path.rename))
    monkeypatch.setattr(Path, "mkdir", counted(Path.mkdir))
    monkeypatch.setattr(module.shutil, "rmtree", counted(shutil.rmtree))
    killed = moment = 0
    while killed == moment:
        moment += 1
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        store = CheckpointStore(tmp_path / "run")
        for step in (1, 2, 3) if resaved else (1, 2):
            store.save(step, state_of(step))
        calls["left"] = moment
        try:
            store.save(3, state_of(33))
        except Killed:
            killed += 1
        calls["left"] = 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loaded = CheckpointStore(tmp_path / "run").load()
        allowed = {2: state_of(2), 3: state_of(33)}
        if resaved and loaded.state["number"] == 3:
            allowed[3] = state_of(3)
        assert_equal(loaded.state, allowed[loaded.step])
    assert moment >= 7


@pytest.mark.parametrize("call", ["fsync", "mkdir"])
def test_a_full_disk_leaves_the_old_checkpoint_and_says_so(tmp_path, monkeypatch, call):
    store = CheckpointStore(tmp_path)
    store.save(1, state_of(1))

    def full(*_arguments, **_options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(*((module.os, call) if call == "fsync" else (Path, call)), full)
    with pytest.raises(CheckpointError, match=r"step 2 .*No space left on device; .* step 1 is still there"):
        store.save(2, state_of(2))
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-000000001"]
    assert_equal(store.load().state, state_of(1))


def test_a_limit_of_the_system_on_file_size_is_reported_like_a_full_disk(tmp_path):
    store = CheckpointStore(tmp_path)
    store.save(1, state_of(1))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(CheckpointError, match=r"File too large; .* step 1 is still there"):
            store.save(2, state_of(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-000000001"]


def test_a_disk_that_is_really_full_ends_the_program_with_the_error(tmp_path):
    program = (
        "import torch\n"
        "from neuroplastic.learn import CheckpointStore\n"
        "store = CheckpointStore('run')\n"
        "store.save(1, {'w': torch.ones(100_000)})\n"
        "print(store.load().step, flush=True)\n"
        "try:\n    store.save(2, {'w': torch.ones(1_000_000)})\n"
        "finally:\n    print(sorted(p.name for p in store.folder.iterdir()), store.load().step, flush=True)\n"
    )
    shell = f'mount -t tmpfs -o size=1m none {tmp_path} && cd {tmp_path} && exec {sys.executable} -c "$1"'
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("no way to mount a small disk here")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", shell, "sh", program], capture_output=True, text=True, check=False
    )
    if "mount" in done.stderr:
        pytest.skip("no way to mount a small disk here")
    assert done.returncode != 0
    assert done.stdout == "1\n['checkpoint-000000001'] 1\n"
    assert "CheckpointError: could not save the checkpoint of step 2" in done.stderr
    assert "No space left on device" in done.stderr


def test_a_hundred_megabytes_are_saved_in_about_a_second(tmp_path):
    state = {"frames": torch.zeros(5000, 84, 84, 3, dtype=torch.uint8)}
    store = CheckpointStore(tmp_path)
    times = []
    for step in range(3):
        start = time.perf_counter()
        store.save(step, state)
        times.append(time.perf_counter() - start)
    assert min(times) < 3, times  # 0.3 s on a quiet machine; the limit leaves room for a busy one
