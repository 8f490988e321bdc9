"""Frozen rules and sets stay bit for bit as they are, whatever trains the network, while the rest learns."""

import copy

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic.fuzzy import backends
from tests.random_network import Setup, place

pytestmark = pytest.mark.filterwarnings("ignore::neuroplastic.CapacityWarning")

OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.1),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.05, weight_decay=0.1),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.05, weight_decay=0.3),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.02, momentum=0.5, weight_decay=0.1),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=0.05, weight_decay=0.1),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.05, weight_decay=0.1),
    "Rprop": torch.optim.Rprop,
    "LBFGS": lambda p: torch.optim.LBFGS(p, lr=0.1, max_iter=4),
}
CONSEQUENTS = [
    "affine",
    "constant",
    npl.LowRank(rank=2),
    npl.Mamdani(terms=3),
    npl.Mamdani(terms=3, defuzzifier="area"),
]
RULES, SETS = [1, 4], [(0, 0), (2, 1)]


def network(consequent="affine", estimator="stge", **options):
    setup = Setup(
        estimator=estimator,
        consequent=consequent,
        certainty="log",
        noise_hold=1,
        max_terms=6,
        terms=2,
        **options,
    )
    mask = np.zeros((setup.D, 6), bool)
    mask[:, :2] = True
    net = setup.network(neurogenesis=npl.Neurogenesis(delay=1, epsilon=0.4, sprouting="max"), mask=mask)
    rng = np.random.default_rng(3)
    place(net, rng.normal(size=(4, 6)), rng.uniform(0.4, 1, size=(4, 6)), mask)
    return net.train()


def train(net, steps=12, optimizer="SGD", seed=0):
    generator = torch.Generator().manual_seed(seed)
    made = OPTIMIZERS[optimizer](net.parameters()) if isinstance(optimizer, str) else optimizer
    x = torch.randn(32, 4, generator=generator, dtype=torch.float64) * 1.5
    y = torch.randn(32, 2, generator=generator, dtype=torch.float64)

    def closure():
        made.zero_grad()
        loss = (net(x) - y).square().mean()
        loss.backward()
        return loss

    for _ in range(steps):
        made.step(closure)
    return made


def kept(net, rules=RULES, sets=SETS):
    """All that must not change, as the network's own methods tell it."""
    part = {"premises": net.premises()[rules]}
    part |= {name: getattr(net, name)[rules] for name in ("kappa", "beta", "certainty")}
    attributes, terms = (list(places) for places in zip(*sets, strict=True)) if sets else ([], [])
    part |= {"centers": net.centers[attributes, terms], "widths": net.widths[attributes, terms]}
    if isinstance(net.consequent_config, npl.Mamdani):
        chosen = net.conclusions()[rules]
        outputs = torch.arange(net.out_features)
        part |= {"conclusions": chosen, "to": net.output_centers[outputs, chosen]}
        part |= {"as wide": net.output_widths[outputs, chosen]}
    else:
        part["bias"] = net.bias[rules]
        if hasattr(net.consequent, "weight"):
            weight = net.weight
            if isinstance(net.consequent_config, npl.LowRank):
                weight = weight @ net.projection.T
            part["weight"] = weight[rules]
    return {name: value.detach().clone() for name, value in part.items()}


def assert_same(before, after):
    assert before.keys() == after.keys()
    for name in before:
        assert torch.equal(before[name], after[name]), name


@pytest.fixture(params=["kernel", "eager"])
def path(request):
    """Both ways of computing."""
    if request.param == "eager":
        with backends.eager_only():
            yield
    else:
        yield


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_frozen_parts_stay_under_any_optimizer_while_the_rest_learns(optimizer):
    net = network()
    state = train(net, 3, "SGD" if optimizer == "LBFGS" else optimizer)  # there is momentum already
    net.freeze(rules=RULES, sets=SETS)
    before, others = kept(net), copy.deepcopy(net.state_dict())
    births = len(net.births)
    train(net, 12, optimizer if optimizer == "LBFGS" else state, seed=1)
    assert_same(before, kept(net))
    after = net.state_dict()
    for name in ("antecedent.logits", "consequent.weight", "kappa", "certainty"):
        assert not torch.equal(others[name], after[name]), name
    free = [rule for rule in range(6) if rule not in RULES]
    assert (others["consequent.bias"][free] != after["consequent.bias"][free]).all()
    assert len(net.births) > births


