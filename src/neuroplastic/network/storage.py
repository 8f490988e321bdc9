"""Networks on disk: one safetensors file whose header carries the configuration as JSON. Never pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as as_bytes
from torch import Tensor

from ..errors import NeuroplasticError
from ..whole_files import write_whole
from .hierarchy import Hierarchy
from .nfn import NeuroFuzzyNetwork

FORMAT = 1


@dataclass(frozen=True)
class Kind:
    """How objects of one class are written and read: their configuration, which JSON holds, and their tensors."""

    parts: Callable[[Any], tuple[dict[str, Any], dict[str, Tensor]]]
    build: Callable[[dict[str, Any], dict[str, Tensor]], Any]


def _of_network(kind: type[NeuroFuzzyNetwork] | type[Hierarchy]) -> Kind:
    def build(config: dict[str, Any], tensors: dict[str, Tensor]) -> NeuroFuzzyNetwork | Hierarchy:
        net = kind.from_config(config)
        net.load_state_dict(tensors)
        return net

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


def save(net: Any, path: str | os.PathLike[str]) -> None:
    """Write a network or a fitted estimator to one file, whole or not at all.

    A network's parameters, structure, statistics and births; of an estimator also its settings, scales and classes.

    The file is written under a temporary name, synced and renamed, so a crash leaves the old file as it was.
    """
    if type(net).__name__ not in _KINDS:
        raise NeuroplasticError(f"save takes one of {', '.join(_KINDS)}, got {type(net).__name__}")
    config, state = _kind(type(net).__name__).parts(net)
    header = {"format": FORMAT, "kind": type(net).__name__, "config": config}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    write_whole(path, as_bytes(tensors, metadata={"neuroplastic": json.dumps(header)}))


def load(path: str | os.PathLike[str], *, device: torch.device | str = "cpu") -> Any:
    """Read what `save` wrote: a network on `device`, or an estimator, which computes on the CPU.

    A grown network needs no word about its size.
    """
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            header = json.loads((file.metadata() or {}).get("neuroplastic", "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except FileNotFoundError:
        raise
    except (SafetensorError, ValueError, OSError) as error:
        raise StorageError(f"{path} is not a readable safetensors file: {error}") from error
    if header is None:
        raise StorageError(f"{path} has tensors but no neuroplastic header; was it written by npl.save?")
    if header["format"] != FORMAT:
        raise StorageError(
            f"{path} has format {header['format']}, this version reads {FORMAT}; upgrade neuroplastic"
        )
    if header["kind"] not in _KINDS:
        raise StorageError(
            f"{path} holds a {header['kind']}, which this version does not know; upgrade neuroplastic"
        )
    state = torch.random.get_rng_state()  # building a network draws numbers; loading one should not
    try:
        found = _kind(header["kind"]).build(header["config"], tensors)
    finally:
        torch.random.set_rng_state(state)
    return found.to(device) if isinstance(found, torch.nn.Module) else found
