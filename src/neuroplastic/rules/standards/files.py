"""One call for every format, chosen by the file's extension."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ...whole_files import write_whole
from ..building import network_of
from ..estimators import is_estimator
from ..rule_base import RuleBase
from .errors import FileFormatError, StandardError
from .fcl import to_fcl
from .fcl_reading import from_fcl
from .fis import to_fis
from .fis_reading import from_fis
from .fml import to_fml
from .fml_reading import from_fml
from .source import Source
from .text import MOST_CHARACTERS

_WRITERS: dict[str, Callable[[Source], str]] = {
    ".fml": to_fml,
    ".xml": to_fml,
    ".fcl": to_fcl,
    ".fis": to_fis,
}
ENDINGS = (*_WRITERS, ".onnx")


def export(source: Source, path: str | os.PathLike[str]) -> None:
    """Write rules to `.fml` or `.xml` (IEEE 1855), `.fcl` (IEC 61131-7), `.fis` or `.onnx`.

    What a format cannot express is refused with a NotExpressibleError that names the option; nothing is written
    then. A network is written in the units that it sees; for names and raw units export
    `npl.rule_base(net, feature_names=..., scaler=...)`. A fitted estimator is written in raw units; its ONNX graph
    takes single precision and gives the scores of the classes, or the predicted numbers.
    """
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise StandardError(
            f"the extension of {target.name!r} must be one of {', '.join(ENDINGS)}, got {target.suffix.lower()!r}"
        )
    write_whole(target, exported(source, target.suffix.lower()))


def exported(source: Source, extension: str) -> bytes:
    """The content of the file that `export` writes; the extension is one of `ENDINGS`."""
    if extension in _WRITERS:
        return _WRITERS[extension](source).encode()
    from .onnx_export import onnx_of

    if isinstance(source, RuleBase):
        return onnx_of(network_of(source))
    if is_estimator(source):
        stretch = getattr(source, "target_scale_", None)
        outer = None if stretch is None else (getattr(source, "target_offset_", 0.0), stretch)
        return onnx_of(
            source.network_, scaler=(source.offset_, source.scale_), output_scaler=outer, double=False
        )
    return onnx_of(source)


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
