"""The rules behind one decision of a neuro-fuzzy agent, as text: values, rules of both heads, and where it looked."""

from __future__ import annotations

import importlib.util

import numpy as np
from numpy.typing import NDArray

from ..doom.scenarios import scenario
from ..network.dueling import DuelingNetwork
from ..network.encoder import FEATURES, PICTURE
from ..rules.explanations.explanation import Explanation
from ..rules.explanations.regions import PictureExplanation, explain_picture
from ..rules.explanations.wording import alternative_line, percent, premises_text, rules_behind
from .agent import greedy
from .configuration import RunConfig

RULES_SHOWN = 3
# The encoder's features are planes of CELLS x CELLS cells, flattened.
CELLS = 10


def explain_decision(config: RunConfig, network: DuelingNetwork, picture: NDArray[np.uint8]) -> str:
    """Which rules of the advantage network fired for a picture, how much each counted, and where they looked."""
    return decision_text(located_decision(config, network, picture))


def located_decision(
    config: RunConfig, network: DuelingNetwork, picture: NDArray[np.uint8]
) -> PictureExplanation:
    """The decision on a picture and where it comes from: what speaks for the action, or, if nothing does, for the rule.

    Where captum is not installed, the places are left out.
    """
    if importlib.util.find_spec("captum") is None:
        return decision(config, network, picture, method=None)
    explained = decision(config, network, picture)
    if explained.region() is None:
        # A rule that fires alone and decides a constant leaves no gradient of the value; its own firing has one.
        explained = decision(config, network, picture, about="rule")
    return explained


def decision_text(explained: PictureExplanation) -> str:
    """A decision in words: action, rules, and the place looked at where there is one."""
    order = np.argsort(-explained.values, kind="stable")
    chosen = explained.action
    runner_up = f"; next best {explained.values[order[1]]:.3f}" if len(order) > 1 else ""
    lines = [f"decision: {explained.action_name} (value {explained.values[chosen]:.3f}{runner_up})"]
    lines += _rules(explained)
    if explained.heat is not None:
        lines += _where(explained)
    return "\n".join(lines)


def decision(
    config: RunConfig,
    network: DuelingNetwork,
    picture: NDArray[np.uint8],
    *,
    about: str = "action",
    method: str | None = "cells",
) -> PictureExplanation:
    """What the agent decides on a picture, with the scenario's actions and the encoder's cells by name."""
    return explain_picture(
        network,
        picture,
        about=about,
        action=int(greedy(network, picture[None])[0]),
        method=method,
        feature_names=feature_names(),
        action_names=action_names(config),
    )


def action_names(config: RunConfig) -> list[str]:
    """What each action presses, in words."""
    game = scenario(config.scenario)
    actions = range(game.action_count)
    return [" + ".join(game.pressed(a)).lower().replace("_", " ") or "nothing" for a in actions]


def feature_names() -> list[str]:
    """Plane, row and column of every feature of the encoder."""
    places = (divmod(rest, CELLS) for rest in range(CELLS * CELLS))
    cells = [f"row {row + 1} column {column + 1}" for row, column in places]
    return [f"feature {plane + 1} {cell}" for plane in range(FEATURES // len(cells)) for cell in cells]


def _rules(explained: PictureExplanation) -> list[str]:
    top: Explanation = explained.advantage
    case = top[0]
    if top.below is not None:
        return rules_behind(case, explained.action)
    fired = len(case.fired)
    told = "here are all of them" if fired <= RULES_SHOWN else f"the {RULES_SHOWN} strongest"
    lines = [f"{fired} of {len(case.rules)} rules fired; {told}:"]
    over_mean = case.shares - case.shares.mean(axis=1, keepdims=True)
    for place, rule in enumerate(case.fired[:RULES_SHOWN].tolist()):
        rival = case.alternative if place == 0 else case.strongest
        best, gain = int(over_mean[place].argmax()), over_mean[place, explained.action]
        lines.append(
            f"  rule {rule + 1} ({percent(case.firing[place])} of the decision): IF {premises_text(case, rule, rival)}"
        )
        lines.append(
            f"    THEN advantage of '{explained.action_name}' {gain:+.3f} over the mean action"
            + ("" if best == explained.action else f"; most for '{case.rules.outputs[best].name}'")
        )
    return [*lines, alternative_line(case)]


def _where(explained: PictureExplanation) -> list[str]:
    region = explained.region()
    if region is None:
        return []
    top, left, bottom, right = region
    words = (
        _side((top + bottom) / 2 / PICTURE[0], "upper", "lower"),
        _side((left + right) / 2 / PICTURE[1], "left", "right"),
    )
    place = " ".join(word for word in words if word) or "middle"
    return [
        f"looked most at rows {top} to {bottom}, columns {left} to {right} of the picture ({place}), "
        f"for {explained.target}"
    ]


def _side(part: float, low: str, high: str) -> str:
    return low if part < 1 / 3 else high if part > 2 / 3 else ""
