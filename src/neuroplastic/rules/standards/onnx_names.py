"""What the columns of an ONNX graph's input and output are called, as its metadata say."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ..rule_base import RuleBase

if TYPE_CHECKING:
    from collections.abc import Mapping


class Coded(Protocol):
    """What an estimator knows of columns that are codes of categories."""

    @property
    def crisp(self) -> Mapping[int, tuple[str, ...]]:
        """The categories of such columns, by their places."""


@dataclass(frozen=True)
class Names:
    """Names of the columns of `x` and of `y`, in their order, and the categories of those that are codes."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """by input: its code is the place of the category here, from 0"""

    @classmethod
    def of(cls, rules: RuleBase, coded: Coded | None = None) -> Names:
        """Of a rule base, and of an estimator's encoder where there is one."""
        inputs = tuple(variable.name for variable in rules.inputs)
        categories = {} if coded is None else {inputs[place]: of for place, of in coded.crisp.items()}
        return cls(inputs, tuple(variable.name for variable in rules.outputs), categories)

    def notes(self) -> dict[str, str]:
        """As metadata, which are text: a JSON list of names for each."""
        made = {"inputs": self.inputs, "outputs": self.outputs, "categories": self.categories}
        return {name: json.dumps(value, ensure_ascii=False) for name, value in made.items() if value}
