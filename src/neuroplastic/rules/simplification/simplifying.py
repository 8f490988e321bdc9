"""Simplification after training: fewer rules, premises and sets, within a stated change of the outputs."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from ...errors import ConfigError, at_least, choose
from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from ..networks import levels_of, rows_of, said
from .draft import Draft, Size, draft_of
from .draft_network import network_from
from .duplicates import duplicates, merging_rules
from .report import Change, SimplificationReport, Simplified, Step
from .shedding import Trials

# Shares of the tolerance that the stages of the first round may use up; later rounds may use all of it.
TWINS, RULES, PREMISES, SETS = 0.2, 0.5, 0.8, 1.0
# What is left free for the rounding of the network's own number format.
MARGIN = 0.999


def simplify(
    net: NeuroFuzzyNetwork | Hierarchy,
    data: Any,
    tolerance: float,
    *,
    measure: str = "max",
    unit: str = "deviation",
    refit: bool = True,
    rounds: int = 2,
    verbose: bool = False,
) -> Simplified:
    """A simpler network whose outputs on the data differ from the original's by at most `tolerance`, and a report.

    The change of output o on row b is `|new[b, o] - old[b, o]| / unit[o]`, where unit[o] is the standard deviation
    of old[:, o] over the rows (1 for an output that does not vary), or 1 with `unit="absolute"`. The tolerance
    bounds its maximum over rows and outputs, or with `measure="rms"` its root mean square over both.

    Twin sets are merged, rules that never fire dropped, duplicate rules merged, weak rules and premises that
    matter little dropped, neighbouring sets merged, unused sets dropped; each step is measured, and undone where it
    goes beyond the tolerance. With `refit`, what is left (gains, certainty, consequents, sets; not the choice of
    premises) is fitted to the original's outputs on the data, which is what makes large savings possible; without
    it, or with a tolerance of 0, numbers stay as they were except where sets or rules are merged.

    `data` (B, D) should be what the network will meet: nothing is promised of other inputs. The original is left
    as it is; the result has its settings, type, device and mode, and trains on. Computed on the CPU in doubles.
    """
    choose("measure", measure, ("max", "rms"))
    choose("unit", unit, ("deviation", "absolute"))
    at_least("rounds", rounds, 1)
    if isinstance(tolerance, bool) or not 0 <= tolerance < float("inf"):
        raise ConfigError(f"tolerance must be a finite number of at least 0, got {tolerance!r}")
    levels = levels_of(net)
    x = rows_of(data, levels[0])
    started = time.perf_counter()
    reference = said(net, x).cpu().double()
    units = _units(reference, unit)
    bar = tqdm(disable=not verbose, desc="simplify", unit=" trials")
    share = 1.0
    while True:
        drafts, steps = _reduced(
            levels,
            x,
            _Settings(tolerance * share * MARGIN, measure, refit and share > 0, rounds, units, bar),
        )
        result = _assembled(net, [network_from(*pair) for pair in zip(drafts, levels, strict=True)])
        change = Change.between(said(result, x).cpu().double(), reference, units)
        if change.by(measure) <= max(tolerance, _rounding(levels[0].centers.dtype)) or not share:
            break
        # The draft was within the tolerance, the network in its own number format is not: ask for less.
        share = share / 2 if share > 0.2 else 0.0
    bar.close()
    report = SimplificationReport(
        before=_size([draft_of(level) for level in levels]),
        after=_size(drafts),
        steps=tuple(steps),
        change=change,
        tolerance=float(tolerance),
        measure=measure,
        unit=unit,
        rows=len(x),
        seconds=time.perf_counter() - started,
    )
    return Simplified(result, report)


@dataclass(frozen=True)
class _Settings:
    tolerance: float
    measure: str
    refit: bool
    rounds: int
    units: Tensor
    bar: Any


def _reduced(
    levels: Sequence[NeuroFuzzyNetwork], x: Tensor, settings: _Settings
) -> tuple[list[Draft], list[Step]]:
    """The levels' drafts, simplified one after the other; level l of L may use l/L of the tolerance."""
    drafts = [draft_of(level) for level in levels]
    steps: list[Step] = []
    x = x.detach().cpu().double()
    above = [copy.deepcopy(level).cpu().double().eval().requires_grad_(False) for level in levels]
    with torch.no_grad():
        reference = _through(above, x)
    for number in range(len(levels)):
        head = _head(above[number + 1 :])
        trials = Trials(x, head, reference, settings.units, settings.measure, settings.refit, settings.bar)
        level = _Level(number, drafts, trials, settings.tolerance * (number + 1) / len(levels), steps)
        level.simplify(settings.rounds)
        with torch.no_grad():
            x = drafts[number].outputs(x)
    return drafts, steps


