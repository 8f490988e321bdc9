"""A readable model from rows: it learns for a while, sheds what does not pay, and learns again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from ....network.nfn import NeuroFuzzyNetwork
from ....network.parameter_groups import parameter_groups
from ..looks import Look, OnLook
from ..rows import Rows
from ..training import Batch, History, Loss, Plan, Tensors
from .draft import Draft
from .leaves import LONGER
from .limits import Limits
from .sharing import let_few_decide
from .shedding import shed
from .widening import Widest

# Turns of learning and shedding.
TURNS = 7
# How far the rate has fallen in the last turn.
LAST_RATE = 0.1
# Sets that reach too far are narrowed after so many updates.
NARROWED_EVERY = 10
# Rows of a step at last, when little is left to learn and chance would be in the way.
LAST_BATCH = 1024


@dataclass(frozen=True)
class Course:
    """How rules are learned."""

    updates: int
    """of all turns together"""
    structure_rate: float
    """how fast sets and choices learn beside conclusions"""
    price: float
    """what a premise has to be worth; Schwarz's criterion would have .5"""
    in_steps: bool
    """whether price and length of rules reach their limits in steps"""
    bounded: bool
    """whether sets may not come to hold of nearly every row"""
    at_last: int
    """updates after the last turn, the choices and what is asked for settled, and rules compared as they will be"""


# The price was chosen on ten tables: at .5, .25, .1 and 0 models had 11, 19, 28 and 36 premises and an accuracy of
# .806, .808, .825 and .819.
ALONE = Course(updates=210, structure_rate=0.1, price=0.1, in_steps=False, bounded=False, at_last=0)
# With teachers, who say what holds of a place and not of single rows, more premises are worth having, and there is
# more to learn.
TAUGHT = Course(updates=630, structure_rate=0.3, price=0.1, in_steps=True, bounded=True, at_last=200)


def fit_readable(
    draft: Draft,
    rows: Rows,
    loss: Loss,
    plan: Plan,
    limits: Limits,
    course: Course,
    *,
    rng: np.random.RandomState,
    on_look: OnLook,
) -> tuple[NeuroFuzzyNetwork, History]:
    """The network that a draft becomes on rows as the network sees them.

    A premise that stays must lower the loss of all rows together by its price times the logarithm of their number.
    """
    seed, history = int(rng.randint(2**31 - 1)), History()
    total = float(rows.weight.sum())
    price = course.price * math.log(max(2.0, total)) / total
    start, at_last = max(draft.size, limits.size), plan.updates * course.at_last // course.updates
    net = draft.network(seed)
    for turn in range(TURNS):
        rate = plan.learning_rate * (1 - (1 - LAST_RATE) * turn / max(1, TURNS - 1))
        updates = plan.updates * (turn + 1) // TURNS - plan.updates * turn // TURNS
        data = Tensors(net, rows, labels=False)
        lost = learn_on(
            net,
            data,
            loss,
            updates,
            plan.batch_size,
            rate,
            rng,
            course.structure_rate,
            bounded=course.bounded,
        )
        history.updates += updates
        history.losses.append(lost)
        on_look(Look(max(1, history.updates), max(1, plan.updates + at_last), lost, None, 0))
        draft = draft.compact().learned(net)
        if turn < TURNS - 1:
            shorter = shed(draft, data, loss, *asked_of(turn, limits, price, start, in_steps=course.in_steps))
        else:  # learning may take premises up again; what goes now is not made up for, unless rules are polished
            shorter = shed(draft, data, loss, limits, price if at_last else -math.inf)
        if turn < TURNS - 1 or shorter is not draft:
            draft, net = shorter, shorter.network(seed)
    if at_last:
        draft = draft.without_twins(rows.x).leading(rows.x)
        net = draft.network(seed, power="inf")
        let_few_decide(net, rows)
        lost = polish(net, Tensors(net, rows, labels=False), loss, at_last, plan.learning_rate, course, rng)
        history.updates += at_last
        history.losses.append(lost)
        on_look(Look(history.updates, history.updates, lost, None, 0))
        draft = draft.compact().learned(net).without_twins(rows.x)
        net = draft.network(seed)
    single = draft.without_repeats()  # learning may have taken two rules to the same premises
    return (net if single is draft else single.network(seed)).eval(), history


def asked_of(turn: int, limits: Limits, price: float, start: int, *, in_steps: bool) -> tuple[Limits, float]:
    """Limits and price after a turn: the size of all rules falls from `start` premises in even steps, and so, if
    they are asked `in_steps`, do price and length of a rule.

    Rules have to learn again what they have lost: where long ones matter, shed at once they take most others along.
    """
    left = (TURNS - 2 - turn) / (TURNS - 2)
    if left == 0:
        return limits, price
    size = limits.size + math.floor(left * (start - limits.size))
    if not in_steps:
        return replace(limits, size=size, rules=None), price
    longest = limits.premises + math.ceil(left * LONGER)
    return replace(limits, size=size, premises=longest, rules=None), price * (turn + 1) / (TURNS - 1)


def learn_on(
    net: NeuroFuzzyNetwork,
    data: Tensors,
    loss: Loss,
    updates: int,
    batch_size: int,
    rate: float,
    rng: np.random.RandomState,
    structure_rate: float = ALONE.structure_rate,
    *,
    bounded: bool = False,
) -> float:
    """Gradient steps on batches of rows; the mean loss they had."""
    optimizer = torch.optim.Adam(parameter_groups(net, rate, structure_rate=structure_rate))
    widest = Widest(net, data.x) if bounded else None
    return _learn(net, data.batches(batch_size, rng), loss, updates, optimizer, widest)


def polish(
    net: NeuroFuzzyNetwork,
    data: Tensors,
    loss: Loss,
    updates: int,
    rate: float,
    course: Course,
    rng: np.random.RandomState,
) -> float:
    """Gradient steps for sets and conclusions alone, ever smaller; the mean loss they had."""
    groups = [
        {"params": [net.bias], "lr": rate},
        {"params": [net.centers, net.antecedent.raw_widths], "lr": course.structure_rate * rate},
    ]
    optimizer = torch.optim.Adam(groups)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1 / updates, updates)
    widest = Widest(net, data.x) if course.bounded else None
    return _learn(net, data.batches(LAST_BATCH, rng), loss, updates, optimizer, widest, falling)


def _learn(
    net: NeuroFuzzyNetwork,
    batches: Iterator[Batch],
    loss: Loss,
    updates: int,
    optimizer: torch.optim.Optimizer,
    widest: Widest | None,
    schedule: torch.optim.lr_scheduler.LRScheduler | None = None,
) -> float:
    total, threads = 0.0, torch.get_num_threads()
    torch.set_num_threads(1)  # steps this small are slower on two
    net.train()
    try:
        for update in range(1, updates + 1):
            batch = next(batches)
            optimizer.zero_grad(set_to_none=True)
            lost = torch.dot(loss(net(batch.x), batch.y), batch.weight / batch.weight.sum())
            lost.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if schedule is not None:
                schedule.step()
            if widest is not None and (update % NARROWED_EVERY == 0 or update == updates):
                widest.enforce(net)
            total += float(lost.detach())
    finally:
        torch.set_num_threads(threads)
        net.eval()
    return total / max(1, updates)
