"""Agents are what their configuration says."""

import numpy as np
import pytest
import torch

from neuroplastic.doom.presets import preset
from neuroplastic.experiment.agent import build_agent, diagnosis_of, neuro_fuzzy_parts, rules_firing
from neuroplastic.experiment.decision import explain_decision
from neuroplastic.experiment.figures import slope_of
from neuroplastic.experiment.options import with_values
from neuroplastic.experiment.run_folder import EpochMetrics
from neuroplastic.experiment.trial import summarise
from neuroplastic.network.hierarchy import Hierarchy


@pytest.mark.parametrize("consequent", ["affine", "constant", "low_rank", "mamdani"])
def test_neuro_fuzzy_agent_has_the_heads_that_were_asked_for(consequent):
    config = with_values(preset("tuned", "BP", "nfn"), {"rules": 9, "consequent": consequent, "levels": (6,)})
    network = build_agent(config).eval()
    assert isinstance(network.advantage, Hierarchy)
    assert network.advantage.sizes == [1600, 6, 8]
    assert {part.rules for part in neuro_fuzzy_parts(network).values()} == {9}
    values = network(torch.randint(0, 255, (3, 84, 84, 3), dtype=torch.uint8))
    assert values.shape == (3, 8)


def test_rules_firing_counts_rules_and_is_none_for_a_plain_agent():
    pictures = torch.randint(0, 255, (3, 84, 84, 3), dtype=torch.uint8)
    fuzzy = build_agent(with_values(preset("tuned", "TC", "nfn"), {"rules": 9})).eval()
    with torch.no_grad():
        assert 1 <= rules_firing(fuzzy, pictures) <= 9
        assert rules_firing(build_agent(preset("tuned", "TC", "dnn")).eval(), pictures) is None


@pytest.mark.parametrize("levels", [(), (6,)])
def test_the_rules_of_the_advantage_head_are_diagnosed_and_a_plain_agent_has_none(levels):
    pictures = torch.randint(0, 255, (3, 84, 84, 3), dtype=torch.uint8)
    fuzzy = build_agent(with_values(preset("tuned", "TC", "nfn"), {"rules": 9, "levels": levels})).eval()
    found = diagnosis_of(fuzzy, pictures)
    assert (found.rows, found.rules, found.attributes) == (3, 9, levels[0] if levels else 1600)
    assert (found.decision, found.source) == ("class", "agent")
    assert diagnosis_of(build_agent(preset("tuned", "TC", "dnn")).eval(), pictures) is None
    assert diagnosis_of(torch.nn.Linear(3, 2), pictures) is None


def test_a_decision_is_explained_by_the_rules_that_fired():
    config = with_values(preset("tuned", "BP", "nfn"), {"rules": 9})
    network = build_agent(config).eval()
    picture = torch.randint(0, 255, (84, 84, 3), dtype=torch.uint8).numpy()
    text = explain_decision(config, network, picture)
    assert text.startswith("decision: ")
    assert "of 9 rules fired" in text
    assert "IF feature" in text
    assert "THEN advantage of" in text


def test_summary_finds_the_best_epoch_and_the_slope():
    epochs = [
        EpochMetrics(k + 1, 500 * (k + 1), mean, 1.0, 0, 0, 0, 0.0, 0, 0, None)
        for k, mean in enumerate((1.0, 9.0, 5.0))
    ]
    summary = summarise(epochs)
    assert (summary.best.epoch, summary.last.mean) == (2, 5.0)
    assert summary.slope == pytest.approx(2.0)


@pytest.mark.parametrize("count", range(1, 12))
def test_the_slope_is_that_of_least_squares_and_of_equal_means_0_not_nearly(count):
    means = np.random.default_rng(count).normal(size=count).tolist()
    fitted = np.polyfit(range(count), means, 1)[0] if count > 1 else 0.0
    assert slope_of(means) == pytest.approx(fitted)
    assert slope_of([0.1] * count) == 0
