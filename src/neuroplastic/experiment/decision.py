"""The rules behind one decision of a neuro-fuzzy agent, as text: values, rules of both heads, and where it looked."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..learn.imitation.config import ImitationConfig
from ..network.dueling import DuelingNetwork
from ..network.encoders.attributes import AttributeEncoder
from ..network.scales import Scale
from ..rules.explanations.explaining import Explainer
from ..rules.explanations.explanation import Explanation
from ..rules.explanations.regions import PictureExplanation, explain_picture
from ..rules.explanations.wording import alternative_line, percent, premises_text, rules_behind
from ..rules.leading import leader, leaders_of
from ..rules.networks import levels_of
from ..rules.reading import rule_bases
from ..rules.rule_base import RuleBase
from ..rules.scale_names import named_by_scales
from ..rules.text.plain import plain_sentences
from .agent import greedy
from .configuration import RunConfig

RULES_SHOWN = 3
# A place that counts so many times as much as any other is surely the one; beyond the most, no other counts.
SURE, MOST_AHEAD = 1.5, 100.0


def explain_decision(
    config: RunConfig,
    network: DuelingNetwork,
    observation: NDArray[Any],
    *,
    usual: NDArray[Any] | None = None,
) -> str:
    """Which rules of the advantage head fired, how much each counted, and for a picture, where they looked."""
    if not config.task.observation.is_picture:
        return attribute_decision_text(config, network, observation)
    return decision_text(located_decision(config, network, observation, usual=usual))


def located_decision(
    config: RunConfig,
    network: DuelingNetwork,
    picture: NDArray[Any],
    *,
    method: str | None = None,
    usual: NDArray[Any] | None = None,
) -> PictureExplanation:
    """The decision on a picture and where it comes from: what speaks for the action, or, if nothing does, for the rule.

    Without a `method`, 'usual' where the `usual` picture is known, else 'cells'. Where captum is needed and not
    installed, the places are left out.
    """
    if method == "usual" or (method is None and usual is not None):
        explained = decision(config, network, picture, method="usual", usual=usual)
        if method is not None or explained.region() is not None:
            return explained
    if importlib.util.find_spec("captum") is None:
        return decision(config, network, picture, method=None)
    explained = decision(config, network, picture, method=method or "cells")
    if explained.region() is None:
        # A rule that fires alone and decides a constant leaves no gradient of the value; its own firing has one.
        explained = decision(config, network, picture, about="rule", method=method or "cells")
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
    picture: NDArray[Any],
    *,
    about: str = "action",
    method: str | None = "cells",
    usual: NDArray[Any] | None = None,
) -> PictureExplanation:
    """What the agent decides on a picture, with the task's actions and the encoder's features by name."""
    return explain_picture(
        network,
        picture,
        about=about,
        action=int(greedy(network, picture[None])[0]),
        method=method,
        feature_names=feature_names(config, network),
        action_names=config.task.actions,
        usual=usual,
    )


def feature_names(config: RunConfig, network: DuelingNetwork) -> list[str]:
    """What the encoder's features are called."""
    names: list[str] = network.encoder.feature_names(config.task.observation)  # type: ignore[operator]
    return names


def scales_of(config: RunConfig) -> tuple[Scale, ...]:
    """How the values of the task's attributes are said; a student's are said in numbers where nothing else is known."""
    seen = config.task.observation
    plain = isinstance(config.learner, ImitationConfig) and not seen.is_picture
    return seen.scales or ((Scale(),) * seen.shape[0] if plain else ())


def head_rules(config: RunConfig, network: DuelingNetwork, head: str = "advantage") -> tuple[RuleBase, ...]:
    """The rule bases of a head, 'advantage' or 'value', level by level, in the task's own units where it has some."""
    outputs = ["value"] if head == "value" else config.task.actions
    first, *above = rule_bases(
        getattr(network, head),
        feature_names=feature_names(config, network),
        output_names=outputs,
        scaler=network.encoder.scaling(),  # type: ignore[operator]
        classes=head != "value",
    )
    scales = scales_of(config)
    if scales:
        first = named_by_scales(first, scales, _ends(network))
    return (first, *above)


