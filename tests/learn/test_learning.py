"""Agents learn: the tiny game is solved from pictures, by plain networks and by neuro-fuzzy ones."""

import pytest

from tests.learn.agents import AGENTS, greedy_score, make_learner, steps_to_solve


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "agent", ["dnn", "small_nfn", pytest.param("nfn", marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
def test_the_tiny_game_is_solved(agent, seed):
    make_network, config = AGENTS[agent]
    assert greedy_score(make_learner(make_network, config, seed)) < 0.9  # not before learning
    assert steps_to_solve(make_network, seed, config=config) > 0
