"""The preset 'readable' of control tasks: few short rules that conclude constants, beside a plain network."""

from pathlib import Path

import pytest

from neuroplastic.errors import ConfigError
from neuroplastic.experiment.agent import neuro_fuzzy_parts
from neuroplastic.experiment.options import with_values
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.experiment.tasks import preset_of
from neuroplastic.experiment.trial import Trial
from neuroplastic.gym.task import GymTask
from neuroplastic.network.consequents import Constant
from neuroplastic.network.nfn import NeuroFuzzyNetwork

pytest.importorskip("gymnasium", reason="pip install 'neuroplastic[gym]'")

# The most rules, and the most premises of a rule.
LIMITS = {"CartPole-v1": (12, 4), "Acrobot-v1": (16, 6), "MountainCar-v0": (16, 2)}


def trained(task: str, folder: Path) -> NeuroFuzzyNetwork:
    """The rules of an agent after three rollouts."""
    short = {"epochs": 1, "steps_per_epoch": 768, "episodes": 1, "processes": 0}
    config = with_values(preset_of(GymTask(task), "readable", "nfn"), short)
    with Trial(config, RunFolder.create(folder, config)) as trial:
        trial.run()
        (rules,) = neuro_fuzzy_parts(trial.network).values()
    return rules


def asked(rules: NeuroFuzzyNetwork) -> list[int]:
    """How many premises of each rule are not "any"."""
    nothing = rules.antecedent.any_mask
    return [
        sum(not bool(nothing[i, term]) for i, term in enumerate(rule)) for rule in rules.premises().tolist()
    ]


@pytest.mark.parametrize("task", LIMITS)
def test_rules_stay_as_few_and_as_short_as_promised_while_they_learn(task, tmp_path):
    rules = trained(task, tmp_path)
    most_rules, most_premises = LIMITS[task]
    assert rules.rules <= most_rules
    assert max(asked(rules)) <= most_premises
    assert min(asked(rules)) >= 1, "a rule that asks nothing would lead everywhere"


def test_the_last_word_of_a_rule_is_a_number_for_each_action_and_no_formula():
    for task in LIMITS:
        head = preset_of(GymTask(task), "readable", "nfn").head
        assert isinstance(head.consequent, Constant)
        assert head.levels == ()
        assert head.plain_value > 0, "the value is not for the rules to tell"


@pytest.mark.parametrize("task", LIMITS)
def test_the_plain_agent_is_trained_in_the_same_loop(task):
    rules, plain = (preset_of(GymTask(task), "readable", agent) for agent in ("nfn", "dnn"))
    assert rules.protocol == plain.protocol
    rates = {"learning_rate": plain.learner.learning_rate, "structure_rate": plain.learner.structure_rate}
    assert with_values(rules, rates).learner == plain.learner
    assert rules.protocol.steps <= 200_000


def test_rules_of_many_attributes_begin_short():
    head = preset_of(GymTask("Acrobot-v1", frame_stack=4), "readable", "nfn").head
    assert max(asked(head.build(24, 3).levels[0])) == 3


def test_it_is_for_vectors_and_for_its_own_learner():
    with pytest.raises(ConfigError, match="is for the learner 'parallel_q', got 'dqn'"):
        preset_of(GymTask("CartPole-v1"), "readable", "nfn", "dqn")
    import tests.gym_catch  # noqa: F401

    pictures = GymTask("tests.gym_catch:SmallCatch-v0")
    with pytest.raises(ConfigError, match="preset"):
        preset_of(pictures, "readable", "nfn")
