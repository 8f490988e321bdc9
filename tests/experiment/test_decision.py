"""A decision's text tells the action, the rules, the runner-up and the place in the picture."""

import importlib.util

import numpy as np
import pytest
import torch

from neuroplastic.doom.presets import preset
from neuroplastic.errors import ConfigError
from neuroplastic.experiment.agent import build_agent
from neuroplastic.experiment.decision import (
    decision,
    decision_text,
    explain_decision,
    feature_names,
    located_decision,
    sentences,
)
from neuroplastic.experiment.options import with_values
from neuroplastic.usecases.explaining import explain_decision as explain_play
from neuroplastic.usecases.opening import OpenedRun


def made(levels=(), agent="nfn"):
    torch.manual_seed(0)
    options = {"rules": 9, "levels": levels, "consequent_init": "normal"} if agent == "nfn" else {}
    config = with_values(preset("tuned", "BP", agent), options)
    picture = torch.randint(0, 255, (84, 84, 3), dtype=torch.uint8).numpy()
    return config, build_agent(config).eval(), picture


@pytest.mark.parametrize("levels", [(), (6,)])
def test_text_tells_action_rules_alternative_and_place(levels):
    config, network, picture = made(levels)
    text = explain_decision(config, network, picture)
    with torch.no_grad():
        values = network(torch.from_numpy(picture[None]))[0]
    best, second = values.topk(2).values.tolist()
    name = config.task.actions[int(values.argmax())]
    assert text.startswith(f"decision: {name} (value {best:.3f}; next best {second:.3f})")
    assert "of 9 rules fired" in text
    assert "next in line: rule" in text
    assert text.splitlines()[-1].startswith("looked most at rows ")
    assert " row " in text
    if levels:
        assert "of what mattered here was h1." in text


def test_text_and_picture_tell_of_the_same_place_where_nothing_speaks_for_the_action(tmp_path, monkeypatch):
    """A single rule that decides a constant: the value does not change with the picture, only the firing does."""
    pytest.importorskip("captum")
    from neuroplastic.rules import pictures

    config = with_values(preset("tuned", "BP", "nfn"), {"rules": 1, "consequent": "constant"})
    network, picture = build_agent(config).eval(), made()[2]
    assert decision(config, network, picture).region() is None
    assert "rule" in located_decision(config, network, picture).target
    drawn = []
    monkeypatch.setattr("neuroplastic.experiment.play.watch_episode", lambda *_, **__: [picture])
    plot = pictures.plot_regions
    monkeypatch.setattr(pictures, "plot_regions", lambda found: drawn.append(found) or plot(found))
    explained = explain_play(OpenedRun(tmp_path, config, network))
    explained.figure()
    assert drawn[0].target == located_decision(config, network, picture).target
    assert decision_text(drawn[0]) == explained.text == explain_decision(config, network, picture)


def test_without_captum_the_place_is_left_out(monkeypatch):
    config, network, picture = made()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "looked most" not in explain_decision(config, network, picture)


def test_names_of_actions_and_features_are_unique_and_complete():
    config, network, picture = made()
    assert len(set(feature_names(config, network))) == 1600
    assert feature_names(config, network)[0] == "feature 1 row 1 column 1"
    assert feature_names(config, network)[123] == "feature 2 row 3 column 4"
    found = decision(config, network, picture)
    assert [v.name for v in found.advantage.rules.outputs] == list(config.task.actions)
    assert found.advantage.rules.inputs[123].name == "feature 2 row 3 column 4"
    assert found.heat.shape == (84, 84)


def test_a_plain_agent_has_no_rules_to_tell():
    with pytest.raises(ConfigError, match="must be neuro-fuzzy"):
        explain_decision(*made(agent="dnn"))


def test_rules_of_an_agent_that_read_alike_are_told_once_with_their_shares_together(monkeypatch):
    config, network, _ = made()
    pictures = torch.zeros(4, 84, 84, 3)
    told = [(number, f"IF x is low THEN {'turn' if number > 3 else 'shoot'}") for number in range(1, 10)]
    monkeypatch.setattr("neuroplastic.experiment.decision.plain_sentences", lambda *_, **__: told)
    monkeypatch.setattr("neuroplastic.experiment.decision.leaders_of", lambda *_: np.array([0, 5, 7, 7]))
    assert sentences(config, network, pictures) == [
        "IF x is low THEN turn (75 % of decisions, 2 rules)",
        "IF x is low THEN shoot (25 % of decisions)",
    ]
