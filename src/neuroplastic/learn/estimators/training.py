"""Mini-batch training of one network on rows: one-cycle Adam, averaged weights, a held-out part that says stop."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...errors import CapacityWarning
from ...network.nfn import NeuroFuzzyNetwork
from .adam import Adam
from .looks import Look, OnLook
from .rows import Rows

Loss = Callable[[Tensor, Tensor], Tensor]
"""Of outputs (B, O) and targets (B, ...), the loss of each row, (B,)."""

WARM_UP = 0.15
AVERAGE = 0.98
# Sets are born in this first part of training, while rules still differ little: a late birth upsets them.
GROWING = 0.1
# With fewer multiplications in a forward pass, a second thread costs more time than it saves.
ENOUGH_FOR_THREADS = 20_000_000


@dataclass(frozen=True)
class Plan:
    """How long, how fast and with how much restraint a network is trained."""

    updates: int = field(metadata={"help": "gradient steps at most"})
    batch_size: int = field(metadata={"help": "rows of a gradient step"})
    learning_rate: float = field(metadata={"help": "highest step size of the one cycle"})
    ridge: float = field(
        metadata={"help": "penalty on the squared weights that the rules share, as in ridge"}
    )
    shrinkage: float = field(
        metadata={"help": "penalty on the squared differences of rules from what they share"}
    )
    check_every: int = field(default=20, metadata={"help": "updates between looks at the held-out part"})
    patience: int = field(default=10, metadata={"help": "looks without improvement before training stops"})
    tolerance: float = field(default=1e-4, metadata={"help": "least improvement that counts"})
    stop: int | None = field(
        default=None, metadata={"help": "last update, where the cycle is not to be finished"}
    )
    silent: tuple[int, ...] = field(default=(), metadata={"help": "inputs that THEN parts know nothing of"})


@dataclass
class History:
    """What training reports: the loss at every look, and when it stopped."""

    losses: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)
    updates: int = 0


class Batch(NamedTuple):
    """Rows of one gradient step: inputs (B, D), targets (B, ...), weights (B,)."""

    x: Tensor
    y: Tensor
    weight: Tensor


class Tensors:
    """Rows as tensors of the network's type."""

    def __init__(self, net: NeuroFuzzyNetwork, rows: Rows, *, labels: bool) -> None:
        self.x = torch.from_numpy(rows.x).to(net.centers.dtype)
        y = torch.from_numpy(rows.y)
        self.y = y[:, 0].long() if labels else y.to(net.centers.dtype)
        self.weight = torch.from_numpy(rows.weight).to(net.centers.dtype)
        self.total = float(rows.weight.sum())

    def __len__(self) -> int:
        return len(self.x)

    def batches(self, size: int, rng: np.random.RandomState) -> Iterator[Batch]:
        """Endless mini-batches, each pass over the rows in a new order; one that holds all rows is never shuffled."""
        columns = (self.x, self.y, self.weight)
        if size >= len(self):
            while True:
                yield Batch(*columns)
        while True:
            order = torch.from_numpy(rng.permutation(len(self)))
            for part in torch.split(order, size):
                if len(part) > size // 2:
                    yield Batch(*(column.index_select(0, part) for column in columns))


class Average:
    """Running mean of a network's parameters; sets that are born enter it as they are."""

    def __init__(self, net: NeuroFuzzyNetwork) -> None:
        self.net = net
        self.parameters = [parameter.detach() for parameter in net.parameters()]
        self.means = [parameter.clone() for parameter in self.parameters]
        self.born = len(net.antecedent.growth.births)

    def update(self) -> None:
        """Take in the parameters of now."""
        torch._foreach_lerp_(self.means, self.parameters, 1 - AVERAGE)
        births = self.net.antecedent.growth.births
        if len(births) > self.born:
            own = (self.net.centers, self.net.antecedent.raw_widths, self.net.logits)
            centers, widths, logits = (self._mean(parameter) for parameter in own)
            for birth in births[self.born :]:
                d, t = birth.attribute, birth.term
                centers[d, t], widths[d, t] = own[0].detach()[d, t], own[1].detach()[d, t]
                logits[t, d] = own[2].detach()[t, d]
            self.born = len(births)

    def _mean(self, parameter: Tensor) -> Tensor:
        return next(
            mean for mean, own in zip(self.means, self.net.parameters(), strict=True) if own is parameter
        )

    def swap(self) -> None:
        """Exchange means and parameters."""
        for parameter, mean in zip(self.parameters, self.means, strict=True):
            kept = parameter.clone()
            parameter.copy_(mean)
            mean.copy_(kept)


