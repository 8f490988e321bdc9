"""A model of a table on disk: a folder with the estimator (safetensors), and which columns it takes (JSON)."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import safe_json
from ..errors import ColumnWarning, ConfigError, InputError, in_short
from ..network.storage import StorageError, load, save
from ..whole_files import write_whole
from .columns import Columns, read_table
from .columns_0_1 import read_old
from .estimators import NeuroFuzzyClassifier, NeuroFuzzyRegressor
from .estimators.encoding import Encoder
from .estimators.unusual import Unusual

FILES = ESTIMATOR, COLUMNS = "estimator.safetensors", "columns.json"
FORMAT = 2


@dataclass(frozen=True)
class TableModel:
    """An estimator with the columns it was fitted to."""

    columns: Columns
    estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor

    def read(self, path: str | Path) -> pd.DataFrame:
        """The rows of a file, its columns as those that the model was fitted to."""
        text = [column.name for column in self.estimator.columns_ if column.kind == "category"]
        return read_table(path, text=text)

    def predict(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The prediction of each row and, for classes, the probability of each."""
        x = self.columns.rows(frame)
        made: dict[str, NDArray[Any]] = {self.columns.target: self.estimator.predict(x)}
        if isinstance(self.estimator, NeuroFuzzyClassifier):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ColumnWarning)  # said above
                chances = self.estimator.predict_proba(x)
            made |= {f"P({label})": chances[:, k] for k, label in enumerate(self.estimator.classes_)}
        return pd.DataFrame(made, index=frame.index)

    def unusual(self, frame: pd.DataFrame) -> Unusual:
        """What rows have that those of training had not."""
        return self.estimator.unusual(self.columns.rows(frame))

    def save(self, folder: str | Path) -> None:
        """Write the model into a folder, which may exist."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        save(self.estimator, path / ESTIMATOR)
        saved = {"format": FORMAT, **self.columns.as_dict()}
        saved["sha256"] = safe_json.checksum(saved)
        write_whole(path / COLUMNS, json.dumps(saved, indent=1).encode())

    @classmethod
    def load(cls, folder: str | Path) -> TableModel:
        """Read what `save` wrote, or what a stranger says it did; what is damaged is a StorageError."""
        path = Path(folder)
        if not is_table_model(path):
            raise InputError(
                f"{path} is not a model folder; make one with: neuroplastic fit data.csv --target y"
            )
        try:
            columns, encoder = _read_columns(path / COLUMNS)
        except (safe_json.JsonError, ConfigError) as error:
            raise StorageError(f"{path / COLUMNS} is damaged: {in_short(error)}") from error
        estimator, kind = load(path / ESTIMATOR), estimator_for(columns)
        names = list(columns.inputs) if encoder is None else encoder.names
        if not isinstance(estimator, kind) or _names(estimator) != names:
            raise StorageError(
                f"{path / ESTIMATOR} must hold a {kind.__name__} of the {len(names)} features in {COLUMNS}"
            )
        if encoder is not None:  # version 0.1: the estimator knew only what the file was made into
            estimator.encoder_, estimator.n_features_in_ = encoder, len(columns.inputs)
            estimator.feature_names_in_ = np.array(columns.inputs, dtype=object)
        return cls(columns, estimator)


def _names(estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor) -> list[str]:
    names: list[str] = getattr(estimator, "feature_names_in_", np.array([])).tolist()
    return names


def _read_columns(path: Path) -> tuple[Columns, Encoder | None]:
    """The columns and, of version 0.1, how the estimator's inputs are made of them."""
    saved = safe_json.read(path)
    form = saved.pop("format", None) if isinstance(saved, dict) else None
    if form not in (1, FORMAT):
        raise ConfigError(f"it must have format 1 or {FORMAT}, those that this version reads")
    if "sha256" in saved and saved.pop("sha256") != safe_json.checksum({"format": form, **saved}):
        raise ConfigError("it does not match its checksum")
    return read_old(saved) if form == 1 else (Columns.from_dict(saved), None)


def is_table_model(path: str | Path) -> bool:
    """Whether a folder holds a model of a table."""
    return (Path(path) / COLUMNS).is_file()


def estimator_for(columns: Columns) -> type[NeuroFuzzyClassifier] | type[NeuroFuzzyRegressor]:
    """The kind of estimator that the target needs."""
    return NeuroFuzzyClassifier if columns.classes else NeuroFuzzyRegressor


def usable_rows(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """The rows whose target is known."""
    known = frame[frame[columns.target].notna()]
    if len(known) < 2:
        raise InputError(f"the target {columns.target!r} must be known in at least 2 rows, got {len(known)}")
    targets = columns.targets(known)
    if not columns.classes and not np.isfinite(targets).all():
        raise InputError(f"the target {columns.target!r} must be finite")
    if not columns.classes and len(set(targets)) < 2:
        raise InputError(
            f"the target {columns.target!r} is {float(targets[0]):g} in every row: there is nothing to learn"
        )
    if columns.classes and len(set(targets)) < 2:
        raise InputError(
            f"the target {columns.target!r} must have at least 2 classes, got {targets.iloc[0]!r} alone"
        )
    return known
