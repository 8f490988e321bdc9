"""Agents for control tasks whose rules are few and short, and decide: the preset 'readable'."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..experiment.configuration import HeadConfig, RunConfig, TrialProtocol
from ..experiment.protocols import Task
from ..fuzzy.firing import Firing
from ..fuzzy.selection import Selection
from ..learn.parallel_q.config import ParallelQConfig
from ..network.consequents import Constant
from ..network.encoders.attributes import AttributeEncoderConfig
from ..network.heads import DnnConfig, NfnConfig
from ..network.limits import Sets
from .names import family

# A rule begins with so many premises. One without any would fit everywhere best, and so lead everywhere.
FIRST_PREMISES = 3


@dataclass(frozen=True)
class _Needs:
    """What an environment needs of its rules and of exploration."""

    rules: int = 16
    terms: int = 2  # sets of an attribute
    reach: float = 0.5  # the outermost sets begin at plus and minus this part of an attribute's range
    gain: float = 10.0  # how clearly the rule that fits best leads at first
    hold: int = 1  # decisions for which a random action is held
    share: float = 0.25  # of the run, over which exploration falls
    q_lambda: float = 0.65


_NEEDS = {
    # A pole that is balanced stays near the middle of its range.
    "CartPole": _Needs(rules=12, reach=0.25),
    "Acrobot": _Needs(hold=4),
    # Single random pushes never bring the car up; held ones do in one episode of ten, and that is long to tell of.
    "MountainCar": _Needs(terms=3, reach=1.0, gain=5.0, hold=16, share=0.6, q_lambda=0.9),
}


def readable(task: Task, agent: str) -> RunConfig:
    """Order-0 rules over named attributes, compared by their worst premise; or a plain network in the same loop.

    12 rules for CartPole, 16 for others. Of more than three attributes, a rule may drop those that do not help it.
    """
    needs = _NEEDS.get(family(task.key), _Needs())
    learner = ParallelQConfig(
        training_games=8,
        batch_size=64,
        reward_scale=0.1,
        q_lambda=needs.q_lambda,
        exploration_share=needs.share,
        exploration_hold=needs.hold,
    )
    # Whole rollouts, so that rules are diagnosed on as many observations as one has. Ten looks: values that go on being
    # learned may end in play that is worse than it was, and the best epoch is what is kept.
    protocol = TrialProtocol(epochs=10, steps_per_epoch=78 * learner.decisions, episodes=20)
    head: HeadConfig = DnnConfig(128, "ReLU", hidden_norm=True)
    if agent == "nfn":
        learner = replace(learner, learning_rate=5e-3, structure_rate=0.1)
        head = _rules(needs, task.observation.shape[0])
    return RunConfig(task, "readable", learner, AttributeEncoderConfig(), head, protocol)


def _rules(needs: _Needs, attributes: int) -> NfnConfig:
    selection = Selection("ste", start=2.0)
    if attributes > FIRST_PREMISES:
        selection = replace(selection, any=True, start_premises=FIRST_PREMISES)
    return NfnConfig(
        rules=needs.rules,
        terms=needs.terms,
        max_terms=needs.terms + selection.any,
        consequent=Constant("zeros"),
        input_low=-needs.reach,
        input_high=needs.reach,
        grow=False,
        plain_value=128,
        selection=selection,
        firing=Firing("worst", 1.0, False, None, gain=needs.gain, balance=0.01),
        sets=Sets(widest=0.6, margin=0.5),
    )
