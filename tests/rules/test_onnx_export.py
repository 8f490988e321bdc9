"""An exported graph computes what the network does, for every option, size of batch and stage of growth."""

import copy
import itertools
import json

import numpy as np
import pandas as pd
import pytest
import torch

import neuroplastic as npl
from neuroplastic.rules.standards.onnx_export import to_onnx
from tests.random_network import Setup

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

CONSEQUENTS = ("affine", "constant", npl.LowRank(2), npl.Mamdani(4, "height"), npl.Mamdani(4, "area"))
BATCHES = (1, 3, 64)


def session_of(net, path):
    """The graph of the network in onnxruntime."""
    to_onnx(net, path)
    return runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def check(net, path, dtype=torch.float32, spread=2.0, tolerance=1e-5):
    """onnxruntime equals torch at batches of 1, 3 and 64."""
    session = session_of(net, path)
    size = net.sizes[0] if isinstance(net, npl.Hierarchy) else net.in_features
    generator = torch.Generator().manual_seed(0)
    net.eval()
    for batch in BATCHES:
        x = torch.randn(batch, size, dtype=dtype, generator=generator) * spread
        with torch.no_grad():
            expected = net(x).numpy()
        (found,) = session.run(None, {"x": x.numpy()})
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0, 1.25, 1.001, "learn"])
@pytest.mark.parametrize("reduce", ["sum", "mean", "scaled", "worst"])
def test_every_way_of_firing_equals_torch(reduce, alpha, layer_norm, tmp_path):
    every = 11 if alpha in (1.25, 1.001, "learn") else 5  # of the pairs; a bisection makes a large graph
    pairs = list(enumerate(itertools.product((None, "log", "tanh"), CONSEQUENTS)))
    for seed, (certainty, kind) in pairs[layer_norm::every]:
        setup = Setup(
            reduce=reduce, alpha=alpha, layer_norm=layer_norm, certainty=certainty, consequent=kind, U=7
        )
        check(setup.network(seed, dtype=torch.float32), tmp_path / "net.onnx")


@pytest.mark.parametrize("consequent", CONSEQUENTS, ids=str)
@pytest.mark.parametrize("certainty", [None, "log", "tanh"])
def test_every_consequent_and_certainty_equals_torch_in_double(certainty, consequent, tmp_path):
    net = Setup(certainty=certainty, consequent=consequent).network(3)
    check(net, tmp_path / "net.onnx", torch.float64, tolerance=1e-9)


def test_grown_network_equals_torch(tmp_path):
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(4, 2, 9, neurogenesis=npl.Neurogenesis(delay=1))
    check(net, tmp_path / "young.onnx")
    for _ in range(3):
        net.train()(torch.rand(32, 4) * 8 - 4)
    assert net.births
    check(net, tmp_path / "grown.onnx")


def test_hierarchy_equals_torch(tmp_path):
    torch.manual_seed(0)
    net = npl.Hierarchy([5, 4, 3, 2], [6, 7, 8], neurogenesis=npl.Neurogenesis(delay=1))
    net.train()(torch.randn(64, 5) * 4)
    assert net.births
    check(net, tmp_path / "net.onnx")


def test_one_rule_one_input_one_output(tmp_path):
    for alpha in (1.0, 1.5, 2.0, 1.7):
        net = Setup(D=1, outputs=1, U=1, alpha=alpha).network(0, dtype=torch.float32)
        check(net, tmp_path / "net.onnx")


def test_tied_rules_fire_alike(tmp_path):
    net = Setup(U=5, alpha=1.5, consequent="constant").network(0, dtype=torch.float32)
    with torch.no_grad():
        net.logits.copy_(net.logits[:, :, :1].expand_as(net.logits))
        net.kappa.fill_(1.0)
        net.beta.zero_()
    check(net, tmp_path / "net.onnx")


def test_rules_that_ignore_inputs_and_far_inputs_equal_torch(tmp_path):
    torch.manual_seed(1)
    net = npl.NeuroFuzzyNetwork(3, 2, 6, terms=2, max_terms=2, consequent="constant")
    widths = torch.tensor([[0.5, torch.inf]]).expand(3, 2)
    net.place_sets(torch.tensor([[0.3, 0.0]]).expand(3, 2).clone(), widths.clone())
    check(net, tmp_path / "net.onnx")
    check(net, tmp_path / "net.onnx", spread=1e12)