def leading_sentence(config: RunConfig, network: DuelingNetwork) -> Callable[[NDArray[Any]], str]:
    """Tells of an observation which rule of the advantage head leads: in words, or by its number where it has many."""
    rules, level = head_rules(config, network)[0], levels_of(network.advantage)[0]  # type: ignore[arg-type]
    told = dict(plain_sentences(rules, premises=None, outputs=None))
    readable = not config.task.observation.is_picture

    def tell(observation: NDArray[Any]) -> str:
        with torch.inference_mode():
            firing = level.firing(network.encoder(torch.from_numpy(observation[None]))).double()
        rule, share = int(leader(firing)[0]), float(firing.max())
        return told[rule + 1] if readable else f"rule {rule + 1} leads, with {percent(share)}"

    return tell


def _ends(network: DuelingNetwork) -> list[tuple[float, float]] | None:
    """The ends of the attributes' ranges, where values beyond them count as at them."""
    encoder = network.encoder
    if not isinstance(encoder, AttributeEncoder) or not encoder.clip:
        return None
    return list(zip(encoder.low.tolist(), encoder.high.tolist(), strict=True))


def sentences(config: RunConfig, network: DuelingNetwork, observations: NDArray[Any]) -> list[str]:
    """The advantage head's rules, those that lead most often in these states (N, D) first, each with its share.

    A rule that never leads is left out; those that read alike are told once, their shares together.
    """
    rules, level = head_rules(config, network)[0], levels_of(network.advantage)[0]  # type: ignore[arg-type]
    with torch.inference_mode():
        features = network.encoder(torch.from_numpy(np.asarray(observations, np.float32)))
    leaders = leaders_of(level, features)
    shares = np.bincount(leaders, minlength=len(rules)) / len(leaders)
    alike: dict[str, list[float]] = {}
    for number, sentence in plain_sentences(rules, premises=None, outputs=None):
        if shares[number - 1] > 0:
            alike.setdefault(sentence, []).append(float(shares[number - 1]))
    return [
        f"{sentence} ({percent(sum(of))} of decisions{f', {len(of)} rules' if len(of) > 1 else ''})"
        for sentence, of in sorted(alike.items(), key=lambda told: -sum(told[1]))
    ]


def attribute_decision(config: RunConfig, network: DuelingNetwork, observation: NDArray[Any]) -> Explanation:
    """Why the agent decides as it does on a vector of attributes (D,): the rules of the advantage head."""
    rules = head_rules(config, network)[0]
    own = {
        variable.name: [term.name for term in variable.terms] for variable in rules.inputs if variable.terms
    }
    explainer = Explainer(
        network.advantage,  # type: ignore[arg-type]
        feature_names=feature_names(config, network),
        output_names=config.task.actions,
        scaler=network.encoder.scaling(),  # type: ignore[operator]
        terms=own if scales_of(config) else None,
    )
    return explainer(observation.astype(np.float64))


def attribute_decision_text(config: RunConfig, network: DuelingNetwork, observation: NDArray[Any]) -> str:
    """A decision on attributes in words: what was seen, the action, and the rules behind it."""
    explained = attribute_decision(config, network, observation)
    names = config.task.observation.attribute_names
    seen = ", ".join(f"{name} {value:.4g}" for name, value in zip(names, observation, strict=True))
    action = int(greedy(network, observation[None])[0])
    return f"seen: {seen}\ndecision: {config.task.actions[action]}\n{explained.text(0)}"


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
        _side((top + bottom) / 2 / explained.picture.shape[0], "upper", "lower"),
        _side((left + right) / 2 / explained.picture.shape[1], "left", "right"),
    )
    place = " ".join(word for word in words if word) or "middle"
    return [
        f"looked most at rows {top} to {bottom}, columns {left} to {right} of the picture ({place}), "
        f"for {explained.target}",
        *_how_sure(explained),
    ]


def _how_sure(explained: PictureExplanation) -> list[str]:
    """Whether the place decides: what happens without it, and how far it is ahead of every other."""
    hidden = explained.hidden
    if hidden is None:
        return []
    name = explained.advantage.rules.outputs[hidden.instead].name
    without = (
        f"with what is usual there the action would still be {explained.action_name}"
        if hidden.instead == explained.action
        else f"with what is usual there the action would be {name}"
    )
    ahead = (
        "no other place counts"
        if hidden.ahead > MOST_AHEAD
        else f"it counts {hidden.ahead:.1f} times as much as any other"
    )
    sure = (
        "sure of the place" if hidden.ahead >= SURE else "not sure of the place: others count nearly as much"
    )
    return [f"{sure}; {without}; {ahead}"]


def _side(part: float, low: str, high: str) -> str:
    return low if part < 1 / 3 else high if part > 2 / 3 else ""
