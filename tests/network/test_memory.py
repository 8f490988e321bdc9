"""The rule part makes no tensor of size B x D x T or B x D x U, and a training step stays within its memory."""

import pytest
import torch

from benchmarks import memory
from benchmarks.memory import B, D, T, U, largest_tensor, small_network
from benchmarks.peers import StraightforwardGumbel
from neuroplastic.fuzzy import backends

FORBIDDEN = B * D * min(T, U)


def training_step(net):
    """Forward and backward, in which the input needs its gradient too."""
    x = torch.rand(B, D, requires_grad=True)
    net(x).square().mean().backward()


def test_sizes_tell_forbidden_tensors_from_necessary_ones():
    necessary = {"logits": T * D * U, "x and x squared": B * 2 * D, "premises": 2 * D * U, "firing": B * U}
    assert max(necessary.values()) < FORBIDDEN


def test_training_step_makes_no_batch_by_attribute_by_term_or_rule_tensor(path):
    shape = largest_tensor(lambda: training_step(small_network()))
    assert shape.numel() < FORBIDDEN, f"{path}: a tensor of shape {tuple(shape)}"


def test_growing_training_step_makes_no_batch_by_attribute_by_term_or_rule_tensor(path):
    net = small_network(neurogenesis=True)
    shape = largest_tensor(lambda: training_step(net))
    assert shape.numel() < FORBIDDEN, f"{path}: a tensor of shape {tuple(shape)}"


def test_evaluation_makes_no_batch_by_attribute_by_term_or_rule_tensor(path):
    net = small_network().eval()
    with torch.no_grad():
        shape = largest_tensor(lambda: net(torch.rand(B, D)))
    assert shape.numel() < FORBIDDEN, f"{path}: a tensor of shape {tuple(shape)}"


def test_straightforward_version_is_caught():
    peer = StraightforwardGumbel(small_network(), hold=64)
    assert largest_tensor(lambda: training_step(peer)).numel() >= FORBIDDEN


# Two terms come nearest to the limit: the fewer there are, the more the rest counts beside the logits.
TERMS = [2, *(pytest.param(terms, marks=pytest.mark.slow) for terms in (5, 16))]
can_measure = pytest.mark.skipif(
    not memory.can_measure(), reason="this system does not tell the peak memory of a process"
)


@pytest.fixture
def as_many_threads_as_cores(monkeypatch):
    """Each thread takes memory of its own, so the process that measures has all it would have for a user."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@can_measure
@pytest.mark.usefixtures("as_many_threads_as_cores")
@pytest.mark.skipif(
    not backends.compiled_available(), reason="the fused kernel is not available on this machine"
)
@pytest.mark.parametrize("terms", TERMS)
def test_training_step_at_the_papers_size_takes_at_most_six_times_the_logits(terms):
    assert memory.peak_extra(terms, adam=False).step <= 6


@can_measure
@pytest.mark.usefixtures("as_many_threads_as_cores")
@pytest.mark.parametrize("terms", TERMS)
def test_training_step_without_the_kernel_takes_at_most_six_times_the_logits(terms):
    assert memory.peak_extra(terms, fused=False, adam=False).step <= 6
