import numpy as np
import pytest

from neuroplastic.learn import Exploration


def test_rate_is_multiplied_after_each_step_and_stops_at_the_floor():
    exploration = Exploration(1.0, 0.9999, 0.1)
    rates = []
    for _ in range(30_000):
        rates.append(exploration.rate)
        exploration.step()
    assert rates[0] == 1.0
    assert rates[1] == 0.9999
    assert rates[5000] == pytest.approx(0.9999**5000, rel=1e-9)  # 0.61, where the paper's trials end
    assert min(rates) == 0.1
    assert rates[-1] == 0.1


def test_a_start_below_the_floor_is_not_raised_to_it():
    exploration = Exploration(0.0, 0.5, 0.1)
    exploration.step()
    assert exploration.rate == 0.0


def test_random_actions_come_at_the_rate():
    exploration = Exploration(0.3)
    generator = np.random.default_rng(0)
    assert np.mean([exploration.is_random(generator) for _ in range(10_000)]) == pytest.approx(0.3, abs=0.02)
