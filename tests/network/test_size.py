"""Networks that no memory can hold are refused before any of it is taken."""

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic import memory
from neuroplastic.network.size import parameters_of

CONSEQUENTS = ["affine", "constant", npl.LowRank(rank=3), npl.Mamdani(terms=4)]


@pytest.mark.parametrize("consequent", CONSEQUENTS, ids=str)
def test_parameters_are_counted_before_they_are_made(consequent):
    firing = npl.Firing(alpha="learn", certainty="log", reduce="scaled")
    net = npl.NeuroFuzzyNetwork(5, 3, 7, max_terms=6, consequent=consequent, firing=firing)
    assert sum(parameter.numel() for parameter in net.parameters()) == parameters_of(5, 3, 7, 6, consequent)


@pytest.mark.parametrize("consequent", CONSEQUENTS, ids=str)
def test_a_network_on_the_meta_device_has_shapes_and_no_memory(consequent):
    net = npl.NeuroFuzzyNetwork(10**6, 2, 10**6, max_terms=6, consequent=consequent, device="meta")
    assert net.logits.shape == (6, 10**6, 10**6)
    assert all(value.is_meta for name, value in net.state_dict().items() if "extra" not in name)


@pytest.mark.parametrize(
    "make",
    [
        lambda: npl.NeuroFuzzyNetwork(10, 2, 2**31),
        lambda: npl.NeuroFuzzyNetwork(10, 2, 10**30),
        lambda: npl.NeuroFuzzyNetwork(10**6, 2, 10**6, dtype=torch.float64),
        lambda: npl.NeuroFuzzyNetwork(10, 2, 8, max_terms=10**12),
        lambda: npl.NeuroFuzzyNetwork(10, 2, 8, terms=10**25, max_terms=10**25),
        lambda: npl.NeuroFuzzyNetwork(10, 10**12, 8),
        lambda: npl.NeuroFuzzyNetwork(10, 2, 8, consequent=npl.LowRank(rank=10**12)),
        lambda: npl.NeuroFuzzyNetwork(10, 2, 8, consequent=npl.Mamdani(terms=10**12)),
        lambda: npl.NeuroFuzzyNetwork(10, 2, 2**80, device="meta"),
        lambda: npl.Hierarchy([10, 10**12, 2]),
        lambda: npl.Hierarchy([10, 5, 2], [3, 10**12]),
    ],
)
def test_a_network_beyond_all_memory_is_refused_with_the_estimate(make):
    with pytest.raises(npl.ConfigError, match=r"would need .* (GB|TB|PB), .*; use fewer rules"):
        make()


def test_what_levels_need_together_counts(monkeypatch):
    monkeypatch.setattr(memory, "_machine_memory", lambda: 60_000_000)
    level = npl.NeuroFuzzyNetwork(100, 100, 100, consequent="affine")
    assert sum(parameter.numel() for parameter in level.parameters()) * 4 * 2 < 60_000_000
    message = (
        r"sizes=\[100, 100, .*\], rules=100, max_terms=8 would need 8\d MB, this machine has 60 MB; use fewer"
    )
    with pytest.raises(npl.ConfigError, match=message):
        npl.Hierarchy([100] * 11, 100, hidden_consequent="affine")


@pytest.mark.parametrize(
    "settings",
    [{"rules": 10**9}, {"rules": 10**30}, {"rules": 10**400}, {"max_terms": 10**12}, {"terms": 10**12}],
)
def test_a_fit_beyond_all_memory_is_refused_with_the_estimate(settings):
    x, y = np.random.default_rng(0).normal(size=(30, 10)), np.arange(30) % 2
    for kind in (npl.NeuroFuzzyClassifier, npl.NeuroFuzzyRegressor):
        with pytest.raises(
            npl.ConfigError, match=r"of 10 columns .* would need .* (TB|PB), this machine has"
        ):
            kind(**settings).fit(x, y)
        with pytest.raises(npl.ConfigError, match="would need"):
            kind(**settings).start(x, y)


def test_the_machine_has_memory():
    assert memory._machine_memory() > 100_000_000
    assert [memory.in_words(count) for count in (0, 999, 1500, 412_000_000_000)] == [
        *("0 bytes", "999 bytes"),
        *("2 kB", "412 GB"),
    ]
