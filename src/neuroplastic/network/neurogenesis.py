"""Birth of fuzzy sets: when inputs are not covered, a set grows where they lie (batch-delayed neurogenesis)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from ..errors import CapacityWarning, ConfigError, at_least, choose
from ..fuzzy.backends import backend_for
from ..fuzzy.noise import mix
from ..fuzzy.welford import Moments

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


@dataclass(frozen=True)
class Birth:
    """One fuzzy set that was born: when, where, and how many observations asked for it."""

    step: int
    attribute: int
    term: int
    center: float
    width: float
    count: int


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

    def set(self, moments: Moments) -> None:
        """Replace the moments, in place."""
        for name, value in moments._asdict().items():
            getattr(self, name).copy_(value)

    def restart(self, attributes: Tensor) -> None:
        """Forget what was counted for these attributes."""
        for name in Moments._fields:
            getattr(self, name)[attributes] = 0


class Growth:
    """What an antecedent remembers of its growth. Plain data: it travels in the module's extra state."""

    def __init__(self) -> None:
        self.batches = 0
        self.births: list[Birth] = []
        self.at_capacity = False

    def as_dict(self) -> dict[str, object]:
        """A form that JSON can hold."""
        return {
            "batches": self.batches,
            "at_capacity": self.at_capacity,
            "births": [asdict(birth) for birth in self.births],
        }

    def restore(self, batches: int, births: Iterable[Birth], *, at_capacity: bool) -> None:
        """Take over what another remembers."""
        self.batches, self.births, self.at_capacity = batches, list(births), at_capacity


def observe(antecedent: Antecedent, rule: Neurogenesis, x: Tensor) -> None:
    """Count one training batch; when `delay` of them have passed, let sets be born where inputs lay uncovered."""
    growth = antecedent.growth
    growth.batches += 1
    sets = antecedent.centers.detach().to(x.dtype), antecedent.precisions().detach().to(x.dtype)
    # Covered is what some set reaches with a membership of epsilon: where its log-membership is log(epsilon) or more.
    limit = -math.log(rule.epsilon)
    failing = backend_for(x).uncovered(x, *sets, antecedent.covering_mask, limit)
    statistics = antecedent.statistics
    statistics.set(statistics.moments().merged(Moments(*(m.to(statistics.mean.dtype) for m in failing))))
    if growth.batches % rule.delay == 0:
        _deliver(antecedent, rule)


def _deliver(antecedent: Antecedent, rule: Neurogenesis) -> None:
    group = data_parallel_group()
    moments = antecedent.statistics.moments()
    if group is not None:
        moments = _merged_over(group, moments)
        antecedent.statistics.set(moments)
    asking = moments.count >= rule.min_count
    full = antecedent.term_mask.all(dim=1)
    if not antecedent.growth.at_capacity and bool((asking & full).any()):
        antecedent.growth.at_capacity = True
        attribute = int((asking & full).nonzero()[0])
        warnings.warn(
            f"attribute {attribute} is not covered but already has max_terms = {antecedent.max_terms} fuzzy sets; "
            "raise max_terms to let it grow (reported once)",
            CapacityWarning,
            stacklevel=2,
        )
    antecedent.statistics.restart(asking & full)
    attributes = (asking & ~full).nonzero().squeeze(1)
    if len(attributes):
        widths = moments.deviation()[attributes].clamp_min(rule.min_width)
        _bear(
            antecedent,
            rule,
            attributes,
            moments.mean[attributes].clone(),
            widths,
            moments.count[attributes].clone(),
        )
        antecedent.statistics.restart(attributes)


@torch.no_grad()
def _bear(
    antecedent: Antecedent,
    rule: Neurogenesis,
    attributes: Tensor,
    centers: Tensor,
    widths: Tensor,
    counts: Tensor,
) -> None:
    growth = antecedent.growth
    terms = antecedent.term_mask[attributes].to(torch.int8).argmin(dim=1)  # the lowest free slot
    if rule.sprouting == "max":
        existing = antecedent.term_mask[attributes].t().unsqueeze(-1)
        logits = antecedent.logits[:, attributes].masked_fill(~existing, -torch.inf).amax(dim=0)
    else:
        seed = mix(antecedent.seed, -growth.batches) % 2**63
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.randn(len(attributes), antecedent.rules, generator=generator)
        logits = drawn.to(antecedent.logits) * antecedent.logit_deviation
    antecedent.add_sets(attributes, terms, centers, widths, logits)
    records = zip(*(tensor.tolist() for tensor in (attributes, terms, centers, widths, counts)), strict=True)
    growth.births += [Birth(growth.batches, a, t, c, w, round(n)) for a, t, c, w, n in records]


def data_parallel_group() -> torch.distributed.ProcessGroup | None:
    """The process group of the DistributedDataParallel wrapper whose forward pass is running, if any."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return None
    active = getattr(nn.parallel.DistributedDataParallel, "_active_ddp_module", None)
    return None if active is None else active.process_group


def _merged_over(group: torch.distributed.ProcessGroup, moments: Moments) -> Moments:
    """Moments over the replicas of a data-parallel network, so that all of them bear the same sets."""
    local = torch.stack(moments)
    everywhere = [torch.empty_like(local) for _ in range(torch.distributed.get_world_size(group))]
    torch.distributed.all_gather(everywhere, local, group=group)
    merged = Moments(*everywhere[0])
    for other in everywhere[1:]:
        merged = merged.merged(Moments(*other))
    return merged
