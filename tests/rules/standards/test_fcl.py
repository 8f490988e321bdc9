"""FCL files as others write them."""

import time

import numpy as np
import pytest

from neuroplastic.rules.standards import FileFormatError, NotExpressibleError, from_fcl, to_fcl
from tests.rules.standards.random_rules import outputs_of, random_rules
from tests.rules.standards.tip import tips

TIP = """
(* a comment
   over lines *)
function_block tipper - TSK   // lower case
  VAR_INPUT  Service : REAL; RANGE := (0 .. 10); food:REAL; END_VAR
  Var_Output tip : real; END_VAR
  FUZZIFY food TERM rancid := GAUSS 0 2.5 ; TERM Delicious := gaussian 1e1 .5e1; END_FUZZIFY
  FUZZIFY service
     RANGE := (0..10); ENABLED : TRUE;
     TERM poor := Gaussian 0. 2; /* mean, deviation */
  END_FUZZIFY
  DEFUZZIFY tip
     METHOD : COGS; DEFAULT := 0 | NC; LOCK : PREVIOUS; ACCU : NSUM; RANGE := (-1 .. 30);
     TERM cheap := 5; TERM generous := Linear 1 -2 +3;
  END_DEFUZZIFY
  RULEBLOCK
    AND : PROD; OR : MAX; ACT : MIN;
    RULE first : IF (SERVICE IS poor) AND (food IS rancid) THEN tip IS cheap WITH 0.25;
    RULE 2 : if food is delicious then TIP is generous;
    rule 3 : if food is any rancid then tip is cheap with 1;
  END_RULEBLOCK
END_FUNCTION_BLOCK
"""


def test_order_case_comments_ranges_and_brackets_do_not_matter():
    rules = from_fcl(TIP)
    assert [variable.name for variable in rules.inputs] == ["Service", "food"]
    x = np.random.default_rng(0).uniform(0, 10, size=(20, 2))
    np.testing.assert_allclose(outputs_of(rules, x)[:, 0], tips(x), atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("0.25", "1.5", r"line 18: the weight of a rule must lie in \[0, 1\]"),
        (
            "is generous",
            "is lavish",
            "line 19, column 40: a conclusion on 'TIP' names no known output and term",
        ),
        ("food IS rancid", "food IS", "expected a term|names no known input and term"),
        ("GAUSS 0 2.5", "GAUSS 0 0", "line 7: .*width above 0"),
        ("GAUSS 0 2.5", "GAUSS 0 1 1", "a Gaussian term has a centre and a width"),
        ("GAUSS 0 2.5", "GAUSS 0 1e999", "must be finite"),
        ("Linear 1 -2 +3", "Linear 1 -2", "must have 3 numbers, got 2"),
        ("TERM cheap := 5", "TERM cheap := 5 6", "must have 1 numbers, got 2"),
        ("over lines *)", "over lines", "a comment is not closed"),
        ("END_FUNCTION_BLOCK", "", "expected .*END_FUNCTION_BLOCK|expected .*RULEBLOCK, got the end"),
        ("rancid) THEN", "rancid THEN", "a bracket is not closed"),
        ("METHOD : COGS;", "", "'tip' must have METHOD : COGS"),
        ("food:REAL", "food:INT", "expected REAL, got 'INT'"),
        ("food:REAL", "service:REAL", "'service' is declared twice"),
        ("FUZZIFY food", "FUZZIFY fud", "'fud' must be declared in VAR_INPUT"),
        ("END_FUZZIFY\n  FUZZIFY service", "END_FUZZIFY FUZZIFY food", "fuzzified once"),
        ("WITH 0.25", "WITH often", "must be a number, got 'often'"),
        ("tip : real", "tip ? real", r"line 6, column 18: '\?' has no place in FCL"),
    ],
)
def test_mistakes_are_named_with_their_place(old, new, complaint):
    assert old in TIP
    with pytest.raises(FileFormatError, match=complaint):
        from_fcl(TIP.replace(old, new, 1))


def test_reading_takes_time_in_proportion_to_length():
    def seconds(text):
        start = time.perf_counter()
        with pytest.raises(FileFormatError):
            from_fcl(text)
        return time.perf_counter() - start

    for piece in ("(*", "(", "(* *)", "a ", "1 ", "//\n", "\n"):
        assert seconds("FUNCTION_BLOCK " + piece * 10_000) < 5


def test_numbers_are_written_so_that_they_come_back_exactly():
    rules = random_rules(1, kind="affine")
    found = from_fcl(to_fcl(rules))
    np.testing.assert_array_equal(found.consequents.weight, rules.consequents.weight)


def test_a_small_file_that_asks_for_gigabytes_is_refused(monkeypatch):
    """Memory grows with rules times inputs, a file with their sum."""
    monkeypatch.setattr("neuroplastic.rules.standards.system.MOST_NUMBERS", 9_999)
    names = "".join(f"x{k} : REAL;\n" for k in range(100))
    terms = "".join(f"FUZZIFY x{k} TERM a := GAUSS 0 1; END_FUZZIFY\n" for k in range(100))
    start = f"FUNCTION_BLOCK VAR_INPUT {names} END_VAR VAR_OUTPUT y : REAL; END_VAR {terms}"
    output = "DEFUZZIFY y TERM c := 1; METHOD : COGS; END_DEFUZZIFY RULEBLOCK "
    rules = [f"RULE {k} : IF x0 IS a THEN y IS c;\n" for k in range(100)]
    end = "END_RULEBLOCK END_FUNCTION_BLOCK"
    assert len(from_fcl(f"{start}{output}{''.join(rules[1:])}{end}")) == 99
    with pytest.raises(NotExpressibleError, match="more than the 9999 numbers"):
        from_fcl(f"{start}{output}{''.join(rules)}{end}")


def test_an_input_that_only_consequents_use_needs_no_terms():
    text = TIP.replace("TERM poor := Gaussian 0. 2;", "").replace("(SERVICE IS poor) AND ", "")
    rules = from_fcl(text)
    assert rules.inputs[0].terms == ()
    assert rules.consequents.weight[1, 0].tolist() == [1, -2]
