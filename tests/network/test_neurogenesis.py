"""Neurogenesis: statistics, the moment of birth, what a birth sets, and what it must leave alone."""

import math
import warnings

import numpy as np
import pytest
import torch

import neuroplastic as npl
from tests import reference
from tests.random_network import Setup, array, place

pytestmark = pytest.mark.usefixtures("path")


def network(D=3, U=7, max_terms=5, estimator="stge", noise_hold=64, dtype=torch.float64, **neurogenesis):
    """A training network with one set per attribute, at 0 and one wide: |x| > 1.55 fails epsilon = 0.3."""
    setup = Setup(D=D, U=U, terms=1, max_terms=max_terms, estimator=estimator, noise_hold=noise_hold)
    mask = np.zeros((D, max_terms), bool)
    mask[:, 0] = True
    net = setup.network(neurogenesis=npl.Neurogenesis(**neurogenesis), mask=mask, dtype=dtype)
    place(net, np.zeros((D, max_terms)), np.ones((D, max_terms)), mask)
    return setup, net.train()


def batch(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def failing_values(net, x, epsilon):
    """Per attribute, the values of this batch that no existing set covers."""
    sets = array(net.centers), array(net.widths), array(net.term_mask)
    fails = reference.incomplete(array(x), *sets, epsilon)
    return [array(x)[fails[:, i], i] for i in range(x.shape[1])]


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_merged_statistics_equal_numpy_over_all_failing_values(offset):
    _, net = network(epsilon=0.4, delay=1000)
    place(net, np.full((3, 5), offset), np.ones((3, 5)), array(net.term_mask))
    rng, seen, state = np.random.default_rng(0), [[], [], []], [(0, 0.0, 0.0)] * 3
    for size in (1, 17, 4, 64, 2):
        x = torch.tensor(rng.normal((offset, offset, offset + 9.0), 2.0, size=(size, 3)))
        for i, values in enumerate(failing_values(net, x, 0.4)):
            seen[i].extend(values)
            state[i] = reference.welford_merge(*state[i], values)
        net(x)
    count, mean, m2 = (array(getattr(net.statistics, name)) for name in ("count", "mean", "m2"))
    assert count.tolist() == [len(values) for values in seen]
    np.testing.assert_allclose(mean, [np.mean(values) for values in seen], rtol=1e-10)
    np.testing.assert_allclose(m2 / count, [np.var(values) for values in seen], rtol=1e-10)
    np.testing.assert_allclose(np.stack([count, mean, m2], 1), state, rtol=1e-10)


@pytest.mark.parametrize("delay", [1, 2, 3, 5])
def test_births_come_exactly_every_delay_training_batches(delay):
    _, net = network(D=1, epsilon=0.3, delay=delay, max_terms=5)
    for step in range(1, 3 * delay + 1):
        net.eval()(batch([70.0], [71.0]))
        net.train()(batch([10.0 * step], [10.0 * step + 1.0]))
        assert len(net.births) == step // delay
        assert int(net.term_mask.sum()) == 1 + step // delay
    assert [birth.step for birth in net.births] == [delay, 2 * delay, 3 * delay]


@pytest.mark.parametrize("values", [(5.0, 5.0), (5.0, 9.0), (-4.0, 4.0), (30.0, 30.5)])
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 0.6])
def test_after_a_birth_the_inputs_that_asked_for_it_are_covered(values, epsilon):
    _, net = network(D=2, epsilon=epsilon, delay=1)
    x = batch([values[0], 0.0], [values[1], 0.0])
    assert [len(asked) for asked in failing_values(net, x, epsilon)] == [2, 0]
    net(x)
    assert [(birth.attribute, birth.term, birth.count) for birth in net.births] == [(0, 1, 2)]
    assert [len(asked) for asked in failing_values(net, x, epsilon)] == [0, 0]


def test_a_newborn_set_has_the_mean_and_standard_deviation_of_its_askers():
    _, net = network(epsilon=0.3, delay=2, min_width=0.25)
    first = batch([4.0, 0.0, 5.0], [0.1, 0.2, 5.0])
    second = batch([7.0, -9.0, 5.0], [10.0, 0.0, 0.0])
    net(first)
    net(second)
    expected = {0: ([4.0, 7.0, 10.0], 3), 2: ([5.0, 5.0, 5.0], 3)}
    assert sorted(birth.attribute for birth in net.births) == [0, 2]
    for birth in net.births:
        values, count = expected[birth.attribute]
        assert (birth.step, birth.term, birth.count) == (2, 1, count)
        assert birth.center == pytest.approx(np.mean(values), rel=1e-10)
        assert birth.width == pytest.approx(max(np.std(values), 0.25), rel=1e-9)
        assert net.centers[birth.attribute, 1].item() == pytest.approx(birth.center, rel=1e-12)
        assert net.widths[birth.attribute, 1].item() == pytest.approx(birth.width, rel=1e-9)
    # Attribute 1 failed once, fewer than min_count: no birth, and its value is remembered for the next round.
    assert net.statistics.count.tolist() == [0, 1, 0]
    assert float(net.statistics.mean[1]) == pytest.approx(-9.0)
    net(batch([0.0, -9.5, 0.0]))
    net(batch([0.0, 0.0, 0.0]))
    assert (net.births[-1].step, net.births[-1].attribute, net.births[-1].count) == (4, 1, 2)


