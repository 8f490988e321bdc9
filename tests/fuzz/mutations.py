"""Damage by structure: every field of a JSON text and every tensor, changed in every way that comes to mind."""

import json
import math
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.fuzz.model_files import SPECIAL, ModelFile, text_of

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3, 7, 40_000_000, 10**8, 2**31, 2**40, 2**63 - 1, 2**63, 2**64, 10**30),
    *(0.5, -0.5, 1e-300, 1e300, -1e300, math.nan, math.inf, -math.inf),
    *(
        "",
        "x",
        "1",
        "learn",
        "auto",
        "float16",
        "a\nb",
        "a'b",
        "\0",
        "\x1b[31m",
        "ü" * 2000,
        "<U999999999",
        "object",
    ),
    *(
        [],
        {},
        [[]],
        [None],
        ["x"],
        [1, 2],
        [1.0] * 3,
        [[0, 0], [1, 1]],
        {"a": 1},
        {"kind": "mamdani"},
        ["a"] * 50_000,
    ),
    *SPECIAL,
)
# Made once: some of the values are long, and there are thousands of places to put each.
LABELS = tuple(repr(value)[:30] for value in VALUES)


def changed_trees(tree: Any) -> Iterator[tuple[str, Any]]:
    """The tree with one node replaced, left out, doubled, or with a field too many; each with what was done."""
    for path in _paths(tree):
        name = ".".join(map(str, path))
        for label, value in zip(LABELS, VALUES, strict=True):
            yield f"{name} = {label}", _replaced(tree, path, value)
        if path:
            yield f"without {name}", _without(tree, path)
        node = _at(tree, path)
        if isinstance(node, dict):
            for extra in ("__class__", "__init__", "network_", "x" * 5000):
                yield f"{name} with {extra[:20]}", _replaced(tree, path, {**node, extra: 1})
        elif isinstance(node, list):
            yield f"{name} twice", _replaced(tree, path, node + node)
            yield f"{name} reversed", _replaced(tree, path, node[::-1])
        elif isinstance(node, (int, float)) and not isinstance(node, bool):
            for other in (node + 1, node - 1, -node, node * 1000, node / 2, str(node)):
                yield f"{name} = {other}", _replaced(tree, path, other)


def changed_tensors(file: ModelFile) -> Iterator[tuple[str, ModelFile]]:
    """The file with one tensor renamed, left out, reshaped, of another type, or with other numbers in it."""
    for name, (dtype, shape, content) in file.tensors.items():
        rest = {other: entry for other, entry in file.tensors.items() if other != name}

        def made(*entry: Any, name: str = name, rest: dict[str, Any] = rest) -> ModelFile:
            return ModelFile(file.header, {**rest, name: entry})

        yield f"without {name}", ModelFile(file.header, rest)
        yield f"{name} renamed", ModelFile(file.header, {**rest, f"{name}x": file.tensors[name]})
        yield f"{name} twice", ModelFile(file.header, {**file.tensors, f"{name}x": file.tensors[name]})
        shapes = (
            [],
            [0],
            [len(content)],
            [1, *shape],
            shape[::-1],
            [*shape, 1],
            [-1],
            [2**40, 2**40],
            [2**63],
            ["3"],
        )
        for other in shapes:
            yield f"{name} of {other}", made(dtype, other, content)
        for size in ([0], [1], [2**16], [size + 1 for size in shape], [size * 2 for size in shape]):
            larger = ModelFile(file.header, dict(file.tensors))
            larger.resized(name, size)
            yield f"{name} resized to {size}", larger
        for kind in (
            "F64",
            "F32",
            "F16",
            "BF16",
            "I64",
            "I32",
            "U8",
            "BOOL",
            "C64",
            "F8_E4M3",
            "F4",
            "X",
            3,
            None,
        ):
            yield f"{name} as {kind}", made(kind, shape, content)
            yield f"{name} as {kind}, flat", made(kind, [len(content)], content)
        for filling in (
            b"\0",
            b"\1",
            b"\2",
            b"\x7f",
            b"\x80",
            b"\xff",
            b"[",
            b"\x00\x00\x80\x7f\x00\x00\xc0\x7f",
        ):
            filled = (filling * len(content))[: len(content)]
            yield f"{name} filled with {filling!r}", made(dtype, shape, filled)
        if dtype in ("F64", "F32"):
            letter, width = ("d", 8) if dtype == "F64" else ("f", 4)
            for number in (
                math.nan,
                math.inf,
                -math.inf,
                1e38,
                -1e38,
                1e-38,
                -1.0,
                0.0,
                *([1e300] * (width == 8)),
            ):
                for place in sorted({0, len(content) // width // 2 * width, len(content) - width}):
                    if place >= 0:
                        value = struct.pack(f"<{letter}", number)
                        wounded = content[:place] + value + content[place + width :]
                        yield f"{name}[{place // width}] = {number}", made(dtype, shape, wounded)
                if width == len(content):
                    break


def changed_states(file: ModelFile) -> Iterator[tuple[str, ModelFile]]:
    """The file with the JSON inside of an extra state changed."""
    for name, (dtype, _, content) in file.tensors.items():
        if name.endswith("_extra_state"):
            for label, tree in changed_trees(json.loads(content)):
                text = text_of(tree).encode()
                yield (
                    f"{name}: {label}",
                    ModelFile(file.header, {**file.tensors, name: (dtype, [len(text)], text)}),
                )


def changed_header(file: ModelFile) -> Iterator[tuple[str, ModelFile]]:
    """The file with its header changed."""
    for label, tree in changed_trees(file.header):
        yield f"header: {label}", ModelFile(tree, file.tensors)


def flipped(raw: bytes, generator: np.random.Generator) -> bytes:
    """One to eight bits the other way round."""
    content = bytearray(raw)
    for _ in range(int(generator.integers(1, 9))):
        content[int(generator.integers(len(content)))] ^= 1 << int(generator.integers(8))
    return bytes(content)


def _paths(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(tree, dict):
        inside = list(tree.items())
    elif isinstance(tree, list):
        inside = list(enumerate(tree))[:3]
    else:
        return
    for key, value in inside:
        yield from _paths(value, (*path, key))


def _at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def _replaced(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    first, rest = path[0], path[1:]
    copy = dict(tree) if isinstance(tree, dict) else list(tree)
    copy[first] = _replaced(tree[first], rest, value)
    return copy


def _without(tree: Any, path: tuple[Any, ...]) -> Any:
    inside = _at(tree, path[:-1])
    if isinstance(inside, dict):
        kept: Any = {key: value for key, value in inside.items() if key != path[-1]}
    else:
        kept = [value for place, value in enumerate(inside) if place != path[-1]]
    return _replaced(tree, path[:-1], kept)
