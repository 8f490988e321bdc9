"""An agent with rules turned by hand: the network that decides by them, and a new run of it."""

from __future__ import annotations

import copy
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import ConfigError, InputError
from ..experiment.decision import head_rules
from ..experiment.run_folder import RunFolder
from ..fuzzy.membership import any_width, raw_from_widths
from ..network.heads import NfnConfig
from ..network.hierarchy import Hierarchy
from ..network.nfn import NeuroFuzzyNetwork
from ..network.some_rules import with_rules
from ..rules.building import CONVICTION
from ..rules.rule_base import IGNORED, Linear, RuleBase
from .edits import Edit, Edited, apply_edits
from .opening import OpenedRun
from .simplifying import check_new_folder


def edited_agent_rules(run: OpenedRun, edits: Sequence[Edit]) -> Edited:
    """The rules by which an agent decides, those of its advantage head, after edits."""
    return apply_edits(_rules(run), edits, frozen=deciding_rules(run).frozen[0])


def edited_agent(run: OpenedRun, edits: Sequence[Edit]) -> OpenedRun:
    """The run with its agent's rules edited; what no edit names is the same to the bit, without edits all of it."""
    if not edits:
        return run
    edited, before = edited_agent_rules(run, edits), _rules(run)
    kept, old = edited.kept, deciding_rules(run)
    # Rules that were added take the place of the first, until all that is theirs is written.
    rows = [rule if rule < len(before) else 0 for rule in kept]
    config = run.config
    if len(kept) != old.rules:
        config = replace(config, head=_resized(config.head, len(kept)))
    level = copy.deepcopy(old) if rows == list(range(old.rules)) else with_rules(old, rows)
    level.unfreeze()
    with torch.no_grad():
        slots = [_slots(old, attribute) for attribute in range(old.in_features)]
        _move_sets(level, slots, before, edited.base, run.agent.encoder.scaling())  # type: ignore[operator]
        for place, rule in enumerate(kept):
            _write_rule(level, slots, place, rule, before, edited.base)
    sets = {(d, t) for place in edited.kept_frozen for d, t in enumerate(level.premises()[place].tolist())}
    level.freeze(rules=edited.kept_frozen, sets=sorted(sets | set(old.frozen[1])))
    agent = copy.deepcopy(run.agent)
    agent.advantage.levels[0] = level  # type: ignore[index,operator,assignment]
    return OpenedRun(run.path, config, agent.eval())


def _rules(run: OpenedRun) -> RuleBase:
    deciding_rules(run)
    return head_rules(run.config, run.agent)[0]


def deciding_rules(run: OpenedRun) -> NeuroFuzzyNetwork:
    """The network of the rules by which an agent decides; an InputError where there is none of one level."""
    run.need_rules()
    head = run.agent.advantage
    assert isinstance(head, Hierarchy)
    if len(head.levels) > 1:
        raise InputError(
            f"{run.path.name} has rules on {len(head.levels)} levels; those of one level can be edited"
        )
    return head.levels[0]


def _resized(head: object, rules: int) -> NfnConfig:
    assert isinstance(head, NfnConfig)
    if not head.plain_value:
        raise InputError(
            "this agent's rules also give the state's value, as many there as here: none can be added or switched "
            "off; turn what the rule concludes, or train with --plain-value 128"
        )
    return replace(head, rules=rules)


def _slots(net: NeuroFuzzyNetwork, attribute: int) -> list[int]:
    """The places of an attribute's sets in the order in which a rule base lists them: by their centres."""
    exists = net.antecedent.covering_mask[attribute].tolist()
    order = np.argsort(net.centers[attribute].detach().double().numpy(), kind="stable")
    return [int(term) for term in order if exists[term]]


Slots = list[list[int]]
Scaling = tuple[NDArray[np.float64], NDArray[np.float64]] | None
"""Offset and scale of each input, from what the network sees to raw units; None: they are the same."""


def _move_sets(
    net: NeuroFuzzyNetwork, slots: Slots, before: RuleBase, after: RuleBase, scaling: Scaling
) -> None:
    offset, scale = scaling or (np.zeros(net.in_features), np.ones(net.in_features))
    for d, (old, new) in enumerate(zip(before.inputs, after.inputs, strict=True)):
        for t, (was, now) in enumerate(zip(old.terms, new.terms, strict=True)):
            if (was.center, was.width) == (now.center, now.width):
                continue
            if not now.width > 0:
                raise InputError(f"a set of {new.name} must be wider than 0, got {now.width:g}")
            net.centers[d, slots[d][t]] = float((now.center - offset[d]) / scale[d])
            wide = torch.tensor(now.width / scale[d], dtype=torch.float64)
            net.antecedent.raw_widths[d, slots[d][t]] = raw_from_widths(wide).to(net.centers.dtype)


def _write_rule(
    net: NeuroFuzzyNetwork, slots: Slots, place: int, rule: int, before: RuleBase, after: RuleBase
) -> None:
    """Write what edits changed of a rule, or all of it where they added it."""
    assert isinstance(before.consequents, Linear)
    assert isinstance(after.consequents, Linear)
    added = rule >= len(before)
    for d, term in enumerate(after.premises[rule].tolist()):
        if added or term != before.premises[rule, d]:
            slot = _any_slot(net, d, after.inputs[d].name) if term == IGNORED else slots[d][term]
            net.logits[:, d, place] = 0.0
            net.logits[slot, d, place] = CONVICTION
    bias = torch.from_numpy(after.consequents.bias[rule].copy()).to(net.bias)
    if added:
        net.bias[place] = bias
        if not before.consequents.is_constant:
            net.weight[place] = 0.0
        return
    turned = torch.from_numpy(after.consequents.bias[rule] != before.consequents.bias[rule])
    # Of formulas, what stands here is their value at 0 in raw units; a change of it is one of the network's own number.
    change = torch.from_numpy(after.consequents.bias[rule] - before.consequents.bias[rule]).to(net.bias)
    exact = bias if before.consequents.is_constant else net.bias[place] + change
    net.bias[place] = torch.where(turned, exact, net.bias[place])


def _any_slot(net: NeuroFuzzyNetwork, attribute: int, name: str) -> int:
    """The place of an attribute's set "any"; a free place becomes one."""
    found = net.antecedent.any_mask[attribute].nonzero().flatten().tolist()
    if found:
        return int(found[0])
    free = (~net.term_mask[attribute]).nonzero().flatten().tolist()
    if not free:
        raise InputError(
            f"this agent's rules ask something of every input, and have no room for anything of {name}"
        )
    net.antecedent.raw_widths[attribute, free[0]] = any_width(net.centers.dtype)
    net.term_mask[attribute, free[0]] = True
    return int(free[0])


def save_edited_agent(run: OpenedRun, edits: Sequence[Edit], out: str | Path) -> Path:
    """Write the edited agent as a run of its own, which appears whole or not at all; training it begins from there."""
    if not edits:
        raise ConfigError("nothing was edited; there is no new agent to save")
    made, path = edited_agent(run, edits), check_new_folder(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.parent / f".{path.name}-new-{secrets.token_hex(4)}"
    try:
        part.mkdir()
        folder = RunFolder(part)
        folder.write_config(made.config)
        folder.write_best(made.agent)
        folder.write_start(made.agent)  # what is gone on with replaces the best
        folder.write_births(made.agent)
        part.rename(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return path
