"""Rules as a person would say them: what they conclude in short, and the cases behind them."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic.rules.evidence import Evidence
from neuroplastic.rules.leading import leaders_of
from neuroplastic.rules.rule_base import Linear
from neuroplastic.rules.text.plain import middle, number, plain_sentences
from neuroplastic.rules.text.sentences import numbered

FLOWERS = npl.RuleBase(
    (
        npl.Variable("petal length", (npl.Term("short", 1.0, 1.0), npl.Term("long", 5.0, 1.0))),
        npl.Variable("soil", (npl.Term("clay or sand", 0.0, 1.0), npl.Term("chalk", 3.0, 1.0))),
    ),
    tuple(npl.Variable(name) for name in ("setosa", "virginica")),
    np.array([[1, 1], [0, -1], [-1, -1]]),
    Linear(np.zeros((3, 2, 0)), np.array([[-1.0, 2.0], [3.0, 0.0], [0.4, 0.5]])),
    npl.Firing(layer_norm=False, alpha=1.0),
    classes=True,
)
BEHIND = Evidence(np.array([20.0, 50.0, 80.0]), np.array([[0.1, 0.9], [0.97, 0.03], [0.4, 0.6]]), 150)


def houses(weight, bias, **more):
    """Rules of two houses: few rooms and many."""
    rooms = npl.Variable("rooms", (npl.Term("low", 4, 1), npl.Term("high", 8, 1)))
    return npl.RuleBase(
        (rooms,),
        (npl.Variable("price"),),
        np.array([[0], [1]]),
        Linear(np.array(weight, dtype=float).reshape(2, 1, -1), np.array(bias, dtype=float)),
        npl.Firing(layer_norm=False, alpha=1.0),
        **more,
    )


def test_a_classifier_reads_as_sentences_with_shares_and_cases_most_first_and_otherwise_last():
    assert replace(FLOWERS, evidence=BEHIND).text().splitlines() == [
        "RULE 2: IF petal length is short THEN setosa (97 %, 50 cases)",
        "RULE 1: IF petal length is long AND soil is chalk THEN virginica (90 %, 20 cases)",
        "RULE 3: OTHERWISE virginica (60 %, 80 cases)",
    ]


def test_a_class_that_most_cases_are_not_of_is_only_more_likely_than_overall_or_spoken_for():
    shares = np.array([[0.62, 0.38], [0.97, 0.03], [0.9, 0.1]])
    text = replace(FLOWERS, evidence=replace(BEHIND, shares=shares)).text()
    assert "THEN virginica more likely (38 % against 11 % overall, 20 cases)" in text
    assert "OTHERWISE towards virginica (10 % against 11 % overall, 80 cases)" in text


def test_several_categories_are_joined_by_or_without_quotes():
    rules = replace(FLOWERS, premises=np.array([[-1, 0], [0, -1], [1, -1]]), evidence=BEHIND)
    assert "IF soil is clay or sand THEN virginica (90 %, 20 cases)" in rules.text()
    assert "'clay or sand'" in rules.text(exact=True)  # where a parser reads


def test_a_rule_that_leads_nowhere_comes_last_and_says_so():
    behind = Evidence(np.array([0.0, 1.0, 149.0]), np.array([[0, 0], [1.0, 0], [0.4, 0.6]]), 150)
    text = replace(FLOWERS, evidence=behind).text().splitlines()
    assert text[0].endswith("setosa (100 %, 1 case)")
    assert text[-1] == "RULE 1: IF petal length is long AND soil is chalk THEN virginica (no cases)"


def test_a_rule_without_premises_that_leads_everywhere_holds_always():
    behind = Evidence(np.array([0.0, 0.0, 150.0]), np.array([[0, 0], [0, 0], [0.4, 0.6]]), 150)
    assert replace(FLOWERS, evidence=behind).text().splitlines()[0] == (
        "RULE 3: ALWAYS virginica (60 %, 150 cases)"
    )


def test_a_share_is_never_rounded_to_all_or_nothing():
    behind = Evidence(np.array([20.0, 50, 80]), np.array([[0.999, 0.001], [0.998, 0.002], [0.4, 0.6]]), 150)
    text = replace(FLOWERS, evidence=behind).text()
    assert "setosa (over 99 %, 50 cases)" in text
    assert "towards virginica (under 1 % against" in text


def test_weighted_cases_count_by_their_weights():
    behind = Evidence(np.array([20.25, 50.0, 80.0]), BEHIND.shares, 150.25)
    assert "(90 %, 20.25 cases)" in replace(FLOWERS, evidence=behind).text()


def test_classes_without_evidence_are_named_alone():
    assert FLOWERS.text().splitlines() == [
        "RULE 1: IF petal length is long AND soil is chalk THEN virginica",
        "RULE 2: IF petal length is short THEN setosa",
        "RULE 3: IF anything THEN virginica",
    ]


def test_outputs_that_nobody_calls_classes_keep_their_numbers():
    assert "THEN setosa is -1 AND virginica is 2" in replace(FLOWERS, classes=False).text()


def test_a_regressor_reads_as_numbers_with_cases():
    behind = Evidence(np.array([10.0, 54.0]), np.array([[12.0], [32.1]]), 64)
    assert houses([], [[12], [32.1]], evidence=behind).text().splitlines() == [
        "RULE 2: IF rooms is high THEN price is about 32.1 (54 cases)",
        "RULE 1: IF rooms is low THEN price is about 12 (10 cases)",
    ]


def test_a_number_far_from_its_cases_is_told_with_their_mean():
    behind = Evidence(np.array([10.0, 54.0]), np.array([[12.0], [32.1]]), 64)
    text = houses([], [[12.5], [45]], evidence=behind).text()
    assert "price is about 45 (mean 32.1, 54 cases)" in text
    assert "price is about 12.5 (10 cases)" in text


def test_formulas_are_told_by_their_value_in_the_middle_of_the_sets_and_written_out_when_asked():
    rules = houses([[2], [3]], [[1], [-1]])
    assert rules.text().splitlines() == [
        "RULE 1: IF rooms is low THEN price is about 9",
        "RULE 2: IF rooms is high THEN price is about 23",
    ]
    assert rules.text(formulas=True).splitlines()[0] == "RULE 1: IF rooms is low THEN price is 1 + 2 * rooms"


def test_formulas_are_told_by_the_cases_where_they_are_known():
    behind = Evidence(np.array([10.0, 54.0]), np.array([[7.0], [20.0]]), 64)
    assert houses([[2], [3]], [[1], [-1]], evidence=behind).text().splitlines()[0] == (
        "RULE 2: IF rooms is high THEN price is about 20 (54 cases)"
    )


def test_formulas_of_classes_are_mostly_one_of_them():
    weight = np.zeros((3, 2, 2))
    weight[1, 1, 0] = 9.0
    rules = replace(FLOWERS, consequents=Linear(weight, FLOWERS.consequents.bias))
    assert rules.text().splitlines()[1] == "RULE 2: IF petal length is short THEN mostly virginica"
    told = replace(rules, evidence=replace(BEHIND, shares=np.array([[0.5, 0.5], [0.97, 0.03], [0.4, 0.6]])))
    assert (
        told.text().splitlines()[0] == "RULE 2: IF petal length is short THEN mostly setosa (97 %, 50 cases)"
    )
    assert "THEN most often setosa (50 %, 20 cases)" in told.text()


def test_the_middle_of_what_a_rule_ignores_is_that_of_all_its_sets():
    assert middle(FLOWERS, 1).tolist() == [1, 1.5]
    bare = replace(
        FLOWERS, inputs=(FLOWERS.inputs[0], npl.Variable("soil")), premises=np.array([[0, -1]] * 3)
    )
    assert middle(bare, 0).tolist() == [1, 0]


def test_certainty_is_said_where_no_cases_are_known():
    rules = npl.RuleBase.from_text("IF x is low THEN y is 2 * x WITH certainty 0.8", {"x": (0, 1)})
    assert rules.text() == "RULE 1: IF x is low THEN y is about 0 WITH certainty 0.8"


def test_great_numbers_have_no_exponent_and_tiny_ones_do():
    assert [number(value, 3) for value in (212345.0, -0.00123, 3.14159, 1e12, 1e-9)] == [
        *("212000", "-0.00123", "3.14", "1e+12", "1e-09"),
    ]


def test_long_rules_show_what_sets_them_apart_in_sentences_too():
    text = replace(FLOWERS, evidence=BEHIND).text(premises=1)
    assert "AND 1 more THEN virginica (90 %, 20 cases)" in text


def test_a_sentence_keeps_the_number_that_explanations_use():
    assert [number for number, _ in plain_sentences(replace(FLOWERS, evidence=BEHIND))] == [2, 1, 3]


@pytest.mark.parametrize("evidence", [None, BEHIND])
def test_a_sentence_does_not_say_its_number_whether_or_not_its_cases_are_known(evidence):
    rules = replace(FLOWERS, evidence=evidence)
    told = plain_sentences(rules)
    assert all(sentence.startswith(("IF ", "OTHERWISE ")) for _, sentence in told)
    assert rules.text() == "\n".join(numbered(*each) for each in told)


def test_evidence_travels_in_json_and_old_files_have_none():
    rules = replace(FLOWERS, evidence=BEHIND)
    again = npl.RuleBase.from_json(rules.json())
    assert again.text() == rules.text()
    assert again.json() == rules.json()
    content = json.loads(rules.json())
    del content["evidence"], content["classes"]
    old = npl.RuleBase.from_json(json.dumps(content))
    assert old.evidence is None
    assert not old.classes


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cases": [1, 2]}, "a row of shares for each rule"),
        ({"cases": [1, 2, -3]}, "at least 0"),
        ({"shares": [[1, 0]] * 2, "cases": [1, 2]}, "shares of the evidence must have shape"),
        ({"shares": [["a"]]}, "shares must be nested lists of numbers"),
        ({"rows": -1}, "rows of the evidence"),
        ({"more": 1}, "evidence must be an object"),
    ],
)
def test_damaged_evidence_is_refused_by_name(change, words):
    content = json.loads(replace(FLOWERS, evidence=BEHIND).json())
    content["evidence"].update(change)
    with pytest.raises(npl.NeuroplasticError, match=words):
        npl.RuleBase.from_json(json.dumps(content))


def test_evidence_is_counted_by_the_rule_that_fires_most():
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(2, 2, rules=4)
    x = np.random.default_rng(0).normal(size=(60, 2))
    classes = np.eye(2)[(x[:, 0] > 0).astype(int)]
    weight = np.arange(1.0, 61.0)
    leaders = leaders_of(net, x)
    assert (leaders == net.eval().firing(torch.from_numpy(x).float()).argmax(dim=1).numpy()).all()
    found = Evidence.of(leaders, classes, weight, 4)
    assert found.cases.sum() == found.rows == weight.sum()
    for rule in range(4):
        led = leaders == rule
        assert found.cases[rule] == weight[led].sum()
        if led.any():
            assert found.shares[rule] == pytest.approx(np.average(classes[led], axis=0, weights=weight[led]))


def test_rules_that_read_alike_stand_in_one_line_with_their_cases_together():
    twins = replace(FLOWERS, premises=np.array([[1, 1], [0, -1], [1, 1]]))  # of other strengths, not shown
    assert twins.text().splitlines() == [
        "RULES 1 and 3: IF petal length is long AND soil is chalk THEN virginica",
        "RULE 2: IF petal length is short THEN setosa",
    ]
    assert replace(twins, evidence=BEHIND).text().splitlines() == [
        "RULES 1 and 3: IF petal length is long AND soil is chalk THEN virginica (66 %, 100 cases)",
        "RULE 2: IF petal length is short THEN setosa (97 %, 50 cases)",
    ]
    assert len(plain_sentences(twins)) == twins.text(formulas=True).count("RULE ") == 3  # one by one


def test_the_cases_of_groups_are_those_of_their_rules():
    together = BEHIND.together([[0, 2], [1]])
    assert together.cases.tolist() == [100.0, 50.0, 0.0]
    np.testing.assert_allclose(together.shares[0], [0.34, 0.66])
    assert together.cases @ together.shares == pytest.approx(BEHIND.cases @ BEHIND.shares)
    assert numbered([1, 2, 5], "IF a THEN b") == "RULES 1, 2 and 5: IF a THEN b"
