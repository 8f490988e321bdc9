import pytest

from tests.learn.agents import (
    CATCH_CONFIG,
    MakeNetwork,
    dnn_network,
    greedy_score,
    make_learner,
    steps_to_solve,
)

AGENTS: dict[str, MakeNetwork] = {"dnn": dnn_network}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("agent", AGENTS)
def test_the_tiny_game_is_solved(agent, seed):
    assert greedy_score(make_learner(AGENTS[agent], CATCH_CONFIG, seed)) < 0.9  # not before learning
    assert steps_to_solve(AGENTS[agent], seed) > 0