@pytest.mark.parametrize("consequent", CONSEQUENTS, ids=str)
@pytest.mark.parametrize("estimator", ["ste", "stge"])
@pytest.mark.usefixtures("path")
def test_every_kind_of_consequent_can_be_frozen(consequent, estimator):
    net = network(consequent, estimator)
    state = train(net, 3)
    net.freeze(rules=RULES, sets=SETS)
    before = kept(net)
    train(net, 10, state)
    assert_same(before, kept(net))


@pytest.mark.parametrize("consequent", ["affine", npl.LowRank(rank=2), npl.Mamdani(terms=3)], ids=str)
@pytest.mark.parametrize("constraint", [0.0, 60.0])
@pytest.mark.usefixtures("path")
def test_noise_and_constraint_do_not_touch_frozen_rules_in_training(consequent, constraint):
    """A network frozen whole computes in training mode what it computes in evaluation, births or not."""
    net = network(consequent, constraint=constraint)
    net.freeze()
    x = torch.randn(16, 4, dtype=torch.float64)
    expected = net.eval()(x).detach()
    net.train()
    noise, outputs = set(), []
    for _ in range(20):
        outputs.append(net(x + 0).detach())
        noise.add(float(net.noise().sum()))
    assert len(noise) == 20
    for y in outputs:
        torch.testing.assert_close(y, expected, rtol=1e-12, atol=1e-12)
    assert net.births


def test_an_unfrozen_twin_shows_that_noise_would_have_mattered():
    net = network()
    x = torch.randn(16, 4, dtype=torch.float64)
    expected = net.eval()(x).detach()
    net.train()
    assert any(not torch.allclose(net(x).detach(), expected, rtol=1e-3) for _ in range(5))


def test_gradients_of_frozen_entries_are_zero_and_others_unchanged():
    net = network(estimator="ste")
    twin = copy.deepcopy(net)
    net.freeze(rules=RULES, sets=SETS)
    x = torch.randn(16, 4, dtype=torch.float64)
    for model in (net, twin):
        model(x).square().sum().backward()
    for name, dimension in (
        ("logits", 2),
        ("weight", 0),
        ("bias", 0),
        ("kappa", 0),
        ("beta", 0),
        ("certainty", 0),
    ):
        ours, theirs = getattr(net, name).grad, getattr(twin, name).grad
        index = torch.tensor(RULES)
        assert not ours.index_select(dimension, index).any()
        assert torch.equal(ours, theirs.index_fill(dimension, index, 0))
    for name in ("centers", "raw_widths"):
        ours, theirs = getattr(net.antecedent, name).grad, getattr(twin.antecedent, name).grad.clone()
        for pair in SETS:
            assert theirs[pair]
            theirs[pair] = 0
        assert torch.equal(ours, theirs)


def test_sets_can_be_frozen_without_rules_and_rules_without_sets():
    net = network()
    net.freeze(sets=SETS)
    assert net.frozen == ([], SETS)
    before = kept(net, [], SETS)
    train(net)
    assert_same(before, kept(net, [], SETS))
    net.unfreeze()
    assert net.frozen == ([], [])
    net.freeze(rules=[0])
    before = kept(net, [0], [])
    train(net)
    assert_same(before, kept(net, [0], []))


def test_freezing_adds_up_and_unfreezing_lets_all_learn_from_where_it_is():
    net = network()
    net.freeze(rules=[1])
    train(net, 4)
    net.freeze(rules=[4], sets=SETS)
    assert net.frozen == (RULES, SETS)
    before = kept(net)
    train(net, 6)
    net.unfreeze()
    assert_same(before, kept(net))
    train(net, 10)
    after = kept(net)
    assert all(not torch.equal(before[name], after[name]) for name in ("weight", "centers", "kappa"))


def test_births_after_freezing_do_not_change_premises_once_unfrozen():
    net = network()
    net.freeze(rules=RULES)
    before = net.premises()[RULES]
    train(net, 8)
    assert net.births
    net.unfreeze()
    assert torch.equal(net.premises()[RULES], before)


@pytest.mark.parametrize("way", ["state_dict", "save", "deepcopy"])
@pytest.mark.parametrize("consequent", CONSEQUENTS, ids=str)
def test_freezing_survives(way, consequent, tmp_path):
    net = network(consequent)
    net.freeze(rules=RULES, sets=SETS)
    before = kept(net)
    state = train(net, 4)
    if way == "state_dict":
        other = network(consequent)
        other.load_state_dict(net.state_dict())
    elif way == "save":
        npl.save(net, tmp_path / "net")
        other = npl.load(tmp_path / "net")
    else:
        other = copy.deepcopy(net)
    assert other.frozen == net.frozen == (RULES, SETS)
    train(other.train(), 6, "AdamW", seed=2)
    assert_same(before, kept(other))
    train(net, 2, state)
    assert_same(before, kept(net))


