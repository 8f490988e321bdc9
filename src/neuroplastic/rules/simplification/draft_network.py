"""From a draft back to a network: fewer rules and sets, everything else as it was."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from ...fuzzy.membership import raw_from_widths
from ...network.consequents import MamdaniConsequent
from ...network.nfn import NeuroFuzzyNetwork
from ...network.prunings import ignored as ignored_premises
from ..building import CONVICTION
from ..rule_base import IGNORED
from .draft import Draft

# By how much a premise's logit is raised where merging sets made another one its equal.
NUDGE = 0.1


@torch.no_grad()
def network_from(draft: Draft, net: NeuroFuzzyNetwork) -> NeuroFuzzyNetwork:
    """A network with the rules of the draft, and the settings, noise, statistics and births of `net`.

    Sets move to the lowest slots, "any" behind them where a rule ignores the attribute, or may. A network that grows
    keeps its `max_terms` (one more where "any" needs it); one that does not gets the least that holds its sets.
    """
    ignored = (draft.premises == IGNORED).any(dim=0) | net.selection.any
    new_slot = torch.where(draft.exists, draft.exists.long().cumsum(dim=1) - 1, IGNORED)
    counts = draft.exists.sum(dim=1)
    needed = max(int((counts + ignored).max()), 1 + net.selection.any)
    result = _blank(net, draft, needed if net.neurogenesis is None else max(net.max_terms, needed))
    _place(result, draft, new_slot, counts, ignored)
    chosen = new_slot.gather(1, draft.premises.t().clamp_min(0))
    chosen = torch.where(draft.premises.t() == IGNORED, counts.unsqueeze(1), chosen)
    result.logits.copy_(_logits(net, draft, result.max_terms, new_slot, chosen, counts, ignored))
    _copy_parameters(result, draft, net)
    _copy_history(result, draft, net, new_slot)
    for name, parameter in net.named_parameters():
        dict(result.named_parameters())[name].requires_grad_(parameter.requires_grad)
    if draft.frozen_rules or bool(draft.frozen_sets.any()):
        sets = draft.frozen_sets.nonzero(as_tuple=True)
        result.freeze(
            rules=draft.is_frozen().nonzero().squeeze(1).tolist(),
            sets=zip(sets[0].tolist(), new_slot[sets].tolist(), strict=True),
        )
    result.vocabulary = net.vocabulary
    return result.train(net.training)


def _blank(net: NeuroFuzzyNetwork, draft: Draft, max_terms: int) -> NeuroFuzzyNetwork:
    with torch.random.fork_rng(devices=[]):  # what is drawn here is overwritten; leave no trace of it
        return NeuroFuzzyNetwork(
            net.in_features,
            net.out_features,
            len(draft),
            terms=min(net.terms, max_terms - net.selection.any),
            max_terms=max_terms,
            selection=net.selection,
            firing=replace(net.firing_config, certainty=draft.firing.certainty),
            consequent=net.consequent_config,
            neurogenesis=net.neurogenesis,
            input_range=net.input_range,
            sets=net.sets,
            renewal=net.renewal,
            device=net.centers.device,
            dtype=net.centers.dtype,
        )


def _place(net: NeuroFuzzyNetwork, draft: Draft, new_slot: Tensor, counts: Tensor, ignored: Tensor) -> None:
    centers = torch.zeros(net.centers.shape, dtype=torch.float64)
    widths, mask = torch.ones_like(centers), torch.zeros(centers.shape, dtype=torch.bool)
    attributes, slots = draft.exists.nonzero(as_tuple=True)
    places = attributes, new_slot[attributes, slots]
    centers[places], widths[places] = draft.centers[attributes, slots], draft.widths[attributes, slots]
    mask[places] = True
    with_any = ignored.nonzero().squeeze(1)
    widths[with_any, counts[with_any]] = math.inf
    mask[with_any, counts[with_any]] = True
    device = net.centers.device
    net.place_sets(centers.to(device), widths.to(device), mask.to(device))


def _logits(
    net: NeuroFuzzyNetwork,
    draft: Draft,
    max_terms: int,
    new_slot: Tensor,
    chosen: Tensor,
    counts: Tensor,
    ignored: Tensor,
) -> Tensor:
    """Logits (T, D, U) as learned: a merged set's are the greatest of its members'; "any" stands clear of the rest."""
    old = net.logits.detach().cpu().double()[:, :, list(draft.numbers)]
    logits = torch.full((max_terms, *old.shape[1:]), -torch.inf, dtype=torch.float64)
    attributes = torch.arange(old.shape[1])
    usable = net.antecedent.covering_mask.cpu()
    for slot in range(old.shape[0]):
        goes_to = new_slot.gather(1, draft.home[:, slot : slot + 1]).squeeze(1)
        stays = usable[:, slot] & (goes_to >= 0)
        places = goes_to[stays], attributes[stays]
        logits[places] = torch.maximum(logits[places], old[slot, stays])
    greatest = logits.amax(dim=0).clamp_min(-1e30)
    greatest[counts == 0] = 0.0
    with_any = ignored.nonzero().squeeze(1)
    side = torch.where(chosen == counts.unsqueeze(1), CONVICTION, -CONVICTION)
    logits[counts[with_any], with_any] = (greatest + side)[with_any]
    best = logits.amax(dim=0)
    logits = torch.where(torch.isfinite(logits), logits, torch.zeros_like(logits))
    at_chosen = logits.gather(0, chosen.unsqueeze(0)).squeeze(0)
    rivals = (logits.isclose(best, rtol=0, atol=1e-6) & _exists(counts + ignored, max_terms)).sum(dim=0)
    unclear = (at_chosen < best) | (rivals > 1)
    return logits.scatter(0, chosen.unsqueeze(0), torch.where(unclear, best + NUDGE, at_chosen).unsqueeze(0))


def _exists(counts: Tensor, max_terms: int) -> Tensor:
    """Which slots (T, D, 1) hold one of each attribute's `counts` sets."""
    return (torch.arange(max_terms).unsqueeze(1) < counts).unsqueeze(2)


