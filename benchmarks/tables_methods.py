"""What is compared on tables of data: our estimators and their peers, each with the defaults of its makers."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import neuroplastic as npl

Make = Callable[[int], Any]
"""Makes an estimator from a seed."""

OURS, OURS_SMALL = "neuroplastic", "neuroplastic, 10 rules"
BOOSTING = "gradient boosting"


def highfis(sets: int) -> Make:
    def make(seed: int) -> Any:
        from highfis import HTSKClassifier

        return make_pipeline(StandardScaler(), HTSKClassifier(n_mfs=sets, random_state=seed))

    return make


class PyTSK(ClassifierMixin, BaseEstimator):
    """scikit-pytsk's HTSK as its documentation trains it: 10 rules at k-means centres, AdamW with 0.01, batches of
    512, at most 300 epochs, a fifth of the rows held out for early stopping with patience 40."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> PyTSK:
        from pytsk.gradient_descent import AntecedentGMF, EarlyStoppingACC, Wrapper, antecedent_init_center
        from pytsk.gradient_descent.tsk import TSK

        torch.manual_seed(self.seed)
        np.random.seed(self.seed)
        self.classes_, labels = np.unique(y, return_inverse=True)
        centers = antecedent_init_center(X, labels, n_rule=10)
        antecedent = AntecedentGMF(in_dim=X.shape[1], n_rule=10, high_dim=True, init_center=centers)
        model = TSK(X.shape[1], len(self.classes_), 10, antecedent, precons=torch.nn.BatchNorm1d(X.shape[1]))
        sets = {id(parameter) for parameter in antecedent.parameters()}
        optimizer = torch.optim.AdamW(
            [
                {"params": list(antecedent.parameters()), "weight_decay": 0},
                {"params": [p for p in model.parameters() if id(p) not in sets], "weight_decay": 1e-8},
            ],
            lr=0.01,
        )
        x, held_out, y_train, y_held_out = train_test_split(
            X, labels, test_size=0.2, random_state=self.seed, stratify=labels
        )
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            best = str(Path(folder) / "best.pkl")
            stop = EarlyStoppingACC(held_out, y_held_out, patience=40, save_path=best)
            self.wrapper_ = Wrapper(
                model, optimizer, torch.nn.CrossEntropyLoss(), epochs=300, callbacks=[stop]
            )
            self.wrapper_.fit(x, y_train)
            self.wrapper_.load(best)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self.wrapper_.predict(X).argmax(axis=1)]


CLASSIFIERS: dict[str, Make] = {
    OURS: lambda seed: npl.NeuroFuzzyClassifier(random_state=seed),
    OURS_SMALL: lambda seed: npl.NeuroFuzzyClassifier(10, random_state=seed),
    "highFIS HTSK, 30 sets": highfis(30),
    "highFIS HTSK, 5 sets": highfis(5),
    "scikit-pytsk HTSK": lambda seed: make_pipeline(StandardScaler(), PyTSK(seed)),
    "MLP": lambda seed: make_pipeline(StandardScaler(), MLPClassifier(random_state=seed)),
    "logistic regression": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "random forest": lambda seed: RandomForestClassifier(random_state=seed),
    BOOSTING: lambda seed: HistGradientBoostingClassifier(random_state=seed),
}


def highfis_regressor(sets: int) -> Make:
    def make(seed: int) -> Any:
        from highfis import HTSKRegressor

        return make_pipeline(StandardScaler(), HTSKRegressor(n_mfs=sets, random_state=seed))

    return make


REGRESSORS: dict[str, Make] = {
    OURS: lambda seed: npl.NeuroFuzzyRegressor(random_state=seed),
    OURS_SMALL: lambda seed: npl.NeuroFuzzyRegressor(10, random_state=seed),
    "highFIS HTSK, 30 sets": highfis_regressor(30),
    "highFIS HTSK, 5 sets": highfis_regressor(5),
    "MLP": lambda seed: make_pipeline(StandardScaler(), MLPRegressor(random_state=seed)),
    "ridge regression": lambda seed: make_pipeline(StandardScaler(), Ridge()),
    "random forest": lambda seed: RandomForestRegressor(random_state=seed),
    BOOSTING: lambda seed: HistGradientBoostingRegressor(random_state=seed),
}
