"""One call for every format, chosen by the file's extension."""

from __future__ import annotations

import os
from pathlib import Path

from ... import catalog
from ...whole_files import need_regular, write_whole
from ..rule_base import RuleBase
from .errors import StandardError
from .source import Source
from .standard import Standard
from .text import MOST_CHARACTERS


def export(source: Source, path: str | os.PathLike[str]) -> None:
    """Write rules to `.fml` or `.xml` (IEEE 1855), `.fcl` (IEC 61131-7), `.fis` or `.onnx`.

    What a format cannot express is refused with a NotExpressibleError that names the option; nothing is written
    then. A network is written in the units that it sees; for names and raw units export
    `npl.rule_base(net, feature_names=..., scaler=...)`. A fitted estimator is written in raw units; its ONNX graph
    takes single precision and gives the scores of the classes, or the predicted numbers.
    """
    target = Path(path)
    content = exported(source, _ending_of(target, catalog.names("standard")))
    write_whole(target, content)


def exported(source: Source, extension: str) -> bytes:
    """The content of the file that `export` writes; the extension is one of the catalogue's standards."""
    return standard(extension).write(source)


def import_rules(path: str | os.PathLike[str]) -> RuleBase:
    """Read a rule base from `.fml` or `.xml`, `.fcl` or `.fis`; `network_of` makes a trainable network of it."""
    source = Path(path)
    readable = tuple(ending for ending in catalog.names("standard") if standard(ending).reads)
    extension = _ending_of(source, readable)
    need_regular(source)
    with source.open("rb") as file:
        return rules_of_bytes(file.read(MOST_CHARACTERS + 1), extension)


def rules_of_bytes(content: bytes, extension: str) -> RuleBase:
    """The rule base that the content of a file with this extension says."""
    return standard(extension).read(content)


def standard(extension: str) -> Standard:
    """The standard of an ending of the catalogue."""
    found: Standard = catalog.kind("standard", extension)()
    return found


def _ending_of(path: Path, endings: tuple[str, ...]) -> str:
    extension = path.suffix.lower()
    if extension not in endings:
        raise StandardError(
            f"the extension of {path.name!r} must be one of {', '.join(endings)}, got {extension!r}"
        )
    return extension
