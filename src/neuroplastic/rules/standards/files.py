"""One call for every format, chosen by the file's extension."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ...errors import ConfigError
from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from ..building import network_of
from ..reading import rule_base
from ..rule_base import Numbers, RuleBase
from .errors import FileFormatError, StandardError
from .fcl import to_fcl
from .fcl_reading import from_fcl
from .fis import to_fis
from .fis_reading import from_fis
from .fml import to_fml
from .fml_reading import from_fml
from .text import MOST_CHARACTERS

_WRITERS: dict[str, Callable[[RuleBase], str]] = {
    ".fml": to_fml,
    ".xml": to_fml,
    ".fcl": to_fcl,
    ".fis": to_fis,
}


class FittedEstimator(Protocol):
    """What is asked of an estimator: its network, and how columns are scaled for it."""

    network_: NeuroFuzzyNetwork
    offset_: Numbers
    scale_: Numbers

    @property
    def rules_(self) -> RuleBase:
        """The rules in raw units."""


def export(
    source: NeuroFuzzyNetwork | Hierarchy | RuleBase | FittedEstimator, path: str | os.PathLike[str]
) -> None:
    """Write rules to `.fml` or `.xml` (IEEE 1855), `.fcl` (IEC 61131-7), `.fis` or `.onnx`.

    What a format cannot express is refused with a NotExpressibleError that names the option; nothing is written
    then. A network is written in the units that it sees; for names and raw units export
    `npl.rule_base(net, feature_names=..., scaler=...)`. A fitted estimator is written in raw units; its ONNX graph
    takes single precision and gives the scores of the classes, or the predicted numbers.
    """
    target = Path(path)
    extension = target.suffix.lower()
    if extension == ".onnx":
        from .onnx_export import to_onnx

        if isinstance(source, RuleBase):
            to_onnx(network_of(source), target)
        elif isinstance(source, NeuroFuzzyNetwork | Hierarchy):
            to_onnx(source, target)
        else:
            net, stretch = _fitted(source).network_, getattr(source, "target_scale_", None)
            outer = None if stretch is None else (getattr(source, "target_offset_", 0.0), stretch)
            scaler = (source.offset_, source.scale_)
            to_onnx(net, target, scaler=scaler, output_scaler=outer, double=False)
        return
    if extension not in _WRITERS:
        raise StandardError(
            f"the extension of {target.name!r} must be one of {', '.join(_WRITERS)}, .onnx, got {extension!r}"
        )
    if isinstance(source, NeuroFuzzyNetwork | Hierarchy):
        source = rule_base(source)
    rules = source if isinstance(source, RuleBase) else _fitted(source).rules_
    write_whole(target, _WRITERS[extension](rules).encode())


def _fitted(source: FittedEstimator) -> FittedEstimator:
    if not hasattr(source, "network_"):
        raise ConfigError(
            f"export takes a network, a rule base or a fitted estimator, got {type(source).__name__}; fit it first"
        )
    return source


def write_whole(target: Path, content: bytes) -> None:
    """Write a file whole or not at all: under a temporary name first, which is then renamed."""
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def import_rules(path: str | os.PathLike[str]) -> RuleBase:
    """Read a rule base from `.fml` or `.xml`, `.fcl` or `.fis`; `network_of` makes a trainable network of it."""
    source = Path(path)
    extension = source.suffix.lower()
    if extension not in _WRITERS:
        raise StandardError(
            f"the extension of {source.name!r} must be one of {', '.join(_WRITERS)}, got {extension!r}"
        )
    with source.open("rb") as file:
        return rules_of_bytes(file.read(MOST_CHARACTERS + 1), extension)


def rules_of_bytes(content: bytes, extension: str) -> RuleBase:
    """The rule base that the content of a file with this extension says."""
    if extension in (".fml", ".xml"):
        return from_fml(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"the file is not UTF-8 text ({error}); save it as UTF-8") from error
    return from_fcl(text) if extension == ".fcl" else from_fis(text)
