"""A network with some of another's rules, for rules that are taken out or added by hand."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..errors import ConfigError
from .frozen import BY_RULE
from .keeping import keeping
from .nfn import NeuroFuzzyNetwork

# What else counts the rules, along its first dimension.
_IGNORED = "antecedent.ignored"
_EXTRA, _RENEWING = "_extra_state", "renewing."


@keeping()
def with_rules(net: NeuroFuzzyNetwork, rules: Sequence[int]) -> NeuroFuzzyNetwork:
    """A new network with these of a network's rules (numbers from 0), in this order; a rule may be there twice.

    Sets, their births and counters are the network's own, frozen rules and sets stay frozen; which premises were
    dropped, and how much each rule was used, is not known of it.
    """
    for rule in rules:
        if not 0 <= rule < net.rules:
            raise ConfigError(f"rules must be numbers from 0 to {net.rules - 1}, got {rule}")
    with torch.random.fork_rng(devices=[]):  # what is drawn here is overwritten; leave no trace of it
        made = NeuroFuzzyNetwork.from_config({**net.config(), "rules": len(rules)}, device=net.centers.device)
    state, own = net.state_dict(), made.state_dict()
    rows = torch.tensor(list(rules), device=net.centers.device)
    for name in own:
        if name.endswith(_EXTRA) or name.startswith(_RENEWING):
            continue
        dimension = 0 if name == _IGNORED else BY_RULE.get(name)
        own[name] = state[name] if dimension is None else state[name].index_select(dimension, rows)
    made.load_state_dict(own)
    mine, theirs = made.antecedent, net.antecedent
    mine.passes, mine.started = theirs.passes, theirs.started
    growth = theirs.growth
    mine.growth.restore(growth.batches, list(growth.births), at_capacity=growth.at_capacity)
    frozen, sets = net.frozen
    still = [place for place, rule in enumerate(rules) if rule in frozen]
    if still or sets:
        made.freeze(rules=still, sets=sets)
    return made
