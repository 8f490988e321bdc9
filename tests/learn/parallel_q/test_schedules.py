"""What falls over a run: in a line, and also where the run is short or made longer."""

import copy

import pytest

from neuroplastic.learn.parallel_q.learner import ParallelQLearning
from tests.learn.parallel_q.value_table import learner_of, numbers, outcome


def learning_rates(learner: ParallelQLearning, rounds: int) -> list[float]:
    """The step size of each time of learning."""
    rates = []
    for _ in range(rounds):
        learner.act()
        learner.observe(outcome(numbers(0, 0)))
        if learner.update() is not None:
            rates.append(learner.figures()["learning_rate"])
    return rates


def test_step_size_falls_in_a_line_from_the_whole_to_the_last_rollout_and_stays_there():
    learner = learner_of([[0.0, 1.0]], total_steps=24, learning_rate=0.4)
    learner.begin(numbers(0, 0))
    assert learning_rates(learner, 12) == pytest.approx([0.4, 0.3, 0.2, 0.1])
    assert learning_rates(learner, 6) == pytest.approx([0.1, 0.1])


def test_without_annealing_the_step_size_stays():
    learner = learner_of([[0.0, 1.0]], total_steps=24, learning_rate=0.4, anneal=False)
    learner.begin(numbers(0, 0))
    assert learning_rates(learner, 12) == [0.4] * 4


def test_a_run_that_is_extended_keeps_the_schedules_that_it_began_with():
    first = learner_of([[0.0, 1.0]], total_steps=24)
    first.begin(numbers(0, 0))
    learning_rates(first, 12)
    extended = learner_of([[0.0, 1.0]], total_steps=24_000)
    extended.load_state_dict(copy.deepcopy(first.state_dict()))
    assert (extended.exploration, extended.total_steps) == (0.01, 24)
    assert learning_rates(extended, 6) == pytest.approx([5e-4 / 4] * 2)


def test_a_run_shorter_than_a_rollout_has_schedules_too():
    learner = learner_of([[0.0, 1.0]], total_steps=2)
    learner.begin(numbers(0, 0))
    assert learning_rates(learner, 3) == [5e-4]
