"""A network's rules while they are being simplified: plain tables in double precision that are cheap to change.

A draft is never changed; every edit gives a new one. What it computes is what the network computes in evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from ...errors import ConfigError
from ...fuzzy import consequents as decide
from ...fuzzy.firing import Firing, RuleWeights, firing_levels
from ...fuzzy.log_firing import Chosen, settled_log_firing
from ...network.consequents import MamdaniConsequent
from ...network.nfn import NeuroFuzzyNetwork
from ..networks import firing_of
from ..rule_base import IGNORED


@dataclass(frozen=True)
class Size:
    """How much there is to read: rules, fuzzy sets that ask something, and premises that ask something."""

    rules: int
    sets: int
    premises: int

    def __str__(self) -> str:
        return f"{self.rules} rules, {self.sets} sets, {self.premises} premises"

    def __add__(self, other: Size) -> Size:
        return Size(self.rules + other.rules, self.sets + other.sets, self.premises + other.premises)


@dataclass(frozen=True, eq=False)
class Draft:
    """Rules (U), their premises (U, D) as slots of sets (D, T) or IGNORED, and the parameters that go with them."""

    firing: Firing
    """with alpha and gain as they were read off"""
    numbers: tuple[int, ...]
    """which rules of the network these are, (U,)"""
    premises: Tensor
    centers: Tensor
    widths: Tensor
    exists: Tensor
    """which of the sets (D, T) exist and ask something"""
    home: Tensor
    """(D, T): the slot that each set of the network now lives in; its own, or that of the set it was merged into"""
    own: Mapping[str, Tensor]
    """parameters per rule, the first dimension U: kappa, beta, certainty, weight, bias, conclusions"""
    shared: Mapping[str, Tensor]
    """parameters of all rules: projection, output_centers, output_widths"""
    frozen_sets: Tensor
    """which of the sets (D, T) must stay as they are"""
    frozen_rules: frozenset[int] = frozenset()
    """numbers of the rules that must stay as they are"""
    defuzzifier: str | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def size(self) -> Size:
        """Rules, sets and premises."""
        return Size(len(self), int(self.exists.sum()), int((self.premises != IGNORED).sum()))

    def chosen(self) -> Chosen:
        """Centre and precision of every premise, (D, U); a premise that asks nothing has precision 0."""
        slots = self.premises.t().contiguous().clamp_min(0)
        precisions = 0.5 / self.widths.gather(1, slots).square()
        asks = (self.premises != IGNORED).t()
        return Chosen(slots, self.centers.gather(1, slots), (precisions * asks).contiguous())

    def log_firing(self, x: Tensor) -> Tensor:
        """Log-firing as a sum over attributes, or the worst premise's, (B, U), before any gain; without gradients."""
        return settled_log_firing(x, self.chosen(), self.firing.norm(training=False))

    def levels(self, log_firing: Tensor) -> Tensor:
        """Firing levels (B, U) of what `log_firing` gives."""
        assert not isinstance(self.firing.alpha, str)
        weights = RuleWeights(*(self.own.get(name) for name in ("kappa", "beta", "certainty")))
        return firing_levels(log_firing, self.premises.shape[1], self.firing, weights, self.firing.alpha)

    def decided(self, x: Tensor, levels: Tensor) -> Tensor:
        """Outputs (B, O) of firing levels."""
        if "conclusions" in self.own:
            return self._defuzzified(levels)
        if "weight" not in self.own:
            return decide.constant(levels, self.own["bias"])
        seen = x @ self.shared["projection"] if "projection" in self.shared else x
        return decide.affine(seen, levels, self.own["weight"], self.own["bias"])

    def _defuzzified(self, levels: Tensor) -> Tensor:
        slots = self.own["conclusions"].t()
        centers = self.shared["output_centers"].gather(1, slots).t()
        if self.defuzzifier == "height":
            return decide.defuzzified(levels, centers, None)
        widths = self.shared["output_widths"].gather(1, slots).t()
        return decide.defuzzified(levels, widths * centers, widths)

    def outputs(self, x: Tensor) -> Tensor:
        """What the network with these rules says, (B, O)."""
        return self.decided(x, self.levels(self.log_firing(x)))

    def keeping(self, rules: Iterable[int]) -> Draft:
        """The draft with the rules at these places only."""
        places = list(rules)
        index = torch.tensor(places, dtype=torch.long)
        return replace(
            self,
            numbers=tuple(self.numbers[place] for place in places),
            premises=self.premises[index],
            own={name: values[index] for name, values in self.own.items()},
        )

    def without_rules(self, numbers: Iterable[int]) -> Draft:
        """The draft without the rules of these numbers."""
        gone = set(numbers)
        return self.keeping(place for place, number in enumerate(self.numbers) if number not in gone)

    def without_premises(self, pairs: Iterable[tuple[int, int]]) -> Draft:
        """The draft whose premises at these (number of rule, attribute) ask nothing."""
        place = {number: index for index, number in enumerate(self.numbers)}
        premises = self.premises.clone()
        for number, attribute in pairs:
            premises[place[number], attribute] = IGNORED
        return replace(self, premises=premises)

    def without_attributes(self, attributes: Iterable[int]) -> Draft:
        """The draft whose rules, but for frozen ones, ask nothing of these attributes."""
        premises = self.premises.clone()
        premises[:, list(attributes)] = IGNORED
        return replace(self, premises=self.held_rules(self.premises, premises))

    def merging_sets(self, merges: Iterable[tuple[int, int, int]]) -> Draft:
        """The draft in which, per (attribute, slot, slot), two sets became one in the lower slot.

        Centre and width of the new set are the mean of the old ones', weighted by how many premises use each.
        """
        premises, home = self.premises.clone(), self.home.clone()
        centers, widths, exists = self.centers.clone(), self.widths.clone(), self.exists.clone()
        for attribute, first, second in merges:
            stays, goes = min(first, second), max(first, second)
            column = premises[:, attribute]
            users = float((column == stays).sum()), float((column == goes).sum())
            share = users[1] / sum(users) if sum(users) else 0.5
            for table in (centers, widths):
                table[attribute, stays] += share * (table[attribute, goes] - table[attribute, stays])
            column[column == goes] = stays
            home[attribute, home[attribute] == goes] = stays
            exists[attribute, goes] = False
        return replace(self, premises=premises, centers=centers, widths=widths, exists=exists, home=home)

    def used(self) -> Tensor:
        """Which of the sets (D, T) some premise asks for."""
        rules, attributes = (self.premises != IGNORED).nonzero(as_tuple=True)
        used = torch.zeros_like(self.exists)
        used[attributes, self.premises[rules, attributes]] = True
        return used

    def without_unused_sets(self) -> Draft:
        """The draft with the sets only that some premise asks for."""
        return replace(self, exists=self.exists & (self.used() | self.frozen_sets))

    def is_frozen(self) -> Tensor:
        """Which of the rules must stay as they are, (U,)."""
        return torch.tensor([number in self.frozen_rules for number in self.numbers])

    def held_rules(self, kept: Tensor, values: Tensor) -> Tensor:
        """`values` per rule, with those of frozen rules `kept`."""
        if not self.frozen_rules:
            return values
        return torch.where(self.is_frozen().view(-1, *[1] * (values.dim() - 1)), kept, values)


