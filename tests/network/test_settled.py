"""What is kept for evaluation is dropped when a tensor changes, however it was written: one promise for all caches."""

import copy

import pytest
import torch
from torch import nn
from torch.func import functional_call

import neuroplastic as npl
from neuroplastic.fuzzy.tracing import recording
from neuroplastic.network.encoder import PictureEncoder
from neuroplastic.network.settled import ENOUGH_WORK, WHOLE, Settled, Watch


def small_network(**options):
    torch.manual_seed(1)
    return npl.NeuroFuzzyNetwork(6, 2, 8, max_terms=4, terms=4, neurogenesis=None, **options)


def large_network(dtype=torch.float32):
    """Logits of more than is looked at whole: 5 x 97 x 600 entries."""
    torch.manual_seed(1)
    net = npl.NeuroFuzzyNetwork(97, 2, 600, max_terms=5, terms=5, neurogenesis=None, dtype=dtype)
    assert net.logits.numel() * net.logits.element_size() > 8 * WHOLE
    return net


def frozen_network():
    net = small_network()
    net.freeze(rules=[0], sets=[(1, 1)])
    return net


def hierarchy():
    torch.manual_seed(1)
    return npl.Hierarchy([6, 3, 2], 8, max_terms=4)


def encoder():
    torch.manual_seed(1)
    model = PictureEncoder()
    model.train()(pictures(6))
    return model


def pictures(count):
    return torch.randint(256, (count, 84, 84, 3), dtype=torch.uint8)


def rows(columns):
    return lambda count: torch.rand(count, columns)


MODELS = {
    "small network": (small_network, rows(6)),
    "large network": (large_network, rows(97)),
    "frozen network": (frozen_network, rows(6)),
    "hierarchy": (hierarchy, rows(6)),
    "encoder": (encoder, pictures),
}


@torch.no_grad()
def assert_current(model, x):
    """The model evaluates as its copy does, which keeps nothing."""
    fresh = copy.deepcopy(model)
    torch.testing.assert_close(model(x), fresh(x), rtol=0, atol=0)


def written_in_place(model):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))


def written_through_data(model):
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter))


def written_through_numpy(model):
    for parameter in model.parameters():
        array = parameter.detach().numpy()
        array += 0.3 * array.std()


def given_other_memory(model):
    for parameter in model.parameters():
        parameter.data = parameter.data + 0.3 * torch.randn_like(parameter)


def replaced(model):
    state = {name: tensor + torch.randn_like(tensor) for name, tensor in model.named_parameters()}
    model.load_state_dict({**model.state_dict(), **state}, assign=True)


def loaded(model):
    state = {name: tensor + torch.randn_like(tensor) for name, tensor in model.named_parameters()}
    model.load_state_dict({**model.state_dict(), **state})


def from_a_vector(model):
    vector = nn.utils.parameters_to_vector(model.parameters())
    nn.utils.vector_to_parameters(vector + 0.3 * torch.randn_like(vector), model.parameters())


def converted(model):
    model.double()
    written_through_data(model)
    model.float()


def optimized(optimizer, **options):
    def change(model):
        model_input = pictures(3) if isinstance(model, PictureEncoder) else torch.rand(9, first_width(model))
        model.train()(model_input).square().sum().backward()
        model.eval()
        with torch.no_grad():
            model(model_input)  # so that the step comes between two evaluations
        getattr(torch.optim, optimizer)(model.parameters(), lr=0.3, **options).step()

    change.__name__ = f"{optimizer}{options}"
    return change


def first_width(model):
    return model.levels[0].in_features if isinstance(model, npl.Hierarchy) else model.in_features


CHANGES = [
    written_in_place,
    written_through_data,
    written_through_numpy,
    given_other_memory,
    replaced,
    loaded,
    from_a_vector,
    converted,
    optimized("SGD"),
    optimized("Adam"),
    optimized("Adam", fused=True),
    optimized("AdamW", fused=True),
    optimized("SGD", fused=True, momentum=0.9),
    optimized("Adam", foreach=True),
]


