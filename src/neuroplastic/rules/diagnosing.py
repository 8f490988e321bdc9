"""Diagnosis: a model's rules fire on data, once as they do and once all as on average, by its own functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import catalog
from ..errors import ConfigError, InputError, choose
from ..fuzzy.membership import log_membership
from ..network.dueling import DuelingNetwork
from ..network.hierarchy import Hierarchy
from ..network.inputs import bounded
from ..network.nfn import NeuroFuzzyNetwork
from .diagnosis import Diagnosis
from .estimators import FittedEstimator, is_estimator, not_a_network
from .leading import ROUNDING, leader, parts
from .networks import evaluating, levels_of, rows_of

# A rule lives that fires more than this somewhere; rules make a decision that hold so much of its firing; a premise
# fits from this membership on; a number is another one if it moves by so many standard deviations.
LIVING, DECIDING, FITTING, MOVING = 0.01, 0.95, 0.5, 0.1
# Pictures go through in parts of so many.
PICTURES_AT_ONCE = 64

DECISIONS = ("auto", "class", "number")


def diagnose(
    model: NeuroFuzzyNetwork | Hierarchy | DuelingNetwork | FittedEstimator,
    data: Any,
    *,
    decision: str = "auto",
    level: int = -1,
) -> Diagnosis:
    """Whether the rules of a model decide on data (B, D), in evaluation mode; changes nothing.

    A fitted estimator takes rows in raw units, a network rows as it sees them. Of an agent (a DuelingNetwork with
    neuro-fuzzy heads) the rules are those of the advantage head, the data observations (B, ...) for its encoder.

    `decision` says what counts as a change: another greatest output ("class"), or an output that moves by more than
    a tenth of its standard deviation over the data ("number"). By default, what an estimator was made for; of a
    network, "class" if it has several outputs. `level` of a hierarchy says whose rules are meant, by default those
    of the last, which make the decision; with another, the levels above it go on as usual.
    """
    choose("decision", decision, DECISIONS)
    if is_estimator(model):
        if decision != "auto" or level not in (-1, 0):
            raise ConfigError(
                f"a fitted {type(model).__name__} knows what it decides, and has one level: call "
                "diagnose(model, X) without `decision` and `level`, or diagnose model.network_"
            )
        return model.diagnose(data)
    if isinstance(model, DuelingNetwork):
        if decision == "number":
            raise ConfigError('an agent decides for an action; leave `decision` out, or give "class"')
        with evaluating(model), torch.no_grad():
            features = _features(model, data)
        head = model.advantage
        assert isinstance(head, NeuroFuzzyNetwork | Hierarchy)
        return diagnosed(head, features, decision="class", level=level, source="agent")
    if not isinstance(model, NeuroFuzzyNetwork | Hierarchy):
        raise not_a_network(
            model, "model must be a NeuroFuzzyNetwork, a Hierarchy, a fitted estimator or a DuelingNetwork"
        )
    if decision == "auto":
        decision = "class" if levels_of(model)[-1].out_features > 1 else "number"
    return diagnosed(model, data, decision=decision, level=level)


def diagnosed(
    net: NeuroFuzzyNetwork | Hierarchy, data: Any, *, decision: str, level: int = -1, source: str = "network"
) -> Diagnosis:
    """The figures of one level's rules on data (B, D) as the first level sees them."""
    levels = levels_of(net)
    if isinstance(level, bool) or not isinstance(level, int) or not -len(levels) <= level < len(levels):
        raise ConfigError(f"level must lie in 0 to {len(levels) - 1}, or be -1 for the last, got {level!r}")
    one, place = levels[level], level % len(levels)
    with evaluating(net), torch.no_grad():
        x = rows_of(data, levels[0])
        for below in levels[:place]:
            x = torch.cat([below(part) for part in parts(x, below)])
        return _figures(one, x, levels[place + 1 :], decision, source)


def _features(agent: DuelingNetwork, data: Any) -> Tensor:
    """What the advantage head sees of observations (B, ...)."""
    if not isinstance(agent.advantage, NeuroFuzzyNetwork | Hierarchy):
        raise ConfigError(
            f"the agent has no rules: its advantage head is a {type(agent.advantage).__name__}; "
            "give one with neuro-fuzzy heads"
        )
    try:
        observations = data if isinstance(data, Tensor) else torch.from_numpy(np.array(data))
    except (TypeError, ValueError) as error:
        raise InputError(f"data must be observations, got {type(data).__name__}: {error}") from error
    if observations.ndim < 2 or not len(observations):
        raise InputError(
            f"data must be at least one observation, (B, ...), got shape {tuple(observations.shape)}"
        )
    where = levels_of(agent.advantage)[0].centers.device
    at_once = PICTURES_AT_ONCE if observations.ndim > 2 else len(observations)
    batches = torch.split(observations.detach(), at_once)
    return torch.cat([agent.encoder(batch.to(where)) for batch in batches])