def test_loading_an_unfrozen_state_unfreezes_and_takes_its_values():
    net, other = network(), network()
    train(other, 4)
    net.freeze()
    net.load_state_dict(other.state_dict())
    assert net.frozen == ([], [])
    x = torch.randn(8, 4, dtype=torch.float64)
    assert torch.equal(net.eval()(x), other.eval()(x))


def test_loading_values_without_the_extra_state_keeps_the_new_values_frozen():
    net, other = network(), network()
    train(other, 4)
    net.freeze(rules=RULES)
    values = {name: value for name, value in other.state_dict().items() if "extra_state" not in name}
    net.load_state_dict(values, strict=False)
    assert net.frozen == (RULES, [])
    before = kept(other, RULES, [])
    train(net, 4)
    assert_same(before, kept(net, RULES, []))


def test_an_unfrozen_network_saves_what_it_always_saved():
    net = network()
    state = copy.deepcopy(net.state_dict())
    net.freeze(rules=RULES)
    assert net.state_dict().keys() == state.keys()
    net.unfreeze()
    assert torch.equal(net.state_dict()["antecedent._extra_state"], state["antecedent._extra_state"])


def test_what_an_optimizer_did_is_undone_before_anything_is_read():
    net = network()
    net.freeze(rules=RULES, sets=SETS)
    before, x = kept(net), torch.randn(8, 4, dtype=torch.float64)
    expected = net.eval()(x).detach()
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if name.endswith(("weight", "bias", "kappa", "beta", "certainty")):
                parameter[RULES] += 1
        net.antecedent.logits[..., RULES] = torch.randn(6, 4, 2, dtype=torch.float64)
        net.antecedent.centers[0, 0] = net.antecedent.raw_widths[2, 1] = 7
        torch.testing.assert_close(net(x), expected, rtol=0, atol=0)
    state = net.state_dict()
    assert torch.equal(state["kappa"][RULES], before["kappa"])
    assert_same(before, kept(net))


def test_half_of_a_network_in_another_type_stays_frozen():
    net = network().float()
    net.freeze(rules=RULES, sets=SETS)
    net = net.double()
    before = kept(net)
    train(net, 5)
    assert_same(before, kept(net))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(
    "consequent", ["affine", pytest.param(npl.Mamdani(terms=3), marks=pytest.mark.slow)], ids=str
)
def test_compiled_frozen_network_trains_like_the_plain_one(consequent):
    net = network(consequent)
    net.freeze(rules=RULES, sets=SETS)
    twin, before = copy.deepcopy(net), kept(net)
    compiled = torch.compile(net, backend="aot_eager")
    models = [
        (model, OPTIMIZERS["SGD"](owner.parameters())) for model, owner in ((compiled, net), (twin, twin))
    ]
    for step in range(4):
        x = torch.randn(12, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(step))
        outputs = []
        for model, optimizer in models:
            optimizer.zero_grad()
            outputs.append(model(x))
            outputs[-1].square().mean().backward()
            optimizer.step()
        torch.testing.assert_close(*outputs)
    assert_same(before, kept(net))
    assert net.births == twin.births != []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rules": [6]}, "rules must be numbers from 0 to 5, got 6"),
        ({"rules": [True]}, "got True"),
        ({"rules": ["1"]}, "got '1'"),
        ({"sets": [(0, 5)]}, "attribute 0 has no fuzzy set 5"),
        ({"sets": [(4, 0)]}, r"pairs \(attribute, term\), got \(4, 0\)"),
        ({"sets": [3]}, r"pairs \(attribute, term\), got 3"),
        ({"sets": [(0.5, 0)]}, r"got \(0.5, 0\)"),
    ],
)
def test_what_does_not_exist_cannot_be_frozen(wrong, words):
    net = network()
    with pytest.raises(npl.ConfigError, match=words):
        net.freeze(**wrong)
    assert net.frozen == ([], [])


def test_sets_cannot_be_placed_under_frozen_rules():
    net = network()
    net.freeze(rules=[0])
    with pytest.raises(npl.ConfigError, match="unfreeze"):
        net.place_sets(net.centers.detach(), net.widths.detach())


def test_two_passes_may_wait_for_one_backward_pass():
    net = network()
    net.freeze(rules=RULES, sets=SETS)
    x = torch.randn(8, 4, dtype=torch.float64)
    train(net, 2)
    net.zero_grad()
    (net(x).sum() + net(2 * x).sum()).backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in net.parameters())
