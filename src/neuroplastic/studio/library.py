"""What can be opened, by name. A request names something of this list; no path is ever made of what it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..usecases.opening import BOX, FILE, RUN, TABLE, kind_of


@dataclass
class Library:
    """Agents in the box, the runs and models of the studio's folders, and what was named on the command line."""

    runs: Path
    """where run folders lie and new ones go"""
    models: Path
    """where models and tables of the studio go"""
    studies: str | None = None
    """where studies lie: a storage, a study's .csv or .json, or a folder of those; None: there are none"""
    given: dict[str, Path] = field(default_factory=dict)
    """by name"""

    def add(self, path: Path) -> str:
        """List something under its own name, or that with a number; the name."""
        name, number = path.name or "model", 1
        while name in self.given and self.given[name] != path:
            number += 1
            name = f"{path.name}-{number}"
        self.given[name] = path
        return name

    def agents(self) -> dict[str, Path]:
        """Runs that can be watched or gone on with: those in the box, then one's own, then those given."""
        return self._of_kind(RUN, {**_below(BOX, "config.json"), **_below(self.runs, "config.json")})

    def models_of_tables(self) -> dict[str, Path]:
        """Folders made by a fit."""
        return self._of_kind(TABLE, _below(self.models, "columns.json"))

    def files(self) -> dict[str, Path]:
        """Saved networks and estimators that were given."""
        return self._of_kind(FILE, {})

    def _of_kind(self, kind: str, found: dict[str, Path]) -> dict[str, Path]:
        own = {name: path for name, path in self.given.items() if _kind(path) == kind}
        return {**found, **own}


def _below(folder: Path, mark: str) -> dict[str, Path]:
    """The folders with a file of that name directly in a folder, by name; links are not followed."""
    if not folder.is_dir():
        return {}
    inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    return {path.name: path for path in inside if (path / mark).is_file()}


def _kind(path: Path) -> str | None:
    try:
        return kind_of(path)
    except ValueError:
        return None
