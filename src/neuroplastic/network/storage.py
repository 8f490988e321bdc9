"""Networks on disk: one safetensors file whose header carries the configuration as JSON. Never pickle."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as as_bytes

from ..errors import NeuroplasticError
from .hierarchy import Hierarchy
from .nfn import NeuroFuzzyNetwork

FORMAT = 1
_KINDS: dict[str, type[NeuroFuzzyNetwork] | type[Hierarchy]] = {
    "NeuroFuzzyNetwork": NeuroFuzzyNetwork,
    "Hierarchy": Hierarchy,
}


class StorageError(NeuroplasticError, OSError):
    """A file is not a saved network, is damaged, or is of a format this version does not know."""


def save(net: NeuroFuzzyNetwork | Hierarchy, path: str | os.PathLike[str]) -> None:
    """Write the network to one file, whole or not at all: parameters, structure, statistics, births.

    The file is written under a temporary name, synced and renamed, so a crash leaves the old file as it was.
    """
    if type(net).__name__ not in _KINDS:
        raise NeuroplasticError(f"save takes one of {', '.join(_KINDS)}, got {type(net).__name__}")
    header = {"format": FORMAT, "kind": type(net).__name__, "config": net.config()}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    content = as_bytes(tensors, metadata={"neuroplastic": json.dumps(header)})
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(
    path: str | os.PathLike[str], *, device: torch.device | str = "cpu"
) -> NeuroFuzzyNetwork | Hierarchy:
    """Read what `save` wrote. A grown network needs no word about its size."""
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
    state = torch.random.get_rng_state()  # building a network draws numbers; loading one should not
    try:
        net = _KINDS[header["kind"]].from_config(header["config"])
    finally:
        torch.random.set_rng_state(state)
    net.load_state_dict(tensors)
    return net.to(device)
