"""What one side cannot say is refused by name, never approximated."""

import re

import numpy as np
import pytest

import neuroplastic as npl
from neuroplastic.rules.rule_base import Conclusions, Linear
from neuroplastic.rules.standards import (
    FileFormatError,
    NotExpressibleError,
    from_fcl,
    from_fis,
    from_fml,
    to_fcl,
    to_fis,
    to_fml,
)
from tests.rules.standards.random_rules import random_rules

WRITERS = {"FML": to_fml, "FCL": to_fcl, ".fis": to_fis}


def with_firing(firing):
    rules = random_rules(0, kind="constant")
    ones, zeros = np.ones(len(rules)), np.zeros(len(rules))
    norm = firing.layer_norm
    return npl.RuleBase(
        rules.inputs,
        rules.outputs,
        rules.premises,
        rules.consequents,
        firing,
        ones if firing.certainty else None,
        ones if norm else None,
        zeros if norm else None,
    )


@pytest.mark.parametrize(
    ("firing", "named"),
    [
        (npl.Firing(layer_norm=True, alpha=1.0), "layer_norm=True"),
        (npl.Firing(layer_norm=False, alpha=1.5), "alpha=1.5"),
        (npl.Firing(layer_norm=False, alpha=2.0), "alpha=2.0"),
        (npl.Firing(layer_norm=False, alpha=1.0, reduce="mean"), "reduce='mean'"),
        (npl.Firing(layer_norm=False, alpha=1.0, reduce="scaled"), "reduce='scaled'"),
        (npl.Firing(layer_norm=False, alpha=1.0, reduce="worst", gain=2.0), "gain=2 "),
        (npl.Firing(layer_norm=False, alpha=1.0, certainty="tanh"), "certainty='tanh'"),
    ],
)
@pytest.mark.parametrize("standard", WRITERS)
def test_option_outside_a_standard_is_refused_with_its_name_and_the_standard(standard, firing, named):
    with pytest.raises(NotExpressibleError) as caught:
        WRITERS[standard](with_firing(firing))
    assert f"firing.{named}" in str(caught.value)
    assert f"cannot be said in {standard}" in str(caught.value)


@pytest.mark.parametrize("standard", WRITERS)
def test_areas_that_differ_between_outputs_are_refused(standard):
    rules = random_rules(1, kind="height")
    parts = Conclusions(rules.consequents.terms.copy(), "area")
    area = npl.RuleBase(rules.inputs, rules.outputs, rules.premises, parts, rules.firing)
    with pytest.raises(NotExpressibleError, match="defuzzifier='area' with 2 outputs"):
        WRITERS[standard](area)


def test_fcl_of_jfuzzylogic_has_no_affine_consequents():
    with pytest.raises(NotExpressibleError, match=r"affine consequents.*dialect='fuzzylite'"):
        to_fcl(random_rules(0), dialect="jfuzzylogic")


def test_unknown_dialect_is_a_config_error():
    with pytest.raises(npl.ConfigError, match="did you mean 'fuzzylite'"):
        to_fcl(random_rules(0), dialect="fuzzylit")


def test_hierarchy_of_two_levels_is_refused(tmp_path):
    with pytest.raises(npl.ConfigError, match="rule_bases"):
        npl.export(npl.Hierarchy([2, 3, 1], 4), tmp_path / "rules.fml")
    assert list(tmp_path.iterdir()) == []


def small():
    """Two inputs, one output, two rules, no ignored premise."""
    rules = random_rules(3, kind="constant", inputs=2, outputs=1, rules=2, terms=2, ignore=0.0)
    return npl.RuleBase(
        rules.inputs,
        rules.outputs,
        rules.premises,
        Linear(np.zeros((2, 1, 0)), np.array([[1.0], [2.0]])),
        rules.firing,
    )


SMALL = {"fml": to_fml(small()), "fcl": to_fcl(small()), "fis": to_fis(small())}
READERS = {"fml": from_fml, "fcl": from_fcl, "fis": from_fis}


