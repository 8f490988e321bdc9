"""Whether the rules of anything that was opened decide: on the rows of a file, or in play."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError, NeuroplasticError
from ..rules.diagnosing import diagnose
from ..rules.diagnosis import Diagnosis
from .opening import OpenedEstimator, OpenedNetwork, OpenedRun, OpenedTable

if TYPE_CHECKING:
    import pandas as pd

# Observations that are enough to diagnose an agent on, and the most episodes that are played for them.
ENOUGH, MOST_EPISODES = 200, 25


def diagnose_file(opened: OpenedTable | OpenedEstimator | OpenedNetwork, data: str | Path) -> Diagnosis:
    """Diagnose the rules on the rows of a file: with a table's own columns, else with the inputs alone, as numbers."""
    from ..learn.columns import read_table

    if isinstance(opened, OpenedTable):
        return opened.model.estimator.diagnose(opened.model.columns.matrix(opened.model.read(data)))
    rows = _numbers(opened.path, read_table(data))
    if isinstance(opened, OpenedNetwork):
        return diagnose(opened.network, rows.to_numpy())
    try:
        return opened.estimator.diagnose(rows)
    except NeuroplasticError:
        raise
    except ValueError as error:  # scikit-learn's, of several lines, where the columns are others
        raise InputError(
            f"{opened.path} needs the columns it was fitted to: {str(error).splitlines()[0]}"
        ) from error


def _numbers(path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    try:
        return frame.astype(float)
    except ValueError as error:
        raise InputError(f"{path} needs a table with its inputs alone, as numbers: {error}") from error


def diagnose_evaluation(run: OpenedRun) -> Diagnosis:
    """Play evaluation episodes until enough was seen, and diagnose the rules of the advantage head on it."""
    import numpy as np

    from ..experiment.agent import greedy
    from ..experiment.play import watch_evaluation
    from ..experiment.trial import EVALUATION_SEED

    run.need_rules()
    seen = watch_evaluation(
        run.config.task,
        partial(greedy, run.agent),
        observations=ENOUGH,
        episodes=MOST_EPISODES,
        seed=EVALUATION_SEED,
    )
    return diagnose(run.agent, np.stack(seen))
