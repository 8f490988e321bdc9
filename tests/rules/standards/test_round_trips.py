"""Whatever the standards can express comes back from them computing the same."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import neuroplastic as npl
from neuroplastic.rules.rule_base import IGNORED
from neuroplastic.rules.standards import (
    NotExpressibleError,
    from_fcl,
    from_fis,
    from_fml,
    to_fcl,
    to_fis,
    to_fml,
)
from tests.rules.standards.random_rules import KINDS, grid, outputs_of, random_rules

FORMATS = {"fml": (to_fml, from_fml), "fcl": (to_fcl, from_fcl), "fis": (to_fis, from_fis)}

systems = st.builds(
    random_rules,
    st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    certain=st.booleans(),
    inputs=st.integers(1, 4),
    outputs=st.integers(1, 3),
    rules=st.integers(1, 8),
    terms=st.integers(1, 5),
    ignore=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    reduce=st.sampled_from(["sum", "worst"]),
)


names = (
    st.text(min_size=1, max_size=12)
    .map(lambda text: "".join(text.split("'")).strip())
    .filter(lambda text: text and text != "any" and "\n" not in text and "\r" not in text)
)


def check_round_trip(name, rules):
    write, read = FORMATS[name]
    found = read(write(rules))
    x = grid(len(rules.inputs), points=4)
    np.testing.assert_allclose(outputs_of(found, x), outputs_of(rules, x), rtol=1e-6, atol=1e-6)
    assert [v.name for v in found.inputs] == [v.name for v in rules.inputs]
    assert [v.name for v in found.outputs] == [v.name for v in rules.outputs]


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=100, deadline=None)
@given(rules=systems)
def test_round_trip_computes_the_same(name, rules):
    check_round_trip(name, rules)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=2500, deadline=None, suppress_health_check=list(HealthCheck))
@given(rules=systems)
def test_five_thousand_round_trips_compute_the_same(name, rules):
    check_round_trip(name, rules)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("reduce", ["sum", "worst"])
def test_premises_terms_and_numbers_come_back_exactly(name, reduce):
    write, read = FORMATS[name]
    rules = random_rules(5, kind="affine", ignore=0.3, rules=12, reduce=reduce)
    found = read(write(rules))
    np.testing.assert_array_equal(found.premises, rules.premises)
    np.testing.assert_array_equal(found.consequents.weight, rules.consequents.weight)
    np.testing.assert_array_equal(found.consequents.bias, rules.consequents.bias)
    assert found.inputs == rules.inputs
    assert found.firing == rules.firing


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("reduce", ["mean", "scaled", "worst"])
def test_a_gain_that_the_sets_have_taken_up_can_be_said(name, reduce):
    write, read = FORMATS[name]
    rules, x = random_rules(9, certain=True, reduce=reduce), grid(3)
    rules = replace(rules, firing=replace(rules.firing, gain=2.5))
    with pytest.raises(NotExpressibleError, match=r"without_gain\(\)"):
        write(rules)
    found = read(write(rules.without_gain()))
    np.testing.assert_allclose(outputs_of(found, x), outputs_of(rules, x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", FORMATS)
def test_certainties_come_back(name):
    write, read = FORMATS[name]
    rules = random_rules(6, certain=True)
    np.testing.assert_allclose(read(write(rules)).certainty, rules.certainty, atol=1e-12)


@pytest.mark.parametrize("name", FORMATS)
def test_rule_without_premises_and_input_without_terms_survive(name):
    rules = random_rules(7, kind="constant", ignore=1.0)
    empty = npl.RuleBase(
        (*rules.inputs[:2], npl.Variable("x3")),
        rules.outputs,
        rules.premises,
        rules.consequents,
        rules.firing,
    )
    write, read = FORMATS[name]
    found = read(write(empty))
    assert (found.premises == IGNORED).all()
    assert found.inputs == empty.inputs


@pytest.mark.parametrize("name", FORMATS)
def test_grown_network_survives(name):
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(
        2, 1, 5, firing=npl.Firing(alpha=1.0, layer_norm=False), neurogenesis=npl.Neurogenesis(delay=1)
    ).double()
    for _ in range(3):
        net(torch.rand(16, 2, dtype=torch.float64) * 8 - 4)
    net.eval()
    assert net.births
    write, read = FORMATS[name]
    x = grid(2)
    with torch.no_grad():
        expected = net(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(outputs_of(read(write(npl.rule_base(net))), x), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", FORMATS)
def test_names_become_identifiers_that_differ(name):
    rules = random_rules(8, kind="constant", inputs=4, terms=5)
    names = ["sepal length (cm)", "sepal_length_cm", "RULE", "温度"]
    named = npl.RuleBase(
        tuple(npl.Variable(n, v.terms) for n, v in zip(names, rules.inputs, strict=True)),
        (npl.Variable("2nd"), npl.Variable("log")),
        rules.premises,
        rules.consequents,
        rules.firing,
    )
    write, read = FORMATS[name]
    found = read(write(named))
    assert found.inputs[0].name == "sepal_length_cm"
    assert len({variable.name.lower() for variable in (*found.inputs, *found.outputs)}) == 6
    np.testing.assert_array_equal(found.premises, named.premises)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("fml", '"PROD"', '"MIN"'),
        ("fcl", "AND : PROD", "AND : MIN"),
        ("fis", "Method='prod'", "Method='min'"),
    ],
)
def test_how_premises_are_joined_does_not_matter_where_rules_have_one(name, old, new):
    write, read = FORMATS[name]
    rules, x = random_rules(2, kind="constant", inputs=1, ignore=0.0), grid(1)
    assert old in write(rules)
    np.testing.assert_array_equal(outputs_of(read(write(rules).replace(old, new)), x), outputs_of(rules, x))


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 999), words=st.lists(names, min_size=20, max_size=20, unique=True))
def test_any_names_at_all_leave_the_rules_as_they_are(name, seed, words):
    rules = random_rules(seed, kind="height", terms=4)
    words = iter(words)

    def renamed(variable):
        terms = tuple(npl.Term(next(words), term.center, term.width) for term in variable.terms)
        return npl.Variable(variable.name, terms)

    inputs = tuple(renamed(variable) for variable in rules.inputs)
    outputs = (npl.Variable(next(words), rules.outputs[0].terms), rules.outputs[1])
    odd = npl.RuleBase(inputs, outputs, rules.premises, rules.consequents, rules.firing)
    write, read = FORMATS[name]
    found = read(write(odd))
    np.testing.assert_array_equal(found.premises, odd.premises)
    np.testing.assert_array_equal(found.consequents.bias, read(write(rules)).consequents.bias)
