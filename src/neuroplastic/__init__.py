"""Neuro-fuzzy networks that learn their rules and grow their fuzzy sets while they train.

>>> import neuroplastic as npl
>>> net = npl.NeuroFuzzyNetwork(in_features=4, out_features=3, rules=8)

is an ordinary PyTorch module. See the README for the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import CapacityWarning, ConfigError, InputError, MissingPackageError, NeuroplasticError
from .fuzzy.firing import Firing
from .fuzzy.selection import Selection
from .network.consequents import Affine, Constant, LowRank, Mamdani
from .network.hierarchy import Hierarchy
from .network.neurogenesis import Birth, Neurogenesis
from .network.nfn import NeuroFuzzyNetwork
from .network.storage import StorageError, load, save
from .network.storage import register as _register
from .rules.building import network_of
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

if TYPE_CHECKING:
    from .learn.estimators import NeuroFuzzyClassifier, NeuroFuzzyRegressor

__version__ = "0.1.0"

__all__ = [
    "Affine",
    "Birth",
    "CapacityWarning",
    "ConfigError",
    "Constant",
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
    "Readability",
    "RuleBase",
    "RuleJSONError",
    "RuleSyntaxError",
    "Selection",
    "SimplificationReport",
    "Simplified",
    "Stability",
    "StandardError",
    "StorageError",
    "Term",
    "Variable",
    "explain",
    "export",
    "from_rules",
    "import_rules",
    "load",
    "network_of",
    "readabilities",
    "readability",
    "rule_base",
    "rule_bases",
    "rule_stability",
    "save",
    "simplify",
]

# These need an optional package, so they are imported when they are first asked for.
_LATE = {
    "NeuroFuzzyClassifier": "learn.estimators",
    "NeuroFuzzyRegressor": "learn.estimators",
}
for _name in ("NeuroFuzzyClassifier", "NeuroFuzzyRegressor"):
    _register(_name, f"{__name__}.learn.estimators.storage")


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_LATE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
