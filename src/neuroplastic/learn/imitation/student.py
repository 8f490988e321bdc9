"""A readable student: few short rules fitted to what a teacher does, as the network of an agent."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from ...errors import ConstantColumnWarning, InputError
from ...fuzzy.firing import Firing
from ...fuzzy.selection import Selection
from ...network.consequents import Constant
from ...network.dueling import DuelingNetwork
from ...network.encoders.attributes import AttributeEncoder
from ...network.heads import NfnConfig
from ...network.hierarchy import Hierarchy
from ..estimators.classifier import NeuroFuzzyClassifier
from ..estimators.readable.draft import FITTING, Draft
from .config import ImitationConfig
from .demonstrations import Demonstrations, Numbers
from .polishing import polished, telling
from .rewriting import rewritten

# An action that the teacher never takes is so much worse than the worst of a rule's others.
NEVER = 3.0
# Updates of a fit: one for so many states, and at least and at most so many. On 8,000 states of the pixel agent in DTC
# agreement on others was .837 with 210 updates, .844 with 1,000, which take twice as long, and .844 with 3,000.
STATES_PER_UPDATE, UPDATES = 8, (210, 1000)
# Rules are rewritten so many times at most, each time followed by small moves. On 8,000 states of the pixel agent in
# DTC agreement on 5,000 others was .835 after the fit, .839 after the moves alone, and .857 at the end, with 6 of 34
# premises that say nothing; where these are dropped first, it is .850 with 29 premises, each of which says something.
REWRITES = 4
# The smallest network that can stand where an agent has one for the state's value, of which a student knows nothing.
NO_VALUE = 1


@dataclass(frozen=True, eq=False)
class Student:
    """Rules in raw units of the attributes, and the ranges beyond which values count as at their ends."""

    draft: Draft
    low: Numbers
    high: Numbers

    @property
    def head(self) -> NfnConfig:
        """The configuration that builds a head with room for these rules."""
        draft = self.draft.compact()
        terms = draft.centers.shape[1]
        return NfnConfig(
            rules=len(draft.premises),
            terms=terms,
            max_terms=terms + 1,
            consequent=Constant("zeros"),
            input_low=-1.0,
            input_high=1.0,
            grow=False,
            plain_value=NO_VALUE,
            selection=Selection("ste", any=True),
            firing=Firing("worst", 1.0, False, None, gain=draft.gain, fitting=FITTING),
        )

    def write_into(self, agent: DuelingNetwork) -> None:
        """Put the rules into an agent that was built of `head` behind an encoder of attributes that clips."""
        encoder, rules = agent.encoder, agent.advantage
        if not isinstance(encoder, AttributeEncoder) or not isinstance(rules, Hierarchy):
            raise InputError("a student needs an agent over attributes with neuro-fuzzy heads")
        with torch.no_grad():
            encoder.low.copy_(torch.from_numpy(self.low))
            encoder.high.copy_(torch.from_numpy(self.high))
            for parameter in agent.value.parameters():
                parameter.zero_()
        offset, scale = encoder.scaling()
        seen = replace(
            self.draft,
            centers=(self.draft.centers - offset[:, None]) / scale[:, None],
            widths=self.draft.widths / scale[:, None],
        )
        seen.write_into(rules.levels[0])


def fit_student(shown: Demonstrations, config: ImitationConfig, *, actions: int, seed: int) -> Student:
    """The rules that do in these states what the teacher does."""
    if len(np.unique(shown.actions)) < 2:
        raise InputError(
            f"the teacher takes one action in all {len(shown)} states; there is nothing to tell apart"
        )
    model = NeuroFuzzyClassifier(
        readable=True,
        max_rules=config.max_rules,
        max_premises=config.max_premises,
        max_size=config.max_rules * config.max_premises,
        taught=False,
        max_updates=min(max(len(shown) // STATES_PER_UPDATE, UPDATES[0]), UPDATES[1]),
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)  # a game may not show everything
        model.fit(
            shown.attributes.astype(np.float64),
            shown.actions,
            sample_weight=shown.weights(costs=config.costs),
        )
    return _student(model, _refined(model, shown, config.max_premises), shown.attributes, actions)


def _refined(model: NeuroFuzzyClassifier, shown: Demonstrations, max_premises: int) -> Draft:
    """The fitted rules, moved and rewritten so that they agree more often with what was shown."""
    assert model.clip_ is not None
    seen = shown.attributes[:, _varying(model)].astype(np.float64)
    seen = (np.clip(seen, *model.clip_) - np.asarray(model.offset_)) / np.asarray(model.scale_)
    actions = np.searchsorted(model.classes_, shown.actions)
    draft = polished(telling(Draft.of(model.network_), seen), seen, actions)
    for _ in range(REWRITES):
        before, draft = draft, rewritten(draft, seen, actions, max_premises=max_premises)
        if np.array_equal(draft.premises, before.premises) and np.array_equal(draft.outputs, before.outputs):
            break
        draft = polished(draft, seen, actions)
    return draft


def _varying(model: NeuroFuzzyClassifier) -> list[int]:
    return [place for place, column in enumerate(model.columns_) if column.kind != "constant"]


def _student(
    model: NeuroFuzzyClassifier, draft: Draft, attributes: NDArray[np.float32], actions: int
) -> Student:
    """A fitted model over all attributes and actions, those that never varied or were never taken included."""
    inputs, count = _varying(model), attributes.shape[1]
    terms = draft.centers.shape[1]
    centers, widths = np.zeros((count, terms)), np.ones((count, terms))
    offset, scale = np.asarray(model.offset_)[:, None], np.asarray(model.scale_)[:, None]
    centers[inputs], widths[inputs] = offset + scale * draft.centers, scale * draft.widths
    premises = np.full((len(draft.premises), count), -1, dtype=np.int64)
    premises[:, inputs] = draft.premises
    outputs = np.repeat(draft.outputs.min(axis=1, keepdims=True) - NEVER, actions, axis=1)
    outputs[:, model.classes_] = draft.outputs
    # What never varied says nothing, wherever it is put.
    low, high = attributes.min(axis=0) - 1.0, attributes.max(axis=0) + 1.0
    low, high = low.astype(np.float64), high.astype(np.float64)
    assert model.clip_ is not None
    low[inputs], high[inputs] = model.clip_
    whole = Draft(centers, widths, np.zeros(count, bool), premises, outputs, draft.gain)
    return Student(whole.compact(), low, high)
