"""The rules of anything that was opened, to read and to write as any file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ConfigError, InputError, choose
from ..network.hierarchy import Hierarchy
from ..network.nfn import NeuroFuzzyNetwork
from ..rules.reading import rule_bases
from ..rules.rule_base import RuleBase
from ..rules.standards.errors import NotExpressibleError
from ..rules.standards.files import exported
from .opening import Opened, OpenedEstimator, OpenedRun, OpenedTable
from .requests import HEADS, rule_files

if TYPE_CHECKING:
    from ..rules.estimators import FittedEstimator


@dataclass(frozen=True, eq=False)
class ReadRules:
    """Rule bases, one for each level of a hierarchy, and what they were read off."""

    levels: tuple[RuleBase, ...]
    source: NeuroFuzzyNetwork | Hierarchy | FittedEstimator

    def __len__(self) -> int:
        return sum(map(len, self.levels))

    def text(self, *, formulas: bool = False, exact: bool = False) -> str:
        """The rules as sentences; with their `formulas`, or `exact`, in full, so that they can be read back."""
        return "\n\n".join(base.text(formulas=formulas, exact=exact) for base in self.levels)


def rules_of(opened: Opened, *, head: str = HEADS[0]) -> ReadRules:
    """Read the rules, in raw units and with names where they are known; `head` says which of an agent's."""
    if isinstance(opened, OpenedTable):
        return ReadRules((opened.model.estimator.rules_,), opened.model.estimator)
    if isinstance(opened, OpenedEstimator):
        return ReadRules((opened.estimator.rules_,), opened.estimator)
    if isinstance(opened, OpenedRun):
        return _rules_of_run(opened, head)
    return ReadRules(rule_bases(opened.network), opened.network)


def _rules_of_run(run: OpenedRun, head: str) -> ReadRules:
    from ..experiment.decision import head_rules

    run.need_rules()
    network = getattr(run.agent, choose("head", head, HEADS))
    if not isinstance(network, Hierarchy | NeuroFuzzyNetwork):
        raise InputError(
            f"the {head} of {run.path} is told by a plain network: only the {HEADS[0]} has rules"
        )
    return ReadRules(head_rules(run.config, run.agent, head), network)


def rules_file(rules: ReadRules, ending: str, *, exact: bool = False) -> bytes:
    """The content of a file of rules, by its ending: text, a table, JSON, or a standard; of ONNX, the network.

    What a format cannot say is refused: `rules.standards.NotExpressibleError` names the option in the way.
    """
    choose("the ending", ending, rule_files())
    if exact and ending != ".txt":
        raise ConfigError(f"exact is for rules as text, {ending} is none; leave it out")
    if ending == ".txt":
        return f"{rules.text(exact=exact)}\n".encode()
    if ending == ".onnx":
        return exported(rules.source, ending)
    if len(rules.levels) > 1:
        raise ConfigError(f"a hierarchy has a rule base per level, {ending} holds one; use .txt or .onnx")
    if ending == ".csv":
        return _csv(rules.levels[0]).encode()
    if ending == ".json":
        return f"{rules.levels[0].json()}\n".encode()
    return _said(rules.levels[0], ending)


def _said(rules: RuleBase, ending: str) -> bytes:
    """In a standard; where it knows no gain the sets take it up: other widths, and the same firing."""
    try:
        return exported(rules, ending)
    except NotExpressibleError:
        return exported(rules.without_gain(), ending)


def _csv(rules: RuleBase) -> str:
    """The table with its two lines of headings joined: 'IF petal length', 'THEN setosa'."""
    table = rules.table()
    joined = [" ".join(filter(None, names)) for names in table.columns]
    text: str = table.set_axis(joined, axis=1).to_csv(index=False)
    return text
