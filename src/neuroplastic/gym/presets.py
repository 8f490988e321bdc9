"""Whole configurations for Gymnasium environments, and whatever else is small."""

from __future__ import annotations

from dataclasses import replace

from .. import catalog
from ..errors import choose
from ..experiment.configuration import EncoderConfig, HeadConfig, RunConfig, TrialProtocol
from ..experiment.protocols import Task
from ..fuzzy.firing import Firing
from ..fuzzy.selection import Selection
from ..learn.dqn.config import QConfig
from ..learn.parallel_q.config import ParallelQConfig
from ..network.consequents import Affine, Constant
from ..network.encoders.attributes import AttributeEncoderConfig
from ..network.encoders.pictures import PictureEncoderConfig
from ..network.heads import DnnConfig, NfnConfig
from .readable import readable


def preset(name: str, task: Task, agent: str, learner: str | None = None) -> RunConfig:
    """A preset for an agent: 'standard' with a learner (default: 'parallel_q'), or 'readable', which has its own."""
    choose("preset", name, task.presets)
    choose("agent", agent, catalog.names("head"))
    kind = choose("learner", learner or "parallel_q", catalog.names("learner"))
    if name == "readable":
        return readable(task, agent)
    picture = task.observation.is_picture
    encoder: EncoderConfig = PictureEncoderConfig(features=256) if picture else AttributeEncoderConfig()
    if kind == "dqn":
        protocol = TrialProtocol(epochs=10, steps_per_epoch=5_000, episodes=20)
        replay = QConfig(
            learning_rate=5e-4,
            batch_size=64,
            memory_size=50_000,
            target_every=250,
            loss="huber",
            clip_norm=10.0,
            bootstrap_truncated=True,
            learning_starts=1_000,
            exploration_decay=0.9995,
            exploration_floor=0.02,
        )
        return RunConfig(task, name, replay, encoder, _head(agent, picture=picture), protocol)
    protocol = TrialProtocol(epochs=10, steps_per_epoch=20_000, episodes=20)
    if kind != "parallel_q":  # of any other learner, its own defaults
        own = catalog.kind("learner", kind)()
        return RunConfig(task, name, own, encoder, _head(agent, picture=picture), protocol)
    # Few games and small batches: many updates for each decision.
    parallel = ParallelQConfig(training_games=8, batch_size=64, reward_scale=0.1)
    if agent == "nfn" and not picture:
        parallel = replace(parallel, learning_rate=5e-3, structure_rate=0.1)
    return RunConfig(task, name, parallel, encoder, _head(agent, picture=picture), protocol)


def _head(agent: str, *, picture: bool) -> HeadConfig:
    if agent == "dnn":
        return DnnConfig(128, "ReLU", hidden_norm=True)
    if picture:
        return NfnConfig(
            rules=32,
            max_terms=8,
            consequent=Affine("zeros"),
            input_low=-2.0,
            input_high=2.0,
            selection=Selection("ste"),
            firing=Firing("sum", 1.0, False, None),
        )
    # Rules that conclude constants have to carry the decision and can be read; the value is not theirs to tell.
    return NfnConfig(
        rules=12,
        terms=5,
        max_terms=5,
        consequent=Constant("zeros"),
        input_low=-1.0,
        input_high=1.0,
        grow=False,
        plain_value=128,
        selection=Selection("ste"),
        firing=Firing("sum", 1.0, False, None),
    )