@torch.no_grad()
def draft_of(net: NeuroFuzzyNetwork) -> Draft:
    """The rules of a network as a draft, on the CPU and in double precision."""
    centers = net.centers  # read first: it puts frozen entries back that an optimizer moved
    asking = net.antecedent.covering_mask.cpu()
    premises = net.premises().cpu()
    asks = asking.gather(1, premises.t()).t()
    part = net.consequent
    own: dict[str, Tensor | None] = {"kappa": net.kappa, "beta": net.beta, "certainty": net.certainty}
    shared: dict[str, Tensor] = {}
    defuzzifier = None
    if isinstance(part, MamdaniConsequent):
        own["conclusions"] = part.conclusions()
        shared = {"output_centers": part.output_centers, "output_widths": part.output_widths}
        defuzzifier = part.config.defuzzifier
    else:
        form = part.linear()
        if not all(values is None or isinstance(values, nn.Parameter) for values in form):
            raise ConfigError(
                f"simplifying writes into a consequent's bias and weight; a {type(part).__name__} computes them of "
                "other parameters, and cannot be simplified"
            )
        own |= {"weight": form.weight, "bias": form.bias}
        if form.projection is not None:
            shared = {"projection": form.projection}
    rules, sets = net.frozen
    frozen_sets = torch.zeros_like(asking)
    for attribute, term in sets:
        frozen_sets[attribute, term] = True
    return Draft(
        firing=firing_of(net),
        numbers=tuple(range(net.rules)),
        premises=torch.where(asks, premises, IGNORED),
        centers=_double(centers),
        widths=_double(net.widths),
        exists=asking,
        home=torch.arange(net.max_terms).repeat(net.in_features, 1),
        own={name: _double(values) for name, values in own.items() if values is not None},
        shared={name: _double(values) for name, values in shared.items()},
        frozen_sets=frozen_sets & asking,
        frozen_rules=frozenset(rules),
        defuzzifier=defuzzifier,
    )


def _double(values: Tensor) -> Tensor:
    values = values.detach().cpu()
    return values.double().clone() if values.is_floating_point() else values.clone()
