"""Whether the rules of anything that was opened decide: on the rows of a file, or in play."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ..rules.diagnosing import diagnose
from ..rules.diagnosis import Diagnosis
from .opening import OpenedEstimator, OpenedRun, OpenedTable
from .rows import TakesRows, columns_checked, inputs_of, read_rows

# Observations that are enough to diagnose an agent on, and the most episodes that are played for them.
ENOUGH, MOST_EPISODES = 200, 25


def diagnose_file(opened: TakesRows, data: str | Path) -> Diagnosis:
    """Diagnose the rules on the rows of a file: with a table's own columns, else with the inputs alone, as numbers."""
    rows = inputs_of(opened, read_rows(opened, data))
    if isinstance(opened, OpenedTable):
        return opened.model.estimator.diagnose(rows)
    if isinstance(opened, OpenedEstimator):
        with columns_checked(opened.path):
            return opened.estimator.diagnose(rows)
    return diagnose(opened.network, rows.to_numpy())


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
