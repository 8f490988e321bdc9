"""Birth of fuzzy sets: when inputs are not covered, a set grows where they lie (batch-delayed neurogenesis)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from ..errors import ConfigError, at_least, choose
from ..fuzzy.backends import backend_for
from ..fuzzy.growing import Nursery, Terms, grow_seen
from ..fuzzy.tracing import traced
from ..fuzzy.welford import Moments
from .inputs import bounded
from .replicas import data_parallel_group, merged_over

if TYPE_CHECKING:
    from .antecedent import Antecedent


@dataclass(frozen=True)
class Neurogenesis:
    """When and how fuzzy sets are born."""

    epsilon: float = field(
        default=0.3, metadata={"help": "an input fails where no set reaches this membership"}
    )
    delay: int = field(default=3, metadata={"help": "training batches between births; 1 is immediate"})
    min_count: int = field(default=2, metadata={"help": "failing values an attribute needs for a birth"})
    min_width: float = field(default=0.01, metadata={"help": "least width of a set that is born"})
    sprouting: str = field(
        default="xavier",
        metadata={
            "help": "logits of a new set: drawn like the first ('xavier'), or each rule's maximum ('max')"
        },
    )

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < 1:
            raise ConfigError(f"neurogenesis.epsilon must lie between 0 and 1, got {self.epsilon!r}")
        at_least("neurogenesis.delay", self.delay, 1)
        at_least("neurogenesis.min_count", self.min_count, 1)
        if not 0 < self.min_width < float("inf"):
            raise ConfigError(f"neurogenesis.min_width must be above 0, got {self.min_width!r}")
        choose("neurogenesis.sprouting", self.sprouting, ("xavier", "max"))


class Statistics(nn.Module):
    """Running moments of the values that no set covered, per attribute."""

    count: Tensor
    mean: Tensor
    m2: Tensor

    def __init__(self, attributes: int, like: Tensor) -> None:
        super().__init__()
        for name in Moments._fields:
            self.register_buffer(name, like.new_zeros(attributes))

    def moments(self) -> Moments:
        """The moments so far."""
        return Moments(self.count, self.mean, self.m2)


@torch.no_grad()
def observe(antecedent: Antecedent, rule: Neurogenesis, x: Tensor, *, seen: bool) -> None:
    """Count one training batch; when `delay` of them have passed, let sets be born where inputs lay uncovered.

    `seen` says whether the host may look at values. Where it may not, a GPU decides by itself; a compiler on the CPU
    gets an operation that it does not look into.
    """
    tables = nursery(antecedent)
    deviation = None if rule.sprouting == "max" else antecedent.logit_deviation
    terms = Terms(rule.delay, rule.min_count, rule.min_width, deviation)
    # Covered is what some set reaches with a membership of epsilon: where its log-membership is log(epsilon) or more.
    limit = -math.log(rule.epsilon)
    backend = backend_for(x, antecedent.max_terms)
    tables.batches.add_(1)
    group = data_parallel_group(antecedent)
    if not seen and group is None and backend.observe(x, tables, terms, limit):
        return
    x, sets = bounded(x, antecedent), (antecedent.precisions().detach(), antecedent.covering_mask)
    if not seen and traced() and x.is_cpu:
        # One by one: dataclasses.astuple copies deeply, which some versions of torch cannot compile.
        numbers = (terms.delay, terms.min_count, terms.min_width, terms.deviation)
        _observe_opaquely(x, *sets, *_flat(tables), limit, *numbers)
        return
    _count(x, *sets, tables, limit, group)
    if not seen:
        backend.grow(tables, terms)
        return
    grow_seen(tables, terms)
    if antecedent.growth.batches % rule.delay == 0:
        antecedent.growth.look()


def nursery(antecedent: Antecedent) -> Nursery:
    """What births read and write. Parameters by `.data`: a graph waiting for its backward pass leaves free slots out,
    so it stays valid, and autograd is not told of a change that does not concern it."""
    growth = antecedent.growth
    return Nursery(
        antecedent.centers.data,
        antecedent.raw_widths.data,
        antecedent.term_mask,
        antecedent.logits.data,
        antecedent.statistics.moments(),
        antecedent.noise_seed,
        growth.batch_count,
        growth.full,
        growth.born_step,
        growth.born,
    )


def _count(
    x: Tensor,
    precisions: Tensor,
    covering: Tensor,
    tables: Nursery,
    limit: float,
    group: torch.distributed.ProcessGroup | None,
) -> None:
    """Merge the values of a batch that no set covers into the statistics."""
    centers = tables.centers.to(x.dtype)
    failing = backend_for(x).uncovered(x, centers, precisions.to(x.dtype), covering, limit)
    if group is not None:
        failing = merged_over(group, failing)
    statistics = tables.statistics
    merged = statistics.merged(Moments(*(moment.to(statistics.mean.dtype) for moment in failing)))
    for moment, value in zip(statistics, merged, strict=True):
        moment.copy_(value)


def _flat(tables: Nursery) -> list[Tensor]:
    return [*tables[:4], *tables.statistics, *tables[5:]]


@torch.library.custom_op(
    "neuroplastic::observe",
    mutates_args=(
        *("centers", "raw_widths", "mask", "logits", "count", "mean", "m2", "full"),
        *("born_step", "born"),
    ),
)
def _observe_opaquely(
    x: Tensor,
    precisions: Tensor,
    covering: Tensor,
    centers: Tensor,
    raw_widths: Tensor,
    mask: Tensor,
    logits: Tensor,
    count: Tensor,
    mean: Tensor,
    m2: Tensor,
    seed: Tensor,
    batches: Tensor,
    full: Tensor,
    born_step: Tensor,
    born: Tensor,
    limit: float,
    delay: int,
    min_count: int,
    min_width: float,
    deviation: float | None,
) -> None:
    """`observe` on the CPU as one step of a compiled program."""
    statistics = Moments(count, mean, m2)
    tables = Nursery(centers, raw_widths, mask, logits, statistics, seed, batches, full, born_step, born)
    _count(x, precisions, covering, tables, limit, data_parallel_group())
    grow_seen(tables, Terms(delay, min_count, min_width, deviation))
