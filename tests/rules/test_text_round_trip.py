"""Exact text and JSON give the same rules back: over all options of networks, and over odd names and numbers."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import neuroplastic as npl
from neuroplastic.rules.rule_base import Conclusions, Linear
from tests.rules.random_names import ODD_NAMES, random_rule_base


def read_back(rules):
    return npl.RuleBase.from_text(
        rules.text(exact=True), rules.inputs, outputs=rules.outputs, firing=rules.firing, **defuzzifier(rules)
    )


def defuzzifier(rules):
    part = rules.consequents
    return {"defuzzifier": part.defuzzifier} if isinstance(part, Conclusions) else {}


def assert_equal(ours, theirs):
    """Every part the same, every number bit for bit (a zero's sign aside)."""
    assert (ours.inputs, ours.outputs, ours.firing) == (theirs.inputs, theirs.outputs, theirs.firing)
    assert type(ours.consequents) is type(theirs.consequents)
    pairs = [
        (getattr(ours, name), getattr(theirs, name)) for name in ("premises", "certainty", "gain", "shift")
    ]
    parts = vars(ours.consequents), vars(theirs.consequents)
    pairs += [(parts[0][name], parts[1][name]) for name in parts[0]]
    for left, right in pairs:
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype
            np.testing.assert_array_equal(left, right)
        else:
            assert left == right


@pytest.mark.parametrize("block", range(10))
def test_a_network_of_exact_text_computes_the_same(block):
    for number in range(20 * block, 20 * block + 20):
        net, rules = random_rule_base(number)
        twin = npl.from_rules(
            rules.text(exact=True),
            rules.inputs,
            outputs=rules.outputs,
            firing=rules.firing,
            dtype=torch.float64,
            **defuzzifier(rules),
        ).eval()
        x = torch.randn(
            40, net.in_features, dtype=torch.float64, generator=torch.Generator().manual_seed(number)
        )
        with torch.no_grad():
            torch.testing.assert_close(twin(x), net(x), rtol=1e-6, atol=1e-6)
        assert_equal(read_back(rules), rules)
        assert_equal(npl.RuleBase.from_json(rules.json()), rules)


finite = st.floats(allow_nan=False, allow_infinity=False)
widths = st.floats(min_value=1e-300, max_value=1e300)


def is_name(text):
    return text != "any" and text == text.strip() and not set("'\n\r") & set(text)


names = st.one_of(
    st.sampled_from([name for name in ODD_NAMES if name != "any"]), st.text(min_size=1).filter(is_name)
)


@st.composite
def variables(draw, least_terms=0, terms=3):
    found = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    return tuple(
        npl.Variable(
            name,
            tuple(
                npl.Term(word, draw(finite), draw(widths))
                for word in draw(st.lists(names, min_size=least_terms, max_size=terms, unique=True))
            ),
        )
        for name in found
    )


@st.composite
def rule_bases(draw):
    inputs = draw(variables())
    fuzzy = draw(st.booleans())
    outputs = draw(variables(1) if fuzzy else variables(0, 0))
    U, D, outs = draw(st.integers(1, 4)), len(inputs), len(outputs)

    def numbers(*shape):
        size = int(np.prod(shape))
        return np.array(draw(st.lists(finite, min_size=size, max_size=size)), dtype=float).reshape(shape)

    premises = [[draw(st.integers(-1, len(v.terms) - 1)) for v in inputs] for _ in range(U)]
    if fuzzy:
        terms = [[draw(st.integers(0, len(v.terms) - 1)) for v in outputs] for _ in range(U)]
        consequents = Conclusions(np.array(terms), draw(st.sampled_from(["height", "area"])))
    else:
        consequents = Linear(numbers(U, outs, D if draw(st.booleans()) else 0), numbers(U, outs))
    firing = npl.Firing(
        reduce=draw(st.sampled_from(["sum", "mean", "scaled", "worst"])),
        alpha=draw(st.floats(1, 2)),
        layer_norm=draw(st.booleans()),
        certainty=draw(st.sampled_from([None, "log", "tanh"])),
    )
    return npl.RuleBase(
        inputs,
        outputs,
        np.array(premises),
        consequents,
        firing,
        certainty=numbers(U) if firing.certainty else None,
        gain=numbers(U) if firing.layer_norm else None,
        shift=numbers(U) if firing.layer_norm else None,
    )


def check(rules):
    assert_equal(read_back(rules), rules)
    assert_equal(npl.RuleBase.from_json(rules.json()), rules)
    assert str(rules).count("RULE ") >= len(rules)


LENIENT = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


@settings(max_examples=150, derandomize=True, **LENIENT)
@given(rule_bases())
def test_any_rule_base_survives_text_and_json(rules):
    check(rules)


@pytest.mark.slow
@settings(max_examples=5000, derandomize=True, **LENIENT)
@given(rule_bases())
def test_thousands_of_rule_bases_survive_text_and_json(rules):
    check(rules)
