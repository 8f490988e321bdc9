"""Model files taken apart and put together again, in ways that `npl.save` never would."""

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Values that Python's JSON does not write; they stand in a text for the words in front.
SPECIAL = {
    "@deep": "[" * 100_000 + "]" * 100_000,
    "@deeper": '{"a":' * 100_000,
    "@exponent": "1e999",
    "@digits": "9" * 5000,
    "@half": '"\\ud800"',
}
_SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "U8": 1, "BOOL": 1}


def text_of(tree: Any) -> str:
    """JSON with the special values in place."""
    text = json.dumps(tree)
    for word, value in SPECIAL.items():
        text = text.replace(f'"{word}"', value)
    return text


@dataclass
class ModelFile:
    """A safetensors file: our header, and of each tensor its type, its shape and its bytes."""

    header: Any
    tensors: dict[str, tuple[str, list[Any], bytes]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, *, checksum: bool = False) -> "ModelFile":
        """Without its checksum, unless that is asked for: what is changed is to get past it."""
        raw = path.read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        table, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]
        header = json.loads(table.pop("__metadata__")["neuroplastic"])
        if not checksum:
            header.pop("sha256", None)
        tensors = {
            name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
            for name, entry in table.items()
        }
        return cls(header, tensors)

    @classmethod
    def read_plain(cls, path: Path) -> "ModelFile":
        """Of tensors alone, without a header of ours."""
        raw = path.read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        table, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]
        table.pop("__metadata__", None)
        return cls(
            None,
            {
                name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
                for name, entry in table.items()
            },
        )

    def raw(self) -> bytes:
        """The file's bytes, whether or not shapes and types fit them."""
        text = text_of(self.header)
        table: dict[str, Any] = {} if self.header is None else {"__metadata__": {"neuroplastic": text}}
        data, start = b"", 0
        for name, (dtype, shape, content) in self.tensors.items():
            table[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, start + len(content)]}
            data, start = data + content, start + len(content)
        listed = json.dumps(table).encode()
        listed += b" " * (-len(listed) % 8)
        return struct.pack("<Q", len(listed)) + listed + data

    def write(self, path: Path) -> Path:
        """The file at a path."""
        path.write_bytes(self.raw())
        return path

    def resized(self, name: str, shape: list[int]) -> None:
        """Another shape, with as many bytes of zero as it takes."""
        dtype = self.tensors[name][0]
        count = 1
        for size in shape:
            count *= size
        self.tensors[name] = dtype, shape, bytes(count * _SIZES[dtype])