@pytest.mark.filterwarnings("ignore::neuroplastic.CapacityWarning")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("model", MODELS)
def test_every_way_to_change_a_model_is_seen_by_the_next_evaluation_of_one_observation(model, change):
    build, inputs = MODELS[model]
    model, x = build().eval(), inputs(1)
    for _ in range(3):
        with torch.no_grad():
            model(x)
        change(model)
        model.training = False  # not by eval(), which looks anew
        assert_current(model, x)


def single_writes(tensor, count):
    """Random entries, the first and the last, each with a value that is far off."""
    places = [0, tensor.numel() - 1, *torch.randint(tensor.numel(), (count,)).tolist()]
    for place in places:
        value = tensor.detach().view(-1)[place].item()
        yield place, value + 40.0 if place % 2 else -40.0


@pytest.mark.parametrize("build", [small_network, frozen_network, encoder])
def test_any_single_entry_of_a_small_tensor_written_through_data_is_seen_at_once(build):
    model = build().eval()
    x = pictures(1) if build is encoder else torch.rand(1, 6)
    tensors = [*model.parameters(), *model.buffers()]  # references from before every evaluation
    with torch.no_grad():
        model(x)
    for tensor in tensors:
        if tensor.is_floating_point():
            for place, value in single_writes(tensor, 3):
                tensor.data.view(-1)[place] = abs(value) if build is encoder else value
                assert_current(model, x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_logit_of_a_large_network_written_through_data_is_seen_at_once(dtype):
    net, x = large_network(dtype).eval(), torch.rand(1, 97, dtype=dtype)
    assert_current(net, x)
    for place, value in single_writes(net.logits, 12):
        net.logits.data.view(-1)[place] = value
        assert_current(net, x)


SEEN = {
    "by an evaluation of many observations": lambda net: net(torch.rand(ENOUGH_WORK, 97)),
    "after eval()": lambda net: net.eval(),
    "after the whole model's eval()": lambda net: nn.Sequential(net).eval(),
    "after a pass with gradients": lambda net: with_gradients(net),
    "after a pass in training mode": lambda net: (net.train()(torch.rand(2, 97)), net.eval()),
    "after 64 evaluations": lambda net: [net(torch.rand(1, 97)) for _ in range(63)],
    "after some evaluations of 256 observations": lambda net: [net(torch.rand(256, 97)) for _ in range(4)],
}


def with_gradients(net):
    with torch.enable_grad():
        net(torch.rand(2, 97))


@pytest.mark.parametrize("occasion", SEEN)
def test_a_logit_of_a_large_network_written_through_an_old_reference_is_seen(occasion):
    net, x = large_network().eval(), torch.rand(1, 97)
    logits = net.logits
    with torch.no_grad():
        net(x)
        for place, value in single_writes(logits, 12):
            net(torch.rand(2, 97))  # the turn comes to another part
            logits.data.view(-1)[place] = value
            SEEN[occasion](net)
            assert_current(net, x)


def test_a_few_observations_see_half_a_large_tensor_change_at_once():
    net, x = large_network().eval(), torch.rand(1, 97)
    logits = net.logits
    for change in (
        lambda: logits.data[:, :, 7].neg_(),  # one rule
        lambda: logits.data[3].neg_(),  # one term
        lambda: logits.data[:, 40:60].neg_(),  # some attributes
    ):
        assert_current(net, x)
        change()
        assert_current(net, x)


def exchange(tensor, dimension, one, other):
    kept = tensor.select(dimension, one).clone()
    tensor.select(dimension, one).copy_(tensor.select(dimension, other))
    tensor.select(dimension, other).copy_(kept)


@pytest.mark.parametrize("build", [small_network, large_network])
@pytest.mark.parametrize("dimension", [0, 1, 2], ids=["terms", "attributes", "rules"])
def test_exchanged_entries_are_seen_though_their_sum_stays(build, dimension):
    net = build().eval()
    x = torch.rand(ENOUGH_WORK, net.in_features)
    size = net.logits.shape[dimension]
    for distance in range(1, size, 1 + size // 60):
        assert_current(net, x)
        exchange(net.logits.data, dimension, 0, distance)
        assert_current(net, x)


def test_a_call_with_other_parameters_is_an_evaluation_of_those():
    net, x = large_network().eval(), torch.rand(1, 97)
    with torch.no_grad():
        ours = net(x)
        for place, value in single_writes(net.logits, 6):
            other = net.logits.detach().clone()
            other.view(-1)[place] = value
            twin = copy.deepcopy(net)
            twin.logits.data.copy_(other)
            given = functional_call(net, {"antecedent.logits": other}, (x,))
            torch.testing.assert_close(given, twin(x), rtol=0, atol=0)
            del other
            torch.testing.assert_close(net(x), ours, rtol=0, atol=0)


def test_an_explainer_reads_the_rules_anew_after_any_write():
    net, x = small_network().eval(), torch.rand(3, 6)
    explainer = npl.Explainer(net)
    for tensor in net.parameters():
        for place, value in single_writes(tensor, 1):
            tensor.data.view(-1)[place] = value
            fresh = npl.Explainer(net)
            assert explainer.rule_bases[0].text() == fresh.rule_bases[0].text()
            assert str(explainer(x)) == str(fresh(x))


def test_evaluations_without_a_change_make_nothing_anew():
    for build, inputs in MODELS.values():
        model = build().eval()
        with torch.no_grad():
            model(inputs(1))
            parts = [part for part in model.modules() if hasattr(part, "settled")]
            kept = [part.settled._kept for part in parts]
            for count in (1, 2, 50):
                model(inputs(count))
            model.eval()(inputs(1))
        assert parts
        assert all(part.settled._kept is before for part, before in zip(parts, kept, strict=True))


def test_copies_and_conversions_keep_nothing():
    settled = Settled()
    tensors = [torch.rand(3)]
    assert settled.value(tensors, lambda: "made") == "made"
    assert copy.deepcopy(settled)._kept is None
    net = large_network().eval()
    with torch.no_grad():
        net(torch.rand(1, 97))
    assert net.double().antecedent.settled._kept is None


@pytest.mark.parametrize(
    "tensor",
    [
        torch.rand(7),
        torch.rand(3, dtype=torch.float16),
        torch.rand(5, 4).t(),
        torch.rand(9)[1:4],
        torch.rand(1, 1).expand(4, 5),
        torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last),
        torch.rand(100_003),
        torch.rand(400, 300).t(),
        torch.rand(()),
        torch.rand(5) > 0.5,
    ],
    ids=lambda tensor: f"{tuple(tensor.shape)}-{tuple(tensor.stride())}-{tensor.dtype}",
)
def test_tensors_of_any_layout_are_watched(tensor):
    watch = Watch([tensor])
    assert watch.is_true_of([tensor], 1.0)
    assert not watch.is_true_of([tensor.clone()], 1.0)
    assert not watch.is_true_of([], 1.0)
    for place in {0, tensor.numel() // 2, tensor.numel() - 1}:
        index = torch.tensor(place)
        at = torch.unravel_index(index, tensor.shape) if tensor.dim() else ()
        tensor.data[at] = ~tensor.data[at] if tensor.dtype == torch.bool else tensor.data[at] + 1
        assert not watch.is_true_of([tensor], 1.0)
        watch = Watch([tensor])
        assert watch.is_true_of([tensor], 1.0)


def test_networks_without_memory_are_no_obstacle():
    net = npl.NeuroFuzzyNetwork(3, 1, 4, device="meta").eval()
    assert net.antecedent.settled.value([net.centers], lambda: 5) == 5


def test_a_recorded_pass_computes_what_is_kept_elsewhere():
    settled, tensor, made = Settled(), torch.zeros(3), []
    make = lambda: made.append(1) or len(made)  # noqa: E731
    assert settled.value([tensor], make) == settled.value([tensor], make) == 1
    with recording():
        assert settled.value([tensor], make) == 2
    assert settled.value([tensor], make) == 1
