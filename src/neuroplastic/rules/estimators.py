"""An estimator as the rules see it: a network behind scales and names, which must not be lost on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from torch import nn

from ..errors import ConfigError
from ..network.hierarchy import Hierarchy
from ..network.nfn import NeuroFuzzyNetwork
from .rule_base import Numbers, RuleBase

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from .diagnosis import Diagnosis
    from .explanations.explanation import Explanation


class FittedEstimator(Protocol):
    """What is asked of an estimator: its network, how columns are scaled for it, its rules, what is told of them."""

    network_: NeuroFuzzyNetwork
    offset_: Numbers
    scale_: Numbers

    @property
    def rules_(self) -> RuleBase:
        """The rules in raw units."""

    def explain(self, X: Any) -> Explanation:
        """Why it answers X (N, D), in raw units, as it does."""

    def diagnose(self, X: Any) -> Diagnosis:
        """Whether its rules decide on X (N, D), in raw units."""


def is_estimator(given: object) -> TypeIs[FittedEstimator]:
    """Whether something is an estimator with rules, and not a network; raises a ConfigError if it is not fitted."""
    # Asked of the class: reading the rules off takes time, and an estimator that is not fitted has none.
    if not (hasattr(given, "fit") and hasattr(type(given), "rules_")):
        return False
    if not hasattr(given, "network_"):
        raise ConfigError(
            f"the {type(given).__name__} is not fitted yet, so it has no rules; call fit(X, y) first"
        )
    return True


def not_a_network(
    given: object, wanted: str = "net must be a NeuroFuzzyNetwork or a Hierarchy"
) -> ConfigError:
    """The error for something else than a network; of an estimator it says what to call instead."""
    kind = type(given).__name__
    if is_estimator(given):
        return ConfigError(
            f"{wanted}, got a fitted {kind}; call its own model.explain(X) or model.simplify(X, tolerance), read "
            "model.rules_, or take model.network_, which sees (model.encode(X) - model.offset_) / model.scale_"
        )
    return ConfigError(f"{wanted}, got {kind}{_inside(given)}")


def _inside(given: object) -> str:
    """Where a module has a network inside, and what to give instead; nothing for others."""
    if not isinstance(given, nn.Module):
        return ""
    within = [
        name
        for name, part in given.named_modules()
        if name and isinstance(part, NeuroFuzzyNetwork | Hierarchy)
    ]
    return f"; it has one inside: give model.get_submodule({within[0]!r})" if within else ""
