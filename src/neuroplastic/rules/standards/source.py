"""What can be written: a rule base, or whatever rules can be read off without loss."""

from __future__ import annotations

from typing import TypeAlias

from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from ..estimators import FittedEstimator, is_estimator, not_a_network
from ..reading import rule_base
from ..rule_base import RuleBase

Source: TypeAlias = "RuleBase | NeuroFuzzyNetwork | Hierarchy | FittedEstimator"


def rules_of(source: Source) -> RuleBase:
    """The rule base itself, that of a network in the units it sees, or that of a fitted estimator in raw units."""
    if isinstance(source, RuleBase):
        return source
    if isinstance(source, NeuroFuzzyNetwork | Hierarchy):
        return rule_base(source)
    if is_estimator(source):
        return source.rules_
    raise not_a_network(source, "rules are written of a RuleBase, a network or a fitted estimator")
