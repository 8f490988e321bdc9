"""How many numbers a network learns, known before it is made, and the refusal of one that no memory can hold."""

from __future__ import annotations

from torch import Tensor

from ..memory import need_memory
from .consequents import ConsequentConfig, consequent_config

# Beside each number, any use of a network makes at least one more: noise, a gradient, or a copy to choose from.
COPIES = 2


def parameters_of(
    attributes: int, outputs: int, rules: int, max_terms: int, consequent: str | ConsequentConfig
) -> int:
    """Numbers in the parameters of a network, at most: layer norm, certainty, alpha and gain counted in."""
    return (
        max_terms * attributes * (rules + 2)
        + 3 * rules
        + 2
        + consequent_config(consequent).parameters(attributes, outputs, rules)
    )


def check_size(what: str, parameters: int, like: Tensor) -> None:
    """Raise a ConfigError unless the device of `like` can hold so many parameters of its type, and use them."""
    needed = COPIES * parameters * like.element_size()
    need_memory(what, needed, like.device, "use fewer rules, a smaller max_terms or fewer attributes")
