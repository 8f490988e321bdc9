"""Rule bases as tables and JSON."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import torch

import neuroplastic as npl
from tests.random_network import Setup
from tests.rules.random_names import random_rule_base

VARIABLES = {"food": (0, 10, ["bad", "good"]), "service": (0, 10)}
FUZZY = npl.RuleBase.from_text(
    "IF food is good THEN tip is high\nIF food is bad AND service is medium THEN tip is low WITH certainty 0.25",
    VARIABLES,
    outputs={"tip": (0, 30)},
)
LINEAR = npl.RuleBase.from_text(
    "IF food is good THEN tip is 3 AND joy is 1\nIF service is low THEN tip is 1 - 2 * food AND joy is 0",
    VARIABLES,
    firing=npl.Firing(),
)


def test_a_table_has_a_row_per_rule_and_says_which_term():
    table = FUZZY.table()
    assert table.index.tolist() == [1, 2]
    assert table["IF", "food"].tolist() == ["good", "bad"]
    assert table["IF", "service"].tolist()[1] == "medium"
    assert table["IF", "service"].isna().tolist() == [True, False]
    assert table["THEN tip", "term"].tolist() == ["high", "low"]
    assert table["WITH", "certainty"].tolist() == pytest.approx([1, 0.25])


def test_a_table_of_sums_has_their_numbers():
    table = LINEAR.table()
    assert table["THEN tip", "constant"].tolist() == [3, 1]
    assert table["THEN tip", "* food"].tolist() == [0, -2]
    assert table["THEN joy", "* service"].tolist() == [0, 0]
    assert table["WITH", "gain"].tolist() == [1, 1]


def test_a_missing_pandas_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(npl.NeuroplasticError, match=r"pip install 'neuroplastic\[rules\]'"):
        LINEAR.table()


@pytest.mark.slow
def test_rules_are_read_and_written_without_pandas():
    code = "import sys, neuroplastic as npl; print(npl.RuleBase.from_text('IF anything THEN y is 1', {'x': (0, 1)})); "
    code += "assert 'pandas' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "RULE 1: IF anything THEN y is 1\n"


@pytest.mark.parametrize("rules", [FUZZY, LINEAR], ids=["fuzzy", "linear"])
def test_json_is_standard_and_comes_back_exact(rules):
    again = npl.RuleBase.from_json(json.dumps(json.loads(rules.json()), indent=2))
    assert again.json() == rules.json()
    assert again.text(exact=True) == rules.text(exact=True)
    assert again.inputs == rules.inputs


def test_json_names_what_came_later_only_where_it_says_something():
    assert list(json.loads(LINEAR.json())["firing"]) == ["reduce", "alpha", "layer_norm", "certainty"]
    net = Setup(reduce="worst", power=math.inf).network()
    rules = npl.rule_base(net)
    assert rules.firing.gain == float(net.gain.detach())
    again = npl.RuleBase.from_json(rules.json())
    assert again.firing == rules.firing
    learnt = npl.network_of(again, dtype=torch.float64)
    torch.testing.assert_close(learnt.gain, net.gain, rtol=1e-14, atol=0)


@pytest.mark.parametrize("reduce", ["sum", "mean", "scaled", "worst"])
def test_rules_without_a_gain_fire_the_same(reduce):
    rules = npl.rule_base(Setup(reduce=reduce, certainty="log").network(3))
    plain, x = rules.without_gain(), torch.randn(20, 4, dtype=torch.float64)
    assert (plain.firing.reduce, plain.firing.gain) == ("worst" if reduce == "worst" else "sum", 1.0)
    levels = [npl.network_of(one, dtype=torch.float64).eval().firing(x) for one in (rules, plain)]
    torch.testing.assert_close(*levels, rtol=1e-9, atol=1e-9)


def test_json_of_a_rule_base_cannot_be_written_through():
    again = npl.RuleBase.from_json(LINEAR.json())
    with pytest.raises(ValueError, match="read-only"):
        again.premises[0, 0] = 1


def damage(change):
    content = json.loads(LINEAR.json())
    change(content)
    return json.dumps(content)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("[", "not JSON"),
        ("[" * 200_000, "nested deeper than 64"),
        ("[]", "an object with 'kind'"),
        ("null", "an object with 'kind'"),
        ('{"kind": "other"}', "an object with 'kind'"),
        (damage(lambda c: c.update(version=2)), "version must be 1, got 2"),
        (damage(lambda c: c.pop("inputs")), "'inputs' must be a list, got NoneType"),
        (damage(lambda c: c["inputs"][0].pop("terms")), "each of 'inputs' must be an object"),
        (damage(lambda c: c["inputs"][0]["terms"][0].update(width="1")), "width must be a number, got str"),
        (damage(lambda c: c["inputs"][0]["terms"][0].update(width=10**400)), "finite width above 0"),
        (damage(lambda c: c["inputs"][0].update(name=3)), "'name' must be a str"),
        (damage(lambda c: c["premises"][0].pop()), "premises must be nested lists of whole numbers"),
        (damage(lambda c: c["premises"][0].__setitem__(0, 0.5)), "premises must be nested lists of whole numbers"),
        (damage(lambda c: c["premises"][0].__setitem__(0, 99)), "premises must be indices"),
        (damage(lambda c: c["premises"][0].__setitem__(0, 2**70)), "premises must be nested lists"),
        (damage(lambda c: c["consequents"].update(bias=[["a"]])), "bias must be nested lists of numbers"),
        (damage(lambda c: c["consequents"].update(bias=[[True, False]] * 2)), "bias must be nested lists"),
        (damage(lambda c: c["consequents"].update(weight=[1.0])), "nested 3 deep"),
        (damage(lambda c: c["consequents"].update(form="?")), "form 'linear' or 'terms'"),
        (damage(lambda c: c["firing"].update(alpha="learn")), "a number alpha"),
        (damage(lambda c: c["firing"].update(alpha=7)), r"alpha must lie in \[1, 2\]"),
        (damage(lambda c: c["firing"].update(more=1)), "firing must be an object"),
        (damage(lambda c: c["firing"].update(gain="1")), "firing.gain must be a number"),
        (damage(lambda c: c["firing"].update(power=[1])), "firing.power must be a number"),
        (damage(lambda c: c.update(gain=None)), "gain must be given"),
        (LINEAR.json().replace("3.0", "NaN", 1), "must be finite, got NaN"),
        (b"{}", "must be a str, got bytes"),
    ],
)  # fmt: skip
def test_damaged_json_is_refused_by_name(text, words):
    with pytest.raises(npl.NeuroplasticError, match=words):
        npl.RuleBase.from_json(text)


def test_every_network_makes_a_table():
    for number in range(8):
        _, rules = random_rule_base(number)
        table = rules.table()
        assert len(table) == len(rules)
        assert table["IF"].notna().sum().sum() == (rules.premises >= 0).sum()
        assert np.isfinite(table.select_dtypes("number").to_numpy()).all()
