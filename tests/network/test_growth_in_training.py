"""Growth inside a training loop: optimizers, moments, and graphs that wait for their backward pass."""

import copy

import numpy as np
import pytest
import torch

import neuroplastic as npl
from tests.random_network import Setup, place

pytestmark = pytest.mark.usefixtures("path")


def network(estimator="stge", noise_hold=64, delay=2):
    """Three attributes with one set each, at 0 and one wide, room for five."""
    setup = Setup(D=3, U=7, terms=1, max_terms=5, estimator=estimator, noise_hold=noise_hold)
    mask = np.zeros((3, 5), bool)
    mask[:, 0] = True
    net = setup.network(neurogenesis=npl.Neurogenesis(epsilon=0.3, delay=delay), mask=mask)
    place(net, np.zeros((3, 5)), np.ones((3, 5)), mask)
    return net.train()


def batch(*rows):
    return torch.tensor(rows, dtype=torch.float64)


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-2),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-2, amsgrad=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-3),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-2),
}


def moments(optimizer):
    """A copy of every tensor the optimizer keeps, by parameter and name."""
    return {
        (id(parameter), name): value.clone()
        for parameter, state in optimizer.state.items()
        for name, value in state.items()
        if torch.is_tensor(value)
    }


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_old_values_and_moments_are_bit_equal_across_a_birth(optimizer):
    net = network(delay=4)
    parameters = list(net.parameters())
    optim = OPTIMIZERS[optimizer](parameters)
    for _ in range(3):
        optim.zero_grad()
        net(torch.randn(6, 3, dtype=torch.float64)).square().sum().backward()
        optim.step()
    old, before, kept = net.term_mask.clone(), copy.deepcopy(net.state_dict()), moments(optim)
    widths = net.widths.detach().clone()
    loss = net(batch([9.0, 9.0, 9.0], [9.0, 8.0, 7.0])).square().sum()
    assert len(net.births) == 3
    assert all(one is other for one, other in zip(net.parameters(), parameters, strict=True))
    for name, parameter in net.named_parameters():
        if parameter is net.logits:
            assert torch.equal(parameter.movedim(0, 1)[old], before[name].movedim(0, 1)[old])
        elif parameter.shape == old.shape:
            assert torch.equal(parameter[old], before[name][old]), name
        else:
            assert torch.equal(parameter, before[name]), name
    assert torch.equal(net.widths[old], widths[old])
    after = moments(optim)
    assert after.keys() == kept.keys()
    assert all(torch.equal(after[key], kept[key]) for key in kept)
    optim.zero_grad()
    loss.backward()
    optim.step()
    assert all(torch.isfinite(parameter).all() for parameter in net.parameters())


@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.parametrize("noise_hold", [1, 64])
def test_two_forwards_with_a_birth_between_them_and_one_backward(estimator, noise_hold):
    net = network(estimator, noise_hold)
    twin = copy.deepcopy(net)
    one, two = batch([0.0, 1.0, 9.0], [0.3, 0.1, 9.5]), batch([9.0, 1.0, -9.0], [8.0, 0.0, 0.0])
    torch.manual_seed(1)
    first, second = net(one), net(two)
    assert len(net.births) == 2
    (first.square().sum() + second.square().sum()).backward()
    torch.manual_seed(1)
    twin(one).square().sum().backward()
    twin(two).square().sum().backward()
    for (name, mine), theirs in zip(net.named_parameters(), twin.parameters(), strict=True):
        np.testing.assert_allclose(
            mine.grad.numpy(), theirs.grad.numpy(), rtol=1e-10, atol=1e-12, err_msg=name
        )
