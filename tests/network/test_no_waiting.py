"""A training step asks the host nothing where nobody may look: it can be captured, compiled, and never waits."""

import contextlib
import copy

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import neuroplastic as npl
from neuroplastic.fuzzy import backends
from neuroplastic.fuzzy.tracing import recording

LOOKS = {
    "aten::_local_scalar_dense",
    "aten::nonzero",
    "aten::masked_select",
    "aten::equal",
    "aten::is_nonzero",
    "aten::item",
    "aten::unique",
    "aten::_unique2",
    "aten::bincount",
    "aten::repeat_interleave",
}


class Refusing(TorchDispatchMode):
    """Refuses every operation that a GPU would be waited for."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.name().split(".")[0]
        assert name not in LOOKS, f"{name} waits for a device"
        if name in ("aten::index", "aten::index_put_", "aten::index_put"):
            for index in args[1]:
                assert index is None or index.dtype != torch.bool, f"{name} by a mask waits for a device"
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def on_a_device():
    with recording(), backends.eager_only(), Refusing():
        yield


OPTIONS = {
    "stge": {},
    "ste": {"selection": npl.Selection("ste")},
    "falling noise": {"selection": npl.Selection(noise_hold=2, noise_passes=5)},
    "constraint": {"selection": npl.Selection(constraint=20.0)},
    "fixed": {"neurogenesis": None},
    "sprouting": {"neurogenesis": npl.Neurogenesis(delay=2, sprouting="max")},
    "mean": {"firing": npl.Firing("mean", certainty="log")},
    "softmax": {"firing": npl.Firing(alpha=1.0, layer_norm=False, certainty="tanh")},
    "sparsemax": {"firing": npl.Firing(alpha=2.0)},
    "any alpha": {"firing": npl.Firing(alpha=1.3)},
    "learned alpha": {"firing": npl.Firing(alpha="learn", balance=0.1)},
    "worst": {"firing": npl.Firing("worst", fitting=0.1, balance=0.1)},
    "constant": {"consequent": "constant"},
    "low rank": {"consequent": "low_rank"},
    "mamdani": {"consequent": "mamdani"},
    "limits": {"sets": npl.Sets(widest=0.5, margin=1.0)},
}


def network(dtype=torch.float64, **options):
    torch.manual_seed(0)
    given = {"neurogenesis": npl.Neurogenesis(delay=2, sprouting="max"), "max_terms": 5, **options}
    return npl.NeuroFuzzyNetwork(6, 2, 10, dtype=dtype, **given)


def batches(dtype=torch.float64, count=7):
    generator = torch.Generator().manual_seed(1)
    return [torch.rand(12, 6, dtype=dtype, generator=generator) * (1 + step) for step in range(count)]


@pytest.mark.parametrize("frozen", [False, True], ids=["free", "frozen"])
@pytest.mark.parametrize("name", OPTIONS)
def test_a_training_step_asks_the_host_nothing_and_does_the_same(name, frozen):
    net = network(**OPTIONS[name])
    if frozen:
        net.freeze(rules=[1], sets=[(0, 0)])
    twin = copy.deepcopy(net)
    assert npl.capturable(net)
    for x in batches():
        with on_a_device():
            ours = net(x)
            ours.square().sum().backward()
        theirs = twin(x)
        theirs.square().sum().backward()
        torch.testing.assert_close(ours, theirs)
    for ours, theirs in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(ours.grad, theirs.grad)
    assert torch.equal(net.term_mask, twin.term_mask)
    assert (net.births != []) == (net.neurogenesis is not None)
    assert [(b.step, b.attribute, b.term, b.count) for b in net.births] == [
        (b.step, b.attribute, b.term, b.count) for b in twin.births
    ]
    for ours, theirs in zip(net.births, twin.births, strict=True):
        assert (ours.center, ours.width) == pytest.approx((theirs.center, theirs.width), rel=1e-12)
    for ours, theirs in zip(net.statistics.moments(), twin.statistics.moments(), strict=True):
        torch.testing.assert_close(ours, theirs)
    assert net.antecedent.passes == twin.antecedent.passes == 7


def test_an_evaluation_asks_the_host_nothing():
    net = network().eval()
    x = batches()[0]
    with torch.no_grad():
        expected = net(x)
        with on_a_device():
            found = net(x)
        torch.testing.assert_close(found, expected)


def test_an_input_that_is_not_finite_is_told_of_when_somebody_looks():
    net, (first, second, *_) = network(), batches()
    second[3, 2] = torch.inf
    with on_a_device():
        net(first)
        y = net(second)
    assert y[3].isnan().all()
    assert y[:3].isfinite().all()
    with pytest.raises(npl.InputError, match="training pass 2"):
        net.state_dict()
    assert net.state_dict()


def test_a_lack_of_room_is_told_of_once_when_somebody_looks():
    net = network(max_terms=3)
    with on_a_device():
        for x in batches():
            net(x * 5)
    with pytest.warns(npl.CapacityWarning, match="max_terms = 3"):
        assert net.births == []
    assert net.antecedent.growth.at_capacity


def test_a_network_saved_after_births_that_nobody_saw_has_them(tmp_path):
    net = network()
    with on_a_device():
        for x in batches():
            net(x)
    npl.save(net, tmp_path / "net")
    again = npl.load(tmp_path / "net")
    assert again.births == net.births != []
    assert again.antecedent.passes == 7


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"selection": npl.Selection(any=True)}, "selection.any"),
        ({"sets": npl.Sets(start="data")}, "sets.start"),
        ({"renewal": npl.Renewal()}, "renewal"),
    ],
)
def test_what_cannot_be_captured_is_named(options, words):
    net = network(**options)
    verdict = npl.capturable(net)
    assert not verdict
    assert [words in reason for reason in verdict.reasons] == [True]
    assert npl.capturable(torch.nn.Sequential(net)).reasons[0].startswith("0")


def test_sets_that_started_on_data_can_be_captured_from_then_on():
    net = network(sets=npl.Sets(start="data"))
    net(batches()[0])
    assert npl.capturable(net)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_one_whole_graph_serves_all_passes_however_many_and_whatever_is_born():
    net = network(neurogenesis=npl.Neurogenesis(delay=2))
    twin = copy.deepcopy(net)
    graphs = []

    def backend(graph, example_inputs):
        graphs.append(graph)
        return graph

    compiled = torch.compile(net, fullgraph=True, backend=backend)
    for x in batches():
        ours, theirs = compiled(x), twin(x)
        ours.square().sum().backward()
        theirs.square().sum().backward()
        torch.testing.assert_close(ours, theirs)
    assert len(graphs) == 1
    assert net.births == twin.births != []
    for ours, theirs in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", OPTIONS)
def test_a_cuda_device_is_never_waited_for_and_a_captured_step_is_an_eager_one(name, dtype):
    net = network(dtype, **OPTIONS[name]).cuda()
    net(batches(dtype)[0].cuda()).square().sum().backward()  # kernels are compiled
    twin = copy.deepcopy(net)
    x = batches(dtype)[1].cuda()
    data = [batch.cuda() for batch in batches(dtype)]

    def step(model):
        model.zero_grad(set_to_none=False)
        y = model(x)
        y.square().sum().backward()
        return y.detach()

    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        step(net)
        step(twin)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        found = step(net)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for batch in data:
            x.copy_(batch)
            graph.replay()
            expected = step(twin)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    torch.testing.assert_close(found, expected)
    for ours, theirs in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)
    assert net.births == twin.births
    assert net.antecedent.passes == twin.antecedent.passes == 2 + len(data)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
@pytest.mark.parametrize("frozen", [False, True], ids=["free", "frozen"])
@pytest.mark.parametrize("name", OPTIONS)
def test_single_precision_on_cuda_is_double_precision_on_the_cpu_but_for_rounding(name, frozen):
    net = network(**OPTIONS[name])  # which is compared with the oracle elsewhere
    if frozen:
        net.freeze(rules=[1], sets=[(0, 0)])
    there = copy.deepcopy(net).float().cuda()
    for x in batches(count=4):
        outputs = net(x), there(x.float().cuda())
        for model, y in zip((net, there), outputs, strict=True):
            model.zero_grad()
            y.square().mean().backward()
        torch.testing.assert_close(outputs[1].cpu().double(), outputs[0], rtol=1e-3, atol=1e-4)
        for ours, theirs in zip(there.parameters(), net.parameters(), strict=True):
            if theirs.grad is None:  # the height method asks for no output widths
                assert ours.grad is None
                continue
            scale = float(theirs.grad.abs().max())
            torch.testing.assert_close(
                ours.grad.cpu().double(), theirs.grad, rtol=1e-3, atol=1e-3 * scale + 1e-6
            )
    assert [(b.step, b.attribute, b.term, b.count) for b in there.births] == [
        (b.step, b.attribute, b.term, b.count) for b in net.births
    ]
