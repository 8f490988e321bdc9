"""Learning the rules pays: on digits against frozen rules, on XOR, and with Mamdani conclusions."""

import statistics
import warnings

import pytest
import torch
from sklearn.datasets import load_digits
from torch.nn import functional as F

import neuroplastic as npl


@pytest.fixture(scope="module")
def digits() -> tuple[torch.Tensor, torch.Tensor]:
    data = load_digits()
    return torch.tensor(data.data / 16, dtype=torch.float32), torch.tensor(data.target)


def digits_accuracy(digits, seed: int, *, neuroplastic: bool, epochs: int) -> tuple[float, int]:
    """Test accuracy and births of twenty zero-order rules, their premises learned and sets born, or both frozen."""
    pictures, labels = digits
    torch.manual_seed(seed)
    order = torch.randperm(len(pictures))
    train, test = order[:1300], order[1300:]
    net = npl.NeuroFuzzyNetwork(
        64,
        10,
        20,
        terms=2,
        max_terms=6,
        selection=npl.Selection("stge" if neuroplastic else "ste", temperature=1.0, noise_hold=16),
        consequent="constant",
        neurogenesis=npl.Neurogenesis(epsilon=0.5, delay=40) if neuroplastic else None,
        input_range=(0.25, 0.75),
    )
    net.logits.requires_grad_(neuroplastic)
    optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.05)
    for _ in range(epochs):
        for batch in train[torch.randperm(len(train))].split(64):
            optimizer.zero_grad()
            F.cross_entropy(net(pictures[batch]), labels[batch]).backward()
            optimizer.step()
    net.eval()
    with torch.no_grad():
        right = net(pictures[test]).argmax(dim=1) == labels[test]
    return right.float().mean().item(), len(net.births)


@pytest.mark.filterwarnings("ignore::neuroplastic.CapacityWarning")
@pytest.mark.parametrize(("epochs", "seeds"), [(30, 2), pytest.param(60, 5, marks=pytest.mark.slow)])
def test_learned_rules_and_births_beat_frozen_random_rules_on_digits(digits, epochs, seeds):
    learned, frozen = (
        [digits_accuracy(digits, seed, neuroplastic=neuroplastic, epochs=epochs) for seed in range(seeds)]
        for neuroplastic in (True, False)
    )
    gains = [ours[0] - theirs[0] for ours, theirs in zip(learned, frozen, strict=True)]
    print(f"\nlearned {learned}\nfrozen {frozen}")
    assert all(births > 50 for _, births in learned)
    assert min(gains) > 0
    assert statistics.mean(gains) > 0.03


def xor_network(
    seed: int, selection: npl.Selection, rules: int, *, learn: bool
) -> tuple[npl.NeuroFuzzyNetwork, float]:
    """Zero-order rules over two sets per attribute, trained on XOR; not learning: all rules share a premise."""
    torch.manual_seed(seed)
    corners = torch.randint(0, 2, (256, 2)).float()
    x = corners + 0.1 * torch.randn(256, 2)
    y = corners[:, 0].long() ^ corners[:, 1].long()
    net = npl.NeuroFuzzyNetwork(
        2, 2, rules, terms=2, max_terms=2, selection=selection, consequent="constant", neurogenesis=None
    )
    if not learn:  # no rule may tell the first attribute's sets apart
        with torch.no_grad():
            net.logits[0, 0], net.logits[1, 0] = 20.0, -20.0
        net.logits.requires_grad_(False)
    optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.05)
    for _ in range(300):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        return net, (net(x).argmax(dim=1) == y).float().mean().item()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("estimator", ["ste", "stge"])
def test_xor_needs_and_gets_the_right_premises(estimator, seed):
    selection = npl.Selection(estimator, temperature=1.0, noise_hold=8)
    rules = {"ste": 8, "stge": 16}[estimator]
    net, accuracy = xor_network(seed, selection, rules, learn=True)
    assert accuracy > 0.99
    corners = torch.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    with torch.no_grad():
        strongest = net.firing(corners).argmax(dim=1)
    premises = net.premises()[strongest]
    assert len({tuple(premise) for premise in premises.tolist()}) >= 3, (
        "the corners are told apart by premises"
    )
    _, without = xor_network(seed, selection, rules, learn=False)
    assert without < 0.85


@pytest.mark.parametrize("defuzzifier", ["height", "area"])
def test_mamdani_network_fits_a_curve(defuzzifier):
    torch.manual_seed(0)
    x = torch.linspace(0, 1, 200).unsqueeze(1)
    y = torch.sin(6.28 * x)
    net = npl.NeuroFuzzyNetwork(
        1,
        1,
        12,
        terms=7,
        max_terms=10,
        selection=npl.Selection("ste"),
        consequent=npl.Mamdani(terms=7, defuzzifier=defuzzifier),
        neurogenesis=npl.Neurogenesis(delay=5),
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=0.03)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", npl.CapacityWarning)
        for _ in range(800):
            optimizer.zero_grad()
            F.mse_loss(net(x), y).backward()
            optimizer.step()
    net.eval()
    with torch.no_grad():
        assert F.mse_loss(net(x), y) < 0.02  # a constant leaves 0.5
