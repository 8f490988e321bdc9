"""How a student learns from a teacher."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NoReturn

from ...errors import ConfigError, at_least, choose

if TYPE_CHECKING:
    from torch import nn

    from ..experience import Setting

METHODS = ("dagger", "cloning")


@dataclass(frozen=True)
class ImitationConfig:
    """A readable student: its size, and how many states the teacher is asked about."""

    teacher: str = field(default="", metadata={"help": "whom the student learns from"})
    method: Literal["dagger", "cloning"] = field(
        default="dagger",
        metadata={
            "help": "'dagger': the student plays, the teacher says what it would do; 'cloning': the teacher plays"
        },
    )
    rounds: int = field(
        default=5, metadata={"help": "rounds of playing and fitting, the teacher plays the first"}
    )
    states: int = field(default=2000, metadata={"help": "states of each round"})
    max_rules: int = field(default=8, metadata={"help": "rules of the student, at most"})
    max_premises: int = field(default=3, metadata={"help": "premises of a rule, at most"})
    costs: bool = field(
        default=True,
        metadata={"help": "whether states count by what a wrong action costs, as far as that is known"},
    )

    def __post_init__(self) -> None:
        choose("method", self.method, METHODS)
        for name in ("rounds", "states", "max_premises"):
            at_least(name, getattr(self, name), 1)
        at_least("max_rules", self.max_rules, 2)

    def build(self, network: nn.Module, setting: Setting) -> NoReturn:
        """A student is not trained by playing on its own."""
        raise ConfigError(
            "a student learns from its teacher, by `neuroplastic imitate`; `train` and --resume are not for it"
        )
