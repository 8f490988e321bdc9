"""What a standard is: rules as the content of a file, and back. Its endings stand in the catalogue."""

from __future__ import annotations

from typing import Protocol

from ..rule_base import RuleBase
from .errors import FileFormatError
from .source import Source


class Standard(Protocol):
    """A format of files; `catalog.KINDS["standard"]` leads from an ending to its class."""

    reads: bool
    """whether `read` can be called: some formats are for export only"""

    def write(self, source: Source) -> bytes:
        """The content of a file; what the format cannot express is a NotExpressibleError that names the option."""
        ...

    def read(self, content: bytes) -> RuleBase:
        """The rules that a file's content says; a FileFormatError names the line that is wrong."""
        ...


def text_of(content: bytes) -> str:
    """The text of a file, in UTF-8 with or without a byte order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"the file is not UTF-8 text ({error}); save it as UTF-8") from error
