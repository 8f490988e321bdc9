"""Models of tables: estimators, and the folder that `fit` leaves."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

import neuroplastic as npl
from neuroplastic.learn.columns import Columns
from neuroplastic.learn.table_model import COLUMNS, ESTIMATOR, TableModel
from tests.fuzz.kind import Change, Files, json_changes
from tests.fuzz.models import kind_of
from tests.fuzz.using import command

QUICK = {"rules": 3, "terms": 3, "max_updates": 3, "random_state": 0, "growth": 0.5, "batch_size": 8}


def _rows() -> pd.DataFrame:
    x = np.random.default_rng(0).normal(size=(40, 3))
    return pd.DataFrame(x, columns=["a", "b", "c"])


def _classifier() -> npl.NeuroFuzzyClassifier:
    x = _rows()
    return npl.NeuroFuzzyClassifier(**QUICK).fit(x, np.where(x.a + x.b > 0, "up", "down"))


def _regressor() -> npl.NeuroFuzzyRegressor:
    x = _rows()
    return npl.NeuroFuzzyRegressor(**QUICK).fit(x, 5 + 2 * x[["a", "b"]])


def _table() -> TableModel:
    frame = _rows().assign(c=["red", "green"] * 20, y=lambda rows: rows.a > 0)
    columns = Columns.of(frame, "y")
    model = npl.NeuroFuzzyClassifier(**QUICK).fit(columns.rows(frame), columns.targets(frame))
    return TableModel(columns, model)


def _changes_of_columns(files: Files) -> list[Change]:
    saved = json.loads(files[COLUMNS])
    saved.pop("sha256")
    return json_changes(COLUMNS, json.dumps(saved).encode())


def _uses_of_table(folder: Path) -> list[str]:
    rows = folder / "rows.csv"
    rows.write_text("a,b,c\n0.5,1,red\n-1,2,blue\n")
    return [
        command("predict", str(folder), str(rows)),
        command("rules", str(folder)),
        command("explain", str(folder), str(rows)),
    ]


ESTIMATORS = {
    "classifier": kind_of(_classifier),
    "regressor": kind_of(_regressor),
    "table": kind_of(_table, name=ESTIMATOR, uses=_uses_of_table, more=_changes_of_columns),
}
