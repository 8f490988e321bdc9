"""The rules behind one decision of a neuro-fuzzy agent, as text."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..doom.scenarios import scenario
from ..network.dueling import DuelingNetwork
from ..network.hierarchy import Hierarchy
from ..network.nfn import NeuroFuzzyNetwork
from .configuration import RunConfig

RULES_SHOWN = 3
PREMISES_SHOWN = 4


@torch.no_grad()
def explain_decision(config: RunConfig, network: DuelingNetwork, picture: NDArray[np.uint8]) -> str:
    """Which rules of the advantage network fired for a picture, how much each counted, and what set them apart."""
    head = network.advantage
    assert isinstance(head, Hierarchy)
    level, game = head.levels[0], scenario(config.scenario)
    features = network.encoder(torch.from_numpy(picture[None]))
    values = network(torch.from_numpy(picture[None]))[0]
    names = [" + ".join(game.pressed(a)).lower().replace("_", " ") or "nothing" for a in range(len(values))]
    chosen = int(values.argmax())
    firing = level.firing(features)[0]
    order = firing.argsort(descending=True)
    fired = int((firing > 0).sum())
    lines = [
        f"decision: {names[chosen]} (value {values[chosen]:.3f}; next best {float(values.topk(2).values[1]):.3f})"
    ]
    lines.append(f"{fired} of {level.rules} rules fired; the strongest:")
    for place, rule in enumerate(order[:RULES_SHOWN].tolist()):
        if firing[rule] <= 0:
            break
        rival = int(order[place + 1]) if level.rules > 1 else rule
        premises = _premises(level, features[0], rule, rival)
        lines.append(f"  rule {rule} ({float(firing[rule]):.0%} of the decision): IF {premises}")
        if len(head.levels) == 1:
            shares = _shares(level, features, rule)
            best = int(shares.argmax())
            lines.append(
                f"    THEN advantage of '{names[best]}' {float(shares[best] - shares.mean()):+.3f} over the mean action"
            )
    return "\n".join(lines)


def _premises(level: NeuroFuzzyNetwork, features: Tensor, rule: int, rival: int) -> str:
    """The premises that speak most for this rule and against the next one, of all it has."""
    premises = level.premises()
    attributes = torch.arange(level.in_features)
    reach = []
    for number in (rule, rival):
        term = premises[number]
        distance = (features - level.centers[attributes, term]) / level.widths[attributes, term]
        reach.append(torch.exp(-0.5 * distance.square()))
    deciding = (reach[0] - reach[1]).topk(min(PREMISES_SHOWN, level.in_features)).indices.tolist()
    parts = [
        f"feature {_place(i)} is about {float(level.centers[i, premises[rule, i]]):.2f} (is {float(features[i]):.2f})"
        for i in deciding
    ]
    return " AND ".join(parts) + f" AND {level.in_features - len(deciding)} more"


def _place(feature: int) -> str:
    """Channel, row and column of a feature of the encoder's 16 x 10 x 10 output."""
    channel, rest = divmod(feature, 100)
    return f"{channel} at row {rest // 10}, column {rest % 10}"


def _shares(level: NeuroFuzzyNetwork, features: Tensor, rule: int) -> Tensor:
    """What the rule alone would decide, (outputs,)."""
    alone = torch.zeros(1, level.rules)
    alone[0, rule] = 1.0
    decided: Tensor = level.consequent(features, alone, 0)
    return decided[0]
