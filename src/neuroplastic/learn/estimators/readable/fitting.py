"""A readable model from rows: it learns for a while, sheds what does not pay, and learns again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch

from ....network.nfn import NeuroFuzzyNetwork
from ....network.parameter_groups import parameter_groups
from ..looks import Look, OnLook
from ..rows import Rows
from ..training import History, Loss, Plan, Tensors
from .draft import Draft
from .leaves import LONGER
from .limits import Limits
from .shedding import shed

# Turns of learning and shedding, and updates of all of them together.
TURNS, UPDATES = 7, 210
# How fast sets and choices learn beside conclusions, and how far the rate has fallen in the last turn. With teachers
# three times of both gained half a point on the tables that settings were chosen on, but then a fifth of all premises
# held of nearly every row.
STRUCTURE_RATE, LAST_RATE = 0.1, 0.1
# What a premise has to be worth; Schwarz's criterion would have .5. Chosen on ten tables: at .5, .25, .1 and 0 models
# had 11, 19, 28 and 36 premises and an accuracy of .806, .808, .825 and .819. With teachers, who say what holds of a
# place and not of single rows, more of them are worth having.
PRICE, TAUGHT_PRICE = 0.1, 0.07


def fit_readable(
    draft: Draft,
    rows: Rows,
    loss: Loss,
    plan: Plan,
    limits: Limits,
    *,
    taught: bool,
    rng: np.random.RandomState,
    on_look: OnLook,
) -> tuple[NeuroFuzzyNetwork, History]:
    """The network that a draft becomes on rows as the network sees them.

    A premise that stays must lower the loss of all rows together by its price times the logarithm of their number. Of
    `taught` rows, whose targets others have a part in, more is shed in steps, see `asked_of`.
    """
    seed, history = int(rng.randint(2**31 - 1)), History()
    total = float(rows.weight.sum())
    price = (TAUGHT_PRICE if taught else PRICE) * math.log(max(2.0, total)) / total
    start = max(draft.size, limits.size)
    net = draft.network(seed)
    for turn in range(TURNS):
        rate = plan.learning_rate * (1 - (1 - LAST_RATE) * turn / max(1, TURNS - 1))
        updates = plan.updates * (turn + 1) // TURNS - plan.updates * turn // TURNS
        data = Tensors(net, rows, labels=False)
        lost = learn_on(net, data, loss, updates, plan.batch_size, rate, rng)
        history.updates += updates
        history.losses.append(lost)
        on_look(Look(max(1, history.updates), max(1, plan.updates), lost, None, 0))
        draft = draft.compact().learned(net)
        if turn < TURNS - 1:
            shorter = shed(draft, data, loss, *asked_of(turn, limits, price, start, in_steps=taught))
        else:  # learning may take premises up again: after the last turn, only what a limit asks for goes
            shorter = shed(draft, data, loss, limits, -math.inf)
        if turn < TURNS - 1 or shorter is not draft:
            draft, net = shorter, shorter.network(seed)
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
) -> float:
    """Gradient steps on batches of rows; the mean loss they had."""
    optimizer = torch.optim.Adam(parameter_groups(net, rate, structure_rate=STRUCTURE_RATE))
    batches, total = data.batches(batch_size, rng), 0.0
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # steps this small are slower on two
    net.train()
    try:
        for _ in range(updates):
            batch = next(batches)
            optimizer.zero_grad(set_to_none=True)
            lost = torch.dot(loss(net(batch.x), batch.y), batch.weight / batch.weight.sum())
            lost.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += float(lost.detach())
    finally:
        torch.set_num_threads(threads)
        net.eval()
    return total / max(1, updates)
