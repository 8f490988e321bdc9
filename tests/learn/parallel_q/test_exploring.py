"""How often games explore, with which actions, and for how long."""

from dataclasses import replace

import numpy as np
import pytest

from neuroplastic.errors import ConfigError
from neuroplastic.learn.parallel_q.config import ParallelQConfig
from neuroplastic.learn.parallel_q.learner import ParallelQLearning
from tests.learn.parallel_q.value_table import learner_of, numbers, outcome


def test_exploration_falls_in_a_line_over_its_share_of_the_run():
    learner = learner_of(
        [[0.0, 1.0]],
        training_games=3,
        rollout=2,
        total_steps=120,
        exploration_share=0.25,
        exploration_spread=1.0,
    )
    learner.begin(numbers(0, 0, 0))
    rates = []
    for _ in range(15):
        rates.append(learner.exploration)
        learner.act()
        learner.observe(outcome(numbers(0, 0, 0)))
        learner.update()
    np.testing.assert_allclose(rates[:10], 1 - 0.99 * np.arange(10) / 10)
    assert rates[10:] == pytest.approx([0.01] * 5)


@pytest.mark.parametrize(("spread", "expected"), [(0.0, [0.25, 0.25, 0.25]), (1.0, [0.25, 0.125, 0.0625])])
def test_games_explore_at_rates_of_their_own(spread, expected):
    learner = learner_of(
        [[0.0, 1.0]],
        training_games=3,
        rollout=4000,
        exploration_start=0.25,
        exploration_floor=0.25,
        exploration_spread=spread,
    )
    learner.begin(numbers(0, 0, 0))
    drawn = []
    for _ in range(4000):
        drawn.append(learner.act() == 0)  # never the best
        learner.observe(outcome(numbers(0, 0, 0)))
    np.testing.assert_allclose(2 * np.mean(drawn, axis=0), expected, atol=0.03)


def actions_of(learner: ParallelQLearning, rounds: int) -> list[list[int]]:
    actions = []
    for _ in range(rounds):
        actions.append(learner.act().tolist())
        learner.observe(outcome(numbers(*[0] * learner.games)))
    return actions


def exploring(rollout: int = 64, **fields: object) -> ParallelQLearning:
    always = {"exploration_start": 1.0, "exploration_floor": 1.0, "exploration_spread": 0.0}
    learner = learner_of([[0.0] * 50], rollout=rollout, **always, **fields)
    learner.begin(numbers(0, 0))
    return learner


def test_random_actions_are_held_for_as_many_decisions_as_asked():
    held = actions_of(exploring(exploration_hold=4), 16)
    single = actions_of(exploring(), 4)
    assert held == [action for action in single for _ in range(4)], "drawn as ever, and seldomer"


def test_random_actions_are_drawn_as_often_as_their_weights_say():
    learner = exploring(rollout=1000, exploration_weights=(3.0, 1.0, *[0.0] * 48))
    drawn = np.array(actions_of(learner, 1000))
    assert set(drawn.ravel().tolist()) == {0, 1}
    assert np.mean(drawn == 1) == pytest.approx(0.25, abs=0.03)


def test_random_actions_are_what_the_game_advises_as_often_as_asked():
    learner = exploring(rollout=1000, exploration_advised=0.5, exploration_weights=(1.0, *[0.0] * 49))
    actions = []
    for _ in range(1000):
        actions.append(learner.act().tolist())
        learner.observe(replace(outcome(numbers(0, 0)), advice=np.array([7, -1])))
    advised, silent = np.array(actions[1:]).T
    assert set(advised.tolist()) == {0, 7}
    assert np.mean(advised == 7) == pytest.approx(0.5, abs=0.05)
    assert set(silent.tolist()) == {0}, "without advice the best, which is the first here too"


def test_advice_is_kept_across_a_saved_state():
    learner, other = (exploring(exploration_advised=1.0) for _ in range(2))
    learner.act()
    learner.observe(replace(outcome(numbers(0, 0)), advice=np.array([7, 9])))
    other.load_state_dict(learner.state_dict())
    assert other.act().tolist() == [7, 9]


def test_weights_that_draw_nothing_or_do_not_fit_the_actions_are_refused():
    with pytest.raises(ConfigError, match="must have one above 0"):
        ParallelQConfig(exploration_weights=(0.0, 0.0))
    with pytest.raises(ConfigError, match="one for each of 50 actions, got 2"):
        exploring(exploration_weights=(1.0, 1.0))


def test_a_random_action_is_held_across_a_saved_state():
    learner, other = exploring(exploration_hold=4), exploring(exploration_hold=4)
    actions_of(learner, 6)
    other.load_state_dict(learner.state_dict())
    assert actions_of(other, 6) == actions_of(learner, 6)


def test_states_from_before_actions_were_held_go_on():
    learner, other = exploring(), exploring()
    actions_of(learner, 3)
    state = learner.state_dict()
    del state["drawn"]
    other.load_state_dict(state)
    assert actions_of(other, 3) == actions_of(learner, 3)
