"""What each rule of an agent stands for, told by play: when and on what it leads, where it looks, what it does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..experiment.agent import greedy
from ..experiment.decision import head_rules
from ..experiment.play import watch_evaluation
from ..experiment.trial import EVALUATION_SEED
from ..rules.explanations.hiding import hide, usual_picture
from ..rules.leading import leader
from ..rules.networks import levels_of
from ..rules.rule_base import Numbers
from ..rules.text.plain import plain_sentences
from .opening import OpenedRun

# Observations that are enough, the most episodes that are played for them, and pictures of a card.
ENOUGH, MOST_EPISODES, PICTURES = 600, 25, 4


@dataclass(frozen=True, eq=False)
class AgentCard:
    """One rule that leads."""

    number: int
    """from 1"""
    share: float
    """of the decisions in which it leads"""
    sentence: str
    action: str
    """what is done most often where it leads"""
    action_share: float
    """how often that is"""
    values: Numbers
    """(A,): what the rule gives each action over the mean action, on average where it leads"""
    pictures: NDArray[np.uint8] | None
    """(k, H, W, C): those in which it leads most clearly; None where attributes are seen"""
    mean: NDArray[np.uint8] | None
    """(H, W, C): the mean of all in which it leads"""
    heat: Numbers | None
    """(H, W): where its lead over the other rules comes from, mean over those pictures"""


@dataclass(frozen=True, eq=False)
class AgentCards:
    """All rules that lead, most often first."""

    title: str
    actions: tuple[str, ...]
    cards: tuple[AgentCard, ...]
    rules: int
    observations: int

    @property
    def silent(self) -> int:
        """Rules that never lead."""
        return self.rules - len(self.cards)


def agent_cards(run: OpenedRun) -> AgentCards:
    """Play evaluation episodes and make a card for every rule that leads."""
    run.need_rules()
    task = run.config.task
    seen = watch_evaluation(
        task,
        partial(greedy, run.agent),
        observations=ENOUGH,
        episodes=MOST_EPISODES,
        seed=EVALUATION_SEED,
    )
    observations: Any = np.stack(seen)
    firing = _firing(run, observations)
    leaders = leader(firing).numpy()
    actions = greedy(run.agent, observations)
    told = dict(plain_sentences(head_rules(run.config, run.agent)[0]))
    shares = np.bincount(leaders, minlength=firing.shape[1]) / len(leaders)
    order = [rule for rule in np.argsort(-shares, kind="stable").tolist() if shares[rule] > 0]
    cards = tuple(
        _card(run, rule, observations, firing.numpy(), leaders, actions, told[rule + 1]) for rule in order
    )
    return AgentCards(run.path.name, task.actions, cards, firing.shape[1], len(observations))


@torch.inference_mode()
def _firing(run: OpenedRun, observations: NDArray[np.float32] | NDArray[np.uint8]) -> torch.Tensor:
    level = levels_of(run.agent.advantage)[0]  # type: ignore[arg-type]
    parts = torch.split(torch.from_numpy(observations), 128)
    return torch.cat([level.firing(run.agent.encoder(part)).double() for part in parts])


def _card(
    run: OpenedRun,
    rule: int,
    observations: NDArray[np.float32] | NDArray[np.uint8],
    firing: Numbers,
    leaders: NDArray[np.int64],
    actions: NDArray[np.int64],
    sentence: str,
) -> AgentCard:
    led = np.flatnonzero(leaders == rule)
    counts = np.bincount(actions[led], minlength=len(run.config.task.actions))
    common = int(counts.argmax())
    pictures = mean = heat = None
    clearest = led[np.argsort(-firing[led, rule], kind="stable")]
    if observations.ndim == 4:
        # Pictures that follow each other look alike: of the clearest half, some that are spread over play.
        some = np.sort(clearest[: max(PICTURES, len(clearest) // 2)])
        places = some[np.linspace(0, len(some) - 1, min(PICTURES, len(some))).astype(int)]
        pictures = observations[places].astype(np.uint8)
        mean = observations[led].mean(axis=0).astype(np.uint8)
        heat = _heat(run, rule, observations.astype(np.uint8), places)
    return AgentCard(
        rule + 1,
        len(led) / len(leaders),
        sentence,
        run.config.task.actions[common],
        counts[common] / len(led),
        _concluded(run, rule, observations[led]),
        pictures,
        mean,
        heat,
    )


def _heat(run: OpenedRun, rule: int, pictures: NDArray[np.uint8], places: NDArray[np.int64]) -> Numbers:
    level = levels_of(run.agent.advantage)[0]  # type: ignore[arg-type]

    def lead(shown: torch.Tensor) -> torch.Tensor:
        log_firing = level.log_firing(run.agent.encoder(shown))
        return log_firing[:, [rule]] - log_firing

    found = [hide(lead, pictures[place], usual_picture(pictures, int(place))).heat for place in places]
    heat: Numbers = np.mean(found, axis=0)
    return heat


@torch.inference_mode()
def _concluded(run: OpenedRun, rule: int, observations: NDArray[np.float32] | NDArray[np.uint8]) -> Numbers:
    """What a rule gives each action over the mean action; of a hierarchy, what is decided where it leads."""
    levels = levels_of(run.agent.advantage)  # type: ignore[arg-type]
    base = head_rules(run.config, run.agent)[0]
    consequents = base.consequents
    constant = getattr(consequents, "is_constant", False)
    if len(levels) == 1 and constant:
        values: Numbers = consequents.bias[rule]  # type: ignore[union-attr]
        own: Numbers = values - values.mean()
        return own
    some = torch.from_numpy(observations[:: max(1, len(observations) // 128)])
    decided = run.agent.preferences(some).double().mean(dim=0).numpy()
    over: Numbers = decided - decided.mean()
    return over
