"""An agent watched while it plays: what it sees, values, decides, and the rules that fire, decision by decision."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import InputError
from ..experiment.agent import greedy
from ..experiment.decision import decision, feature_names, head_rules
from ..experiment.game import Game
from ..experiment.teachers import picture_of, plainest
from ..learn.experience import Observations
from ..rules.explanations.explaining import Explainer
from ..rules.explanations.explanation import Case
from ..rules.text.plain import plain_sentences
from .commenting import Words, seen_with_words, sentences_of, words_of
from .opening import OpenedRun, student_of
from .reasons import Reason, WhyNot, in_students_words, nearest_rule, reason, valued_more

Frame = NDArray[np.uint8]

RULES_SHOWN = 6
# Of rules over pictures, whose features have no names; of others all that fit in a sentence.
PREMISES_SHOWN, NAMED_SHOWN = 3, 8


@dataclass(frozen=True)
class FiredRule:
    """A rule that fired: its number from 1, its share of the decision, and what it is most for."""

    number: int
    share: float
    sentence: str
    action: int


@dataclass(frozen=True, eq=False)
class Moment:
    """One decision: all that there is to see before the action is taken."""

    episode: int
    number: int
    """of the decision, from 0"""
    score: float
    """of the episode so far"""
    frame: Frame
    """(H, W, 3)"""
    observation: Observations
    values: tuple[float, ...]
    """of the actions"""
    action: int
    """the one that is taken"""
    fired: tuple[FiredRule, ...]
    """the strongest, first; empty for an agent without rules"""
    fired_count: int
    rules: int
    """in all"""
    words: Words | None = None
    """of an agent that sees pictures, what its readable student would say; None where it has none"""
    words_agree: bool = False
    """whether the student would do the same"""
    reason: Reason | None = None
    """which rule speaks for the action; None for an agent without rules"""
    attributes: Observations | None = None
    """what the student sees of it; None where there is none"""


class Watching:
    """A game that an agent plays greedily, decision by decision; `look`, `act`, and `begin` when it is over."""

    def __init__(self, run: OpenedRun, *, seed: int = 0) -> None:
        self.run, self.config, self.agent = run, run.config, run.agent
        self.actions: tuple[str, ...] = self.config.task.actions
        self.is_picture: bool = self.config.task.observation.is_picture
        self._explainer, self._sentences = None, {}
        if self.config.agent == "nfn":
            self._explainer = _explainer(run)
            base = head_rules(self.config, self.agent)[-1]
            shown = PREMISES_SHOWN if self.is_picture else NAMED_SHOWN
            self._sentences = dict(plain_sentences(base, premises=shown))
        self._premises = [_premises(self._sentences[u + 1]) for u in range(len(self._sentences))]
        self.student = student_of(run) if self.is_picture else None
        self._words = None if self.student is None else words_of(self.student)
        self._student_explainer = None if self.student is None else _explainer(self.student)
        self._student_sentences = None if self.student is None else sentences_of(self.student)
        self._plainest = plainest(self.config.task)
        task = seen_with_words(run, self.student)
        self._game = Game(task, seed=seed, stream="evaluation", film=True)
        self.frames_per_second = float(self._game.environment.metadata["render_fps"])
        self._frame: Frame = np.zeros((1, 1, 3), np.uint8)

    def __enter__(self) -> Watching:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._game.close()

    @property
    def plainest(self) -> tuple[int, ...]:
        """For each action the one with the fewest buttons that does the same."""
        return tuple(self._plainest.tolist())

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self._game.over

    @property
    def score(self) -> float:
        """Of the episode so far."""
        return self._game.total_reward

    def begin(self, episode: int) -> None:
        """Start the evaluation episode of that number."""
        self._game.begin(episode)
        self._keep(self._game.environment.render())

    def look(self) -> Moment:
        """The decision that is due."""
        game = self._game
        seen = (game.observation if self.student is None else picture_of(game)).copy()
        with torch.inference_mode():
            values = self.agent(torch.from_numpy(seen[None]))[0].tolist()
        action = int(greedy(self.agent, seen[None])[0])
        fired: tuple[FiredRule, ...] = ()
        count, why = 0, None
        if self._explainer is not None:
            case = self._case(seen)
            count = len(case.fired)
            over_mean = case.shares - case.shares.mean(axis=1, keepdims=True)
            concluded = over_mean.argmax(axis=1).tolist()
            fired = tuple(
                FiredRule(rule + 1, float(share), self._sentences[rule + 1], best)
                for rule, share, best in zip(
                    case.fired[:RULES_SHOWN].tolist(), case.firing, concluded, strict=False
                )
            )
            second = self._runner_up(values, action)
            why = reason(case, action, second, concluded, self._premises, self.plainest)
        words = None if self._words is None else self._words(game.observation)
        return Moment(
            game.episode,
            game.steps,
            game.total_reward,
            self._frame,
            seen,
            tuple(values),
            action,
            fired,
            count,
            len(self._sentences),
            words,
            words is not None and bool(self._plainest[words.action] == self._plainest[action]),
            why,
            None if self.student is None else game.observation.copy(),
        )

    def act(self, action: int) -> list[Frame]:
        """Take an action; the frames of it, the last of which the next decision is made on."""
        self._game.act(action)
        return self._keep(self._game.environment.render())

    def heat(self, observation: Observations) -> NDArray[np.float64] | None:
        """(H, W), -1 to 1: where in a picture what speaks for (above 0) and against the decision lies; needs captum.

        What speaks for the action or, where nothing does, for the strongest rule. None for agents that see no picture
        or have no rules.
        """
        if not self.is_picture or self._explainer is None:
            return None
        for about in ("action", "rule"):
            found = decision(self.config, self.agent, observation, about=about).heat
            assert found is not None
            greatest = float(np.abs(found).max())
            if greatest > 0 and found.max() > 0:
                return np.asarray(found / greatest, np.float64)
        return np.zeros(observation.shape[:2])

    def why_not(
        self, observation: Observations, action: int, attributes: Observations | None = None
    ) -> WhyNot:
        """Why an action was not taken: what it is worth, and the nearest rule that is for it.

        In the words of the student, where there is one and it is told the `attributes` that it sees.
        """
        if not 0 <= action < len(self.actions):
            raise InputError(f"action must be below {len(self.actions)}, got {action}")
        name = self.actions[action]
        if self._explainer is None:
            return WhyNot(f"{self.config.agent} agents have no rules; {name} is only valued less.")
        taken = int(greedy(self.agent, observation[None])[0])
        if taken == action:
            return WhyNot(f"It did: {name} is what it takes.")
        with torch.inference_mode():
            values = self.agent(torch.from_numpy(observation[None]))[0].tolist()
        head = valued_more(self.actions, values, taken, action)
        own = nearest_rule(self._case(observation), action, taken)
        if not self.is_picture:
            return WhyNot(f"{head} {own}")
        if self._student_explainer is None or attributes is None:
            return WhyNot(f"{head} It sees pictures, so its rules have no words for more.", own)
        case = self._student_explainer(attributes.astype(np.float64))[0]
        assert self._student_sentences is not None
        words = in_students_words(case, action, self._student_sentences, self.plainest)
        return WhyNot(f"{head} {words}", own)

    def _runner_up(self, values: list[float], action: int) -> int:
        """The best of the actions that do something else; the action itself where there is none."""
        others = [k for k in range(len(values)) if self._plainest[k] != self._plainest[action]]
        return max(others, key=lambda k: values[k], default=action)

    def _case(self, observation: Observations) -> Case:
        assert self._explainer is not None
        if not self.is_picture:
            return self._explainer(observation.astype(np.float64))[0]
        with torch.inference_mode():
            features = self.agent.encoder(torch.from_numpy(observation[None]))
        return self._explainer.of_features(features)[0]

    def _keep(self, frames: Any) -> list[Frame]:
        kept = [np.asarray(frame, np.uint8) for frame in frames]
        if kept:
            self._frame = kept[-1]
        return kept


def _explainer(run: OpenedRun) -> Explainer:
    return Explainer(
        run.agent.advantage,  # type: ignore[arg-type]
        feature_names=feature_names(run.config, run.agent),
        output_names=run.config.task.actions,
        scaler=run.agent.encoder.scaling(),  # type: ignore[operator]
    )


def _premises(sentence: str) -> str:
    """What a rule asks for, without what it concludes."""
    return sentence.rpartition(" THEN ")[0]
