"""What a readable estimator does where others start from a linear solution: begin, learn, learn on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....network.nfn import NeuroFuzzyNetwork
from ....rules.evidence import Evidence
from ....rules.leading import leaders_of
from ..looks import Look, OnLook
from ..rows import Numbers, Rows, location_and_scale, quantiles
from ..training import History, Plan, Tensors
from .draft import Draft
from .fitting import ALONE, TAUGHT, fit_readable, learn_on
from .leaves import first_rules
from .limits import Limits
from .sharing import let_few_decide
from .teaching import FEWEST_ROWS, MOST_CLASSES, MOST_ROWS, taught

if TYPE_CHECKING:
    from ..base import NeuroFuzzyEstimator

# The usual range of a column: values beyond these levels count as at them, so that "high" holds of the highest.
USUAL = np.array([0.01, 0.99])


@dataclass(frozen=True)
class Begun:
    """Where the rules of a fit start, and what they are to learn."""

    draft: Draft
    rows: Rows
    """as the network sees them; targets (N, O) are numbers, or shares of the classes"""
    taught: bool
    """whether others have a part in the targets"""


def begin_readable(estimator: NeuroFuzzyEstimator, rows: Rows, rng: np.random.RandomState) -> Begun:
    """Learn the usual ranges and scales, ask the teachers, and start the rules as the leaves of a tree."""
    codes = estimator.encoder_.are("code")
    estimator.clip_ = _usual(rows, codes)
    clipped = Rows(np.clip(rows.x, *estimator.clip_), rows.y, rows.weight)
    offset, scale = location_and_scale(clipped.x, rows.weight)
    estimator.offset_, estimator.scale_ = np.where(codes, 0.0, offset), np.where(codes, 1.0, scale)
    estimator._learn_scale(rows.y, rows.weight)
    of_network, of_tree = (int(rng.randint(2**31 - 1)) for _ in range(2))
    teach = _are_to_be_taught(estimator, rows)
    seen = estimator._seen(taught(estimator, rows, codes, of_tree) if teach else _told(estimator, rows))
    draft = first_rules(seen, _limits(estimator), codes, shares=estimator._labels, seed=of_tree)
    estimator.network_, estimator._adam = draft.network(of_network).double().eval(), None
    return Begun(draft, seen, teach)


def learn_readable(
    estimator: NeuroFuzzyEstimator,
    rows: Rows,
    begun: Begun | None,
    rng: np.random.RandomState,
    on_look: OnLook,
) -> History:
    """Fit the rules that have begun, or else learn on from where they are, without shedding any."""
    if begun is None:
        net, plan = estimator.network_.float(), _plan(estimator, len(rows))
        history = History(updates=plan.updates)
        history.losses = [_learn(estimator, net, rows, plan, plan.updates, rng)]
        on_look(Look(plan.updates, plan.updates, history.losses[0], None, 0))
    else:
        course, limits = TAUGHT if begun.taught else ALONE, _limits(estimator)
        plan = _plan(estimator, len(begun.rows), course.updates)
        net, history = fit_readable(
            begun.draft,
            begun.rows,
            estimator._loss,
            plan,
            limits,
            course,
            rng=rng,
            on_look=on_look,
        )
        if begun.taught:
            let_few_decide(net, estimator._seen(rows))
    estimator.network_ = net
    estimator._settle(history.updates)
    _count(estimator, rows)
    return history


def read_on(estimator: NeuroFuzzyEstimator, rows: Rows, rng: np.random.RandomState, *, first: bool) -> None:
    """One pass over further rows. How many cases a rule leads is not known any more."""
    net, plan = estimator.network_.float(), _plan(estimator, len(rows))
    _learn(estimator, net, rows, plan, math.ceil(len(rows) / plan.batch_size), rng)
    estimator._settle((0 if first else estimator.n_iter_) + 1)
    estimator.cases_ = estimator.shares_ = None


def _learn(
    estimator: NeuroFuzzyEstimator,
    net: NeuroFuzzyNetwork,
    rows: Rows,
    plan: Plan,
    updates: int,
    rng: np.random.RandomState,
) -> float:
    """Gradient steps on rows as they are; the mean loss they had."""
    data = Tensors(net, estimator._seen(_told(estimator, rows)), labels=False)
    return learn_on(net, data, estimator._loss, updates, plan.batch_size, plan.learning_rate, rng)


def _are_to_be_taught(estimator: NeuroFuzzyEstimator, rows: Rows) -> bool:
    """Whether others are to say what the classes' shares are. Whoever asks for fewer updates is in a hurry."""
    wish = estimator._wishes_teachers()
    if wish is False or not estimator._labels or len(np.unique(rows.y)) < 2:
        return False
    if wish is True:
        return True
    hurry = estimator.max_updates is not None and int(estimator.max_updates) < ALONE.updates
    few = estimator._outputs() <= MOST_CLASSES and FEWEST_ROWS <= len(rows) <= MOST_ROWS
    return few and not hurry and _limits(estimator).are_wide


def _told(estimator: NeuroFuzzyEstimator, rows: Rows) -> Rows:
    """Rows with targets as numbers, or as shares of the classes: all of it the row's own."""
    return Rows(rows.x, estimator._target_columns(rows.y), rows.weight)


def _limits(estimator: NeuroFuzzyEstimator) -> Limits:
    return Limits.given(estimator.max_rules, estimator.max_premises, estimator.max_size)


def _plan(estimator: NeuroFuzzyEstimator, rows: int, usual: int = ALONE.updates) -> Plan:
    return Plan(
        updates=usual if estimator.max_updates is None else int(estimator.max_updates),
        batch_size=min(int(estimator.batch_size), rows),
        learning_rate=estimator.learning_rate,
        ridge=0.0,
        shrinkage=0.0,
    )


def _usual(rows: Rows, codes: NDArray[np.bool_]) -> Numbers:
    """The usual range of each column, (2, D); all of it where that would leave nothing, or of codes."""
    ends = np.stack([rows.x.min(axis=0), rows.x.max(axis=0)])
    usual = np.stack([quantiles(column, rows.weight, USUAL) for column in rows.x.T], axis=1)
    whole = codes | (usual[0] >= usual[1])
    found: Numbers = np.where(whole, ends + np.array([[-1.0], [1.0]]) * codes, usual)
    return found


def _count(estimator: NeuroFuzzyEstimator, rows: Rows) -> None:
    """How many rows each rule leads, and what they are: as often as they are there, whatever their classes weigh."""
    seen = estimator._seen(rows)
    leaders = leaders_of(estimator.network_, seen.x)
    targets = estimator._target_columns(rows.y)
    often = rows.weight if rows.often is None else rows.often
    evidence = Evidence.of(leaders, targets, often, estimator.network_.rules)
    estimator.cases_, estimator.shares_ = evidence.cases.copy(), evidence.shares.copy()
