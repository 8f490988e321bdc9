"""A readable model as arrays: fuzzy sets, which of them each rule asks for, and what it concludes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from ....fuzzy.firing import Firing
from ....fuzzy.selection import Selection
from ....network.consequents import Constant
from ....network.nfn import NeuroFuzzyNetwork
from ....network.starting import HALF
from ..rows import Numbers

# The premise of a rule that asks nothing of a column.
ANY = -1
# A choice starts with so much more than the others: gradients can change it, noise of the first steps does not.
CLEAR = 2.0
# Between two rules, one of which fits at .5 and the other at .25, the first fires so many times as much, about.
GAIN = 4.0
# What it costs that rules fire where they do not fit.
FITTING = 0.3
# Sets of a column are one where what they cover of it begins and ends at the same places, but for this part of it.
SAME = 0.02


@dataclass(frozen=True)
class Draft:
    """Sets and rules; sets that no rule asks for are left out of a network."""

    centers: Numbers
    """(D, T)"""
    widths: Numbers
    """(D, T)"""
    crisp: NDArray[np.bool_]
    """(D,): columns of codes, whose sets do not learn"""
    premises: NDArray[np.int64]
    """(U, D): the set of each column that a rule asks for, or ANY"""
    outputs: Numbers
    """(U, O): what each rule concludes"""
    gain: float = GAIN

    @property
    def size(self) -> int:
        """Premises of all rules together."""
        return int((self.premises != ANY).sum())

    def distances(self, x: Numbers) -> list[Numbers]:
        """Of each rule, minus the log-memberships of its premises on rows x (B, D): (B, premises)."""
        found = []
        for premises in self.premises:
            columns = np.flatnonzero(premises != ANY)
            center, width = (part[columns, premises[columns]] for part in (self.centers, self.widths))
            found.append(np.square((x[:, columns] - center) / width) / 2)
        return found

    def worst_distances(self, x: Numbers) -> Numbers:
        """How badly each rule fits rows x (B, D): minus the log-membership of its worst premise, (B, U)."""
        return np.stack([parts.max(axis=1, initial=0.0) for parts in self.distances(x)], axis=1)

    def kept(self, rules: NDArray[np.bool_]) -> Draft:
        """With these of the rules (U,)."""
        return replace(self, premises=self.premises[rules], outputs=self.outputs[rules])

    def without_repeats(self) -> Draft:
        """With one rule where several ask for the same: they always fire alike, and say together what they say on
        average."""
        _, first, place = np.unique(self.premises, axis=0, return_index=True, return_inverse=True)
        if len(first) == len(self.premises):
            return self
        said = np.stack([self.outputs[place.reshape(-1) == kind].mean(axis=0) for kind in range(len(first))])
        order = np.argsort(first)
        return replace(self, premises=self.premises[first[order]], outputs=said[order])

    def leading(self, x: Numbers) -> Draft:
        """Without rules that fit best on none of rows x (B, D): nobody could say when they hold."""
        leads = np.isin(np.arange(len(self.premises)), self.worst_distances(x).argmin(axis=1))
        return self if leads.all() or leads.sum() < 2 else self.kept(leads)

    def without_twins(self, x: Numbers) -> Draft:
        """With one set, the first, where several cover the same part of a column of rows x (B, D), and would have one
        name; and one rule where several then ask for the same."""
        low, high = x.min(axis=0)[:, None], x.max(axis=0)[:, None]
        reach = HALF * self.widths
        ends = np.stack([end.clip(low, high) for end in (self.centers - reach, self.centers + reach)])
        near = SAME * (high - low)[:, 0]
        premises = self.premises.copy()
        for column, asked in enumerate(premises.T):
            kept: list[int] = []
            for place in np.unique(asked[asked != ANY]).tolist():
                apart = np.abs(ends[:, column, kept] - ends[:, column, [place]]).max(axis=0)
                twins = np.flatnonzero(apart <= near[column])
                if len(twins):
                    asked[asked == place] = kept[int(twins[0])]
                else:
                    kept.append(place)
        return replace(self, premises=premises).without_repeats()

    def network(self, seed: int, power: float | str = Firing.power) -> NeuroFuzzyNetwork:
        """The network of this draft, ready to learn; `power` says how soft its worst premise is meanwhile."""
        draft = self.compact()
        columns, terms = draft.centers.shape
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            net = NeuroFuzzyNetwork(
                columns,
                draft.outputs.shape[1],
                len(draft.premises),
                terms=terms,
                max_terms=terms + 1,
                selection=Selection("ste", any=True),
                firing=Firing(
                    "worst", alpha=1.0, layer_norm=False, gain=draft.gain, power=power, fitting=FITTING
                ),
                consequent=Constant("zeros"),
                neurogenesis=None,
            )
        draft.write_into(net)
        return net

    @classmethod
    def of(cls, net: NeuroFuzzyNetwork) -> Draft:
        """What a network is that some draft was made into, its sets those of before or learned."""
        columns = net.in_features
        empty = cls(
            np.zeros((columns, 1)),
            np.ones((columns, 1)),
            np.zeros(columns, dtype=bool),
            np.full((net.rules, columns), ANY, dtype=np.int64),
            np.zeros((net.rules, net.out_features)),
        )
        return empty.learned(net)

    def write_into(self, net: NeuroFuzzyNetwork) -> None:
        """Put sets, choices and conclusions into a network; its last set is "any"."""
        columns, terms = self.centers.shape
        asked = np.zeros((columns, terms + 1), dtype=bool)
        rules, places = np.nonzero(self.premises != ANY)
        asked[places, self.premises[rules, places]] = True
        asked[:, -1] = True
        nowhere, endless = np.zeros((columns, 1)), np.full((columns, 1), np.inf)
        net.place_sets(
            torch.from_numpy(np.hstack([self.centers, nowhere])),
            torch.from_numpy(np.hstack([self.widths, endless])),
            torch.from_numpy(asked),
        )
        chosen = np.where(self.premises == ANY, terms, self.premises)
        with torch.no_grad():
            net.logits.zero_()
            index = torch.from_numpy(chosen.T)[None]
            net.logits.scatter_(0, index, CLEAR)
            net.bias.copy_(torch.from_numpy(self.outputs))
        crisp = [(int(d), int(t)) for d, t in np.argwhere(asked[:, :-1] & self.crisp[:, None])]
        if crisp:
            net.freeze(sets=crisp)

    def compact(self) -> Draft:
        """Without sets that no rule asks for; every column keeps room for one."""
        used = [np.unique(column[column != ANY]) for column in self.premises.T]
        terms = max(1, *(len(kinds) for kinds in used))
        shape = (len(used), terms)
        centers, widths, premises = np.zeros(shape), np.ones(shape), np.full_like(self.premises, ANY)
        for column, kinds in enumerate(used):
            order = kinds[np.argsort(self.centers[column, kinds], kind="stable")]
            centers[column, : len(order)] = self.centers[column, order]
            widths[column, : len(order)] = self.widths[column, order]
            for place, kind in enumerate(order):
                premises[self.premises[:, column] == kind, column] = place
        return replace(self, centers=centers, widths=widths, premises=premises)

    def learned(self, net: NeuroFuzzyNetwork) -> Draft:
        """What a network has become that was made of this draft."""
        chosen = net.premises().numpy()
        return replace(
            self,
            centers=net.centers.detach().double().numpy()[:, :-1],
            widths=net.widths.detach().double().numpy()[:, :-1],
            premises=np.where(chosen == net.max_terms - 1, ANY, chosen),
            outputs=net.bias.detach().double().numpy().copy(),
            gain=self.gain if net.gain is None else float(net.gain.detach()),
        )
