"""A copy that follows a network is what it would be with the network's state loaded."""

import copy

import pytest
import torch

import neuroplastic as npl
from neuroplastic.fuzzy import backends
from neuroplastic.fuzzy.tracing import recording
from neuroplastic.network.following import can_follow, follow
from tests.network.test_no_waiting import OPTIONS, Refusing, batches, network


def same(one, other):
    ours, theirs = one.state_dict(), other.state_dict()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("unread", [False, True], ids=["births read", "births unread"])
@pytest.mark.parametrize("name", ["stge", "mamdani", "limits", "worst"])
def test_to_follow_is_to_load_the_state(name, unread):
    net = network(**OPTIONS[name])
    follower, loader = copy.deepcopy(net), copy.deepcopy(net)
    for x in batches(count=3):
        if unread:  # as a GPU does
            with recording(), backends.eager_only():
                net(x)
        else:
            net(x)
    with Refusing():
        follow(follower, net, 1.0)
    loader.load_state_dict(net.state_dict())
    assert same(follower, loader)
    assert follower.births == net.births != []
    for x in batches()[3:]:
        torch.testing.assert_close(follower(x), loader(x), rtol=0, atol=0)
    assert len(follower.births) == len(loader.births) > len(net.births)  # records are its own


def test_to_follow_half_of_the_way_moves_parameters_alone_by_half():
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    follower = copy.deepcopy(net)
    with torch.no_grad():
        for tensor in (*net.parameters(), *net.buffers()):
            tensor.add_(1)
    before = [parameter.detach().clone() for parameter in follower.parameters()]
    follow(follower, net, 0.5)
    for was, now in zip(before, follower.parameters(), strict=True):
        torch.testing.assert_close(now, was + 0.5)
    assert all(torch.equal(*pair) for pair in zip(follower.buffers(), net.buffers(), strict=True))


def test_what_is_frozen_or_renewed_is_loaded_instead():
    assert can_follow(network())
    assert not can_follow(network(renewal=npl.Renewal()))
    frozen = network()
    frozen.freeze(rules=[1])
    assert not can_follow(torch.nn.Sequential(frozen))
