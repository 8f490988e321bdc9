"""What every consequent of the catalogue does, and what becomes of one that a program registers."""

import dataclasses

import pytest
import torch

import neuroplastic as npl
from neuroplastic import catalog
from neuroplastic.fuzzy import consequents as decide
from neuroplastic.network.consequents import Consequent, LinearForm, consequent_config

NAMES = catalog.names("consequent")


def network(consequent):
    torch.manual_seed(0)
    return npl.NeuroFuzzyNetwork(4, 3, rules=6, consequent=consequent, dtype=torch.float64)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_found_by_name_and_its_fields_are_explained(name):
    config = consequent_config(name)
    assert catalog.name_of("consequent", config) == name
    assert all(field.metadata.get("help") for field in dataclasses.fields(config))


@pytest.mark.parametrize("name", NAMES)
def test_it_learns_as_many_numbers_as_it_says(name):
    net = network(name)
    counted = sum(parameter.numel() for parameter in net.consequent.parameters())
    assert net.consequent_config.parameters(4, 3, 6) == counted


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_gets_a_gradient(name):
    net = network(name)
    net(torch.rand(32, 4, dtype=torch.float64)).square().sum().backward()
    for parameter_name, parameter in net.consequent.named_parameters():
        if parameter_name != "raw_output_widths":  # the height method asks for centres only
            assert parameter.grad is not None, parameter_name
            assert parameter.grad.abs().sum() > 0, parameter_name


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_network_comes_back_the_same(name, tmp_path):
    net, x = network(name).eval(), torch.rand(5, 4, dtype=torch.float64)
    npl.save(net, tmp_path / "net.safetensors")
    torch.testing.assert_close(npl.load(tmp_path / "net.safetensors").eval()(x), net(x), rtol=0, atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_what_it_says_of_its_decisions_is_what_it_computes(name):
    net, x = network(name).eval(), torch.rand(5, 4, dtype=torch.float64)
    if name == "mamdani":
        assert net.conclusions().shape == (6, 3)
        return
    bias, weight, projection = net.consequent.linear()
    seen = x if projection is None else x @ projection
    decided = bias if weight is None else torch.einsum("bd,uod->buo", seen, weight) + bias
    torch.testing.assert_close((decided * net.firing(x).unsqueeze(2)).sum(dim=1), net(x))


class BoundedConsequent(Consequent):
    """Constants between -1 and 1, or, where they bend, the tangent of a linear function."""

    def __init__(self, attributes, outputs, rules, like, *, bends):
        super().__init__()
        self.bends = bends
        self.weight = torch.nn.Parameter(torch.ones_like(like.new_empty(rules, outputs, attributes)))
        self.raw = torch.nn.Parameter(torch.ones_like(like.new_empty(rules, outputs)))

    def forward(self, x, firing, draw):
        decided = torch.einsum("bd,uod->buo", x, self.weight) if self.bends else 0
        return ((decided + self.raw).tanh() * firing.unsqueeze(2)).sum(dim=1)

    def linear(self):
        return super().linear() if self.bends else LinearForm(self.raw.tanh())


@dataclasses.dataclass(frozen=True)
class Bounded:
    bends: bool = dataclasses.field(default=False, metadata={"help": "no linear function any more"})

    def parameters(self, attributes, outputs, rules):
        return rules * outputs * (attributes + 1)

    def build(self, selection, attributes, outputs, rules, like):
        return BoundedConsequent(attributes, outputs, rules, like, bends=self.bends)


@pytest.fixture
def _bounded(monkeypatch):
    monkeypatch.setitem(catalog.KINDS["consequent"], "bounded", Bounded)


@pytest.mark.usefixtures("_bounded")
@pytest.mark.parametrize("bends", [False, True])
def test_one_of_ones_own_is_trained_and_saved(bends, tmp_path):
    net, x = network(Bounded(bends)), torch.rand(32, 4, dtype=torch.float64)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    before = net.eval()(x).square().mean().item()
    for _ in range(20):
        optimizer.zero_grad()
        net.train()(x).square().mean().backward()
        optimizer.step()
    net.eval()
    assert net(x).square().mean().item() < before
    npl.save(net, tmp_path / "net.safetensors")
    again = npl.load(tmp_path / "net.safetensors")
    assert again.consequent_config == Bounded(bends)
    torch.testing.assert_close(again.eval()(x), net(x), rtol=0, atol=0)
    assert npl.diagnose(net, x).consequent == "bounded"


@pytest.mark.usefixtures("_bounded")
def test_one_of_ones_own_that_is_linear_has_rules():
    net, x = network("bounded").eval(), torch.rand(5, 4, dtype=torch.float64)
    rules = npl.rule_base(net)
    torch.testing.assert_close(npl.network_of(rules).double().eval()(x), net(x), rtol=0, atol=1e-6)
    assert len(npl.explain(net, x[:1]).text()) > 0
    with pytest.raises(npl.ConfigError, match="a BoundedConsequent computes them of other parameters"):
        npl.simplify(net, x, tolerance=0.1)


@pytest.mark.usefixtures("_bounded")
@pytest.mark.parametrize(
    "ask",
    [
        npl.rule_base,
        lambda net: npl.simplify(net, torch.rand(5, 4, dtype=torch.float64), tolerance=0.1),
        lambda net: npl.explain(net, torch.rand(1, 4, dtype=torch.float64)),
    ],
    ids=["rules", "simplification", "explanation"],
)
def test_one_that_is_not_linear_says_why_it_has_no_rules(ask):
    with pytest.raises(
        npl.ConfigError, match="a BoundedConsequent is neither, and can be trained, saved and"
    ):
        ask(network(Bounded(bends=True)))


def test_what_is_no_consequent_is_refused_by_name():
    with pytest.raises(npl.ConfigError, match="did you mean 'affine'"):
        network("afine")
    with pytest.raises(npl.ConfigError, match=r"or a configuration, got 5; one of your own.*register"):
        network(5)
    with pytest.raises(npl.ConfigError, match=r"got Bounded.*register\('consequent', NAME, CLASS\)"):
        network(Bounded())


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("firing_rules", [0, 2, 4, 5, 8])
def test_rules_that_fire_for_nobody_are_left_out_at_no_difference(rows, firing_rules):
    torch.manual_seed(0)
    x, weight, bias = (torch.randn(*shape, dtype=torch.float64) for shape in ((rows, 3), (8, 2, 3), (8, 2)))
    firing = torch.rand(rows, 8, dtype=torch.float64)
    firing[:, firing_rules:] = 0
    given = [tensor.requires_grad_() for tensor in (x, weight, bias)]
    reached = decide.affine(x, firing, weight, bias)
    expected = torch.einsum("bu,uod,bd->bo", firing, weight, x) + firing @ bias
    torch.testing.assert_close(reached, expected, rtol=0, atol=1e-12)
    of_reached, of_expected = (torch.autograd.grad(y.sum(), given) for y in (reached, expected))
    torch.testing.assert_close(of_reached, of_expected, rtol=0, atol=1e-12)
    assert not of_reached[1][firing_rules:].any()
