"""Rules that begin, or begin anew, at rows of data: sets at quantiles, rows far apart, premises nearest to a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..fuzzy.membership import log_membership, raw_from_widths
from ..fuzzy.noise import mix
from .replicas import data_parallel_group
from .starting import CLEAR, CROSSING

if TYPE_CHECKING:
    from .antecedent import Antecedent
    from .limits import Limits

# No first set is narrower than this share of its attribute's range: many equal values would leave no width.
LEAST_SPACING = 0.02


def generator_of(antecedent: Antecedent, purpose: int) -> torch.Generator:
    """Random numbers of the network's own: a function of its seed, its passes and what they are for."""
    return torch.Generator().manual_seed(mix(mix(antecedent.seed, purpose), antecedent.passes) % 2**63)


@torch.no_grad()
def begin_on(antecedent: Antecedent, limits: Limits, x: Tensor) -> None:
    """Start on the first data, x (B, D): the first sets at its quantiles, rules at rows that lie far apart."""
    low, high = torch.aminmax(x, dim=0)
    limits.low.copy_(low)
    limits.high.copy_(high)
    _place_sets(antecedent, limits.extent, x)
    generator = generator_of(antecedent, 1)
    rules = torch.arange(antecedent.rules)
    rows = far_apart(x / limits.extent.to(x.dtype), len(rules), generator)
    choose_nearest(antecedent, rules, x[rows.to(x.device)], generator)
    _agree(antecedent, limits.low, limits.high, antecedent.centers, antecedent.raw_widths, antecedent.logits)


def _agree(antecedent: Antecedent, *tensors: Tensor) -> None:
    """Give all replicas of a data-parallel network what the first of them has."""
    group = data_parallel_group(antecedent)
    if group is not None:
        first = torch.distributed.get_global_rank(group, 0)
        for tensor in tensors:
            torch.distributed.broadcast(tensor.data, first, group=group)


def _place_sets(antecedent: Antecedent, extent: Tensor, x: Tensor) -> None:
    """Centres at the middles of `terms` equal shares of the values; a set crosses its farther neighbour at 0.5."""
    terms, extent = antecedent.terms, extent.to(x.dtype).unsqueeze(1)
    levels = (torch.arange(terms, dtype=x.dtype, device=x.device) + 0.5) / terms
    centers = _quantiles(x, levels)
    gaps = centers.diff(dim=1)
    none = torch.zeros_like(extent)
    spacing = torch.maximum(torch.cat((none, gaps), dim=1), torch.cat((gaps, none), dim=1))
    spacing = spacing.maximum(LEAST_SPACING * extent) if terms > 1 else extent
    places = antecedent.covering_mask[:, :terms]
    if antecedent.frozen is not None:
        places = places & ~antecedent.frozen.sets[:, :terms]
    for parameter, values in (
        (antecedent.centers, centers),
        (antecedent.raw_widths, raw_from_widths(spacing / CROSSING)),
    ):
        data = parameter.data[:, :terms]
        data.copy_(values.to(data).where(places, data))


def _quantiles(x: Tensor, levels: Tensor) -> Tensor:
    """Of each column of x (B, D) at the levels (T,), (D, T). `torch.quantile` refuses large tables."""
    ordered, at = x.sort(dim=0).values, levels * (len(x) - 1)
    below = at.long()
    above = (below + 1).clamp_max(len(x) - 1)
    return torch.lerp(ordered[below], ordered[above], (at - below).unsqueeze(1)).t()


def far_apart(x: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Numbers of `count` rows of x (B, D), each drawn by the square of its distance to the nearest before it.

    The seeding of k-means++. Where all rows are taken, or equal, the next is drawn evenly.
    """
    x = x.cpu().double()
    chosen = [int(torch.randint(len(x), (1,), generator=generator))]
    nearest = (x - x[chosen[0]]).square().sum(dim=1)
    for _ in range(count - 1):
        weights = nearest if float(nearest.sum()) > 0 else torch.ones_like(nearest)
        at = torch.rand(1, generator=generator, dtype=torch.float64) * weights.sum()
        chosen.append(min(int(torch.searchsorted(weights.cumsum(0), at, right=True)), len(x) - 1))
        nearest = torch.minimum(nearest, (x - x[chosen[-1]]).square().sum(dim=1))
    return torch.tensor(chosen)


@torch.no_grad()
def choose_nearest(antecedent: Antecedent, rules: Tensor, rows: Tensor, generator: torch.Generator) -> None:
    """Draw the logits of rules anew, clear of the rest on the sets nearest to their rows, (n, D).

    With `start_premises` on so many attributes, drawn at random, and on "any" of the others. Frozen rules stay.
    """
    selection, logits = antecedent.selection, antecedent.logits.data
    free = torch.tensor([rule not in antecedent.wish.rules for rule in rules.tolist()], dtype=torch.bool)
    rules, rows = rules[free], rows[free.to(rows.device)]
    chosen = _nearest(antecedent, rows)
    if selection.start_premises is not None:
        order = torch.rand(rows.shape, generator=generator).argsort(dim=1).argsort(dim=1)
        asks = (order < selection.start_premises).to(rows.device)
        nothing = antecedent.any_mask
        chosen = chosen.where(asks | ~nothing.any(dim=1), nothing.to(torch.uint8).argmax(dim=1))
    fresh = torch.randn(len(rules), *logits.shape[:2], generator=generator, dtype=torch.float64)
    fresh = fresh.mul_(antecedent.logit_deviation).to(antecedent.precisions())
    fresh.scatter_add_(
        1, chosen.unsqueeze(1), fresh.new_full((len(rules), 1, rows.shape[1]), selection.start or CLEAR)
    )
    logits[:, :, rules.to(logits.device)] = fresh.permute(1, 2, 0).to(logits)


def _nearest(antecedent: Antecedent, rows: Tensor) -> Tensor:
    """The set of each attribute that rows (n, D) belong to most, (n, D); "any" only where there is no other."""
    covering = antecedent.covering_mask
    usable = covering | (antecedent.any_mask & ~covering.any(dim=1, keepdim=True))
    precisions = antecedent.precisions().detach()
    rows, centers = rows.to(precisions.dtype), antecedent.centers.detach().to(precisions.dtype)
    reached = torch.stack(
        [
            log_membership(rows, centers, precisions, term).masked_fill(~usable[:, term], -torch.inf)
            for term in range(antecedent.max_terms)
        ]
    )
    return reached.argmax(dim=0)
