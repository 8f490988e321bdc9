"""Damaged rule text and JSON: only named errors, never a crash or a hang."""

import numpy as np
import pytest

import neuroplastic as npl
from tests.rules.mutation import mutate
from tests.rules.random_names import random_rule_base

HAND_WRITTEN = """# comfort
RULE 1: IF temperature is 'very hot' AND humidity is high   # muggy
THEN fan is 1 AND heater is 0 WITH certainty 0.9, gain 2 AND shift -1
IF temperature is cold AND humidity is any THEN fan is 0.1 + 0.5 * humidity - temperature * 2e-3 AND heater is 1
RULE 3: IF anything THEN fan is .5 AND heater is -1 WITH certainty weight 3
"""
VARIABLES = npl.RuleBase.from_text(
    "IF anything THEN y is 0",
    {"temperature": {"cold": 0, "very hot": 30}, "humidity": (0, 1), "is": (0, 1), "温度 8": (0, 1)},
).inputs
BASES = [random_rule_base(number)[1] for number in range(12)]


def fuzz_text(seconds, seed):
    """Half of the time a hand-written text, half of the time exact text with its own variables."""
    generator = np.random.default_rng(seed)
    tried = mutate(
        [HAND_WRITTEN], lambda text: npl.RuleBase.from_text(text, VARIABLES), seconds / 2, generator
    )
    for rules in BASES:
        options = {"outputs": rules.outputs, "firing": rules.firing}

        def target(text, rules=rules, options=options):
            npl.RuleBase.from_text(text, rules.inputs, **options)

        seeds = [rules.text(exact=True), str(rules), HAND_WRITTEN]
        tried += mutate(seeds, target, seconds / 2 / len(BASES), generator)
    return tried


def fuzz_json(seconds, seed):
    seeds = [rules.json() for rules in BASES[:6]]
    return mutate(seeds, npl.RuleBase.from_json, seconds, np.random.default_rng(seed))


@pytest.mark.slow  # a few of both in tests/fuzz
def test_damaged_text_is_refused_by_name():
    assert fuzz_text(2.0, 0) > 100


@pytest.mark.slow
def test_damaged_json_is_refused_by_name():
    assert fuzz_json(1.0, 1) > 50


def test_networks_of_damaged_text_are_finite_or_refused():
    def target(text):
        net = npl.from_rules(text, VARIABLES, extra_rules=1).eval()
        assert np.isfinite(npl.rule_base(net).premises).all()

    mutate([HAND_WRITTEN], target, 1.0, np.random.default_rng(2))


@pytest.mark.slow
def test_a_minute_of_damaged_text_is_refused_by_name():
    assert fuzz_text(60.0, 10) > 3000


@pytest.mark.slow
def test_a_minute_of_damaged_json_is_refused_by_name():
    assert fuzz_json(60.0, 11) > 3000


@pytest.mark.parametrize(
    "text",
    [
        "IF " * 200_000,
        "IF temperature is cold AND " * 100_000,
        "IF anything THEN y is " + "1 + " * 100_000,
        "IF anything THEN y is " + "- " * 200_000,
        "IF anything THEN y is " + "temperature + " * 50_000 + "!",
        "(" * 1_000_000,
        "'" * 999_999,
        "#" * 1_000_000,
        "x " * 500_000,
        "x." * 500_000,
        "1" * 1_000_000,
        "1e" * 500_000,
        "IF anything THEN y is 1\n" * 10_000 + "!",
        "\n" * 1_000_000,
        " \n" * 500_000 + "IF",
        "RULE " + "9" * 100_000,
    ],
    ids=lambda text: text[:24].strip(),
)
def test_long_text_takes_no_more_than_its_length(text):
    with pytest.raises(npl.NeuroplasticError) as caught:
        npl.RuleBase.from_text(text, VARIABLES)
    assert len(str(caught.value)) < 300