@pytest.mark.parametrize(
    ("name", "old", "new", "complaint"),
    [
        ("fml", "<gaussianShape ", "<triangularShape param3='1' ", "triangularShape"),
        ("fml", "<gaussianShape ", "<leftGaussianShape ", "leftGaussianShape"),
        ("fml", 'complement="false"', 'complement="true"', "complement"),
        ("fml", 'connector="and"', 'connector="or"', "connector='or'"),
        ("fml", ' andMethod="PROD" c', ' andMethod="EPROD" c', "andMethod='EPROD'"),
        ("fml", "<clause>", '<clause modifier="very">', "modifier='very'"),
        ("fml", "<clause>", '<clause modifier="not">', "modifier='not'"),
        ("fml", 'combination="WA"', 'combination="custom_x"', "combination='custom_x'"),
        ("fml", "tskRuleBase", "mamdaniRuleBase", "mamdaniRuleBase.*COG"),
        ("fml", 'type="input"', 'type="output"', "fuzzyVariable.*COG"),
        ("fml", "</tskThen>", "</tskThen><tskElse/>", "tskElse"),
        ("fml", 'activationMethod="PROD"', 'activationMethod="custom_a"', "custom activationMethod"),
        ("fcl", "Gaussian ", "Triangle 0 ", "Triangle"),
        ("fcl", "Gaussian ", "(0, 1) (1, 0) ", "points"),
        ("fcl", "TERM rule_1 := 1.0", "TERM rule_1 := FUNCTION 2 * x1 / x2 + 1", "FUNCTION"),
        ("fcl", "AND : PROD", "AND : BDIF", "AND : BDIF"),
        ("fcl", "  RULE 2", "  AND : MIN;\n  RULE 2", "AND : MIN is not read beside"),
        ("fcl", " and x2", " or x2", "OR is not read"),
        ("fcl", "if x1 is", "if not x1 is", "NOT is not read"),
        ("fcl", "if x1 is", "if x1 is not", "NOT is not read"),
        ("fcl", "if x1 is", "if x1 is very", "hedge 'very'"),
        ("fcl", "METHOD : COGS", "METHOD : COG", "METHOD 'cog'"),
        ("fcl", "and x2 is", "and x1 is low and x2 is", "two premises on 'x1'"),
        ("fcl", "  DEFAULT", "  LOCK : RANGE;\n  DEFAULT", "LOCK : RANGE"),
        ("fcl", "END_RULEBLOCK", "END_RULEBLOCK RULEBLOCK b END_RULEBLOCK", "one RULEBLOCK"),
        ("fcl", "END_FUNCTION_BLOCK", "END_FUNCTION_BLOCK FUNCTION_BLOCK", "one FUNCTION_BLOCK"),
        ("fis", "Type='sugeno'", "Type='mamdani'", "Type='mamdani'"),
        ("fis", "AndMethod='prod'", "AndMethod='mine'", "AndMethod='mine'"),
        ("fis", "'wtaver'", "'wtsum'", "DefuzzMethod='wtsum'"),
        ("fis", "'gaussmf'", "'trimf'", "'trimf'"),
        ("fis", "[Output1]", "[Output1]\nLockRange=1", "lockrange=1"),
        ("fis", "[Input1]", "[Input1]\nEnabled=0", "enabled=0"),
        ("fis", ") : 1", ") : 2", "OR"),
        ("fis", "\n1 ", "\n-1 ", "NOT"),
        ("fis", "\n1 ", "\n1.2 ", "hedge"),
        ("fis", "2 (1)", "0 (1)", "concludes nothing about 'y1'"),
    ],
)
def test_what_our_rules_cannot_say_is_refused_with_its_name(name, old, new, complaint):
    assert old in SMALL[name]
    with pytest.raises(NotExpressibleError, match=complaint):
        READERS[name](SMALL[name].replace(old, new))


def test_singletons_shared_by_rules_need_an_accumulation_that_adds():
    text = SMALL["fcl"].replace("y1 is rule_2", "y1 is rule_1").replace("DEFAULT", "ACCU : MAX;\n  DEFAULT")
    with pytest.raises(NotExpressibleError, match="ACCU : MAX"):
        from_fcl(text)
    assert len(from_fcl(text.replace("ACCU : MAX", "ACCU : NSUM"))) == 2


@pytest.mark.parametrize("name", READERS)
def test_weights_beyond_one_are_an_error_and_zero_leaves_the_rule_out(name):
    rules = random_rules(3, kind="constant", certain=True)
    text = {"fml": to_fml, "fcl": to_fcl, "fis": to_fis}[name](rules)
    weight = re.compile(r'(?<= weight=")[^"]+|(?<= with )[^;]+|(?<= \()[\d.]+(?=\) : 1)')
    with pytest.raises(FileFormatError, match=r"weight of a rule must lie in \[0, 1\], got 1.5"):
        READERS[name](weight.sub("1.5", text, count=1))
    assert len(READERS[name](weight.sub("0", text, count=1))) == len(rules) - 1
    with pytest.raises(NotExpressibleError, match="every rule has weight 0"):
        READERS[name](weight.sub("0", text))
