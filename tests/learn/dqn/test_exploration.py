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


def drawn(exploration: Exploration, generator: np.random.Generator, count: int) -> list[int | None]:
    return [exploration.action(1000, -1, generator) for _ in range(count)]


def test_what_is_drawn_is_held_for_so_many_steps():
    taken = drawn(Exploration(0.5, hold=4), np.random.default_rng(0), 400)
    blocks = [set(taken[start : start + 4]) for start in range(0, 400, 4)]
    assert all(len(block) == 1 for block in blocks)
    assert {None} in blocks
    assert sum(block == {None} for block in blocks) < 70
    assert len({min(block) for block in blocks if block != {None}}) > 20


def test_what_is_held_goes_on_from_a_saved_state():
    one, generator = Exploration(0.5, hold=3), np.random.default_rng(1)
    drawn(one, generator, 4)
    other = Exploration(0.1, hold=3)
    other.load_state_dict(one.state_dict())
    again = np.random.default_rng(2)
    state = generator.bit_generator.state
    expected = drawn(one, generator, 30)
    again.bit_generator.state = state
    assert drawn(other, again, 30) == expected


def test_advice_is_followed_as_it_comes_while_it_is_held():
    exploration = Exploration(1.0, advised=1.0, hold=3)
    generator = np.random.default_rng(0)
    assert [exploration.action(4, advice, generator) for advice in (2, -1, 3)] == [2, None, 3]
