"""Networks on disk: one safetensors file whose header carries the configuration as JSON. Never pickle.

A file may come from a stranger: whatever it holds, it is read or refused by name, in time and memory that its size
bounds. What it says of sizes is compared with its tensors before anything is allocated.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as as_bytes
from torch import Tensor

from .. import safe_json
from ..decoding import decoded, shown
from ..errors import ConfigError, NeuroplasticError, in_short
from ..whole_files import write_whole
from .hierarchy import Hierarchy
from .nfn import NeuroFuzzyNetwork
from .taking_over import take_over

FORMAT = 1
# Of the tallest hierarchy, with some to spare.
_MOST_TENSORS = 10_000
# What our tensors are made of.
_TYPES = {torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64}
# The list of tensors and, within a string, our header: no file of ours comes near.
_LONGEST_HEADER = 2 * safe_json.MOST_BYTES


@dataclass(frozen=True)
class Kind:
    """How objects of one class are written and read: their configuration, which JSON holds, and their tensors.

    What `build` is given is a stranger's: it raises a ConfigError for anything that `parts` does not give.
    """

    parts: Callable[[Any], tuple[dict[str, Any], dict[str, Tensor]]]
    build: Callable[[dict[str, Any], dict[str, Tensor]], Any]


def _of_network(kind: type[NeuroFuzzyNetwork] | type[Hierarchy]) -> Kind:
    def build(config: dict[str, Any], tensors: dict[str, Tensor]) -> NeuroFuzzyNetwork | Hierarchy:
        return take_over(kind.from_config(config, device="meta"), tensors)

    return Kind(lambda net: (net.config(), net.state_dict()), build)


_KINDS: dict[str, Kind | str] = {
    "NeuroFuzzyNetwork": _of_network(NeuroFuzzyNetwork),
    "Hierarchy": _of_network(Hierarchy),
    "NeuroFuzzyClassifier": "neuroplastic.learn.estimators.storage",
    "NeuroFuzzyRegressor": "neuroplastic.learn.estimators.storage",
}
"""By class name. A string is the module that registers the kind when it is imported: it lies on a higher floor and
needs an optional package, so it is not imported before such an object or file is met."""


def register(name: str, kind: Kind) -> None:
    """Let `save` and `load` know a further class."""
    _KINDS[name] = kind


def _kind(name: str) -> Kind:
    found = _KINDS[name]
    if isinstance(found, str):
        import_module(found)
        found = _KINDS[name]
    assert isinstance(found, Kind)
    return found


class StorageError(NeuroplasticError, OSError):
    """A file is not a saved network, is damaged, or is of a format this version does not know."""


@dataclass(frozen=True)
class _Header:
    """What our JSON in the file's header says; files written before there was a checksum have none."""

    format: int
    kind: str
    config: dict[str, Any]
    sha256: str | None = None


def save(net: Any, path: str | os.PathLike[str]) -> None:
    """Write a network or a fitted estimator to one file, whole or not at all.

    A network's parameters, structure, statistics and births; of an estimator also its settings, scales and classes.
    What could not be read back, such as NaN of a training that has diverged, is refused.

    The file is written under a temporary name, synced and renamed, so a crash leaves the old file as it was. It
    carries a checksum, by which `load` finds a flipped bit.
    """
    if type(net).__name__ not in _KINDS:
        raise NeuroplasticError(f"save takes one of {', '.join(_KINDS)}, got {type(net).__name__}")
    kind = _kind(type(net).__name__)
    config, state = kind.parts(net)
    header = {"format": FORMAT, "kind": type(net).__name__, "config": config}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    header["sha256"] = _checksum(header, tensors)
    text = json.dumps(header)
    try:
        _built(kind, _checked(path, safe_json.parse(text)), tensors)
    except NeuroplasticError as error:
        raise ConfigError(f"this {type(net).__name__} cannot be saved: {in_short(error)}") from error
    write_whole(path, as_bytes(tensors, metadata={"neuroplastic": text}))


def load(path: str | os.PathLike[str], *, device: torch.device | str = "cpu") -> Any:
    """Read what `save` wrote: a network on `device`, or an estimator, which computes on the CPU.

    A grown network needs no word about its size. Files from strangers may be read: none runs code or takes more
    memory than its size calls for, and what is damaged is a StorageError that says how.
    """
    saved, tensors = _read(path)
    header = _checked(path, saved)
    if header.sha256 is not None and header.sha256 != _checksum(saved, tensors):
        raise StorageError(f"{path} is damaged: it does not match its checksum")
    kind = _kind(header.kind)
    try:
        found = _built(kind, header, tensors)
    except NeuroplasticError as error:
        raise _damaged(path, error) from error
    return found.to(device) if isinstance(found, torch.nn.Module) else found


def _built(kind: Kind, header: _Header, tensors: dict[str, Tensor]) -> Any:
    """The object that a header and tensors describe; a ConfigError or the like says why there is none."""
    # Building a network draws numbers; saving or loading one should not.
    with torch.random.fork_rng(devices=[]):
        return kind.build(header.config, tensors)


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Our header and all tensors, of which no byte is in memory before it is looked at."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise StorageError(f"{path} is no regular file")
        with open(path, "rb") as beginning:
            if int.from_bytes(beginning.read(8), "little") > _LONGEST_HEADER:
                raise StorageError(f"{path} is not a readable safetensors file: its header is too long")
        with safe_open(path, framework="pt", device="cpu") as file:
            text, names = (file.metadata() or {}).get("neuroplastic"), file.keys()
            if len(names) > _MOST_TENSORS:
                raise StorageError(f"{path} is damaged: it has {len(names)} tensors, more than any network")
            tensors = {name: file.get_tensor(name) for name in names}
    except (FileNotFoundError, PermissionError, StorageError):
        raise
    except (SafetensorError, ValueError, OSError) as error:
        raise StorageError(f"{path} is not a readable safetensors file: {in_short(error)}") from error
    for name, tensor in tensors.items():
        if tensor.dtype not in _TYPES:
            raise StorageError(f"{path} is damaged: the tensor {shown(name)} is {tensor.dtype}")
    if text is None:
        raise StorageError(f"{path} has tensors but no neuroplastic header; was it written by npl.save?")
    try:
        header = safe_json.parse(text)
    except safe_json.JsonError as error:
        raise _damaged(path, error) from error
    return header, tensors


def _checked(path: str | os.PathLike[str], saved: Any) -> _Header:
    """The header by type, of a format and a kind that this version knows."""
    form = saved.get("format") if isinstance(saved, dict) else None
    if isinstance(form, int) and form != FORMAT:
        raise StorageError(f"{path} has format {form}, this version reads {FORMAT}; upgrade neuroplastic")
    try:
        header: _Header = decoded(_Header, saved, "the header")
    except ConfigError as error:
        raise _damaged(path, error) from error
    if header.kind not in _KINDS:
        raise StorageError(
            f"{path} holds a {shown(header.kind)}, which this version does not know; upgrade neuroplastic"
        )
    return header


def _checksum(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of a header, but for its checksum, and of each tensor's name, type, shape and bytes."""
    hasher = hashlib.sha256(safe_json.checksum(header).encode())
    for name, tensor in sorted(tensors.items()):
        hasher.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        hasher.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return hasher.hexdigest()


def _damaged(path: str | os.PathLike[str], error: Exception) -> StorageError:
    return StorageError(f"{path} is damaged: {in_short(error)}")
