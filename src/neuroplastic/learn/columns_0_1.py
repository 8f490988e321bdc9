"""The columns of a table's model as version 0.1 wrote them: there the file was encoded, not the estimator's table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..decoding import decoded, shown
from ..errors import ConfigError
from .columns import Columns, check_names
from .estimators.encoding import Column, Encoder


@dataclass(frozen=True)
class OldColumn:
    """A number, with what stands in for a missing one, or a category with its values."""

    name: str
    fill: float | None = None
    categories: tuple[str, ...] = ()

    def as_new(self) -> Column:
        """The same now; a missing value of a category was none of the known."""
        if (self.fill is None) != bool(self.categories):
            raise ConfigError(f"column {shown(self.name)} must have either a fill or categories")
        return Column(self.name, "category" if self.categories else "number", self.categories, self.fill)


@dataclass(frozen=True)
class OldColumns:
    """Target and inputs."""

    target: str
    classes: bool
    inputs: tuple[OldColumn, ...]


def read_old(saved: Mapping[str, Any]) -> tuple[Columns, Encoder | None]:
    """Columns and how the estimator's inputs are made of them; None where there is no input."""
    old: OldColumns = decoded(OldColumns, saved, "columns")
    names = tuple(column.name for column in old.inputs)
    check_names(old.target, names)
    columns = tuple(column.as_new() for column in old.inputs)
    return Columns(old.target, old.classes, names), Encoder(columns) if columns else None
