"""Rule text as people read it: wording, quotes, digits, and what a summary keeps."""

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic.rules.rule_base import Conclusions, Linear
from neuroplastic.rules.text.sentences import distinction, similarity
from neuroplastic.rules.text.tokens import is_plain, quoted


def variable(name, *words):
    words = words or ("low", "high")
    return npl.Variable(name, tuple(npl.Term(word, float(place), 0.5) for place, word in enumerate(words)))


def linear(premises, weight, bias, inputs=None, outputs=("setosa", "versicolor"), **settings):
    inputs = inputs or (variable("petal length"), variable("petal width"))
    firing = npl.Firing(
        layer_norm="gain" in settings, certainty="log" if "certainty" in settings else None, alpha=1.0
    )
    parts = {name: np.array(values, dtype=float) for name, values in settings.items()}
    outputs = tuple(npl.Variable(name) for name in outputs)
    consequents = Linear(np.array(weight, dtype=float), np.array(bias, dtype=float))
    return npl.RuleBase(inputs, outputs, np.array(premises), consequents, firing, **parts)


def test_a_rule_reads_like_a_sentence_with_formulas_where_they_are_asked_for():
    rules = linear(
        [[0, 1], [-1, 0]],
        [[[1.2, -0.5], [0, 0]], [[0, 1e-7], [-3, 0]]],
        [[0.31, -2], [0, 0.5]],
        certainty=[np.log(4), 0],
    )
    assert rules.text(formulas=True).splitlines() == [
        "RULE 1: IF petal length is low AND petal width is high THEN setosa is 0.31 + 1.2 * petal length "
        "- 0.5 * petal width AND versicolor is -2 WITH certainty 0.8",
        "RULE 2: IF petal width is low THEN setosa is 0 + 1e-07 * petal width "
        "AND versicolor is 0.5 - 3 * petal length WITH certainty 0.5",
    ]


def test_exact_text_has_every_number_in_full():
    third = 1 / 3
    rules = linear(
        [[0, 1]],
        [[[third, 0], [-third, 2]]],
        [[third, -1e-30]],
        certainty=[third],
        gain=[-third],
        shift=[0],
    )
    assert rules.text(exact=True) == (
        f"RULE 1: IF petal length is low AND petal width is high "
        f"THEN setosa is {third!r} + {third!r} * petal length + 0.0 * petal width "
        f"AND versicolor is -1e-30 - {third!r} * petal length + 2.0 * petal width "
        f"WITH certainty weight {third!r} AND gain {-third!r} AND shift 0.0"
    )


def test_a_mamdani_rule_concludes_a_term():
    consequents = Conclusions(np.array([[1]]), "height")
    firing = npl.Firing(layer_norm=False, alpha=1.0)
    tip = (variable("tip", "mean", "very generous (20%)"),)
    rules = npl.RuleBase((variable("food"),), tip, np.array([[1]]), consequents, firing)
    assert str(rules) == "RULE 1: IF food is high THEN tip is 'very generous (20%)'"


def test_a_rule_without_premises_says_anything():
    assert str(linear([[-1, -1]], np.zeros((1, 2, 0)), [[1, 2]])) == (
        "RULE 1: IF anything THEN setosa is 1 AND versicolor is 2"
    )


@pytest.mark.parametrize(
    "name", ["x", "petal length", "x1.2", "größe", "温度", "level 8", "x_1", "isolated", "ıf"]
)
def test_plain_names_stand_without_quotes(name):
    assert quoted(name) == name


@pytest.mark.parametrize(
    "name",
    ["petal length (cm)", "is", "this AND that", "Then", "8", "a-b", "a  b", "3d", "x.", "#", "a\tb", "a*b"],
)
def test_other_names_stand_in_quotes(name):
    assert not is_plain(name)
    assert quoted(name) == f"'{name}'"


def test_a_summary_keeps_the_premises_that_set_a_rule_apart():
    inputs = tuple(variable(f"x{number}") for number in range(1, 1601))
    premises = np.zeros((3, 1600), dtype=int)
    premises[1, [4, 700]] = 1  # only here does rule 2 differ from the others
    premises[2, 9] = -1
    rules = linear(premises, np.zeros((3, 1, 0)), [[1], [2], [3]], inputs, ["y"])
    text = rules.text(premises=2).splitlines()
    assert text[1] == "RULE 2: IF x5 is high AND x701 is high AND 1598 more THEN y is 2"
    assert text[2].count(" is ") == 2 + 1
    assert text[2].endswith("AND 1597 more THEN y is 3")
    assert rules.text(premises=None).count(" is low") == 3 * 1600 - 3
    assert len(str(rules)) < 600


def test_a_summary_keeps_the_largest_weights():
    inputs = tuple(variable(f"x{number}") for number in range(1, 1601))
    weight = np.full((1, 1, 1600), 0.01)
    weight[0, 0, [3, 1599]] = (-7, 5)
    weight[0, 0, 0] = 0
    rules = linear(np.full((1, 1600), -1), weight, [[0.5]], inputs, ["y"])
    text = rules.text(consequents=2, formulas=True)
    assert text == "RULE 1: IF anything THEN y is 0.5 - 7 * x4 + 5 * x1600 + 1597 more"


def test_digits_are_significant_digits():
    rules = linear([[-1, -1]], np.zeros((1, 2, 0)), [[np.pi * 1e6, np.pi]])
    assert rules.text(digits=2).endswith("setosa is 3.1e+06 AND versicolor is 3.1")
    assert rules.text(digits=5).endswith("setosa is 3.1416e+06 AND versicolor is 3.1416")


@pytest.mark.parametrize("wrong", [{"digits": 0}, {"digits": 2.5}, {"premises": 0}, {"consequents": -1}])
def test_wrong_limits_are_refused_by_name(wrong):
    with pytest.raises(npl.ConfigError, match=next(iter(wrong))):
        linear([[0, 0]], np.zeros((1, 2, 0)), [[1, 2]]).text(**wrong)


def test_distinction_is_greatest_for_a_set_that_no_other_rule_uses():
    inputs = (variable("x", "a", "b", "c"),)
    rules = linear([[0], [0], [0], [2]], np.zeros((4, 1, 0)), np.zeros((4, 1)), inputs, ["y"])
    a, b, c = distinction(rules, 0)
    assert c > b > a > 0
    assert c == pytest.approx(0.75, abs=0.05)


def test_similarity_of_gaussian_sets_is_that_of_an_integral():
    left, right = npl.Term("a", 0.3, 0.7), npl.Term("b", 1.1, 0.4)
    x = np.linspace(-20, 20, 200001)
    density = [np.exp(-0.5 * ((x - term.center) / term.width) ** 2) for term in (left, right)]
    overlap = (density[0] * density[1]).sum() / np.sqrt((density[0] ** 2).sum() * (density[1] ** 2).sum())
    found = similarity(npl.Variable("x", (left, right)))
    assert found[0, 1] == found[1, 0] == pytest.approx(overlap, rel=1e-9)


def test_text_of_a_large_network_is_written_and_read_in_linear_time():
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(400, 2, 32, max_terms=3)
    rules = npl.rule_base(net)
    text = rules.text(exact=True)
    assert len(text) > 500_000
    again = npl.RuleBase.from_text(text, rules.inputs, firing=rules.firing)
    assert np.array_equal(again.premises, rules.premises)
    assert np.array_equal(again.consequents.weight, rules.consequents.weight)
