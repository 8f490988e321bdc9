"""Agents learn: the tiny game is solved from pictures, by plain networks and by neuro-fuzzy ones.

Behind the paper's encoder every step takes long: there, the normal run has one seed of the plain agent.
"""

import pytest

from tests.learn.agents import AGENTS, greedy_score, make_learner, steps_to_solve

LONG = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.mark.parametrize(
    ("agent", "seed"),
    [
        pytest.param(agent, seed, marks=[] if agent.startswith("small") and seed == 0 else LONG)
        for agent in ("small_dnn", "small_nfn", "dnn", "nfn")
        for seed in range(5)
    ],
)
def test_the_tiny_game_is_solved(agent, seed):
    make_network, config = AGENTS[agent]
    assert greedy_score(make_learner(make_network, config, seed)) < 0.9  # not before learning
    assert steps_to_solve(make_network, seed, config=config) > 0
