"""Rules of agents turned by hand: a small agent over attributes, and one that sees pictures."""

from dataclasses import replace

import numpy as np
import pytest
import torch

pytest.importorskip("gymnasium", reason="needs the extra 'gym'")

from neuroplastic.errors import ConfigError, InputError
from neuroplastic.experiment.agent import build_agent, greedy
from neuroplastic.experiment.decision import head_rules
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.experiment.tasks import find_task, preset_of
from neuroplastic.experiment.trial import settle_encoder
from neuroplastic.network.heads import NfnConfig
from neuroplastic.usecases.agent_editing import edited_agent, save_edited_agent
from neuroplastic.usecases.comparing import Comparing
from neuroplastic.usecases.edits import (
    AddRule,
    FreezeRule,
    MoveSet,
    SetConclusion,
    SetPremise,
    SwitchRule,
)
from neuroplastic.usecases.opening import OpenedRun, open_run
from neuroplastic.usecases.training import begin_run

LEFT, RIGHT = 0, 1


def pole_balancer(folder, **fields):
    """An untrained agent of CartPole whose rules conclude at random, as a run."""
    config = preset_of(find_task("CartPole-v1"), "readable", "nfn", None)
    config = replace(config, head=replace(config.head, **fields))
    torch.manual_seed(5)
    agent = build_agent(config)
    settle_encoder(config, agent)
    with torch.no_grad():
        agent.advantage.levels[0].bias.normal_()
    made = RunFolder.create(folder, config)
    made.write_best(agent)
    return open_run(made.path)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return pole_balancer(tmp_path_factory.mktemp("runs"))


STATES = np.random.default_rng(3).normal(0, [1.0, 1.0, 0.1, 1.0], (200, 4)).astype(np.float32)


def values(run):
    with torch.inference_mode():
        return run.agent(torch.from_numpy(STATES)).numpy()


def leads(run, rule):
    """The states in which a rule fires most."""
    with torch.inference_mode():
        firing = run.agent.advantage.levels[0].firing(run.agent.encoder(torch.from_numpy(STATES)))
    return (firing.argmax(dim=1) == rule).numpy() & (firing[:, rule] > 0.9).numpy()


def asked_by(run, rule):
    rules = head_rules(run.config, run.agent)[0]
    return next(d for d in range(4) if rules.premises[rule, d] >= 0)


def test_a_turned_conclusion_turns_the_action_where_the_rule_leads_and_undo_is_bit_equal(run):
    rule = max(range(12), key=lambda one: leads(run, one).sum())
    where = leads(run, rule)
    assert where.sum() > 5
    edits = [SetConclusion(rule, LEFT, 50.0), SetConclusion(rule, RIGHT, -50.0)]
    assert (greedy(edited_agent(run, edits).agent, STATES)[where] == LEFT).all()
    other_way = [SetConclusion(rule, LEFT, -50.0), SetConclusion(rule, RIGHT, 50.0)]
    assert (greedy(edited_agent(run, other_way).agent, STATES)[where] == RIGHT).all()
    once = values(edited_agent(run, edits[:1]))
    assert np.array_equal(values(edited_agent(run, edits[:1])), once)
    assert np.array_equal(values(edited_agent(run, [])), values(run))


def test_an_edit_that_says_what_is_already_so_changes_nothing_to_the_bit(run):
    rules = head_rules(run.config, run.agent)[0]
    place = asked_by(run, 0)
    term = rules.inputs[place].terms[0]
    same = [
        SetPremise(0, place, int(rules.premises[0, place])),
        SetConclusion(2, LEFT, float(rules.consequents.bias[2, LEFT])),
        MoveSet(place, 0, term.center, term.width),
        SwitchRule(3, on=False),
        SwitchRule(3, on=True),
        FreezeRule(4, on=True),
    ]
    assert np.array_equal(values(edited_agent(run, same)), values(run))


