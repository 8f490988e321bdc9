"""Rules with the same premises as one rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from .draft import Draft

# A certainty factor is a sigmoid: where all factors would have to reach 1, they are scaled to at most this.
GREATEST_FACTOR = 0.5


def duplicates(draft: Draft) -> list[tuple[int, ...]]:
    """Groups of at least two rules, by number, that have the same premises; frozen rules stay out of it."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, premises in zip(draft.numbers, draft.premises.tolist(), strict=True):
        if number not in draft.frozen_rules:
            groups.setdefault(tuple(premises), []).append(number)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def merging_rules(draft: Draft, x: Tensor, groups: Sequence[Sequence[int]]) -> Draft:
    """The draft with one rule, the one that fires most, in place of each group.

    Its consequent is the mean of the group's, weighted by how much each fires on x. To fire as much as the whole
    group, its level rises by `(F**(a-1) - f**(a-1)) / (a-1)`, with f its own and F the group's firing (for alpha
    a = 1, `log(F / f)`), averaged over the rows by F. Without layer norm and with softmax this is exact: then
    F / f does not depend on the row. The rise goes into the layer norm's shift, or into the certainty factors,
    which a network that has neither gets for it. Mamdani rules keep the conclusion of the one that stays.
    """
    place = {number: index for index, number in enumerate(draft.numbers)}
    levels = draft.levels(draft.log_firing(x))
    own = {name: values.clone() for name, values in draft.own.items()}
    rises = torch.zeros(len(draft), dtype=torch.float64)
    gone: set[int] = set()
    for group in groups:
        index = torch.tensor([place[number] for number in group])
        firing = levels[:, index]
        shares = _shares(firing.sum(dim=0))
        stays = int(index[shares.argmax()])
        rises[stays] = _rise(firing[:, shares.argmax()], firing.sum(dim=1), float(draft.firing.alpha))
        for name in ("weight", "bias"):
            if name in own:
                own[name][stays] = torch.tensordot(shares, draft.own[name][index], dims=1)
        gone.update(int(other) for other in index if int(other) != stays)
    return _raised(replace(draft, own=own), rises).keeping(p for p in range(len(draft)) if p not in gone)


def _shares(mass: Tensor) -> Tensor:
    total = mass.sum()
    return mass / total if total > 0 else torch.full_like(mass, 1 / len(mass))


def _rise(own: Tensor, group: Tensor, alpha: float) -> float:
    fires = own > 0
    own, group = own[fires], group[fires]
    if not len(own):
        return 0.0
    power = alpha - 1
    rise = torch.log(group / own) if power < 1e-6 else (group**power - own**power) / power
    return float((rise * group).sum() / group.sum())


def _raised(draft: Draft, rises: Tensor) -> Draft:
    """The draft with the levels of its rules raised, by whatever part of it can do that."""
    own = dict(draft.own)
    if draft.firing.certainty == "tanh" or not bool(rises.any()):
        return draft  # tanh multiplies the level after the shift; nothing adds to it
    if draft.frozen_rules and not draft.firing.layer_norm:
        return draft  # scaling all factors alike would change those of frozen rules
    if draft.firing.layer_norm:
        own["beta"] = own["beta"] + rises
        return replace(draft, own=own)
    log_factors = rises
    if draft.firing.certainty == "log":
        log_factors = log_factors + torch.nn.functional.logsigmoid(own["certainty"])
    # Only differences count, so all factors may be scaled alike to be factors again.
    excess = log_factors.max() - torch.log(torch.tensor(GREATEST_FACTOR, dtype=torch.float64))
    if draft.firing.certainty is None or excess > 0:
        log_factors = log_factors - excess
    own["certainty"] = log_factors - torch.log(-torch.expm1(log_factors))
    return replace(draft, own=own, firing=replace(draft.firing, certainty="log"))
