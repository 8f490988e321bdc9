"""What people call a network's inputs, outputs and sets, and the units they use: handed on as one thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .true_names import NamedSet, Numbers


@dataclass(frozen=True, eq=False)
class Naming:
    """The naming arguments of `npl.rule_base` and `npl.explain`, which say what each of them means."""

    feature_names: Sequence[str] | None = None
    output_names: Sequence[str] | None = None
    scaler: Any = None
    output_scaler: Any = None
    terms: Mapping[str, Sequence[str]] | None = None
    classes: bool | None = None
    """whether outputs are scores of classes or actions, of which the greatest is decided for"""
    words: Mapping[str, Sequence[str]] | None = None
    """by variable, two words for low and high, or three for low, medium and high"""
    quantiles: Numbers | None = None
    """(21, D): values of the data in raw units, see `true_names.knots_of`; None where no data are known"""
    kept: Mapping[str, Sequence[NamedSet]] | None = None
    """by input, sets that have had names before"""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is named: inputs are x1, x2, ... in the units that the network sees."""
        return all(getattr(self, field.name) is None for field in fields(self))
