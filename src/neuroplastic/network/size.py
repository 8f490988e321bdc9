"""How many numbers a network learns, known before it is made, and the refusal of one that no memory can hold."""

from __future__ import annotations

from torch import Tensor

from ..memory import need_memory
from .consequents import BY_NAME, ConsequentConfig

# Beside each number, any use of a network makes at least one more: noise, a gradient, or a copy to choose from.
COPIES = 2


def parameters_of(
    attributes: int, outputs: int, rules: int, max_terms: int, consequent: str | ConsequentConfig
) -> int:
    """Numbers in the parameters of a network, at most: layer norm and certainty counted in."""
    return (
        max_terms * attributes * (rules + 2)
        + 3 * rules
        + 1
        + _decided(consequent, attributes, outputs, rules)
    )


def check_size(what: str, parameters: int, like: Tensor) -> None:
    """Raise a ConfigError unless the device of `like` can hold so many parameters of its type, and use them."""
    needed = COPIES * parameters * like.element_size()
    need_memory(what, needed, like.device, "use fewer rules, a smaller max_terms or fewer attributes")


def _decided(consequent: str | ConsequentConfig, attributes: int, outputs: int, rules: int) -> int:
    if isinstance(consequent, str) and consequent in BY_NAME:
        consequent = BY_NAME[consequent]()
    if not isinstance(consequent, ConsequentConfig):
        return 0  # what is no consequent is refused where one is to be made
    return consequent.parameters(attributes, outputs, rules)
