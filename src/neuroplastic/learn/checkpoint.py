"""Checkpoints that survive a kill, a full disk and a flipped bit.

A checkpoint is a directory `checkpoint-<step>` with two files: `tensors.safetensors` holds every tensor,
`state.json` the rest, in which `{"tensor": name}` stands where a tensor belongs. The JSON also carries the
SHA-256 of both. It is written under a temporary name, synced and renamed, so that a directory of the final
name is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from .. import safe_json
from ..errors import NeuroplasticError, at_least, in_short
from ..whole_files import need_regular

_FORMAT = 1
_FINISHED = "checkpoint-"
_UNFINISHED = ".unfinished-"
_LEFT_SECONDS = 600.0
_TENSORS = "tensors.safetensors"
_STATE = "state.json"
# A million episodes take 60 MB; the state of a random generator is a number of 128 bits.
_LONGEST_STATE = 2**26
_MOST_DIGITS = 40
_TYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


class CheckpointError(NeuroplasticError):
    """A checkpoint could not be saved, or none could be read."""


class CheckpointWarning(UserWarning):
    """A checkpoint is damaged and an older one is used."""


class Checkpoint(NamedTuple):
    """What was read back."""

    step: int
    state: dict[str, Any]


class CheckpointStore:
    """The checkpoints of one run in one folder; the last `keep` are kept.

    One writer at a time is meant. One that was taken for dead and wakes again leaves alone what its successor is
    writing: what lies unfinished is a store's own, or counts as left behind after ten minutes.
    """

    def __init__(self, folder: str | os.PathLike[str], *, keep: int = 2) -> None:
        self.folder = Path(folder)
        self.keep = at_least("keep", keep, 1)
        self._unfinished = f"{_UNFINISHED}{secrets.token_hex(4)}-"

    def steps(self) -> list[int]:
        """Steps of the finished checkpoints, damaged ones included, oldest first."""
        if not self.folder.is_dir():
            return []
        numbers = (path.name.removeprefix(_FINISHED) for path in self.folder.glob(f"{_FINISHED}*"))
        return sorted(int(number) for number in numbers if number.isdecimal())

    def path(self, step: int) -> Path:
        """Directory of the checkpoint of a step."""
        return self.folder / f"{_FINISHED}{step:09d}"

    def save(self, step: int, state: Mapping[str, Any]) -> Path:
        """Save nested mappings and lists of tensors and JSON values; then drop all but the last checkpoints.

        If it fails (a full disk), earlier checkpoints are left as they were. Checkpoints of later steps,
        left by a run that was taken up again from before them, are dropped once this one is safe.
        """
        at_least("step", step, 0)
        final = self.path(step)
        unfinished, replaced = (
            self.folder / f"{self._unfinished}{step:09d}{suffix}" for suffix in ("", "-replaced")
        )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._remove_unfinished()
            unfinished.mkdir()
            _write(unfinished, step, state)
            if final.exists():  # the run was taken up again from before this step: the old one makes way
                final.rename(replaced)
            unfinished.rename(final)
            _sync(self.folder)
        except OSError as error:
            if replaced.exists() and not final.exists():
                replaced.rename(final)
            shutil.rmtree(unfinished, ignore_errors=True)
            raise CheckpointError(self._why_not_saved(step, error)) from error
        self._remove_unfinished()
        earlier = [number for number in self.steps() if number <= step]
        for number in self.steps():
            if number not in earlier[-self.keep :]:
                shutil.rmtree(self.path(number), ignore_errors=True)
        return final

    def load(self) -> Checkpoint | None:
        """Read the newest intact checkpoint; None if there is none at all.

        A damaged one is passed over with a CheckpointWarning. If all are damaged, that is a CheckpointError.
        """
        damaged: list[str] = []
        for step in reversed(self.steps()):
            try:
                state = _read(self.path(step))
            except (OSError, ValueError, KeyError, safetensors.SafetensorError) as error:
                damaged.append(f"checkpoint {self.path(step)} is damaged ({in_short(error)})")
                continue
            for complaint in damaged:
                warnings.warn(
                    f"{complaint}; going back to the one of step {step}", CheckpointWarning, stacklevel=2
                )
            return Checkpoint(step, state)
        if damaged:
            raise CheckpointError("; ".join(damaged) + "; no intact checkpoint is left")
        return None

    def _remove_unfinished(self) -> None:
        for found in self.folder.glob(f"{_UNFINISHED}*"):
            if found.name.startswith(self._unfinished) or _seconds_since_change(found) > _LEFT_SECONDS:
                shutil.rmtree(found, ignore_errors=True)

    def _why_not_saved(self, step: int, error: OSError) -> str:
        kept = self.steps()
        rest = f"the checkpoint of step {kept[-1]} is still there" if kept else "there is no earlier one"
        why = error.strerror or str(error)
        return f"could not save the checkpoint of step {step} in {self.folder}: {why}; {rest}"


def _seconds_since_change(directory: Path) -> float:
    try:
        return time.time() - directory.stat().st_mtime
    except OSError:  # gone in the meantime
        return 0.0


def _write(directory: Path, step: int, state: Mapping[str, Any]) -> None:
    tensors: dict[str, Tensor] = {}
    content = {"format": _FORMAT, "step": step, "state": _take_tensors(state, "", tensors)}
    content["tensors_sha256"] = _write_safetensors(directory / _TENSORS, tensors)
    content["sha256"] = _digest(content)
    with open(directory / _STATE, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    _sync(directory)


def _read(directory: Path) -> dict[str, Any]:
    content = safe_json.read(
        directory / _STATE, finite=False, most_bytes=_LONGEST_STATE, most_digits=_MOST_DIGITS
    )
    if not isinstance(content, dict) or content.pop("sha256", None) != _digest(content):
        raise ValueError(f"{_STATE} does not match its checksum")
    if content["format"] != _FORMAT:
        raise ValueError(f"format {content['format']} is not {_FORMAT}, the one this version reads")
    hasher = hashlib.sha256()
    need_regular(directory / _TENSORS)
    with open(directory / _TENSORS, "rb") as file:
        while block := file.read(1 << 20):
            hasher.update(block)
    if hasher.hexdigest() != content["tensors_sha256"]:
        raise ValueError(f"{_TENSORS} does not match its checksum")
    state: dict[str, Any] = _put_tensors(content["state"], safetensors.torch.load_file(directory / _TENSORS))
    return state


def _take_tensors(node: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """The same tree with tensors replaced by their names, and gathered in `tensors`."""
    if isinstance(node, Tensor):
        tensors[name] = node
        return {"tensor": name}
    if isinstance(node, Mapping):
        return {
            key: _take_tensors(value, f"{name}.{key}" if name else key, tensors)
            for key, value in node.items()
        }
    if isinstance(node, (list, tuple)):
        return [_take_tensors(value, f"{name}.{index}", tensors) for index, value in enumerate(node)]
    return node


def _put_tensors(node: Any, tensors: Mapping[str, Tensor]) -> Any:
    if isinstance(node, dict):
        if node.keys() == {"tensor"} and isinstance(node["tensor"], str):
            return tensors[node["tensor"]]
        return {key: _put_tensors(value, tensors) for key, value in node.items()}
    if isinstance(node, list):
        return [_put_tensors(value, tensors) for value in node]
    return node


def _digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _write_safetensors(path: Path, tensors: Mapping[str, Tensor]) -> str:
    """Write and sync a safetensors file; return its SHA-256.

    By hand rather than by the library: tensor by tensor, so that no second copy of a large replay memory is
    made, hashed on the way, and with the system's own error when the disk is full.
    """
    # Wide types first, as the library does: every tensor then lies at a multiple of its element size.
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0]))
    header: dict[str, Any] = {}
    end = 0
    for name, tensor in ordered:
        start, end = end, end + tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": _TYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    hasher = hashlib.sha256()
    with open(path, "wb", buffering=0) as file:
        for block in [memoryview(len(text).to_bytes(8, "little") + text), *(_bytes(t) for _, t in ordered)]:
            hasher.update(block)
            while block:  # an unbuffered write may be partial, and is above 2 GB
                block = block[file.write(block) :]
        os.fsync(file.fileno())
    return hasher.hexdigest()


def _bytes(tensor: Tensor) -> memoryview:
    """The tensor's memory, without a copy where it is contiguous and on the CPU."""
    array = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return array.data


def _sync(directory: Path) -> None:
    """Make names created in a directory survive a power cut; some systems cannot open a directory."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