def _copy_parameters(result: NeuroFuzzyNetwork, draft: Draft, net: NeuroFuzzyNetwork) -> None:
    for name in ("kappa", "beta", "certainty"):
        if name in draft.own:
            getattr(result, name).copy_(draft.own[name])
    part = result.consequent
    if isinstance(part, MamdaniConsequent):
        result.output_centers.copy_(draft.shared["output_centers"])
        part.raw_output_widths.copy_(raw_from_widths(draft.shared["output_widths"]))
        result.conclusion_logits.copy_(net.conclusion_logits[..., list(draft.numbers)])
        assert isinstance(net.consequent, MamdaniConsequent)
        part.noise_seed.copy_(net.consequent.noise_seed)
    else:
        learned = {**draft.own, **draft.shared}
        for name, parameter in part.linear()._asdict().items():
            if parameter is not None:
                parameter.copy_(learned[name])
    if result.raw_alpha is not None and net.raw_alpha is not None:
        result.raw_alpha.copy_(net.raw_alpha)
    if result.log_gain is not None and net.log_gain is not None:
        result.log_gain.copy_(net.log_gain)


def _copy_history(result: NeuroFuzzyNetwork, draft: Draft, net: NeuroFuzzyNetwork, new_slot: Tensor) -> None:
    """Counters, seed, statistics, and the births of the sets that are still there."""
    old, new = net.antecedent, result.antecedent
    new.noise_seed.copy_(old.noise_seed)
    new.passes = old.passes
    new.started = old.started
    if old.limits is not None and new.limits is not None:
        new.limits.load_state_dict(old.limits.state_dict())
    new.statistics.load_state_dict(old.statistics.state_dict())
    moved = (
        replace(birth, term=int(new_slot[birth.attribute, draft.home[birth.attribute, birth.term]]))
        for birth in net.births
    )
    new.growth.restore(
        old.growth.batches,
        (birth for birth in moved if birth.term != IGNORED),
        at_capacity=old.growth.at_capacity,
    )
    if net.selection.any:
        new.ignored.copy_(ignored_premises(new))