def test_narrow_sets_far_from_zero_lose_no_digits(tmp_path):
    """The expanded square cancels: it must be as exact as the plain distance."""
    net = Setup(D=6, U=8, alpha=1.0, layer_norm=False, consequent="constant").network(2, dtype=torch.float32)
    with torch.no_grad():
        centers = 1000 + 0.01 * torch.randn(net.centers.shape, generator=torch.Generator().manual_seed(0))
        net.place_sets(centers, torch.full_like(centers, 0.01), net.term_mask.clone())
    session = session_of(net, tmp_path / "net.onnx")
    x = 1000 + 0.02 * torch.randn(64, 6, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        exact = copy.deepcopy(net).double().eval()
        expected = exact(x.double()).numpy()
    np.testing.assert_allclose(session.run(None, {"x": x.numpy()})[0], expected, atol=1e-5)


def test_a_large_network_stays_small_in_memory_and_near_double_precision(tmp_path):
    """1600 inputs and 256 rules, as behind the vision encoder: no tensor of shape (B, U, D) in the graph."""
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(1600, 9, 256).eval()
    session = session_of(net, tmp_path / "net.onnx")
    assert (tmp_path / "net.onnx").stat().st_size < 30e6
    model = onnx.shape_inference.infer_shapes(onnx.load(tmp_path / "net.onnx"))
    for value in model.graph.value_info:
        assert len(value.type.tensor_type.shape.dim) <= 3
        assert np.prod([d.dim_value or 1 for d in value.type.tensor_type.shape.dim]) <= 256 * 9
    x = torch.rand(64, 1600)
    with torch.no_grad():
        single = net(x).numpy()
        exact = copy.deepcopy(net).double()(x.double()).numpy()
    (found,) = session.run(None, {"x": x.numpy()})
    np.testing.assert_allclose(found, single, rtol=1e-5, atol=2e-5)
    assert np.abs(found - exact).max() <= np.abs(single - exact).max()


def test_half_precision_networks_are_exported_in_single(tmp_path):
    net = Setup(alpha=1.5).network(0, dtype=torch.float32).to(torch.bfloat16)
    check(net, tmp_path / "net.onnx", tolerance=2e-2)


def test_the_model_passes_the_checker_and_leaves_the_batch_open(tmp_path):
    to_onnx(Setup(alpha=1.3).network(0), tmp_path / "net.onnx")
    model = onnx.load(tmp_path / "net.onnx")
    onnx.checker.check_model(model, full_check=True)
    (x,), (y,) = model.graph.input, model.graph.output
    assert (x.name, y.name) == ("x", "y")
    assert [d.dim_param or d.dim_value for d in x.type.tensor_type.shape.dim] == ["batch", 4]
    assert [d.dim_param or d.dim_value for d in y.type.tensor_type.shape.dim] == ["batch", 2]


def test_exporting_changes_nothing_in_the_network(tmp_path):
    net = Setup().network(0).train()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    state = torch.random.get_rng_state()
    to_onnx(net, tmp_path / "net.onnx")
    assert net.training
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())


def test_other_modules_are_refused(tmp_path):
    with pytest.raises(npl.ConfigError, match="got Linear"):
        to_onnx(torch.nn.Linear(2, 2), tmp_path / "net.onnx")


def fitted(**settings):
    """A classifier of a number and a category."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"size": rng.normal(5, 2, 58), "town": np.resize(["Bern", "Oslo", "Rome"], 58)})
    y = np.where((x["size"] > 5) ^ (x["town"] == "Oslo"), "yes", "no")
    return npl.NeuroFuzzyClassifier(max_updates=20, random_state=0, **settings).fit(x, y), x


@pytest.mark.parametrize(
    ("settings", "inputs"),
    [
        ({"rules": 3}, ["size", "town = Bern", "town = Oslo", "town = Rome"]),
        ({"readable": True, "taught": False}, ["size", "town"]),
    ],
)
def test_the_columns_of_an_estimators_graph_have_names_and_its_scores_hold_far_outside(
    settings, inputs, tmp_path
):
    model, x = fitted(**settings)
    npl.export(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    said = {name: json.loads(text) for name, text in session.get_modelmeta().custom_metadata_map.items()}
    assert said.pop("inputs") == inputs == model.encoder_.names
    assert said.pop("outputs") == ["no", "yes"]
    codes = {inputs[place]: list(categories) for place, categories in model.encoder_.crisp.items()}
    assert said == ({"categories": codes} if codes else {})
    raw = model.encoder_(pd.concat([x, x.head(2).assign(size=[-40.0, 60.0])]))  # beyond where sets end
    (scores,) = session.run(None, {"x": raw.astype(np.float32)})
    np.testing.assert_allclose(scores, model.outputs_of_encoded(raw), rtol=1e-4, atol=1e-4)
