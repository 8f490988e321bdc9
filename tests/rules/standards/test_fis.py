"""`.fis` files as others write them."""

import numpy as np
import pytest

from neuroplastic.rules.standards import FileFormatError, from_fis
from tests.rules.standards.random_rules import outputs_of
from tests.rules.standards.tip import tips

TIP = """% a comment
[system]
name='tipper'
TYPE='sugeno'
Version=2.0
NumInputs=2
NumOutputs=1
NumRules=3

[Rules]
1 1, 1 (0.25) : 1
0 2, 2 (1) : 1
0 0, 1 (1) : 2

[Output1]
Name="tip out"
Range=[-1 30]
NumMFs=2
MF2='generous':'linear',[1 -2 3]
MF1='cheap':'constant',5
MF1X
[Input2]
Name='food'
Range=[0 10]
NumMFs=2
MF1 = 'ran:cid' : 'gaussmf' , [ 2.5  0 ]
MF2='delicious':'GAUSSMF',[5, 10]
# another
[Input1]
Name='service'
Range=[0 10]
MF1='poor':'gaussmf',[2 0]
""".replace("MF1X\n", "").replace(",5\n", ",[5]\n")


def test_order_case_comments_and_blanks_do_not_matter():
    rules = from_fis(TIP)
    assert [variable.name for variable in rules.inputs] == ["service", "food"]
    assert rules.inputs[1].terms[0].name == "ran:cid"
    assert rules.outputs[0].name == "tip out"
    x = np.random.default_rng(0).uniform(0, 10, size=(20, 2))
    np.testing.assert_allclose(outputs_of(rules, x)[:, 0], tips(x), atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("[system]", "[system", "line 2: a section must read like"),
        ("[system]", "[systems]", r"there is no section \[systems\]"),
        ("[system]", "", "line 3: a line before the first section"),
        ("TYPE='sugeno'", "", "must have 'type'"),
        ("TYPE='sugeno'", "TYPE=sugeno", "line 4: a name must stand in quotes"),
        ("NumInputs=2", "NumInputs=3", "line 6: numinputs says '3', but the file has 2"),
        ("NumRules=3", "NumRules=1e9", "numrules says '1e9'"),
        ("NumMFs=2\nMF2='gen", "NumMFs=7\nMF2='gen", "NumMFs says '7', but there are 2"),
        ("[Input1]", "[Input3]", "numbered from 1 without gaps"),
        ("[Input1]", "[Input2]", "comes twice"),
        ("MF1='poor'", "MF2='poor'", "numbered from 1 without gaps"),
        ("[2 0]", "[0 0]", "width above 0"),
        ("[2 0]", "[2]", "must have 2 parameters here, got 1"),
        ("[2 0]", "[2 zero]", "must be a number, got 'zero'"),
        ("[2 0]", "2 0", "parameters must stand in brackets"),
        ("'poor':", "'poor'", "must read like"),
        ("[1 -2 3]", "[1 -2]", "must have 3 parameters here, got 2"),
        ("1 1, 1 (0.25) : 1", "1 1 1 (0.25) : 1", "line 11: a rule must read like"),
        ("1 1, 1 (0.25) : 1", "1, 1 (0.25) : 1", "2 inputs and 1 outputs, got 1 and 1"),
        ("1 1, 1 (0.25)", "1 3, 1 (0.25)", "names set 3 of a variable that has 2"),
        ("(0.25)", "(x)", "weight of a rule must be a number"),
        ("(0.25) : 1", "(0.25) : 3", r"must be 1 \(AND\) or 2 \(OR\), got '3'"),
        ("Name='food'", "Name='service'", "unique"),
        ("Name='food'", "Name='foo'd'", "quotes"),
        ("Name='food'", "Nam", "must read like Name=value"),
    ],
)
def test_mistakes_are_named_with_their_line(old, new, complaint):
    assert old in TIP
    with pytest.raises(FileFormatError, match=complaint):
        from_fis(TIP.replace(old, new, 1))
