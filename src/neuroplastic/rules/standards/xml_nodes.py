"""XML as a shallow tree of nodes with line numbers, read safely: no DTD, no entities, nothing fetched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .errors import FileFormatError, MissingPackageError
from .text import check_length, number

# FML nests eight deep.
_DEEPEST = 32


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
        node = Node(_local(tag), {_local(key): value for key, value in attributes.items()}, line)
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


def parse_xml(content: str | bytes) -> Node:
    """The root element. A DTD, entities or external references are refused by name."""
    check_length(content)
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
        parser.feed(content)
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
    except (ValueError, LookupError) as error:  # an encoding that is unknown or does not fit
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"not readable XML: {error}") from error
    assert builder.root is not None
    return builder.root
