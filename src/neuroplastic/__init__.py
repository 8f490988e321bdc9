"""Neuro-fuzzy networks that learn their rules and grow their fuzzy sets while they train.

>>> import neuroplastic as npl
>>> net = npl.NeuroFuzzyNetwork(in_features=4, out_features=3, rules=8)

is an ordinary PyTorch module. See the README for the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import (
    CapacityWarning,
    ColumnWarning,
    ConfigError,
    InputError,
    MissingPackageError,
    NeuroplasticError,
    RecomputationError,
)
from .importing import after_import as _after_import
from .late_names import late_names as _late_names

if TYPE_CHECKING:
    from .fuzzy.firing import Firing
    from .fuzzy.selection import Selection
    from .learn.estimators import NeuroFuzzyClassifier, NeuroFuzzyRegressor
    from .network.capturing import capturable
    from .network.consequents import Affine, Constant, LowRank, Mamdani
    from .network.growth import Birth
    from .network.hierarchy import Hierarchy
    from .network.limits import Sets
    from .network.neurogenesis import Neurogenesis
    from .network.nfn import NeuroFuzzyNetwork
    from .network.parameter_groups import parameter_groups
    from .network.prunings import Pruning
    from .network.renewal import Renewal
    from .network.renewal_state import Rebirth
    from .network.storage import StorageError, load, save
    from .rules.building import network_of
    from .rules.diagnosing import diagnose
    from .rules.diagnosis import Diagnosis
    from .rules.evidence import Evidence
    from .rules.explanations.explaining import Explainer, explain
    from .rules.explanations.explanation import Explanation
    from .rules.json_form import RuleJSONError
    from .rules.measures.readability import Readability, readabilities, readability
    from .rules.measures.stability import Stability, rule_stability
    from .rules.reading import rule_base, rule_bases
    from .rules.rule_base import RuleBase, Term, Variable
    from .rules.simplification.report import SimplificationReport, Simplified
    from .rules.simplification.simplifying import simplify
    from .rules.standards import StandardError, export, import_rules
    from .rules.text.experts import from_rules
    from .rules.text.tokens import RuleSyntaxError

__version__ = "0.1.0"

__all__ = [
    "Affine",
    "Birth",
    "CapacityWarning",
    "ColumnWarning",
    "ConfigError",
    "Constant",
    "Diagnosis",
    "Evidence",
    "Explainer",
    "Explanation",
    "Firing",
    "Hierarchy",
    "InputError",
    "LowRank",
    "Mamdani",
    "MissingPackageError",
    "NeuroFuzzyClassifier",
    "NeuroFuzzyNetwork",
    "NeuroFuzzyRegressor",
    "Neurogenesis",
    "NeuroplasticError",
    "Pruning",
    "Readability",
    "Rebirth",
    "RecomputationError",
    "Renewal",
    "RuleBase",
    "RuleJSONError",
    "RuleSyntaxError",
    "Selection",
    "Sets",
    "SimplificationReport",
    "Simplified",
    "Stability",
    "StandardError",
    "StorageError",
    "Term",
    "Variable",
    "capturable",
    "diagnose",
    "explain",
    "export",
    "from_rules",
    "import_rules",
    "load",
    "network_of",
    "parameter_groups",
    "readabilities",
    "readability",
    "rule_base",
    "rule_bases",
    "rule_stability",
    "save",
    "simplify",
]

# Where the public names are defined. They are imported when they are first asked for: some need an optional
# package, and what needs none of them, such as `neuroplastic --help`, should not wait for torch.
_HOMES = {
    ".fuzzy.firing": "Firing",
    ".fuzzy.selection": "Selection",
    ".learn.estimators": "NeuroFuzzyClassifier NeuroFuzzyRegressor",
    ".network.capturing": "capturable",
    ".network.consequents": "Affine Constant LowRank Mamdani",
    ".network.growth": "Birth",
    ".network.hierarchy": "Hierarchy",
    ".network.limits": "Sets",
    ".network.neurogenesis": "Neurogenesis",
    ".network.nfn": "NeuroFuzzyNetwork",
    ".network.parameter_groups": "parameter_groups",
    ".network.prunings": "Pruning",
    ".network.renewal": "Renewal",
    ".network.renewal_state": "Rebirth",
    ".network.storage": "StorageError load save",
    ".rules.building": "network_of",
    ".rules.diagnosing": "diagnose",
    ".rules.diagnosis": "Diagnosis",
    ".rules.evidence": "Evidence",
    ".rules.explanations.explaining": "Explainer explain",
    ".rules.explanations.explanation": "Explanation",
    ".rules.json_form": "RuleJSONError",
    ".rules.measures.readability": "Readability readabilities readability",
    ".rules.measures.stability": "Stability rule_stability",
    ".rules.reading": "rule_base rule_bases",
    ".rules.rule_base": "RuleBase Term Variable",
    ".rules.simplification.report": "SimplificationReport Simplified",
    ".rules.simplification.simplifying": "simplify",
    ".rules.standards": "StandardError export import_rules",
    ".rules.text.experts": "from_rules",
    ".rules.text.tokens": "RuleSyntaxError",
}
_PACKAGES = ("doom", "fuzzy", "network", "rules")
_late_name, __dir__ = _late_names(__name__, _HOMES)


def __getattr__(name: str) -> object:
    return import_module(f".{name}", __name__) if name in _PACKAGES else _late_name(name)


# So that `gymnasium.make("neuroplastic/BP-v0")` finds it, whichever of the two is imported first. Gymnasium 1.0 gave up
# the entry points by which an installed package was found unasked, and who does not use it should not wait for it.
_after_import("gymnasium", lambda: import_module(".doom", __name__))