def _figures(
    net: NeuroFuzzyNetwork, x: Tensor, above: Sequence[NeuroFuzzyNetwork], decision: str, source: str
) -> Diagnosis:
    centers = net.centers.detach()  # asking for them also puts back what an optimizer did to frozen rules
    asks = _asked(net)
    leads, firing, peak = (torch.zeros(net.rules, dtype=torch.float64) for _ in range(3))
    fits = premises = deciding = 0
    outputs = []
    for part in parts(x, net):
        levels = net.firing(part)
        outputs.append(_decided(net, part, levels, above))
        known = levels.cpu().double()
        first = leader(known)
        leads += torch.bincount(first, minlength=net.rules)
        firing += known.sum(dim=0)
        peak = torch.maximum(peak, known.amax(dim=0))
        fits += int(_all_fit(net, centers, part, first).sum())
        premises += int(asks[first].sum())
        deciding += int(_holding(known).sum())
    rows = len(x)
    mean = (firing / rows).to(levels)
    averaged = [
        _decided(net, part, mean.expand(len(part), -1), above).cpu().double() for part in parts(x, net)
    ]
    share = leads[leads > 0] / rows
    decided, on_average = torch.cat(outputs).cpu().double(), torch.cat(averaged)
    return Diagnosis(
        rows=rows,
        rules=net.rules,
        attributes=net.in_features,
        leading_rules=math.exp(-float((share * share.log()).sum())),
        dead_rules=int((peak <= LIVING).sum()),
        carry=_changed(decided, on_average, decision),
        alone=_staying(decided, on_average, decision),
        fit=fits / rows,
        premises=premises / rows,
        rules_per_decision=deciding / rows,
        decision=decision,
        consequent=catalog.name_of("consequent", net.consequent_config),
        source=source,
    )


def _decided(net: NeuroFuzzyNetwork, x: Tensor, firing: Tensor, above: Sequence[NeuroFuzzyNetwork]) -> Tensor:
    """The output (B, O) of the last level when the rules of `net` fire like this."""
    with torch.autocast(x.device.type, enabled=False):
        y: Tensor = net.consequent(x.to(firing.dtype), firing, 0)
    for level in above:
        y = level(y.to(x.dtype))
    if not bool(torch.isfinite(y).all()):
        raise InputError("the outputs are not finite: data, or numbers of the network, are too great")
    return y


def _holding(firing: Tensor) -> Tensor:
    """The fewest rules that hold `DECIDING` of each row's firing, (B,)."""
    held = firing.sort(dim=1, descending=True).values.cumsum(dim=1)
    return (held < DECIDING - ROUNDING).sum(dim=1) + 1


def _asked(net: NeuroFuzzyNetwork) -> Tensor:
    """How many premises each rule has that ask something, (U,)."""
    nothing = net.antecedent.any_mask.cpu()
    premises = net.premises().cpu()
    return (~nothing[torch.arange(net.in_features), premises]).sum(dim=1)


def _all_fit(net: NeuroFuzzyNetwork, centers: Tensor, x: Tensor, leader: Tensor) -> Tensor:
    """Whether all premises of the leading rule have membership `FITTING` or more, (B,); "any" always has."""
    chosen = net.premises()[leader.to(x.device)]
    x = bounded(x, net.antecedent)
    centers, precisions = centers.to(x.dtype), net.antecedent.precisions()
    nothing, least = net.antecedent.any_mask, math.log(FITTING) - ROUNDING
    fits = torch.zeros_like(x, dtype=torch.bool)
    for term in range(net.max_terms):
        fitting = (log_membership(x, centers, precisions, term) >= least) | nothing[:, term]
        fits |= fitting & (chosen == term)
    return fits.all(dim=1)


def _changed(outputs: Tensor, averaged: Tensor, decision: str) -> float:
    """The share of decisions that are others with averaged firing; both outputs are (B, O)."""
    if decision == "class":
        return float((outputs.argmax(dim=1) != averaged.argmax(dim=1)).double().mean())
    unit = outputs.std(dim=0, unbiased=False)
    # Of an output that does not vary, rounding is no move.
    unit = torch.maximum(unit, 10 * ROUNDING * outputs.abs().amax(dim=0))
    moved = (outputs - averaged).abs() > MOVING * unit
    return float(moved.any(dim=1).double().mean())


def _staying(outputs: Tensor, averaged: Tensor, decision: str) -> float:
    """The share of decisions that are the same without what averaged firing concludes; both outputs are (B, O).

    A number keeps its level, the mean of that over the rows. Of classes, a tie decides nothing: what is left has to
    set the decision apart from all others.
    """
    left = outputs - averaged
    if decision == "number":
        return 1 - _changed(outputs, left + averaged.mean(dim=0), decision)
    taken = outputs.argmax(dim=1, keepdim=True)
    others = left.scatter(1, taken, -math.inf).amax(dim=1)
    clear = ROUNDING * outputs.abs().amax()
    return float((left.gather(1, taken).squeeze(1) - others > clear).double().mean())
