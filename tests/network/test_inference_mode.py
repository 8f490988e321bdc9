"""Inference mode leaves nothing behind: what a network keeps can be used by any later pass."""

import copy
from itertools import permutations

import pytest
import torch

import neuroplastic as npl
from neuroplastic.network.dueling import DuelingNetwork
from neuroplastic.network.encoder import PictureEncoder

CONSEQUENTS = ["affine", "constant", "low_rank", "mamdani", npl.Mamdani(defuzzifier="area")]
GROWING = npl.Neurogenesis(delay=1, min_count=1)


def network(estimator="stge", consequent="affine", neurogenesis=GROWING):
    torch.manual_seed(0)
    selection = npl.Selection(estimator=estimator, noise_hold=2)
    return npl.NeuroFuzzyNetwork(
        3, 2, 4, max_terms=16, selection=selection, consequent=consequent, neurogenesis=neurogenesis
    )


def hierarchy():
    torch.manual_seed(0)
    return npl.Hierarchy(
        [3, 2, 2], 4, max_terms=16, selection=npl.Selection(noise_hold=2), neurogenesis=GROWING
    )


def frozen():
    net = network()
    net.freeze(rules=[1], sets=[(0, 1)])
    return net


def training(model, x):
    """A step that leaves gradients behind; the input's too."""
    inputs = x.clone().requires_grad_() if x.is_floating_point() else x
    y = model.train()(inputs)
    y.square().sum().backward()
    return y.detach()


def training_in_inference_mode(model, x):
    with torch.inference_mode():
        return model.train()(x).clone()


def training_without_gradients(model, x):
    with torch.no_grad():
        return model.train()(x)


def evaluation(model, x):
    inputs = x.clone().requires_grad_() if x.is_floating_point() else x
    y = model.eval()(inputs)
    y.square().sum().backward()
    return y.detach()


def evaluation_in_inference_mode(model, x):
    with torch.inference_mode():
        return model.eval()(x).clone()


def evaluation_without_gradients(model, x):
    with torch.no_grad():
        return model.eval()(x)


PASSES = (
    training,
    training_in_inference_mode,
    evaluation,
    evaluation_in_inference_mode,
    evaluation_without_gradients,
)
WITHOUT = {
    training_in_inference_mode: training_without_gradients,
    evaluation_in_inference_mode: evaluation_without_gradients,
}


def inference_tensors(holder, seen):
    """Every inference tensor that can be reached from a module, by attributes, tuples, lists and dictionaries."""
    if id(holder) in seen or isinstance(holder, type):
        return []
    seen.add(id(holder))
    if isinstance(holder, torch.Tensor):
        return [holder] if holder.is_inference() else []
    if isinstance(holder, dict):
        parts = holder.values()
    elif isinstance(holder, list | tuple | set):
        parts = holder
    else:
        parts = getattr(holder, "__dict__", {}).values()
    return [tensor for part in parts for tensor in inference_tensors(part, seen)]


def assert_any_order_is_as_without_inference_mode(model, x, orders):
    for order in orders:
        ours, theirs = copy.deepcopy(model), copy.deepcopy(model)
        for number, passed in enumerate(order):
            name = f"{[done.__name__ for done in order]}, pass {number}"
            outputs = []
            for net, way in ((ours, passed), (theirs, WITHOUT.get(passed, passed))):
                torch.default_generator.manual_seed(number)
                outputs.append(way(net, x * (1 + number) if x.is_floating_point() else x))
            assert torch.equal(*outputs), name
            assert not inference_tensors(ours, set()), name
        for (key, one), other in zip(ours.state_dict().items(), theirs.state_dict().values(), strict=True):
            assert torch.equal(one, other), key
        for (key, one), other in zip(ours.named_parameters(), theirs.parameters(), strict=True):
            assert (one.grad is None) == (other.grad is None), key
            assert one.grad is None or torch.equal(one.grad, other.grad), key


@pytest.mark.parametrize("neurogenesis", [GROWING, None], ids=["growing", "not growing"])
@pytest.mark.parametrize("estimator", ["stge", "ste"])
@pytest.mark.parametrize("consequent", CONSEQUENTS, ids=str)
def test_passes_of_a_network_may_come_in_any_order(consequent, estimator, neurogenesis):
    model = network(estimator, consequent, neurogenesis)
    assert_any_order_is_as_without_inference_mode(model, torch.rand(4, 3), permutations(PASSES, 3))


@pytest.mark.parametrize("model", [hierarchy, frozen])
def test_passes_of_hierarchies_and_frozen_networks_may_come_in_any_order(model):
    assert_any_order_is_as_without_inference_mode(model(), torch.rand(4, 3), permutations(PASSES, 3))


def test_all_five_kinds_of_passes_may_come_in_any_order():
    model = network(consequent="mamdani")
    assert_any_order_is_as_without_inference_mode(model, torch.rand(4, 3), permutations(PASSES))


def test_passes_of_a_dueling_network_with_the_picture_encoder_may_come_in_any_order():
    torch.manual_seed(0)
    heads = (npl.NeuroFuzzyNetwork(1600, outputs, 3, terms=2, max_terms=3) for outputs in (1, 2))
    model = DuelingNetwork(PictureEncoder(feature_norm=True), *heads)
    pictures = torch.randint(256, (1, 84, 84, 3), dtype=torch.uint8)
    assert_any_order_is_as_without_inference_mode(model, pictures, permutations(PASSES, 3))


def learns(model, x):
    model.train()(x).square().sum().backward()
    return next(model.parameters()).grad is not None and not inference_tensors(model, set())


@pytest.mark.parametrize("made", [network, hierarchy, frozen, lambda: network(consequent="mamdani")])
def test_networks_made_in_inference_mode_learn(made, tmp_path):
    x = torch.rand(4, 3)
    with torch.inference_mode():
        model = made()
        model(x)
        npl.save(model, tmp_path / "net")
        loaded = npl.load(tmp_path / "net")
    assert learns(model, x)
    assert learns(loaded, x)
    with torch.inference_mode():
        loaded.double()(x.double())
    assert learns(loaded, x.double())


def test_freezing_and_loading_in_inference_mode_leave_nothing_behind():
    net, x = network(), torch.rand(4, 3)
    saved = copy.deepcopy(frozen().state_dict())
    with torch.inference_mode():
        net.freeze(rules=[0])
        net(x)
        net.load_state_dict(saved)
        net(x)
        net.unfreeze()
        net.place_sets(torch.rand(3, 16), torch.rand(3, 16) + 0.1)
    assert learns(net, x)
