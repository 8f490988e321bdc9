"""Whole configurations by name: `paper` (its two tables of best trials, exactly), `tuned` and `short` (ours in as many
steps), `taught` (as many steps, in which a script advises) and `long` (minutes of many games at once)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from .. import catalog
from ..errors import ConfigError, choose
from ..experiment.configuration import RunConfig, TrialProtocol
from ..experiment.options import with_values
from ..fuzzy.firing import Firing
from ..fuzzy.selection import Selection
from ..learn.dqn.config import QConfig
from ..learn.parallel_q.config import ParallelQConfig
from ..network.consequents import Affine, Constant
from ..network.encoders.paper import PaperEncoderConfig
from ..network.encoders.pictures import PictureEncoderConfig
from ..network.heads import DnnConfig, NfnConfig
from ..network.neurogenesis import Neurogenesis
from .needs import (
    BETTER,
    BETTER_RULES,
    LONG,
    LONG_RULES,
    PARALLEL_BALANCE,
    PARALLEL_REWARD_SCALES,
    REWARD_SCALES,
    SHORT,
    SHORT_RULES,
    TAUGHT_SHORT,
    ByScenario,
)
from .readable import readable
from .task import DoomTask

SHORT_PROTOCOL = TrialProtocol(epochs=5, steps_per_epoch=1000, episodes=20, games=8)


class DnnRow(NamedTuple):
    """A row of the paper's table 'Best trials' hyperparameters for DNNs'."""

    hidden: int
    activation: str
    learning_rate: float
    batch_size: int
    memory_size: int
    discount: float
    frame_skip: int


class NfnRow(NamedTuple):
    """A row of the paper's table 'Best trials' hyperparameters for concurrent optimization of NFNs'.

    Frame skip, batch, memory and discount are the DNN's. A dash in the table (tau and N of STE) is None.
    """

    rules: int
    reduce: str
    learning_rate: float
    alpha: float
    stge: bool
    certainty: bool
    layer_norm: bool
    temperature: float | None
    epsilon: float
    noise_hold: int | None
    delay: int


PAPER_DNN = {
    "BP": DnnRow(512, "Hardtanh", 6.9e-4, 56, 30_000, 0.95, 8),
    "BR": DnnRow(256, "Hardswish", 9.7e-4, 48, 10_000, 0.97, 12),
    "PP": DnnRow(512, "LogSigmoid", 8.2e-5, 56, 30_000, 0.94, 4),
    "HTL": DnnRow(256, "RReLU", 5.0e-4, 48, 20_000, 0.97, 4),
    "DTC": DnnRow(128, "ReLU", 3.3e-4, 16, 40_000, 0.90, 8),
    "TC": DnnRow(128, "LogSigmoid", 5.9e-4, 24, 30_000, 0.94, 12),
    "GH": DnnRow(128, "RReLU", 3.7e-5, 16, 30_000, 0.94, 12),
}

PAPER_NFN = {
    "BP": NfnRow(192, "sum", 8.5e-4, 1.5, False, True, True, None, 0.36, None, 3),
    "BR": NfnRow(256, "sum", 9.2e-4, 1.0, True, True, False, 0.42, 0.35, 256, 1),
    "PP": NfnRow(256, "mean", 8.1e-4, 1.0, True, False, False, 0.52, 0.40, 128, 1),
    "HTL": NfnRow(64, "mean", 1.0e-4, 1.5, True, True, False, 1.2, 0.40, 32, 3),
    "DTC": NfnRow(128, "mean", 4.5e-4, 1.0, True, False, False, 0.58, 0.42, 64, 1),
    "TC": NfnRow(192, "sum", 7.9e-4, 1.5, True, False, True, 0.42, 0.32, 32, 5),
    "GH": NfnRow(256, "sum", 6.1e-4, 1.0, True, False, True, 0.93, 0.20, 64, 3),
}


# Stands in for the paper's row in `tuned` where the paper does not play a scenario.
OTHER_ROW = DnnRow(256, "ReLU", 5e-4, 32, 30_000, 0.95, 4)


def preset(
    name: str, task: DoomTask | str, agent: str, learner: str | None = None, *, seed: int = 0
) -> RunConfig:
    """The configuration of that name for a scenario, an agent ('nfn' or 'dnn') and a learner (None: the preset's)."""
    choose("agent", agent, catalog.names("head"))
    choose("learner", learner or "dqn", catalog.names("learner"))
    task = task if isinstance(task, DoomTask) else DoomTask(task)
    key = task.key
    choose("preset", name, task.presets)
    if task.observe == "objects":
        return replace(readable(task, agent, reward_scale=PARALLEL_REWARD_SCALES.get(key, 1.0)), seed=seed)
    if name == "long":
        if learner not in (None, "parallel_q"):
            raise ConfigError(
                f"the preset 'long' is for many games at once ('parallel_q'), got learner {learner!r}"
            )
        return replace(long(key, agent), seed=seed)
    if learner in (None, "dqn"):
        made = {"paper": paper, "short": short, "taught": taught, "tuned": tuned}[name](key, agent)
        return replace(made, seed=seed)
    if name != "tuned":
        raise ConfigError(
            f"the preset {name!r} is replay learning ('dqn'), got learner {learner!r}; use 'tuned'"
        )
    config = replace(parallel(key, agent), seed=seed)
    if learner == "parallel_q":
        return config
    return replace(config, learner=catalog.kind("learner", learner)())


def paper(key: str, agent: str) -> RunConfig:
    """The paper's best trial. What its tables leave open has the plainest value (docs/deviations.md)."""
    row = PAPER_DNN[key]
    learner = QConfig(
        learning_rate=row.learning_rate,
        batch_size=row.batch_size,
        memory_size=row.memory_size,
        discount=row.discount,
    )
    if agent == "dnn":
        head: DnnConfig | NfnConfig = DnnConfig(row.hidden, row.activation)
    else:
        nfn = PAPER_NFN[key]
        learner = replace(learner, learning_rate=nfn.learning_rate)
        head = NfnConfig(
            rules=nfn.rules,
            selection=Selection(
                "stge" if nfn.stge else "ste",
                temperature=nfn.temperature or Selection.temperature,
                noise_hold=nfn.noise_hold or Selection.noise_hold,
            ),
            firing=Firing(nfn.reduce, nfn.alpha, nfn.layer_norm, "log" if nfn.certainty else None),
            neurogenesis=Neurogenesis(epsilon=nfn.epsilon, delay=nfn.delay),
        )
    task = DoomTask(key, frame_skip=row.frame_skip)
    return RunConfig(task, "paper", learner, PaperEncoderConfig(), head)


def tuned(key: str, agent: str) -> RunConfig:
    """Ours: a steadier learner with one recipe for all scenarios, and what did better in some of them."""
    row = PAPER_DNN.get(key, OTHER_ROW)
    learner = QConfig(
        learning_rate=5e-4,
        batch_size=32,
        memory_size=row.memory_size,
        discount=row.discount,
        n_step=3,
        reward_scale=REWARD_SCALES.get(key, 1.0),
        target_every=100,
        mirror=True,
    )
    head: DnnConfig | NfnConfig = DnnConfig(256, "ReLU")
    if agent == "nfn":
        head = NfnConfig(
            rules=128,
            max_terms=6,
            consequent=Affine("zeros"),
            input_low=-1.0,
            input_high=2.0,
            selection=Selection("stge", temperature=0.5, noise_hold=64),
            firing=Firing("sum", 1.5, True, None),
            neurogenesis=Neurogenesis(epsilon=0.3, delay=3),
        )
    task = DoomTask(key, "fast", row.frame_skip)
    config = RunConfig(task, "tuned", learner, PaperEncoderConfig(0.0, True), head)
    return _changed(config, BETTER, BETTER_RULES)


def parallel(key: str, agent: str) -> RunConfig:
    """Many games at once: small fast pictures, a decision every 4 tics; 64 rules over 64 features, or plain heads.

    Rules conclude constants, so that their IF parts have to decide; the value of a state has a plain network.
    """
    # Chosen on DTC, seed 10: without the mirror, or with fewer passes and less exploration, plain heads stay at 6 to 8.
    learner = ParallelQConfig(
        reward_scale=PARALLEL_REWARD_SCALES.get(key, 1.0),
        batch_size=128,
        passes=4,
        exploration_share=0.5,
        mirror=True,
    )
    protocol = TrialProtocol(epochs=10, steps_per_epoch=30_000)
    task = DoomTask(key, "fast", 4)
    if agent == "dnn":
        plain = DnnConfig(256, "ReLU", hidden_norm=True)
        return RunConfig(task, "tuned", learner, PictureEncoderConfig(), plain, protocol)
    # Chosen on seed 10 too, see docs/pixels.md.
    rules = NfnConfig(
        rules=64,
        terms=3,
        max_terms=3,
        consequent=Constant("zeros"),
        input_low=-2.0,
        input_high=2.0,
        grow=False,
        plain_value=128,
        selection=Selection("ste", start=2.0),
        firing=Firing("scaled", 1.0, False, None, balance=PARALLEL_BALANCE.get(key, 0.0)),
    )
    learner = replace(learner, learning_rate=1e-2, structure_rate=0.05)
    return RunConfig(task, "tuned", learner, PictureEncoderConfig(features=64), rules, protocol)


def short(key: str, agent: str) -> RunConfig:
    """The paper's 5,000 steps, of rewards alone, by the heads of `long`: rules that conclude constants, or plain ones.

    They see 64 features of pictures as in `long`, or the places of things; a target that follows slowly acts.
    """
    return _changed(_short(key, agent, updates=1), SHORT, SHORT_RULES)


def taught(key: str, agent: str) -> RunConfig:
    """The same with advice: the game says what a script would do. Not of rewards alone, as the others are."""
    advice = {"advised": True, "exploration_advised": 0.8, "taught": 3.0, "taught_share": 1.0}
    config = with_values(replace(_short(key, agent, updates=2), preset="taught"), advice)
    return _changed(config, TAUGHT_SHORT, LONG_RULES)


def _short(key: str, agent: str, *, updates: int) -> RunConfig:
    """What `short` and `taught` share; so many updates follow each step."""
    config = long(key, agent)
    learner = QConfig(
        learning_rate=5e-4,
        anneal_updates=2 * SHORT_PROTOCOL.steps,  # with one update a step the rate falls to about half
        updates_per_step=updates,
        batch_size=64,
        memory_size=SHORT_PROTOCOL.steps,
        discount=0.97,
        n_step=3,
        loss="huber",
        reward_scale=PARALLEL_REWARD_SCALES.get(key, 1.0),
        clip_norm=10.0,
        target_every=10,
        target_rate=0.05,
        act_with="target",
        mirror=True,
        learning_starts=200,
        exploration_start=0.9,
        exploration_decay=0.9995,
    )
    if agent == "nfn":
        learner = replace(learner, learning_rate=1e-2, structure_rate=0.05)
    return RunConfig(DoomTask(key, "fast", 4), "short", learner, config.encoder, config.head, SHORT_PROTOCOL)


def _changed(config: RunConfig, task: ByScenario, rules: ByScenario) -> RunConfig:
    """With what its scenario needs by two tables: one for both agents, one for rules."""
    key = config.task.key
    values = {**task.get(key, {}), **(rules.get(key, {}) if config.agent == "nfn" else {})}
    changed: RunConfig = with_values(config, values)
    return changed


def long(key: str, agent: str) -> RunConfig:
    """At most ten minutes on one H200 with 16 cores: `parallel` with what a scenario needs beside it."""
    config = parallel(key, agent)
    if agent == "dnn":
        config = replace(config, encoder=PictureEncoderConfig(features=64))  # as many as the rules have
    config = replace(
        config, preset="long", protocol=TrialProtocol(epochs=5, steps_per_epoch=60_000, episodes=10)
    )
    return _changed(config, LONG, LONG_RULES)