def test_edits_are_read_back_from_the_network_that_computes_them(run):
    rules = head_rules(run.config, run.agent)[0]
    place = asked_by(run, 1)
    term = rules.inputs[place].terms[-1]
    name, low = rules.inputs[place].name, rules.inputs[place].terms[0].name
    edits = [
        SetPremise(1, place, -1),
        MoveSet(place, len(rules.inputs[place].terms) - 1, term.center + 0.25, term.width * 2),
        SwitchRule(0, on=False),
        AddRule(f"IF {name} is {low} THEN {rules.outputs[RIGHT].name}"),
    ]
    made = edited_agent(run, edits)
    after = head_rules(made.config, made.agent)[0]
    assert len(after) == len(rules) == made.config.head.rules  # one less, one more
    assert after.premises[0, place] == -1
    moved = after.inputs[place].terms[-1]
    assert (moved.center, moved.width) == pytest.approx((term.center + 0.25, term.width * 2), rel=1e-5)
    assert [d for d in range(4) if after.premises[-1, d] >= 0] == [place]
    assert after.consequents.bias[-1].argmax() == RIGHT
    untouched = [rule for rule in range(2, len(rules))]
    kept = [rule - 1 for rule in untouched]
    assert np.array_equal(after.consequents.bias[kept], rules.consequents.bias[untouched])


def test_a_saved_agent_loads_elsewhere_and_decides_the_same(run, tmp_path):
    edits = [SwitchRule(5, on=False), SetConclusion(1, LEFT, 3.0), FreezeRule(1, on=True)]
    made = open_run(save_edited_agent(run, edits, tmp_path / "turned"))
    assert np.array_equal(values(made), values(edited_agent(run, edits)))
    assert made.agent.advantage.levels[0].frozen[0] == [1]
    with pytest.raises(ConfigError, match="nothing was edited"):
        save_edited_agent(run, [], tmp_path / "same")


def test_rules_that_also_give_the_value_cannot_change_in_number(tmp_path):
    both = pole_balancer(tmp_path, plain_value=0)
    assert isinstance(both.config.head, NfnConfig)
    assert not np.array_equal(values(edited_agent(both, [SetConclusion(0, 0, 9.0)])), values(both))
    with pytest.raises(InputError, match="none can be added or switched off"):
        edited_agent(both, [SwitchRule(0, on=False)])


def test_the_same_episodes_are_played_by_the_original_and_by_the_edits(run):
    comparing = Comparing(run, episodes=3)
    always_left = [SetConclusion(rule, LEFT, 9.0 + rule) for rule in range(12)]
    told = []
    seen = comparing.play(always_left, told.append)
    assert len(seen.ranges) == 4
    assert sum(seen.leads) == sum(seen.ranges[0][2]) > 0
    before = [one.score for one in told if not one.edited]
    after = [one.score for one in told if one.edited]
    assert len(before) == len(after) == 3
    assert all(8 <= score <= 11 for score in after)  # a pole that is always pushed to the left falls at once
    told.clear()
    comparing.play([], told.append)
    assert sorted(one.score for one in told) == sorted(before)  # known, and not played again
    comparing.close()


def test_training_begins_from_edits_keeps_frozen_rules_and_takes_up_again_where_it_was_cut(run, tmp_path):
    edits = [SetConclusion(0, LEFT, 7.5), FreezeRule(0, on=True)]
    made = open_run(save_edited_agent(run, edits, tmp_path / "turned"))
    protocol = replace(made.config.protocol, epochs=1, steps_per_epoch=600, episodes=1)
    with begin_run(replace(made.config, protocol=protocol), runs=str(tmp_path), start=made) as trial:
        assert np.array_equal(values(OpenedRun(tmp_path, trial.config, trial.network.eval())), values(made))
        folder = trial.folder.path
        trial.run()
        learned = trial.network.advantage.levels[0]
        written = made.agent.advantage.levels[0]
        assert torch.equal(learned.bias[0], written.bias[0])
        assert not torch.equal(learned.bias, written.bias)
    again = open_run(folder)
    assert again.agent.advantage.levels[0].bias[0, LEFT] == 7.5
    assert RunFolder(folder).has_start
