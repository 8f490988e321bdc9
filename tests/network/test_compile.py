"""Networks under torch.compile give what they give without it, births included."""

import copy

import pytest
import torch

import neuroplastic as npl
from neuroplastic.fuzzy import tracing

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.mark.parametrize("firing", [npl.Firing(), npl.Firing(reduce="worst", balance=0.1)], ids=str)
def test_compiled_network_trains_like_the_plain_one(firing):
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(
        6, 2, 10, firing=firing, neurogenesis=npl.Neurogenesis(delay=2), dtype=torch.float64
    )
    twin = copy.deepcopy(net)
    compiled = torch.compile(net, backend="aot_eager")
    for step in range(5):
        x = torch.rand(12, 6, dtype=torch.float64) * (1 + step)
        outputs = [model(x) for model in (compiled, twin)]
        for y in outputs:
            y.square().sum().backward()
        torch.testing.assert_close(*outputs)
        for ours, theirs in zip(net.parameters(), twin.parameters(), strict=True):
            torch.testing.assert_close(ours.grad, theirs.grad)
    assert net.births == twin.births != []


def test_compiled_evaluation_equals_plain_evaluation():
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(6, 2, 10).eval()
    compiled = torch.compile(net, backend="aot_eager")
    x = torch.rand(12, 6)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), net(x))


def test_tracing_is_noticed():
    assert not tracing.traced()
    seen = torch.compile(lambda x: x + int(tracing.traced()), backend="eager")(torch.zeros(1))
    assert seen.item() == 1