@dataclass
class _Level:
    """One level while it is simplified; writes the current draft into `drafts` and what was done into `steps`."""

    number: int
    drafts: list[Draft]
    trials: Trials
    limit: float
    steps: list[Step]

    @property
    def draft(self) -> Draft:
        return self.drafts[self.number]

    def simplify(self, rounds: int) -> None:
        for number in range(rounds):
            before = self.draft.size
            self._round(first=number == 0)
            if number and self.draft.size == before:
                break
        self._polish()

    def _round(self, *, first: bool) -> None:
        shares = (TWINS, RULES, PREMISES, SETS) if first else (1.0, 1.0, 1.0, 1.0)
        twins, rules, premises, sets = (share * self.limit for share in shares)
        trials = self.trials
        self._drop_unused()
        if first:
            self._shed("merge twin sets", trials.sets_by_effect, Draft.merging_sets, twins, refit=False)
        self._merge_rules(rules)
        self._shed("drop rules that never fire", trials.idle_rules, Draft.without_rules, rules)
        self._shed("drop weak rules", trials.rules_by_effect, Draft.without_rules, rules)
        self._shed("drop attributes", trials.attributes_by_effect, Draft.without_attributes, premises)
        self._shed("drop premises", trials.premises_by_effect, Draft.without_premises, premises)
        self._merge_rules(premises)
        self._drop_unused()
        self._shed("merge near sets", trials.sets_by_effect, Draft.merging_sets, sets)
        self._merge_rules(sets)

    def _shed(
        self,
        name: str,
        ranked: Callable[[Draft], Sequence[Any]],
        apply: Callable[[Draft, Sequence[Any]], Draft],
        limit: float,
        *,
        refit: bool = True,
    ) -> None:
        may, self.trials.refit = self.trials.refit, self.trials.refit and refit
        draft, done = self.trials.shed(self.draft, ranked, apply, limit)
        self.trials.refit = may
        # A group of duplicates may be more than two rules; count what is gone.
        gone = len(self.draft) - len(draft)
        self._record(name, draft, max(done, gone))

    def _merge_rules(self, limit: float) -> None:
        trials = self.trials
        self._shed(
            "merge duplicate rules",
            duplicates,
            lambda draft, groups: merging_rules(draft, trials.x, groups),
            limit,
        )

    def _drop_unused(self) -> None:
        smaller = self.draft.without_unused_sets()
        self._record("drop unused sets", smaller, self.draft.size.sets - smaller.size.sets)

    def _polish(self) -> None:
        """Fit once more, without an early end, and take what came nearer."""
        if self.trials.refit and self.limit > 0:
            found = self.trials.refitted(self.draft, self.limit, early=False)
            if self.trials.figure(found) < self.trials.figure(self.draft):
                self.trials.refits = 1
                self._record("refit", found, 1)

    def _record(self, name: str, draft: Draft, done: int) -> None:
        self.drafts[self.number] = draft
        undone, refits = self.trials.undone, self.trials.refits
        self.trials.undone = self.trials.refits = 0
        if done or undone:
            size, change = _size(self.drafts), self.trials.change(draft)
            self.steps.append(Step(name, self.number + 1, done, undone, refits, size, change))
            self.trials.bar.set_postfix_str(f"{size}, change {change.largest:.2g}")


def _units(reference: Tensor, unit: str) -> Tensor:
    deviation = reference.std(dim=0, unbiased=False)
    varies = deviation > 1e-12 * reference.abs().amax(dim=0).clamp_min(1e-12)
    return torch.where(varies & (unit == "deviation"), deviation, torch.ones_like(deviation))


def _rounding(dtype: torch.dtype) -> float:
    """What an exact step may change in this number format."""
    return 100 * torch.finfo(dtype).eps


def _through(levels: Sequence[NeuroFuzzyNetwork], x: Tensor) -> Tensor:
    for level in levels:
        x = level(x)
    return x


def _head(levels: Sequence[NeuroFuzzyNetwork]) -> Callable[[Tensor], Tensor]:
    return lambda outputs: _through(levels, outputs)


def _size(drafts: Sequence[Draft]) -> Size:
    return sum((draft.size for draft in drafts), Size(0, 0, 0))


def _assembled(
    net: NeuroFuzzyNetwork | Hierarchy, levels: list[NeuroFuzzyNetwork]
) -> NeuroFuzzyNetwork | Hierarchy:
    if isinstance(net, NeuroFuzzyNetwork):
        return levels[0]
    hierarchy = Hierarchy.from_config({"levels": [level.config() for level in levels]})
    hierarchy.levels = torch.nn.ModuleList(levels)  # type: ignore[assignment]
    return hierarchy.train(net.training)
