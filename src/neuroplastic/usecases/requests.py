"""What can be asked for, by name. Nothing heavy is imported here, so that a parser or a page can show it at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .. import catalog
from ..errors import ConfigError, at_least, choose

TASKS = ("auto", "classes", "number")
"""What a target can be taken for."""
CLASS_WEIGHTS = ("balanced",)
"""How much classes can be made to count."""
HEADS = ("advantage", "value")
"""The parts of an agent that have rules; the first decides."""
EPOCHS = ("best", "last")
"""The networks that a run keeps."""
PICTURES = (".png", ".svg", ".pdf")
"""Endings of files that figures are drawn to."""
FIRING_SCENARIO = "DTC"
"""Whose pictures a report shows firing levels for."""


def rule_files() -> tuple[str, ...]:
    """Endings of files that rules are written to; standards of your own are among them once they are registered."""
    return (".txt", ".csv", ".json", *catalog.names("standard"))


@dataclass(frozen=True)
class TableRequest:
    """Which column of which file is to be learned from which others."""

    data: str | Path = field(metadata={"help": "a .csv or .parquet file with a header"})
    target: str = field(metadata={"help": "the column to predict"})
    task: str = field(
        default="auto",
        metadata={"help": "what the target is (default: classes if it is text or few whole numbers)"},
    )
    ignore: tuple[str, ...] = field(default=(), metadata={"help": "leave a column out (repeatable)"})

    def __post_init__(self) -> None:
        choose("task", self.task, TASKS)
        if self.target in self.ignore:
            raise ConfigError(f"{self.target!r} is the target and cannot be ignored; ignore other columns")

    @property
    def classes(self) -> bool | None:
        """Whether the target is a class; None where its values are to say so."""
        return {"auto": None, "classes": True, "number": False}[self.task]


@dataclass(frozen=True)
class FitRequest:
    """How rules are learned from a table."""

    rules: int | None = field(default=None, metadata={"help": "rules to learn (default: the estimator's)"})
    portable: bool = field(
        default=False, metadata={"help": "rules that FML, FCL and .fis can say: firing without layer norm"}
    )
    folds: int = field(default=5, metadata={"help": "folds of the cross-validation (default: 5)"})
    seed: int = field(default=0, metadata={"help": "of folds and training (default: 0)"})

    baselines: bool = field(
        default=True, metadata={"help": "score no plain models on the same folds to compare with"}
    )

    readable: bool = field(
        default=False, metadata={"help": "few short rules that conclude a class or a number, not formulas"}
    )
    max_rules: int | None = field(default=None, metadata={"help": "rules of a readable model, at most"})
    max_premises: int | None = field(
        default=None, metadata={"help": "premises of each rule of a readable model, at most"}
    )
    max_size: int | None = field(
        default=None, metadata={"help": "premises of a readable model in all, at most"}
    )
    class_weight: str | None = field(
        default=None,
        metadata={"help": "balanced: all classes count the same, however rare, so that rare ones are found"},
    )

    def __post_init__(self) -> None:
        if self.rules is not None:
            at_least("rules", self.rules, 1)
        if self.class_weight is not None:
            choose("class_weight", self.class_weight, CLASS_WEIGHTS)
        if self.readable and self.rules is not None:
            raise ConfigError("rules is for models that are not readable; use max_rules")
        if self.readable and self.portable:
            raise ConfigError(
                "readable rules are compared by their worst premise, which portable ones are not"
            )
        for name in ("max_rules", "max_premises", "max_size"):
            if getattr(self, name) is not None:
                at_least(name, getattr(self, name), 1)
                if not self.readable:
                    raise ConfigError(f"{name} is a limit of readable models; ask for one with --readable")
        at_least("folds", self.folds, 2)
        at_least("seed", self.seed, 0)
