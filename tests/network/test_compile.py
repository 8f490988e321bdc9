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


EVERYTHING = {
    "firing": npl.Firing(reduce="scaled", balance=0.1),
    "selection": npl.Selection("ste", any=True, price=0.1, start=2.0),
    "sets": npl.Sets(start="data", widest=0.5, margin=2.0),
    "renewal": npl.Renewal(every=2, least=0.9),
}


@pytest.mark.parametrize(
    "options",
    [{}, {"firing": npl.Firing(reduce="worst", balance=0.1)}, EVERYTHING],
    ids=["plain", "worst", "everything on"],
)
def test_compiled_network_trains_like_the_plain_one(options):
    torch.manual_seed(0)
    growth = npl.Neurogenesis(delay=2)
    net = npl.NeuroFuzzyNetwork(6, 2, 10, neurogenesis=growth, dtype=torch.float64, **options)
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
    ours, theirs = ([(event.step, event.rule) for event in each.renewals] for each in (net, twin))
    assert ours == theirs


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
