"""From a rule base to a network that computes the same and trains on."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from ..errors import ConfigError
from ..fuzzy.membership import WIDTH_FLOOR, raw_from_widths
from ..fuzzy.selection import Selection
from ..network.consequents import Affine, ConsequentConfig, Constant, Mamdani, MamdaniConsequent
from ..network.neurogenesis import Neurogenesis
from ..network.nfn import NeuroFuzzyNetwork
from ..network.vocabulary import Vocabulary
from .rule_base import IGNORED, Conclusions, Linear, Numbers, RuleBase, Variable

# How far a chosen premise's logit stands above the others at first: clear, and still within learning's reach.
CONVICTION = 3.0

SELECTION = Selection(estimator="ste")


def network_of(
    rules: RuleBase,
    *,
    spare_terms: int = 0,
    conviction: float = CONVICTION,
    selection: Selection = SELECTION,
    neurogenesis: Neurogenesis | None = None,
    dtype: torch.dtype | None = None,
) -> NeuroFuzzyNetwork:
    """A network with these rules: equal outputs in evaluation, and all of it can be trained further.

    It takes inputs in the units of the rule base. `spare_terms` is room per attribute for sets to be born.
    Where a rule ignores an attribute, or `selection` lets it, the attribute gets the set "any". Widths below 2e-4 are
    refused.
    """
    if not isinstance(rules, RuleBase):
        raise ConfigError(
            f"rules must be a RuleBase, got {type(rules).__name__}; npl.rule_base(net) reads one off a network, "
            "model.rules_ is that of a fitted estimator"
        )
    ignored = (rules.premises == IGNORED).any(axis=0) | selection.any
    sizes = np.array([len(variable.terms) for variable in rules.inputs]) + ignored
    with torch.random.fork_rng(devices=[]):  # what is drawn here is overwritten; leave no trace of it
        net = NeuroFuzzyNetwork(
            len(rules.inputs),
            len(rules.outputs),
            len(rules),
            terms=1,
            max_terms=max(int(sizes.max()) + spare_terms, 1 + selection.any),
            selection=selection,
            firing=rules.firing,
            consequent=_consequent_config(rules),
            neurogenesis=neurogenesis,
            input_range=_range(rules),
            dtype=dtype,
        )
    with torch.no_grad():
        _place_inputs(net, rules, ignored)
        _choose(net.logits, _slots(rules).T, conviction)
        _write_consequents(net, rules, conviction)
        for parameter, values in (
            (net.certainty, rules.certainty),
            (net.kappa, rules.gain),
            (net.beta, rules.shift),
        ):
            if parameter is not None and values is not None:
                parameter.copy_(torch.from_numpy(values.copy()))
    net.vocabulary = _vocabulary(rules)
    return net


def _vocabulary(rules: RuleBase) -> Vocabulary:
    def words(variable: Variable) -> tuple[str, ...]:
        return tuple(term.name for term in sorted(variable.terms, key=lambda term: term.center))

    return Vocabulary(
        tuple(variable.name for variable in rules.inputs),
        tuple(variable.name for variable in rules.outputs),
        {variable.name: words(variable) for variable in (*rules.outputs, *rules.inputs) if variable.terms},
    )


def _consequent_config(rules: RuleBase) -> ConsequentConfig:
    if isinstance(rules.consequents, Linear):
        return Constant() if rules.consequents.is_constant else Affine()
    counts = {len(variable.terms) for variable in rules.outputs}
    if len(counts) > 1:
        raise ConfigError(
            "all outputs of a Mamdani network have the same number of terms, got "
            + ", ".join(f"{len(variable.terms)} of {variable.name!r}" for variable in rules.outputs)
        )
    centers = [term.center for variable in rules.outputs for term in variable.terms]
    low, high = min(centers), max(centers)
    return Mamdani(counts.pop(), rules.consequents.defuzzifier, (low, high) if low < high else (low, low + 1))


def _range(rules: RuleBase) -> tuple[list[float], list[float]]:
    """Where the first centres lie, per attribute; 0 for one without sets."""
    spans = [[term.center for term in variable.terms] or [0.0] for variable in rules.inputs]
    return [min(span) for span in spans], [max(span) for span in spans]


def _slots(rules: RuleBase) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The slot of each premise's set, (U, D): terms in order, then "any" where some rule needs it."""
    after = np.array([len(variable.terms) for variable in rules.inputs])
    return np.where(rules.premises == IGNORED, after, rules.premises)


def _place_inputs(
    net: NeuroFuzzyNetwork, rules: RuleBase, ignored: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> None:
    centers = torch.zeros(net.centers.shape, dtype=torch.float64)
    widths = torch.ones_like(centers)
    mask = torch.zeros(centers.shape, dtype=torch.bool)
    for attribute, variable in enumerate(rules.inputs):
        count = len(variable.terms)
        found_centers, found_widths = _sets(variable)
        centers[attribute, :count] = torch.from_numpy(found_centers)
        widths[attribute, :count] = torch.from_numpy(found_widths)
        mask[attribute, :count] = True
        if ignored[attribute]:
            widths[attribute, count] = math.inf
            mask[attribute, count] = True
    net.place_sets(centers, widths, mask)


def _sets(variable: Variable) -> tuple[Numbers, Numbers]:
    centers = np.array([term.center for term in variable.terms], dtype=np.float64)
    widths = np.array([term.width for term in variable.terms], dtype=np.float64)
    if (widths < 2 * WIDTH_FLOOR).any():
        raise ConfigError(
            f"a width of {variable.name!r} is {widths.min():g}; a network's are at least {2 * WIDTH_FLOOR:g}: "
            "use larger units"
        )
    return centers, widths


def _choose(
    logits: Tensor, slots: np.ndarray[tuple[int, ...], np.dtype[np.int64]], conviction: float
) -> None:
    """Make logits (T, D, U) choose the slots (D, U)."""
    logits.zero_()
    logits.scatter_(0, torch.from_numpy(slots.copy()).unsqueeze(0).to(logits.device), conviction)


def _write_consequents(net: NeuroFuzzyNetwork, rules: RuleBase, conviction: float) -> None:
    if isinstance(rules.consequents, Linear):
        if not rules.consequents.is_constant:
            net.weight.copy_(torch.from_numpy(rules.consequents.weight.copy()))
        net.bias.copy_(torch.from_numpy(rules.consequents.bias.copy()))
        return
    assert isinstance(rules.consequents, Conclusions)
    assert isinstance(net.consequent, MamdaniConsequent)
    sets = [_sets(variable) for variable in rules.outputs]
    net.output_centers.copy_(torch.from_numpy(np.stack([centers for centers, _ in sets])))
    widths = torch.from_numpy(np.stack([widths for _, widths in sets]))
    net.consequent.raw_output_widths.copy_(raw_from_widths(widths))
    _choose(net.conclusion_logits, rules.consequents.terms.T, conviction)
