from dataclasses import replace

import numpy as np
import pytest
import torch

from neuroplastic.errors import ConfigError
from neuroplastic.learn import RandomStreams
from neuroplastic.learn.experience import Setting
from neuroplastic.learn.parallel_q.config import ParallelQConfig
from neuroplastic.learn.parallel_q.learner import ParallelQLearning
from neuroplastic.learn.teaching import NoAdviceWarning
from tests.learn.parallel_q.value_table import Table, numbers, outcome

ADVICE = np.array([2, -1])


def taught(*, resident: bool = False, **fields: object) -> ParallelQLearning:
    """A learner of three actions in two games, one of which advises the third; no reward tells them apart."""
    small = {"training_games": 2, "rollout": 4, "batch_size": 4, "learning_rate": 0.1, "anneal": False}
    config = ParallelQConfig(**small | {"taught": 1.0} | fields)  # type: ignore[arg-type]
    table = Table([[0.3, 0.2, 0.1], [0.3, 0.2, 0.1]])
    learner = ParallelQLearning(table, config, Setting(3, RandomStreams(0), 400), resident=resident)
    learner.begin(numbers(0, 1))
    return learner


def play(learner: ParallelQLearning, rounds: int, advice: np.ndarray = ADVICE) -> None:
    for _ in range(rounds):
        learner.act()
        learner.observe(replace(outcome(numbers(0, 1)), advice=advice))
        learner.update()


@pytest.mark.parametrize("resident", [False, True])
def test_a_taught_learner_comes_to_prefer_what_is_advised(resident):
    learner = taught(resident=resident, taught_share=1.0)
    play(learner, 100)
    values = learner.actor.values.detach()
    assert values[0, 2] - values[0, :2].max() > 0.2
    assert values[1].max() - values[1].min() < 0.2, "where nothing is advised, rewards alone tell"


def test_the_weight_of_advice_falls_in_a_line_to_nothing():
    learner = taught(taught=2.0, taught_share=0.5)
    weights = []
    for _ in range(40):  # rollouts of 8 of 400 decisions, so 25 of them are taught
        play(learner, 4)
        weights.append(learner._updates._taught.item())
    np.testing.assert_allclose(weights[:25], 2 * (1 - np.arange(25) / 25), rtol=1e-6)
    assert weights[25:] == [0.0] * 15


def test_advice_of_a_rollout_under_way_is_kept_across_a_saved_state():
    learner, other = taught(), taught()
    play(learner, 6)
    other.load_state_dict(learner.state_dict())
    for resumed in (learner, other):
        play(resumed, 6)
    assert torch.equal(learner.network.values, other.network.values)


def test_a_state_of_a_rollout_without_advice_is_taken_too():
    learner, other = taught(), taught()
    play(learner, 6)
    state = learner.state_dict()
    del state["rollout"]["advice"]
    other.load_state_dict(state)
    assert (other._begun().advice == -1).all()


def test_in_a_mirror_the_advised_action_is_the_mirrored_one():
    config = ParallelQConfig(training_games=2, rollout=4, batch_size=4, taught=1.0, mirror=True)
    setting = Setting(3, RandomStreams(0), 400, mirrored_actions=(1, 0, 2))
    learner = config.build(Table([[0.0, 0.0, 1.0]]), setting)
    pictures = torch.zeros(400, 1, 1, dtype=torch.uint8)
    learner._updates._taught.fill_(1.0)
    before = learner.network.values.detach().clone()
    action, target = torch.full((400,), 2), torch.ones(400)
    learner.network.forward = lambda seen: learner.network.values.expand(len(seen), 3)
    learner._updates.once(pictures, action, target, torch.zeros(400, dtype=torch.long))
    moved = (learner.network.values - before)[0]
    assert (moved[:2] > 0).all(), "half of the pictures advise the first, in the mirror the second"


def test_an_episode_that_is_abandoned_leaves_no_advice_to_the_next():
    learner = taught(exploration_start=1.0, exploration_floor=1.0, exploration_advised=1.0)
    play(learner, 1)
    learner.abandon_episode(0, numbers(1)[0])
    learner.act()
    assert learner._begun().advice[1].tolist() == [-1, -1]


@pytest.mark.parametrize("name", ["taught", "taught_margin", "taught_share"])
def test_weights_below_nothing_are_refused(name):
    with pytest.raises(ConfigError, match=name):
        ParallelQConfig(**{name: -0.5})


@pytest.mark.parametrize(
    "given", [{"taught": 1e7}, {"taught_margin": 1e300}, {"exploration_weights": (1e308, 1e308)}]
)
def test_weights_beside_which_nothing_else_counts_are_refused(given):
    with pytest.raises(ConfigError, match=f"{next(iter(given))}.* at most 1e"):
        ParallelQConfig(**given)


def test_who_is_to_be_taught_by_games_that_advise_nothing_is_told_so_once():
    learner = taught(exploration_advised=0.5)
    said = r"taught=1 and exploration_advised=0.5, but none of the games advised anything"
    with pytest.warns(NoAdviceWarning, match=said) as told:
        play(learner, 8, advice=np.array([-1, -1]))
    assert len(told) == 1