@torch.no_grad()
def restrain(gradient: Tensor, weight: Tensor, plan: Plan, total: float) -> None:
    """Add the gradient of `(ridge |mean W|^2 + shrinkage sum_u |W_u - mean W|^2) / (2 total)`.

    As a gradient, not as a part of the loss: that takes a third of the time, and small tables are all fixed cost.
    Weights of silent inputs, which start at 0, stay there.
    """
    gradient.add_(weight, alpha=plan.shrinkage / total)
    gradient.add_(weight.mean(dim=0), alpha=(plan.ridge / len(weight) - plan.shrinkage) / total)
    if plan.silent:
        gradient[:, :, list(plan.silent)] = 0


def step_size(plan: Plan, update: int) -> float:
    """One cycle: from a tenth up to the highest in the first part of training, then down to nothing, by cosines."""
    warm_up = max(1.0, WARM_UP * plan.updates)
    if update < warm_up:
        low, high, share = plan.learning_rate / 10, plan.learning_rate, update / warm_up
    else:
        low, high, share = plan.learning_rate, 0.0, (update - warm_up) / max(1.0, plan.updates - warm_up)
    return low + (high - low) * (1 - math.cos(math.pi * share)) / 2


def step(
    net: NeuroFuzzyNetwork, adam: Adam, loss: Loss, batch: Batch, total: float, plan: Plan, size: float
) -> float:
    """One gradient step of this size on a batch of rows that weigh `total` together; the loss the batch had."""
    fit = torch.dot(loss(net(batch.x), batch.y), batch.weight / batch.weight.sum())
    gradients = torch.autograd.grad(fit, adam.parameters)
    restrain(gradients[0], adam.parameters[0], plan, total)
    adam.step(gradients, size)
    return float(fit.detach())


@torch.no_grad()
def mean_loss(net: NeuroFuzzyNetwork, loss: Loss, data: Tensors) -> float:
    """Weighted mean loss in evaluation mode."""
    net.eval()
    value = float((loss(net(data.x), data.y) * data.weight).sum() / data.weight.sum())
    net.train()
    return value


@contextmanager
def threads_worth_it(net: NeuroFuzzyNetwork, batch_size: int) -> Iterator[None]:
    """One thread for small steps, all that torch may use for large ones.

    Threads wait for each other at every operation, by spinning: where another process needs a core, small steps on
    two threads were seen to take fifty times as long.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1 if batch_size * net.weight.numel() < ENOUGH_FOR_THREADS else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def train(
    net: NeuroFuzzyNetwork,
    data: Tensors,
    held_out: Tensors | None,
    loss: Loss,
    plan: Plan,
    *,
    rng: np.random.RandomState,
    on_look: OnLook,
) -> History:
    """Train in place; the network ends with its averaged weights, at the look where they did best if rows are held out.

    Without held-out rows, training stops when the loss on all rows no longer falls. What `on_look` raises ends it.
    """
    adam, average, history = Adam(net), Average(net), History()
    last = plan.updates if plan.stop is None else plan.stop
    best, best_state, waited = math.inf, None, 0
    batches = data.batches(plan.batch_size, rng)
    net.train()
    with threads_worth_it(net, plan.batch_size), warnings.catch_warnings():
        warnings.simplefilter("ignore", CapacityWarning)  # `max_terms` is a limit that the caller set
        recent = 0.0
        for update in range(1, last + 1):
            if update > GROWING * plan.updates:
                net.antecedent.neurogenesis = None
            recent += (
                step(net, adam, loss, next(batches), data.total, plan, step_size(plan, update))
                / plan.check_every
            )
            average.update()
            history.updates = update
            if update % plan.check_every and update < last:
                continue
            average.swap()
            looked_at = recent
            if held_out is not None:
                looked_at = mean_loss(net, loss, held_out)
                history.held_out.append(looked_at)
            history.losses.append(recent)
            if looked_at < best - plan.tolerance:
                best, waited = looked_at, 0
                if held_out is not None:
                    best_state = copy.deepcopy(net.state_dict())
            else:
                waited += 1
            average.swap()
            if waited >= plan.patience:
                last = update
            on_look(Look(update, last, recent, None if held_out is None else looked_at, average.born))
            if update == last:
                break
            recent = 0.0
    net.antecedent.neurogenesis = net.neurogenesis
    average.swap()
    if best_state is not None:
        net.load_state_dict(best_state)
    net.eval()
    return history
