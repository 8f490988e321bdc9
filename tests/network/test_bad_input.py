"""Bad input: a named error with a clear message, or the stated result; never a silent NaN."""

import pytest
import torch

import neuroplastic as npl

pytestmark = pytest.mark.usefixtures("path")


def network(**options):
    torch.manual_seed(0)
    return npl.NeuroFuzzyNetwork(4, 2, 5, **options)


METHODS = ["forward", "log_firing", "firing"]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_infinite_input_is_refused(training, method, value):
    net, x = network().train(training), torch.rand(3, 4)
    x[1, 2] = value
    with pytest.raises(npl.InputError, match=r"(?i)nan|inf|finite"):
        getattr(net, method)(x)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (2, 5), (2, 4, 1), (1, 2, 4), (2, 0)], ids=str)
def test_input_of_wrong_rank_or_width_is_refused_naming_both_shapes(method, shape):
    with pytest.raises(npl.InputError) as caught:
        getattr(network(), method)(torch.rand(shape))
    assert "4" in str(caught.value)
    assert str(tuple(shape)) in str(caught.value)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool], ids=str)
def test_integer_input_is_refused_naming_its_type(dtype):
    with pytest.raises(npl.InputError, match=str(dtype).removeprefix("torch.")):
        network()(torch.ones(3, 4, dtype=dtype))


def test_refused_input_leaves_no_trace():
    net = network(neurogenesis=npl.Neurogenesis(epsilon=0.3, delay=1), selection=npl.Selection(noise_hold=2))
    net(torch.rand(3, 4))
    noise, count = net.noise().clone(), net.statistics.count.clone()
    for bad in (torch.full((3, 4), float("nan")), torch.rand(3, 5), torch.ones(3, 4, dtype=torch.int64)):
        with pytest.raises(npl.InputError):
            net(bad)
    net(torch.rand(3, 4))
    assert torch.equal(net.noise(), noise)
    assert torch.equal(net.statistics.count, count)
    assert not net.births


def test_errors_are_value_errors_of_the_package():
    for error in (npl.InputError, npl.ConfigError):
        assert issubclass(error, npl.NeuroplasticError)
        assert issubclass(error, ValueError)


@pytest.mark.parametrize(
    "consequent", ["affine", "constant", "low_rank", "mamdani", npl.Mamdani(defuzzifier="area")]
)
@pytest.mark.parametrize("training", [True, False])
def test_empty_batch_gives_an_empty_output(consequent, training):
    net = network(consequent=consequent).train(training)
    assert net(torch.empty(0, 4)).shape == (0, 2)
    assert net.log_firing(torch.empty(0, 4)).shape == (0, 5)
    assert net.firing(torch.empty(0, 4)).shape == (0, 5)
    net(torch.empty(0, 4)).sum().backward()


def test_empty_batch_ages_neither_noise_nor_neurogenesis():
    growth = npl.Neurogenesis(epsilon=0.3, delay=2)
    net = network(terms=3, neurogenesis=growth, selection=npl.Selection(noise_hold=2))
    net(torch.full((2, 4), 50.0))
    noise = net.noise().clone()
    for _ in range(5):
        net(torch.empty(0, 4))
    assert torch.equal(net.noise(), noise)
    assert not net.births
    net(torch.full((2, 4), 50.0))
    assert torch.equal(net.noise()[:3], noise[:3])
    assert [birth.step for birth in net.births] == [2] * 4
    net(torch.rand(2, 4))
    assert not torch.equal(net.noise()[:3], noise[:3])


BAD_CONFIGURATIONS = {
    "no rules": lambda: npl.NeuroFuzzyNetwork(4, 2, 0),
    "negative rules": lambda: npl.NeuroFuzzyNetwork(4, 2, -3),
    "no inputs": lambda: npl.NeuroFuzzyNetwork(0, 2, 5),
    "no outputs": lambda: npl.NeuroFuzzyNetwork(4, 0, 5),
    "no terms": lambda: npl.NeuroFuzzyNetwork(4, 2, 5, terms=0),
    "terms above max_terms": lambda: npl.NeuroFuzzyNetwork(4, 2, 5, terms=9, max_terms=8),
    "fractional rules": lambda: npl.NeuroFuzzyNetwork(4, 2, 2.5),
    "temperature zero": lambda: npl.Selection(temperature=0.0),
    "temperature negative": lambda: npl.Selection(temperature=-0.5),
    "temperature nan": lambda: npl.Selection(temperature=float("nan")),
    "unknown estimator": lambda: npl.Selection(estimator="sgte"),
    "noise held for no pass": lambda: npl.Selection(noise_hold=0),
    "constraint below 0": lambda: npl.Selection(constraint=-1.0),
    "constraint above 100": lambda: npl.Selection(constraint=101.0),
    "alpha below 1": lambda: npl.Firing(alpha=0.9),
    "alpha above 2": lambda: npl.Firing(alpha=2.1),
    "alpha nan": lambda: npl.Firing(alpha=float("nan")),
    "alpha unknown": lambda: npl.Firing(alpha="learned"),
    "unknown reduce": lambda: npl.Firing(reduce="max"),
    "no gain": lambda: npl.Firing(gain=0.0),
    "gain beyond bounds": lambda: npl.Firing(gain=1e9),
    "gain nan": lambda: npl.Firing(gain=float("nan")),
    "power below 1": lambda: npl.Firing(power=0.5),
    "power nan": lambda: npl.Firing(power=float("nan")),
    "power unknown": lambda: npl.Firing(power="min"),
    "power a list": lambda: npl.Firing(power=[8.0]),
    "power true": lambda: npl.Firing(power=True),
    "negative balance": lambda: npl.Firing(balance=-0.1),
    "infinite balance": lambda: npl.Firing(balance=float("inf")),
    "unknown certainty": lambda: npl.Firing(certainty="sigmoid"),
    "epsilon zero": lambda: npl.Neurogenesis(epsilon=0.0),
    "epsilon one": lambda: npl.Neurogenesis(epsilon=1.0),
    "epsilon above one": lambda: npl.Neurogenesis(epsilon=1.5),
    "epsilon negative": lambda: npl.Neurogenesis(epsilon=-0.1),
    "epsilon nan": lambda: npl.Neurogenesis(epsilon=float("nan")),
    "delay zero": lambda: npl.Neurogenesis(delay=0),
    "min_count zero": lambda: npl.Neurogenesis(min_count=0),
    "min_width zero": lambda: npl.Neurogenesis(min_width=0.0),
    "unknown sprouting": lambda: npl.Neurogenesis(sprouting="random"),
    "unknown consequent": lambda: npl.NeuroFuzzyNetwork(4, 2, 5, consequent="quadratic"),
    "unknown start": lambda: npl.Affine(init="ones"),
    "rank zero": lambda: npl.LowRank(rank=0),
    "no output sets": lambda: npl.Mamdani(terms=0),
    "unknown defuzzifier": lambda: npl.Mamdani(defuzzifier="centroid"),
    "output range reversed": lambda: npl.Mamdani(output_range=(1.0, -1.0)),
    "input range reversed": lambda: npl.NeuroFuzzyNetwork(4, 2, 5, input_range=(1.0, 0.0)),
}


@pytest.mark.parametrize("mistake", BAD_CONFIGURATIONS)
def test_a_configuration_mistake_is_refused_with_a_message(mistake):
    with pytest.raises(npl.ConfigError, match=r"\w+ .*\w+"):
        BAD_CONFIGURATIONS[mistake]()
