"""The search for what a network can do without: trial, measurement, and undoing, on drafts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import torch
from torch import Tensor

from ..rule_base import IGNORED
from .draft import Draft
from .refitting import refitted
from .report import Change

Candidate = TypeVar("Candidate")

# Changes up to this, in the unit of measurement, are the rounding of an exact step in double precision.
ROUNDING = 1e-9
# A refit goes on for at most this many bursts, and is given up where after n of them it is HOPELESS / n times off.
BURSTS, HOPELESS = 5, 6.0
# A stage ends when this many single candidates were refused.
PATIENCE = 2
# Sensitivity is exact up to this many outputs; beyond, that many random mixtures of the outputs stand for them.
MIXTURES = 16


@dataclass
class Trials:
    """Measures drafts of one level of a network against what the whole network said at first."""

    x: Tensor
    """what the level sees, (B, D)"""
    head: Callable[[Tensor], Tensor]
    """what the levels above make of the level's output"""
    reference: Tensor
    """(B, O): what the whole network said"""
    unit: Tensor
    """(O,): what a change is divided by"""
    measure: str
    refit: bool
    bar: Any
    undone: int = field(default=0, init=False)
    refits: int = field(default=0, init=False)

    @torch.no_grad()
    def change(self, draft: Draft) -> Change:
        """How far the outputs lie from the reference."""
        return Change.between(self.head(draft.outputs(self.x)), self.reference, self.unit)

    def figure(self, draft: Draft) -> float:
        """The one figure of the change that the tolerance bounds; infinite where outputs are no numbers."""
        figure = self.change(draft).by(self.measure)
        return float("inf") if math.isnan(figure) else figure

    def within(self, draft: Draft, limit: float) -> Draft | None:
        """The draft, refitted where needed and allowed, if its change is within the limit, else None."""
        self.bar.update()
        limit = max(limit, ROUNDING)
        if self.figure(draft) <= limit:
            return draft
        if self.refit and limit > ROUNDING:
            found = self.refitted(draft, limit)
            if self.figure(found) <= limit:
                self.refits += 1
                return found
        self.undone += 1
        return None

    def refitted(self, draft: Draft, limit: float, *, early: bool = True) -> Draft:
        """The draft fitted to the reference; if `early`, until its change is within the limit or looks hopeless."""
        seen: list[float] = []

        def enough(now: Draft) -> bool:
            if not early:
                return False
            seen.append(self.figure(now))
            return seen[-1] <= limit or seen[-1] > limit * HOPELESS / len(seen)

        return refitted(
            draft,
            self.x,
            self.head,
            self.reference,
            self.unit,
            enough=enough,
            bursts=BURSTS,
            scale=limit,
            largest=self.measure == "max",
        )

    def shed(
        self,
        draft: Draft,
        ranked: Callable[[Draft], Sequence[Candidate]],
        apply: Callable[[Draft, Sequence[Candidate]], Draft],
        limit: float,
    ) -> tuple[Draft, int]:
        """Apply as many candidates as stay within the limit, the least important first; the draft and how many.

        Trials take many candidates at once: twice as many after every success, half as many after a failure,
        and no more growth after the first failure. Candidates that fail alone are passed over, a few times.
        """
        refused: set[Candidate] = set()
        applied: set[Candidate] = set()
        growing = True
        candidates = list(ranked(draft))
        step = max(1, len(candidates) // 8)
        finest = max(1, len(candidates) // 64)
        while candidates and len(refused) < PATIENCE * finest:
            found = self.within(apply(draft, candidates[:step]), limit)
            if found is not None:
                draft = found
                applied.update(candidates[:step])
                candidates = [one for one in ranked(draft) if one not in refused | applied]
                step = step * 2 if growing else step
                continue
            growing = False
            step = min(step, len(candidates))
            if step <= finest:
                refused.update(candidates[:step])
                candidates = candidates[step:]
            else:
                step = max(finest, step // 2)
        return draft, len(applied)

    def slopes(self, draft: Draft) -> Iterator[Tensor]:
        """Slope of each output, in units, to each rule's log-firing, (B, U); of many outputs, of random mixtures."""
        with torch.enable_grad():
            log_firing = draft.log_firing(self.x).requires_grad_()
            outputs = self.head(draft.decided(self.x, draft.levels(log_firing))) / self.unit
        width = outputs.shape[1]
        mixtures = torch.eye(width, dtype=outputs.dtype)
        if width > MIXTURES:
            generator = torch.Generator().manual_seed(0)
            signs = torch.randint(2, (MIXTURES, width), generator=generator) * 2 - 1
            mixtures = signs.to(outputs.dtype) / MIXTURES**0.5
        for mixture in mixtures:
            yield torch.autograd.grad(outputs, log_firing, mixture.expand_as(outputs), retain_graph=True)[0]

    def sensitivity(self, draft: Draft) -> Tensor:
        """Squared slope of the outputs, in units, to each rule's log-firing, summed over outputs, (B, U)."""
        squares = torch.zeros(len(self.x), len(draft), dtype=torch.float64)
        for slope in self.slopes(draft):
            squares += slope.square()
        return squares

    def rules_by_effect(self, draft: Draft) -> list[int]:
        """Numbers of the rules; first those whose absence changes the outputs least."""
        if len(draft) == 1:
            return []
        free = [number for number in draft.numbers if number not in draft.frozen_rules]
        effects = [self.change(draft.without_rules([number])).rms for number in free]
        ranked = [free[place] for place in torch.tensor(effects).argsort(stable=True).tolist()]
        return ranked[: len(draft) - 1]

    def idle_rules(self, draft: Draft) -> list[int]:
        """Numbers of the rules that fire on no row."""
        with torch.no_grad():
            fires = (draft.levels(draft.log_firing(self.x)) > 0).any(dim=0).tolist()
        idle = [number for number, ever in zip(draft.numbers, fires, strict=True) if not ever]
        return [number for number in idle if number not in draft.frozen_rules]

    def attributes_by_effect(self, draft: Draft) -> list[int]:
        """Attributes that rules ask for; first those whose absence from all rules matters least, to first order."""
        _, centers, precisions = draft.chosen()
        precisions = precisions * ~draft.is_frozen()
        asked = (precisions > 0).any(dim=1).nonzero().squeeze(1)
        if draft.firing.reduce == "worst":
            return self._by_relief(draft, asked)
        centers, precisions, x = centers[asked], precisions[asked], self.x[:, asked]
        effects = torch.zeros(len(asked), dtype=torch.float64)
        for slope in self.slopes(draft):
            # sum over rules of slope * precision * (x - center)**2, without a tensor of shape (B, D, U)
            linear = slope @ (precisions * centers).t()
            constant = slope @ (precisions * centers.square()).t()
            effects += (x.square() * (slope @ precisions.t()) - 2 * x * linear + constant).square().sum(dim=0)
        ranked: list[int] = asked[effects.argsort(stable=True)].tolist()
        return ranked

    def _by_relief(self, draft: Draft, asked: Tensor) -> list[int]:
        """The attributes asked for, where rules are compared by their worst premise: without it, by the next."""
        place, relief = self._worst(draft)
        relief = relief * ~draft.is_frozen()
        effects = torch.zeros(self.x.shape[1], dtype=torch.float64)
        for slope in self.slopes(draft):
            effects += torch.zeros_like(self.x).scatter_add_(1, place, slope * relief).square().sum(dim=0)
        ranked: list[int] = asked[effects[asked].argsort(stable=True)].tolist()
        return ranked

    def _worst(self, draft: Draft) -> tuple[Tensor, Tensor]:
        """The attribute of each rule's worst premise, and by how much it is worse than the next, each (B, U)."""
        _, centers, precisions = draft.chosen()
        place, relief = [], []
        for rule in range(len(draft)):
            distance = (self.x - centers[:, rule]).square() * precisions[:, rule]
            worst, where = distance.max(dim=1)
            place.append(where)
            relief.append(worst - distance.scatter(1, where.unsqueeze(1), 0.0).amax(dim=1))
        return torch.stack(place, dim=1), torch.stack(relief, dim=1)

    def premises_by_effect(self, draft: Draft) -> list[tuple[int, int]]:
        """(Number of rule, attribute) of the premises that ask; first those that to first order matter least."""
        squares = self.sensitivity(draft)
        if draft.firing.reduce == "worst":
            place, relief = self._worst(draft)
            effects = torch.zeros(self.x.shape[1], len(draft), dtype=torch.float64)
            effects = effects.scatter_add_(0, place, squares * relief.square()).t()
        else:
            _, centers, precisions = draft.chosen()
            effects = torch.stack(
                [
                    squares[:, rule] @ ((self.x - centers[:, rule]).square() * precisions[:, rule]).square()
                    for rule in range(len(draft))
                ]
            )
        free = (draft.premises != IGNORED) & ~draft.is_frozen().unsqueeze(1)
        rules, attributes = free.nonzero(as_tuple=True)
        order = effects[rules, attributes].argsort(stable=True)
        pairs = zip(rules[order].tolist(), attributes[order].tolist(), strict=True)
        return [(draft.numbers[rule], attribute) for rule, attribute in pairs]

    def sets_by_effect(self, draft: Draft) -> list[tuple[int, int, int]]:
        """(Attribute, slot, slot) of the best pair of neighbouring sets of each attribute, the most alike first."""
        squares = self.sensitivity(draft)
        found = []
        for attribute in range(len(draft.exists)):
            slots = (draft.exists & ~draft.frozen_sets)[attribute].nonzero().squeeze(1)
            order = draft.centers[attribute, slots].argsort(stable=True)
            pairs = [(attribute, *pair) for pair in pairwise(slots[order].tolist())]
            if pairs:
                effects = [self._merging_effect(draft, pair, squares) for pair in pairs]
                best = min(range(len(pairs)), key=effects.__getitem__)
                found.append((effects[best], pairs[best]))
        return [pair for _, pair in sorted(found)]

    def _merging_effect(self, draft: Draft, pair: tuple[int, int, int], squares: Tensor) -> float:
        attribute = pair[0]
        column = self.x[:, attribute]
        merged = draft.merging_sets([pair])
        effect = 0.0
        for slot in pair[1:]:
            users = (draft.premises[:, attribute] == slot).nonzero().squeeze(1)
            if len(users):
                into = min(pair[1:])
                before = ((column - draft.centers[attribute, slot]) / draft.widths[attribute, slot]).square()
                after = ((column - merged.centers[attribute, into]) / merged.widths[attribute, into]).square()
                effect += float((squares[:, users].sum(dim=1) @ (before - after).square()) / 4)
        return effect
