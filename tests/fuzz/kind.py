"""What the harness needs to know of a kind of file: a whole one, changes by structure, and how it is used."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.model_files import text_of
from tests.fuzz.mutations import changed_trees

Files = Mapping[str, bytes]
Change = tuple[str, str, Callable[[], bytes]]
"""what is done, to which file, and that file's bytes after it"""


@dataclass(frozen=True)
class Kind:
    """A kind of file, or of folder with files."""

    whole: Callable[[], Files]
    """an undamaged one: files by their path in a folder"""
    changes: Callable[[], Sequence[Change]]
    """every change by structure"""
    uses: Callable[[Path], list[str]]
    """how each use of what lies in a folder ended: 'fine', 'refused', or what is wrong"""
    bare: Callable[[], Files] = dict
    """files as they are damaged by bytes, where a checksum would catch all damage of the whole ones"""


def json_changes(name: str, content: bytes, again: Callable[[Any], Any] = lambda tree: tree) -> list[Change]:
    """Every change of a JSON file; `again` renews what depends on the rest, a checksum."""
    tree = json.loads(content)
    return [
        (f"{name}: {label}", name, lambda changed=changed: _encoded(again(changed)))
        for label, changed in changed_trees(tree)
    ]


def _encoded(tree: Any) -> bytes:
    return text_of(tree).encode("utf-8", "surrogatepass")


def replaced(files: Iterable[str]) -> list[Change]:
    """Each file in turn by something quite different."""
    return [
        (f"{name} is {label}", name, lambda raw=raw: raw) for name in files for label, raw in FOREIGN.items()
    ]


# A pickle that would make a file beside the folder, were it ever loaded.
PICKLE = b"cos\nsystem\n(S'touch ../pickle-was-run'\ntR."
FOREIGN: Mapping[str, bytes] = {
    "empty": b"",
    "a pickle": PICKLE,
    "zeros": bytes(5000),
    "deep JSON": b"[" * 100_000 + b"]" * 100_000,
    "deep JSON that does not end": b'{"a":' * 100_000,
    "a JSON text": b'"x"',
    "a JSON number": b"1e999",
    "deep XML": b"<a>" * 100_000,
    "XML that grows": b'<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>',
    "half a character": b"a,b\n\xff\xfe,1\n",
    "control characters": b"a\x1b]0;x\x07,b\r\n\x00\x1b[2J,1\n",
    "a safetensors header without end": b"\xff\xff\xff\xff\xff\xff\xff\x7f{",
    "a ZIP": b"PK\x03\x04" + bytes(100),
    "a Parquet without a foot": b"PAR1" + bytes(50) + b"PAR1",
    "an SQLite database of nothing": b"SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20" + bytes(4076),
}
