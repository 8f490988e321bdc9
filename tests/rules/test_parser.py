"""The parser: what it accepts of a person's writing, and how it says what is wrong where."""

import copy
import pickle

import numpy as np
import pytest

import neuroplastic as npl
from neuroplastic.rules.text import assembly, tokens

VARIABLES = {
    "temperature": {"cold": (0, 5), "very hot": (30, 5)},
    "Humidity": (0, 100),
    "is it 'x'".replace("'", "`"): (0, 1, ["no", "yes"]),
}


def read(text, variables=VARIABLES, **options):
    return npl.RuleBase.from_text(text, variables, **options)


def error(text, **options):
    with pytest.raises(npl.RuleSyntaxError) as caught:
        read(text, **options)
    assert str(caught.value).startswith(f"line {caught.value.line}, column {caught.value.column}: ")
    return caught.value


def test_a_person_may_write_freely():
    rules = read("""
        # comfort
        if temperature is VERY HOT   # no label, other case
          And humidity IS high
        then fan is 1
        RULE 7: IF temperature is cold AND 'Humidity' is any
        THEN fan is -0.5 + humidity * 2e-1 - .5 * temperature - temperature + -1 WITH certainty 0.25, gain 2

        RULE 3: IF anything THEN fan is 0 WITH shift -1 AND gain +3
    """)
    assert rules.premises.tolist() == [[1, 2, -1], [0, -1, -1], [-1, -1, -1]]
    assert rules.consequents.bias[:, 0].tolist() == [1, -1.5, 0]
    assert rules.consequents.weight[:, 0].tolist() == [[0, 0, 0], [-1.5, 0.2, 0], [0, 0, 0]]
    assert rules.firing == npl.Firing(reduce="sum", alpha=1.0, layer_norm=True, certainty="log")
    assert rules.certainty[1] == pytest.approx(np.log(0.25 / 0.75))
    assert rules.gain.tolist() == [1, 2, 3]
    assert rules.shift.tolist() == [0, 0, -1]


def test_conclusions_without_inputs_make_a_zero_order_network():
    rules = read(
        "IF temperature is cold THEN a is 1 AND b is 2\r\nIF temperature is very hot THEN b is 3 AND a is 4"
    )
    assert rules.consequents.is_constant
    assert [output.name for output in rules.outputs] == ["a", "b"]
    assert rules.consequents.bias.tolist() == [[1, 2], [4, 3]]
    assert rules.firing == npl.Firing(alpha=1.0, layer_norm=False)


def test_outputs_with_terms_make_mamdani_rules():
    rules = read(
        "IF temperature is cold THEN tip is generous WITH certainty 1",
        outputs={"tip": (0, 30, ["mean", "generous"])},
        defuzzifier="area",
    )
    assert rules.consequents.terms.tolist() == [[1]]
    assert rules.consequents.defuzzifier == "area"
    assert 1 / (1 + np.exp(-rules.certainty[0])) == pytest.approx(1, abs=2**-52)


def test_certainty_is_stored_so_that_its_sigmoid_or_tanh_is_what_was_written():
    text = "IF anything THEN y is 1 WITH certainty 0.3"
    assert 1 / (1 + np.exp(-read(text).certainty[0])) == pytest.approx(0.3, rel=1e-12)
    rules = read(text, firing=npl.Firing(certainty="tanh", alpha=1.0, layer_norm=False))
    assert np.tanh(rules.certainty[0]) == pytest.approx(0.3, rel=1e-12)


