"""The rows of a table behind each rule of a model."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..learn.estimators import NeuroFuzzyClassifier, NeuroFuzzyRegressor
from ..rules.evidence import Evidence
from ..rules.leading import leaders_of


def evidence_on(
    estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor, x: pd.DataFrame, y: pd.Series
) -> Evidence:
    """Which of the rows x with targets y each rule leads, and what they are."""
    seen = (estimator.encode(x) - estimator.offset_) / estimator.scale_
    leaders = leaders_of(estimator.network_, seen)
    if isinstance(estimator, NeuroFuzzyClassifier):
        targets = y.to_numpy()[:, None] == estimator.classes_
    else:
        targets = y.to_numpy()[:, None]
    return Evidence.of(leaders, targets.astype(np.float64), np.ones(len(y)), estimator.network_.rules)
