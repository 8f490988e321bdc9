"""Births of fuzzy sets, once the values of a batch that no set covers are in the statistics: in two ways.

`grow_seen` looks at values: nearly free on the CPU, where most batches bear nothing. `grow` looks at none: it decides
by masks, and writes every attribute in every pass, most of them with what stood there. So the program does not depend
on the data: it can be captured as a CUDA graph, and a GPU is never waited for. Both bear the same sets in the same
batches; only the first logits of a set ('xavier') are drawn in another way, for a stream of random numbers would have
to know how many were drawn before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from .membership import raw_from_widths
from .splitmix import mix, mixed, normal_of
from .welford import Moments


class Nursery(NamedTuple):
    """Tensors that births are read off and written into, in place. D attributes, T terms, U rules."""

    centers: Tensor
    """(D, T)"""
    raw_widths: Tensor
    """(D, T)"""
    mask: Tensor
    """which of the sets (D, T) exist"""
    logits: Tensor
    """(T, D, U)"""
    statistics: Moments
    """of the values that no set covered, each (D,)"""
    seed: Tensor
    """the network's, (1,)"""
    batches: Tensor
    """training batches so far, one number"""
    full: Tensor
    """D less the first attribute that asked for a set and had no room, 0 if none did: one number"""
    born_step: Tensor
    """the batch in which a set was born, (D, T), 0 where none was since records were last read"""
    born: Tensor
    """its centre, width and count of observations, (3, D, T)"""


@dataclass(frozen=True)
class Terms:
    """When sets are born and with what; a `deviation` of None starts logits at each rule's greatest."""

    delay: int
    min_count: int
    min_width: float
    deviation: float | None


@torch.no_grad()
def grow_seen(nursery: Nursery, terms: Terms) -> None:
    """Let sets be born as `grow` does, looking at values."""
    batches, mask, statistics = int(nursery.batches), nursery.mask, nursery.statistics
    if batches % terms.delay:
        return
    asking = statistics.count >= terms.min_count
    if not bool(asking.any()):
        return
    full = mask.all(dim=1)
    lacking = (asking & full).nonzero()
    if len(lacking):
        nursery.full.fill_(max(int(nursery.full), len(mask) - int(lacking[0])))
    attributes = (asking & ~full).nonzero().squeeze(1)
    if len(attributes):
        slots = mask[attributes].to(torch.int8).argmin(dim=1)  # the lowest free slot
        centers, count = statistics.mean[attributes], statistics.count[attributes]
        widths = statistics.deviation()[attributes].clamp_min(terms.min_width)
        nursery.logits[slots, attributes] = _drawn_logits(nursery, terms, attributes)
        nursery.centers[attributes, slots] = centers.to(nursery.centers)
        nursery.raw_widths[attributes, slots] = raw_from_widths(widths).to(nursery.raw_widths)
        mask[attributes, slots] = True
        nursery.born_step[attributes, slots] = batches
        nursery.born[:, attributes, slots] = torch.stack((centers, widths, count)).to(nursery.born)
    for moment in statistics:
        moment[asking] = 0


def _drawn_logits(nursery: Nursery, terms: Terms, attributes: Tensor) -> Tensor:
    """Logits that sets of these attributes begin with, (n, U)."""
    logits = nursery.logits
    if terms.deviation is None:
        existing = nursery.mask[attributes].t().unsqueeze(-1)
        return logits[:, attributes].masked_fill(~existing, -torch.inf).amax(dim=0)
    seed = mix(int(nursery.seed), -int(nursery.batches)) % 2**63
    drawn = torch.randn(len(attributes), logits.shape[2], generator=torch.Generator().manual_seed(seed))
    return drawn.to(logits) * terms.deviation


@torch.no_grad()
def grow(nursery: Nursery, terms: Terms) -> None:
    """Let sets be born where `delay` batches have passed and `min_count` values were not covered, in place."""
    mask, count = nursery.mask, nursery.statistics.count
    asking = (count >= terms.min_count) & (nursery.batches % terms.delay == 0)
    full = mask.all(dim=1)
    lacking = asking & full
    first = torch.where(lacking.any(), len(mask) - lacking.to(torch.uint8).argmax(), 0)
    nursery.full.copy_(torch.maximum(nursery.full, first))
    slots = torch.arange(mask.shape[1], device=mask.device)
    free = mask.to(torch.uint8).argmin(dim=1, keepdim=True)  # the lowest free slot
    place = (asking & ~full).unsqueeze(1) & (slots == free)
    centers = nursery.statistics.mean.unsqueeze(1)
    widths = nursery.statistics.deviation().clamp_min(terms.min_width).unsqueeze(1)
    _put(nursery.logits, place.t().unsqueeze(-1), _first_logits(nursery, terms))
    _put(nursery.centers, place, centers)
    _put(nursery.raw_widths, place, raw_from_widths(widths))
    mask.logical_or_(place)
    _put(nursery.born_step, place, nursery.batches)
    for record, value in zip(nursery.born, (centers, widths, count.unsqueeze(1)), strict=True):
        _put(record, place, value)
    for moment in nursery.statistics:
        moment.masked_fill_(asking, 0)


def _first_logits(nursery: Nursery, terms: Terms) -> Tensor:
    """Logits that a set born now begins with, (D, U) for every attribute."""
    logits = nursery.logits
    if terms.deviation is None:
        return logits.masked_fill(~nursery.mask.t().unsqueeze(-1), -torch.inf).amax(dim=0)
    seed = mixed(nursery.seed, -nursery.batches)
    return normal_of(seed, tuple(logits.shape[1:]), torch.float32) * terms.deviation


def _put(table: Tensor, place: Tensor, value: Tensor) -> None:
    table.copy_(torch.where(place, value.to(table.dtype), table))