HOT = "IF temperature is very hot"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", (1, 1), "expected RULE or IF, got the end"),
        ("# nothing\n", (2, 1), "expected RULE or IF"),
        ("IF temperatur is cold THEN y is 1", (1, 4), "unknown input 'temperatur'; did you mean 'temperature'?"),
        ("IF temperature is cald THEN y is 1", (1, 19), "'cald'; did you mean 'cold'?"),
        ("IF temperature is low\nTHEN y is 1", (1, 19), "there is 'cold', 'very hot'"),
        ("IF temperature iss cold THEN y is 1", (1, 25), "expected IS after"),
        ("IF temperature iss cold THEN y is 1", (1, 25), "is 'iss' meant to be IS?"),
        (f"{HOT} THN y is 1", (1, 19), "is 'THN' meant to be THEN?"),
        (f"{HOT} OR humidity is high THEN y is 1", (1, 28), "rules have no OR: write two rules"),
        ("IF temperature is NOT cold THEN y is 1", (1, 19), "rules have no NOT: write one rule for each"),
        ("IF NOT temperature is cold THEN y is 1", (1, 4), "rules have no NOT"),
        (f"{HOT} AND temperature is cold THEN y is 1", (1, 32), "named twice in the IF part"),
        (f"{HOT} THEN y is 1 AND y is 2", (1, 44), "named twice in the THEN part"),
        (f"{HOT} THEN y is 1\n{HOT} THEN z is 2", (1, 1), "rule 1 says nothing about output 'z'"),
        (f"{HOT} THEN y is 2 * 3", (1, 42), "expected an input"),
        (f"{HOT} THEN y is 2 * humidty", (1, 42), "did you mean 'Humidity'?"),
        (f"{HOT} THEN y is 2 humidity", (1, 40), "expected AND, WITH or the next rule"),
        (f"{HOT} THEN y is 1e999", (1, 38), "too large a number"),
        (f"{HOT} THEN y is {'1' * 101}", (1, 38), "at most 100 characters"),
        (f"{HOT} THEN y is 1_000", (1, 38), "'1_000' is not a number"),
        (f"{HOT} THEN y is", (1, 37), "expected a number or an input, got the end"),
        (f"{HOT} THEN y is high\n", (1, 38), "unknown input 'high'"),
        (f"{HOT} THEN y is 1 WIHT certainty 1", (1, 40), "is 'WIHT' meant to be WITH?"),
        (f"{HOT} THEN y is 1 WITH certianty 1", (1, 45), "did you mean 'certainty'?"),
        (f"{HOT} THEN y is 1 WITH certainty 0", (1, 45), "above 0 and at most 1, got 0.0"),
        (f"{HOT} THEN y is 1 WITH certainty 1.5", (1, 45), "at most 1, got 1.5"),
        (f"{HOT} THEN y is 1 WITH certainty 1 AND certainty 1", (1, 61), "given twice"),
        (f"{HOT} THEN y is 1 WITH certainty 1 AND certainty weight 1", (1, 61), "not both"),
        (f"{HOT} THEN y is 1 WITH certainty high", (1, 55), "expected a number"),
        (f"{HOT} AND 7 more THEN y is 1", (1, 32), "this text is a summary"),
        (f"{HOT} AND 7 THEN y is 1", (1, 32), "expected a name, got 7"),
        (f"{HOT} THEN y is 1 + 7 more", (1, 42), r"text(exact=True)"),
        ("IF (temperature is cold) THEN y is 1", (1, 4), "rules have no brackets"),
        ('IF "temperature" is cold THEN y is 1', (1, 4), "names are quoted by '"),
        ("IF 'temperature is cold THEN y is 1\n' is", (1, 4), "must end on the same line"),
        ("IF temperature = cold THEN y is 1", (1, 16), "unexpected '='"),
        ("IF then is cold THEN y is 1", (1, 4), "put a name with such a word in single quotes"),
        ("RULE one: IF", (1, 6), "RULE needs a whole number"),
        ("RULE 1.5: IF", (1, 6), "RULE needs a whole number"),
        ("RULE 1 IF", (1, 8), "expected ':' after RULE 1"),
        (f"RULE 2: {HOT} THEN y is 1\n\n{HOT} THEN y is 2", (3, 1), "rule 2 was written on line 1 already"),
        ("temperature is cold", (1, 1), "expected RULE or IF, got 'temperature'"),
        ("IF anything AND temperature is cold THEN y is 1", (1, 13), "expected IS after 'anything'"),
    ],
)  # fmt: skip
def test_an_error_says_where_what_and_how_to_mend_it(text, place, words):
    found = error(text)
    assert words in str(found)
    assert (found.line, found.column) == place
    assert found.expected


def test_settings_that_firing_leaves_out_are_refused():
    plain = npl.Firing(alpha=1.0, layer_norm=False)
    assert "firing.certainty is None" in str(error("IF anything THEN y is 1 WITH certainty 1", firing=plain))
    assert "layer norm" in str(error("IF anything THEN y is 1 WITH gain 1", firing=plain))


def test_an_unknown_output_is_refused_where_outputs_are_given():
    assert "did you mean 'tip'?" in str(error("IF anything THEN tipp is 1", outputs="tip"))


def test_names_in_another_case_are_found_only_where_that_is_clear():
    variables = {"T": (0, 1), "t": (0, 1), "Other": (0, 1)}
    rules = read("IF t is LOW AND OTHER is high THEN y is 1", variables)
    assert rules.premises.tolist() == [[-1, 0, 2]]
    assert read("IF T is low THEN y is 1", variables).premises.tolist() == [[0, -1, -1]]
    with pytest.raises(npl.RuleSyntaxError, match="unknown input 'ß'"):
        read("IF ß is low THEN y is 1", {"ss": (0, 1), "SS": (0, 1)})


def test_an_error_can_be_copied_and_pickled():
    found = error("IF temperature is NOT cold THEN y is 1")
    for other in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert (str(other), other.line, other.column, other.expected) == (
            str(found),
            found.line,
            found.column,
            found.expected,
        )


def test_text_must_be_text_of_a_bearable_size(monkeypatch):
    with pytest.raises(npl.ConfigError, match="must be a str, got bytes"):
        read(b"IF anything THEN y is 1")
    monkeypatch.setattr(tokens, "MOST_CHARACTERS", 10)
    assert "at most 10 characters, got 23" in str(error("IF anything THEN y is 1"))


def test_rules_too_many_for_memory_are_refused(monkeypatch):
    monkeypatch.setattr(assembly, "MOST_NUMBERS", 100)
    variables = {f"x{number}": (0, 1) for number in range(10)}
    text = "IF anything THEN a is 1 AND b is 1\n"
    assert len(read(text * 5, variables)) == 5
    with pytest.raises(npl.ConfigError, match="6 rules of 10 inputs and 2 outputs are too many"):
        read(text * 6, variables)


def test_long_and_misspelled_names_cost_no_more_than_their_length():
    name = "a" * 300_000
    found = error(f"IF {name} is low THEN y is 1")
    assert len(str(found)) < 200
    many = {f"input {number}": (0, 1) for number in range(5000)}
    with pytest.raises(npl.RuleSyntaxError, match="unknown input 'input x'"):
        read("IF input x is low THEN y is 1", many)
