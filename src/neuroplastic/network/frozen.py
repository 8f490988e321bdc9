"""Rules and fuzzy sets that training leaves as they are.

Frozen entries of a parameter are replaced, on the way into the computation, by the values that are kept here: their
gradient is zero, and what momentum or weight decay do to the parameter itself has no effect. Before it is read or
saved, the parameter is put back too.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from ..errors import ConfigError
from ..fuzzy.selection import hard_choice

if TYPE_CHECKING:
    from .nfn import NeuroFuzzyNetwork

# How far a frozen choice stands above the others: Gumbel noise in single precision lies within -3 and 17.
CERTAIN = 64.0

# How far below a frozen rule's own choice the logits of sets begin that are born later; counts once it is unfrozen.
NEWBORN = 1.0

# Parameters with one slice per rule, and the dimension that counts the rules.
BY_RULE = {
    "antecedent.logits": 2,
    "kappa": 0,
    "beta": 0,
    "certainty": 0,
    "consequent.weight": 0,
    "consequent.bias": 0,
    "consequent.conclusion_logits": 2,
}
_CHOICES = ("antecedent.logits", "consequent.conclusion_logits")


class Wish(NamedTuple):
    """What is to be frozen: numbers of rules from 0, and pairs (attribute, term)."""

    rules: tuple[int, ...] = ()
    sets: tuple[tuple[int, int], ...] = ()


class Frozen(nn.Module):
    """The kept values of a network's frozen entries, by parameter.

    They are buffers, so they follow the network to its device and type, but not part of the state: that holds
    the parameters, put back in time, and which entries are frozen.
    """

    spared: Tensor
    sets: Tensor

    def __init__(self, net: NeuroFuzzyNetwork, wish: Wish) -> None:
        super().__init__()
        self._dimensions: dict[str, int | None] = {}
        self._keep_rules(net, list(wish.rules))
        places = [attribute * net.max_terms + term for attribute, term in wish.sets]
        sets = torch.zeros_like(net.term_mask)
        sets.view(-1)[places] = True
        self.register_buffer("sets", sets, persistent=False)
        for name in ("centers", "raw_widths"):
            self._keep(f"antecedent.{name}", getattr(net.antecedent, name), None, places)

    @torch.no_grad()
    def _keep_rules(self, net: NeuroFuzzyNetwork, rules: list[int]) -> None:
        """Keep what belongs to these rules, and what they share: a projection, the output sets they conclude."""
        parameters = dict(net.named_parameters())
        for name, dimension in BY_RULE.items():
            if name in parameters:
                self._keep(name, parameters[name], dimension, rules)
        # The constraint of Appendix A takes rare sets out of a batch, but not those that frozen rules use, (D, T).
        spared = self._decide("antecedent.logits", net.term_mask.t().unsqueeze(-1), net.term_mask)
        self.register_buffer("spared", spared, persistent=False)
        if "log_gain" in parameters and len(rules) == net.rules:  # while one rule learns, it needs its gain
            self._keep("log_gain", parameters["log_gain"], None, [0])
        if "consequent.projection" in parameters and rules:
            projection = parameters["consequent.projection"]
            self._keep("consequent.projection", projection, None, list(range(projection.numel())))
        if "consequent.conclusion_logits" in parameters:
            exists = torch.ones_like(parameters["consequent.output_centers"], dtype=torch.bool)
            concluded = self._decide("consequent.conclusion_logits", None, exists)
            places = concluded.flatten().nonzero().squeeze(1).tolist()
            for name in ("consequent.output_centers", "consequent.raw_output_widths"):
                self._keep(name, parameters[name], None, places)

    def _keep(self, name: str, parameter: Tensor, dimension: int | None, places: list[int]) -> None:
        """Keep slices of a parameter along a dimension, or, without one, entries of it when flattened."""
        if not places:
            return
        entries = torch.tensor(places, device=parameter.device)
        source = parameter.detach().reshape(-1) if dimension is None else parameter.detach()
        self._dimensions[name] = dimension
        self.register_buffer(_buffer(name, "index"), entries, persistent=False)
        self.register_buffer(
            _buffer(name, "kept"), source.index_select(dimension or 0, entries), persistent=False
        )

    def _decide(self, name: str, mask: Tensor | None, exists: Tensor) -> Tensor:
        """Turn kept logits (T, D, F) into a choice that neither noise nor births can change; gives its sets, (D, T)."""
        if name not in self._dimensions:
            return torch.zeros_like(exists)
        kept = self._kept(name)
        chosen = hard_choice(kept, None, mask).unsqueeze(0)
        if mask is not None:  # slots that are free now may be filled, and must then not outdo the choice
            kept.copy_(torch.where(mask, kept, kept.gather(0, chosen) - NEWBORN))
        certain = torch.zeros_like(kept).scatter_(0, chosen, CERTAIN)
        self.register_buffer(_buffer(name, "certain"), certain, persistent=False)
        return (certain > 0).any(dim=2).t().contiguous()

    def _certain(self, name: str) -> Tensor:
        certain: Tensor = getattr(self, _buffer(name, "certain"))
        return certain

    def _kept(self, name: str) -> Tensor:
        kept: Tensor = getattr(self, _buffer(name, "kept"))
        return kept

    def held(self, name: str, parameter: Tensor) -> Tensor:
        """The parameter with its frozen entries as kept; no gradient reaches those."""
        if name not in self._dimensions:
            return parameter
        dimension, entries = self._dimensions[name], getattr(self, _buffer(name, "index"))
        if dimension is None:
            return parameter.reshape(-1).index_copy(0, entries, self._kept(name)).view(parameter.shape)
        values = self._certain(name) if name in _CHOICES else self._kept(name)
        return parameter.index_copy(dimension, entries, values)

    def held_parameters(self, part: str, module: nn.Module) -> dict[str, Tensor]:
        """All parameters of a part of the network, frozen entries as kept."""
        return {name: self.held(f"{part}.{name}", value) for name, value in module.named_parameters()}

    @torch.no_grad()
    def restore(self, net: nn.Module) -> None:
        """Put frozen entries of the parameters back. Through `.data`: no graph depends on what stood there."""
        for name, dimension in self._dimensions.items():
            part, _, last = name.rpartition(".")
            parameter = net.get_submodule(part)._parameters[
                last
            ]  # the network's own properties lead back here
            assert parameter is not None
            data = parameter.data
            entries, kept = getattr(self, _buffer(name, "index")), self._kept(name)
            if dimension is None:
                data.view(-1).index_copy_(0, entries, kept)
            else:
                data.index_copy_(dimension, entries, kept)


def _buffer(name: str, kind: str) -> str:
    return f"{name.replace('.', '_')}_{kind}"


def checked_wish(
    net: NeuroFuzzyNetwork,
    rules: Iterable[int] | None,
    sets: Iterable[tuple[int, int]] | None,
    before: Wish,
) -> Wish:
    """What was frozen and what is asked for now, in order; all of it where nothing is named."""
    exists = net.term_mask.cpu()
    if rules is None and sets is None:
        rules, sets = range(net.rules), [(int(a), int(t)) for a, t in exists.nonzero().tolist()]
    asked_rules = list(rules or ())
    for rule in asked_rules:
        if isinstance(rule, bool) or not isinstance(rule, int) or not 0 <= rule < net.rules:
            raise ConfigError(f"rules must be numbers from 0 to {net.rules - 1}, got {rule!r}")
    asked_sets = [_checked_set(net, exists, pair) for pair in sets or ()]
    return Wish(tuple(sorted({*before.rules, *asked_rules})), tuple(sorted({*before.sets, *asked_sets})))


def _checked_set(net: NeuroFuzzyNetwork, exists: Tensor, pair: tuple[int, int]) -> tuple[int, int]:
    try:
        attribute, term = (index(place) for place in pair)
        inside = 0 <= attribute < net.in_features and 0 <= term < net.max_terms
    except (TypeError, ValueError):
        inside = False
    if not inside:
        raise ConfigError(f"sets must be pairs (attribute, term), got {pair!r}")
    if not bool(exists[attribute, term]):
        raise ConfigError(f"attribute {attribute} has no fuzzy set {term} to freeze")
    return attribute, term
