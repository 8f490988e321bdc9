"""Which rules made a decision: of a model on a row of a table, of an agent in an episode."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ColumnWarning, InputError
from ..rules.explanations.explaining import explain
from ..rules.explanations.explanation import Explanation
from ..rules.explanations.hiding import ENOUGH, usual_picture
from ..rules.explanations.regions import PictureExplanation
from .opening import OpenedEstimator, OpenedRun, OpenedTable
from .rows import TakesRows, columns_checked, inputs_of, read_rows

if TYPE_CHECKING:
    import pandas as pd

    from ..learn.experience import Observations


@dataclass(frozen=True, eq=False)
class ExplainedRow:
    """Why a model answers a row of a file as it does."""

    number: int
    """of the row, from 1"""
    row: pd.DataFrame
    """the row alone, as the file has it"""
    explanation: Explanation
    more: tuple[str, ...] = ()
    """what is unusual about the row; of a classifier how likely it holds its answer, and what would change that"""

    @property
    def text(self) -> str:
        """The explanation in words."""
        return "\n".join([self.explanation.text(0), *self.more])

    def figure(self) -> Any:
        """The explanation drawn; needs matplotlib."""
        from ..rules.pictures import plot_explanation

        return plot_explanation(self.explanation)


def explain_row(opened: TakesRows, data: str | Path, *, number: int = 1) -> ExplainedRow:
    """Explain one row of a file, by its number from 1."""
    frame = read_rows(opened, data)
    if not 1 <= number <= len(frame):
        raise InputError(f"row must be at least 1 and at most {len(frame)}, the rows of {data}, got {number}")
    row = frame.iloc[[number - 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)  # what is unusual is told once, with the rest
        explanation = explain_rows(opened, row)
        return ExplainedRow(number, row, explanation, _of_the_answer(opened, row, explanation))


def _of_the_answer(opened: TakesRows, row: pd.DataFrame, explanation: Explanation) -> tuple[str, ...]:
    """What is unusual about a row; how likely a classifier holds its answer, and the least change that alters it."""
    if not isinstance(opened, OpenedTable | OpenedEstimator):
        return ()
    from ..learn.estimators import NeuroFuzzyClassifier, NeuroFuzzyRegressor
    from .answer_changes import answer_change

    model = opened.model.estimator if isinstance(opened, OpenedTable) else opened.estimator
    assert isinstance(model, NeuroFuzzyClassifier | NeuroFuzzyRegressor)
    inputs = inputs_of(opened, row)
    (note,) = model.unusual(inputs).notes()
    unusual = (f"unlike rows of training: {note}",) if note else ()
    if not isinstance(model, NeuroFuzzyClassifier):
        return unusual
    chances = model.predict_proba(inputs)[0]
    listed = ", ".join(
        f"P({label}) = {chance:.3f}"
        for label, chance in sorted(zip(model.classes_, chances, strict=True), key=lambda pair: -pair[1])[:6]
    )
    return (
        *unusual,
        f"as probabilities: {listed}",
        answer_change(model, model.encode(inputs)[0], explanation[0].given),
    )


def explain_rows(opened: TakesRows, frame: pd.DataFrame) -> Explanation:
    """Explain rows: with a table's own columns, else with the inputs alone, as numbers."""
    inputs = inputs_of(opened, frame)
    if isinstance(opened, OpenedTable):
        return opened.model.estimator.explain(inputs)
    if isinstance(opened, OpenedEstimator):
        with columns_checked(opened.path):
            return opened.estimator.explain(inputs)
    return explain(opened.network, inputs.to_numpy(), feature_names=[str(name) for name in frame.columns])


@dataclass(frozen=True, eq=False)
class ExplainedDecision:
    """Why an agent acted as it did at one moment of an episode."""

    run: OpenedRun
    episode: int
    number: int
    """of the decision, from 0"""
    decisions: int
    """in the whole episode"""
    observation: Observations
    """what was decided upon: a picture, or attributes"""
    explanation: PictureExplanation | Explanation

    @property
    def text(self) -> str:
        """The decision in words."""
        from ..experiment.decision import attribute_decision_text, decision_text

        if isinstance(self.explanation, PictureExplanation):
            return decision_text(self.explanation)
        return attribute_decision_text(self.run.config, self.run.agent, self.observation)

    def figure(self) -> Any:
        """A picture with what speaks for the decision (needs matplotlib and captum), or the rules that fired."""
        from ..experiment.decision import decision
        from ..rules.pictures import plot_explanation, plot_regions

        located = self.explanation
        if not isinstance(located, PictureExplanation):
            return plot_explanation(located)
        if (
            located.heat is None
        ):  # without captum there is no place to draw; to ask for one says what to install
            located = decision(self.run.config, self.run.agent, self.observation)
        return plot_regions(located)


def explain_decision(
    run: OpenedRun, *, episode: int = 0, number: int | None = None, method: str | None = None
) -> ExplainedDecision:
    """Play an evaluation episode and explain one of its decisions, from 0; by default the middle one.

    `method` says how it is told where in a picture the agent looked, one of `METHODS` of explanations; by default by
    'usual', which points at what matters best.
    """
    import numpy as np

    from ..experiment.agent import greedy
    from ..experiment.decision import attribute_decision, located_decision
    from ..experiment.play import watch_episode

    run.need_rules()
    seen = watch_episode(run.config.task, partial(greedy, run.agent), episode=episode)
    count = len(seen)
    number = count // 2 if number is None else number
    if not 0 <= number < count:
        raise InputError(f"decision must lie in 0 to {count - 1} in this episode, got {number}")
    explanation: PictureExplanation | Explanation
    if run.config.task.observation.is_picture:
        usual = None
        if method in (None, "usual"):
            around, following = [*seen], episode + 1
            while len(around) < ENOUGH:  # a short episode does not tell what is usual
                around += watch_episode(run.config.task, partial(greedy, run.agent), episode=following)
                following += 1
            usual = usual_picture(np.stack(around), number)  # type: ignore[arg-type]
        explanation = located_decision(run.config, run.agent, seen[number], method=method, usual=usual)
    elif method is not None:
        raise InputError(f"{run.path} sees attributes: there is no place to look at; leave --method out")
    else:
        explanation = attribute_decision(run.config, run.agent, seen[number])
    return ExplainedDecision(run, episode, number, count, seen[number], explanation)