def test_the_birth_is_in_force_in_the_very_pass_that_caused_it():
    setup, net = network(U=40, epsilon=0.3, delay=1, sprouting="max")
    x = batch([5.0, 6.0, 7.0], [5.5, 6.5, 7.5])
    y = net(x)
    assert len(net.births) == 3
    steps = setup.oracle(net, x)
    np.testing.assert_allclose(array(y), steps["output"], rtol=1e-10, atol=1e-10)
    assert (steps["terms"] == 1).any()


def test_a_birth_takes_the_lowest_free_slot():
    _, net = network(D=2, epsilon=0.3, delay=1, max_terms=4)
    place(
        net,
        np.zeros((2, 4)),
        np.ones((2, 4)),
        np.array([[True, False, True, False], [False, True, True, True]]),
    )
    net(batch([9.0, 9.0], [9.5, 9.5]))
    assert [(birth.attribute, birth.term) for birth in net.births] == [(0, 1), (1, 0)]
    assert net.term_mask.tolist() == [[True, True, True, False], [True] * 4]


def test_max_sprouting_gives_the_newborn_the_greatest_logit_of_each_rule():
    _, net = network(epsilon=0.3, delay=1, sprouting="max", max_terms=4)
    place(net, np.zeros((3, 4)), np.ones((3, 4)), np.array([[True, True, False, False]] * 3))
    before = net.logits.detach().clone()
    net(batch([5.0, 0.0, 5.0], [5.0, 0.0, 6.0]))
    for attribute in (0, 2):
        assert torch.equal(net.logits[2, attribute], before[:2, attribute].amax(0))


def test_xavier_sprouting_draws_the_newborn_logits_like_the_first_ones():
    torch.manual_seed(0)
    growth = npl.Neurogenesis(epsilon=0.3, delay=1, sprouting="xavier")
    net = npl.NeuroFuzzyNetwork(60, 1, 64, terms=3, max_terms=4, neurogenesis=growth, dtype=torch.float64)
    first = net.logits[:3].detach().clone()
    net(torch.tensor([50.0, 51.0]).double().unsqueeze(1).expand(2, 60))
    assert len(net.births) == 60
    newborn = net.logits[3].detach()
    assert float(newborn.std() / first.std()) == pytest.approx(1.0, abs=0.08)
    assert abs(float(newborn.mean() / first.std())) < 0.08


def test_a_birth_draws_only_its_own_noise():
    _, net = network(epsilon=0.3, delay=2)
    net(batch([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]))
    before = net.noise().clone()
    net(batch([5.0, 0.0, 0.0], [5.5, 0.0, 0.0]))
    after = net.noise()
    assert torch.equal(after[0], before[0])
    assert (after[1, 0] != 0).all()
    assert len(after[1, 0].unique()) == 7


def test_nothing_is_gathered_or_born_in_evaluation_or_without_neurogenesis():
    _, net = network(epsilon=0.3, delay=1)
    net.eval()(batch([9.0, 9.0, 9.0], [9.0, 9.0, 9.0]))
    net.train().log_firing(batch([9.0, 9.0, 9.0], [9.0, 9.0, 9.0]))
    net.firing(batch([9.0, 9.0, 9.0], [9.0, 9.0, 9.0]))
    assert not net.births
    assert net.statistics.count.tolist() == [0, 0, 0]
    fixed = Setup(D=3).network(neurogenesis=None).train()
    sets = int(fixed.term_mask.sum())
    for _ in range(5):
        fixed(batch([99.0, 99.0, 99.0], [99.0, 98.0, 97.0]))
    assert int(fixed.term_mask.sum()) == sets
    assert list(fixed.births) == []


def test_reaching_the_capacity_is_reported_once_and_training_goes_on():
    _, net = network(D=1, epsilon=0.3, delay=1, max_terms=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(1, 9):
            assert torch.isfinite(net(batch([20.0 * step], [20.0 * step + 1.0]))).all()
    assert [warning.category for warning in caught].count(npl.CapacityWarning) == 1
    assert len(net.births) == 2
    assert net.term_mask.all()


def test_single_precision_statistics_survive_a_large_offset():
    _, net = network(D=1, dtype=torch.float32, epsilon=0.3, delay=20)
    rng, seen = np.random.default_rng(2), []
    for _ in range(20):
        x = torch.tensor(rng.normal(1000.0, 0.5, size=(32, 1)), dtype=torch.float32)
        seen.append(array(x))
        net(x)
    values = np.concatenate(seen)
    assert net.births[0].count == 640
    assert net.births[0].center == pytest.approx(values.mean(), rel=1e-6)
    assert math.log(net.births[0].width / values.std()) == pytest.approx(0.0, abs=1e-3)
