"""Agents that learn by play alone over the named attributes of a scenario: few short rules that decide."""

from __future__ import annotations

from dataclasses import replace

from ..experiment.configuration import HeadConfig, RunConfig, TrialProtocol
from ..fuzzy.firing import Firing
from ..fuzzy.selection import Selection
from ..learn.parallel_q.config import ParallelQConfig
from ..network.consequents import Constant
from ..network.encoders.attributes import AttributeEncoderConfig
from ..network.heads import DnnConfig, NfnConfig
from ..network.limits import Sets
from .task import DoomTask

# A rule begins with so many premises. One without any would fit everywhere best, and so lead everywhere.
FIRST_PREMISES = 3
RULES, SETS = 24, 5


def readable(task: DoomTask, agent: str, *, reward_scale: float) -> RunConfig:
    """Order-0 rules over attributes, compared by their worst premise; or a plain network in the same loop."""
    task = replace(task, picture="fast", frame_skip=4)
    learner = ParallelQConfig(
        training_games=16,
        reward_scale=reward_scale,
        batch_size=128,
        passes=4,
        exploration_share=0.5,
    )
    protocol = TrialProtocol(epochs=5, steps_per_epoch=117 * learner.decisions, episodes=20)
    head: HeadConfig = DnnConfig(128, "ReLU", hidden_norm=True)
    if agent == "nfn":
        learner = replace(learner, learning_rate=5e-3, structure_rate=0.1)
        head = NfnConfig(
            rules=RULES,
            terms=SETS,
            max_terms=SETS + 1,
            consequent=Constant("zeros"),
            input_low=-1.0,
            input_high=1.0,
            grow=False,
            plain_value=128,
            selection=Selection("ste", start=2.0, any=True, start_premises=FIRST_PREMISES),
            firing=Firing("worst", 1.0, False, None, gain=10.0, balance=0.01),
            sets=Sets(start="data", widest=0.6, margin=0.5),
        )
    return RunConfig(task, "readable", learner, AttributeEncoderConfig(), head, protocol)
