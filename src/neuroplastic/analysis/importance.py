"""How much each hyperparameter matters: fANOVA, MDI and PED-ANOVA by Optuna, their means, the leading few."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from ..errors import choose
from .errors import AnalysisError, NoVariationError, TableError, TooFewError
from .quiet import quiet_optuna
from .study_table import StudyTable

if TYPE_CHECKING:
    from optuna.importance._base import BaseImportanceEvaluator

PED = "PED-ANOVA"
EVALUATORS = ("fANOVA", "MDI", PED)
TREES = 64
"""Trees of the random forests of fANOVA and MDI, Optuna's default."""


def importances(
    table: StudyTable, evaluator: str, *, quantile: float = 0.1, seed: int = 0
) -> dict[str, float]:
    """Share of each hyperparameter in the trials' mean return; shares sum to 1, in the order of the table.

    fANOVA: share of the variance over the whole space; MDI: of the forest's splits; PED-ANOVA: of what tells
    the best `quantile` of the trials from all. A hyperparameter with a single value has share 0.
    Fewer than 2 finished trials raise TooFewError, equal means NoVariationError.
    """
    import optuna
    from optuna.trial import FrozenTrial

    choose("evaluator", evaluator, EVALUATORS)
    if not 0 < quantile < 1:
        raise AnalysisError(f"quantile must lie between 0 and 1, got {quantile!r}")
    finished = table.finished
    if len(finished) < 2:
        raise TooFewError(f"importances need at least 2 finished trials, {table.name} has {len(finished)}")
    if len({trial.mean for trial in finished}) == 1:
        raise NoVariationError(
            f"all finished trials of {table.name} have the same mean, {finished[0].mean}: "
            "no hyperparameter can be told to matter"
        )
    # PED-ANOVA takes lower targets as better, whatever the study's direction; the others do not care.
    sign = -1.0 if evaluator == PED else 1.0

    def target(trial: FrozenTrial) -> float:
        return sign * float(trial.values[0])

    # Optuna's notes on single objectives and few trials; what matters of them was raised above.
    with warnings.catch_warnings(), quiet_optuna(warnings=False):
        warnings.simplefilter("ignore")
        shares = optuna.importance.get_param_importances(
            table.as_optuna(), evaluator=_evaluator(evaluator, quantile, seed), target=target
        )
    return {name: float(shares.get(name, 0.0)) for name in table.parameters}


def _evaluator(name: str, quantile: float, seed: int) -> BaseImportanceEvaluator:
    from optuna import importance

    if name == PED:
        return importance.PedAnovaImportanceEvaluator(target_quantile=quantile)
    forest = {
        "fANOVA": importance.FanovaImportanceEvaluator,
        "MDI": importance.MeanDecreaseImpurityImportanceEvaluator,
    }[name]
    return forest(n_trees=TREES, seed=seed)


def mean_importances(tables: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean of each hyperparameter's importance over tasks; all tasks must have the same hyperparameters."""
    if not tables:
        raise TooFewError("there are no importances to average; give those of at least one task")
    names = list(tables[0])
    for table in tables:
        if set(table) != set(names):
            odd = sorted(set(table) ^ set(names))
            raise TableError(f"importances of different hyperparameters cannot be averaged: {', '.join(odd)}")
    return {name: sum(table[name] for table in tables) / len(tables) for name in names}


def leading(shares: Mapping[str, float], *, share: float = 0.9) -> tuple[str, ...]:
    """The most important hyperparameters, added in order of importance while their sum is at most `share`.

    The first is always among them. This is the rule behind the paper's highlighting of 90 %: in BR, PP, TC and GH
    the next hyperparameter would pass 90 % and is not highlighted. Equal shares keep their order.
    """
    if not shares:
        raise TooFewError("there are no importances to choose from")
    if not all(isfinite(value) and value >= 0 for value in shares.values()):
        raise TableError(f"importances must be finite and at least 0, got {dict(shares)}")
    chosen: list[str] = []
    total = 0.0
    for name in sorted(shares, key=lambda name: -shares[name]):
        total += shares[name]
        if chosen and (total > share + 1e-9 or shares[name] == 0):
            break
        chosen.append(name)
    return tuple(chosen)
