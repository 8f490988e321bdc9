"""The house has floors, and an import only ever points down: which folder may import which is said here once."""

import ast
from pathlib import Path

import pytest

import neuroplastic

SOURCE = Path(neuroplastic.__file__).parent
# From the ground up. Folders on one floor know nothing of each other.
FLOORS = (
    {""},  # modules beside the folders: errors, catalogue, files
    {"fuzzy"},
    {"network"},
    {"rules"},
    {"learn"},
    {"experiment"},
    {"doom", "gym"},
    {"search"},
    {"analysis"},
    {"report"},
    {"usecases"},
    {"studio"},
    {"cli"},
)
LEVEL = {folder: level for level, floor in enumerate(FLOORS) for folder in floor}
# They hand out names of all floors, each when it is first asked for.
DOORS = {"__init__.py", "__main__.py"}


def modules():
    return [path for path in sorted(SOURCE.rglob("*.py")) if path.relative_to(SOURCE).as_posix() not in DOORS]


def folder_of(parts: tuple[str, ...]) -> str:
    return parts[0] if parts and (SOURCE / parts[0]).is_dir() else ""


def imported_folders(path: Path):
    """(line, folder) of every import of this package, those inside functions and for type checks included."""
    package = path.relative_to(SOURCE).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = tuple((node.module or "").split(".")) if node.module else ()
            if node.level == 0:
                if module[:1] != ("neuroplastic",):
                    continue
                target = module[1:]
            else:
                target = (*package[: len(package) - (node.level - 1)], *module)
            for alias in node.names:
                yield node.lineno, folder_of(target or (alias.name,))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "neuroplastic":
                    yield node.lineno, folder_of(tuple(alias.name.split(".")[1:]))


def test_every_folder_has_a_floor():
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and list(path.rglob("*.py"))}
    assert folders == LEVEL.keys() - {""}


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports_point_down(path):
    own = folder_of(path.relative_to(SOURCE).parent.parts)
    upward = [
        f"line {line} imports {folder}"
        for line, folder in imported_folders(path)
        if folder != own and LEVEL[folder] >= LEVEL[own]
    ]
    assert not upward, f"{own or 'the ground'} may not import from a floor above, nor from beside"
