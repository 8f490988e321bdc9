"""XML as a shallow tree of nodes with line numbers, read safely: no DTD, no entities, nothing fetched."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ...errors import MissingPackageError
from .errors import FileFormatError
from .text import check_length, number, shown

# FML nests eight deep.
_DEEPEST = 32

_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_ENCODINGS = {"utf-8": "utf-8", "us-ascii": "ascii", "iso-8859-1": "latin-1", "windows-1252": "cp1252"}
_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,100}?\sencoding\s{0,9}=\s{0,9}['\"]([A-Za-z0-9._-]{1,40})['\"]")


@dataclass
class Node:
    """An element: its name without namespace, its attributes, and what is in it."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list[Node] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text directly in the element, without blanks around it."""
        return "".join(self.texts).strip()

    def all(self, name: str) -> list[Node]:
        """The child elements of this name."""
        return [child for child in self.children if child.name == name]

    def one(self, name: str) -> Node:
        """The only child element of this name."""
        found = self.all(name)
        if len(found) != 1:
            raise FileFormatError(f"<{self.name}> must have one <{name}>, got {len(found)}", self.line)
        return found[0]

    def attribute(self, name: str, default: str | None = None) -> str:
        """An attribute without blanks around it; one without default is required."""
        value = self.attributes.get(name, default)
        if value is None:
            raise FileFormatError(f"<{self.name}> must have the attribute {name!r}", self.line)
        return value.strip()

    def number(self, name: str, default: str | None = None) -> float:
        """An attribute that is a number."""
        return number(self.attribute(name, default), f"{name} of <{self.name}>", self.line)


class _Builder:
    """Receives the parser's events. Depth is limited here; the parser itself does not recurse."""

    def __init__(self) -> None:
        self.parser: Any = None
        self.open: list[Node] = []
        self.root: Node | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = int(self.parser.CurrentLineNumber)
        if len(self.open) >= _DEEPEST:
            raise FileFormatError(f"elements are nested more than {_DEEPEST} deep", line)
        node = Node(_cut(_local(tag)), {_local(key): value for key, value in attributes.items()}, line)
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)

    def data(self, text: str) -> None:
        if self.open:
            self.open[-1].texts.append(text)

    def end(self, tag: str) -> None:
        self.open.pop()

    def close(self) -> Node | None:
        return self.root


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _cut(name: str) -> str:
    """An element's name as messages may quote it; no element that is read has one so long."""
    return name if len(name) <= 40 else f"{name[:37]}..."


def _decoded(content: bytes) -> str:
    """The text of a document. Encodings are looked up here and not by name: a name in a file could be any module's."""
    encoding = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
    if encoding is None:
        declared = _ENCODING.match(content)
        name = declared[1].decode().lower() if declared else "utf-8"
        encoding = _ENCODINGS.get(name)
        if encoding is None:
            raise FileFormatError(f"the encoding {shown(name)} is not read; save the file as UTF-8", 1)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise FileFormatError(f"the file is not {encoding} text ({error}); save it as UTF-8") from error


def parse_xml(content: str | bytes) -> Node:
    """The root element. A DTD, entities or external references are refused by name."""
    check_length(content)
    text = _decoded(content) if isinstance(content, bytes) else content
    try:
        from defusedxml.common import DefusedXmlException, DTDForbidden
        from defusedxml.ElementTree import DefusedXMLParser, ParseError
    except ImportError as error:
        raise MissingPackageError(
            "reading FML needs defusedxml: pip install 'neuroplastic[rules]'"
        ) from error
    builder = _Builder()
    parser = DefusedXMLParser(target=builder, forbid_dtd=True, forbid_entities=True, forbid_external=True)
    builder.parser = parser.parser
    try:
        parser.feed(text)
        parser.close()
    except DTDForbidden as error:
        raise FileFormatError(
            "a document type (DTD) is refused: FML needs none, and it can do harm"
        ) from error
    except DefusedXmlException as error:
        raise FileFormatError(f"entities and external references are refused: {error}") from error
    except ParseError as error:
        line, column = error.position
        raise FileFormatError(f"not well-formed XML: {str(error).split(':')[0]}", line, column + 1) from error
    except UnicodeEncodeError as error:  # halves of surrogate pairs
        raise FileFormatError(f"not readable XML: {error}") from error
    assert builder.root is not None
    return builder.root
