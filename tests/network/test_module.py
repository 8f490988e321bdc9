"""A neuro-fuzzy network behaves like any other PyTorch module."""

import copy
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import neuroplastic as npl

CONSEQUENTS = ["affine", "constant", "low_rank", "mamdani", npl.Mamdani(defuzzifier="area")]


def grown(consequent="affine", **options) -> npl.NeuroFuzzyNetwork:
    """A network in training mode that has seen uncovered inputs, so that some of its sets were born."""
    torch.manual_seed(3)
    net = npl.NeuroFuzzyNetwork(
        5, 2, 7, consequent=consequent, neurogenesis=npl.Neurogenesis(delay=2), **options
    )
    for _ in range(5):
        net(torch.rand(16, 5, dtype=net.centers.dtype) * 4)
    assert net.births
    return net


@pytest.mark.parametrize("consequent", CONSEQUENTS, ids=str)
def test_state_dict_restores_a_grown_network_in_both_modes(consequent):
    net = grown(consequent)
    fresh = npl.NeuroFuzzyNetwork(5, 2, 7, consequent=consequent, neurogenesis=npl.Neurogenesis(delay=2))
    fresh.load_state_dict(net.state_dict())
    assert fresh.births == net.births
    x = torch.rand(9, 5) * 5
    for _ in range(4):
        torch.testing.assert_close(fresh(x), net(x), rtol=0, atol=0)
    assert fresh.births == net.births
    torch.testing.assert_close(fresh.eval()(x), net.eval()(x), rtol=0, atol=0)


@pytest.mark.parametrize("consequent", CONSEQUENTS, ids=str)
def test_saved_network_reloads_without_knowing_its_size(consequent, tmp_path):
    net = grown(consequent, terms=2, max_terms=6)
    before = torch.get_rng_state()
    npl.save(net, tmp_path / "net.safetensors")
    loaded = npl.load(tmp_path / "net.safetensors")
    assert torch.equal(torch.get_rng_state(), before)
    x = torch.rand(9, 5)
    torch.testing.assert_close(loaded(x), net(x), rtol=0, atol=0)
    assert loaded.config() == net.config()
    assert loaded.births == net.births
    assert [path.name for path in tmp_path.iterdir()] == ["net.safetensors"]


def test_hierarchy_reloads(tmp_path):
    net = npl.Hierarchy([6, 4, 3], [8, 5], dtype=torch.float64)
    net(torch.rand(8, 6, dtype=torch.float64) * 3)
    npl.save(net, tmp_path / "h")
    loaded = npl.load(tmp_path / "h")
    x = torch.rand(3, 6, dtype=torch.float64)
    torch.testing.assert_close(loaded.eval()(x), net.eval()(x), rtol=0, atol=0)
    assert loaded.births == net.births


@pytest.mark.parametrize("damage", ["truncate", "foreign", "missing", "text"])
def test_unreadable_file_is_named_in_the_error(tmp_path, damage):
    path = tmp_path / "net.safetensors"
    npl.save(grown(), path)
    if damage == "truncate":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "foreign":
        from safetensors.torch import save_file

        save_file({"a": torch.zeros(2)}, path)
    elif damage == "text":
        path.write_text("not a network")
    else:
        path.unlink()
    with pytest.raises(OSError, match=r"net\.safetensors"):
        npl.load(path)


def test_deep_copy_is_equal_and_independent():
    net = grown()
    twin = copy.deepcopy(net)
    x = torch.rand(4, 5)
    torch.testing.assert_close(twin(x), net(x), rtol=0, atol=0)
    with torch.no_grad():
        twin.centers.add_(1)
    twin(x * 50), twin(x * 50)
    assert len(twin.births) > len(net.births)
    assert not torch.equal(twin.centers, net.centers)


def test_evaluation_cache_sees_every_kind_of_change():
    net = grown().eval()
    x = torch.rand(4, 5)

    def differs_after(change) -> bool:
        with torch.no_grad():
            before = net(x)
            change()
            fresh = copy.deepcopy(net)  # keeps nothing
            torch.testing.assert_close(net(x), fresh(x), rtol=0, atol=0)
            return not torch.equal(before, net(x))

    assert differs_after(lambda: net.centers.add_(0.1))
    assert differs_after(lambda: net.centers.data.mul_(1.5))
    assert differs_after(lambda: net.antecedent.raw_widths.data.add_(0.3))
    assert differs_after(lambda: net.logits.data.neg_())
    assert differs_after(lambda: net.load_state_dict(grown(input_range=(-1.0, 2.0)).state_dict()))
    assert differs_after(lambda: net.place_sets(torch.rand(5, 8), torch.rand(5, 8) + 0.1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    net(x).square().sum().backward()
    assert differs_after(lambda: optimizer.step())
    assert net.double()(x.double()).dtype == torch.float64


def test_gradient_flows_in_evaluation_mode_too():
    net = grown().eval()
    x = torch.rand(4, 5, requires_grad=True)
    net(x).sum().backward()
    assert x.grad is not None
    assert net.centers.grad is not None
    assert net.logits.grad is not None


@pytest.mark.parametrize(
    "optimizer", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "Adadelta", "LBFGS"]
)
def test_learns_under_any_optimizer(optimizer):
    torch.manual_seed(0)
    x = torch.rand(64, 3)
    y = (x[:, :1] > 0.5).float() + x[:, 1:2]
    net = npl.NeuroFuzzyNetwork(3, 1, 6, selection=npl.Selection(estimator="ste"))
    rates = {"SGD": 0.05, "Adadelta": 1.0, "LBFGS": 0.2, "Adagrad": 0.1}
    steps = getattr(torch.optim, optimizer)(net.parameters(), lr=rates.get(optimizer, 0.02))

    def closure() -> torch.Tensor:
        steps.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        return loss

    first = closure().item()
    for _ in range(60):
        steps.step(closure)
    assert F.mse_loss(net.eval()(x), y).item() < 0.5 * first


def test_trains_behind_convolutions_under_autocast():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), npl.NeuroFuzzyNetwork(4 * 36, 2, 8, max_terms=5)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    x = torch.rand(32, 1, 8, 8)
    y = (x[:, 0, :4].mean(dim=(1, 2)) > x[:, 0, 4:].mean(dim=(1, 2))).long()
    losses = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", npl.CapacityWarning)
        for _ in range(80):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.cross_entropy(model(x).float(), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_gives_finite_half_precision(dtype):
    net = grown().to(dtype)
    y = net(torch.rand(4, 5).to(dtype))
    assert y.dtype == dtype
    y.float().sum().backward()
    assert torch.isfinite(y).all()
    assert torch.isfinite(net.logits.grad).all()
    reference = copy.deepcopy(net).float().eval()
    x = torch.rand(4, 5).to(dtype)
    torch.testing.assert_close(net.eval()(x).float(), reference(x.float()), rtol=2e-2, atol=2e-2)


def test_rules_that_moved_to_a_born_set_can_be_listed():
    net = grown()
    birth = net.births[0]
    with torch.no_grad():
        net.logits[birth.term, birth.attribute, [2, 5]] = 50.0
        net.logits[birth.term, birth.attribute, [0, 1, 3, 4, 6]] = -50.0
    assert net.rules_using(birth.attribute, birth.term) == [2, 5]


def test_repr_tells_the_size():
    assert "5 attributes, 7 rules, 2 outputs" in repr(grown())


def test_consequents_have_only_their_own_parts():
    constant = npl.NeuroFuzzyNetwork(2, 1, 3, consequent="constant")
    assert hasattr(constant, "bias")
    assert not hasattr(constant, "weight")
    assert not hasattr(constant, "output_centers")
