"""Networks of rules that an expert wrote: what they compute, what stays, what learns."""

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic.rules.text.variables import variables_of

RULES = """
    RULE 10: IF temperature is hot AND humidity is high THEN fan is 1
    RULE 20: IF temperature is cold THEN fan is 0.01 * humidity
"""
VARIABLES = {"temperature": {"cold": (10.0, 4.0), "hot": (30.0, 5.0)}, "humidity": (0, 100)}


def membership(x, center, width):
    return np.exp(-0.5 * ((x - center) / width) ** 2)


def by_hand(x):
    """RULES for x (B, 2), one by one."""
    width = 50 / (2 * np.sqrt(2 * np.log(2)))
    first = membership(x[:, 0], 30, 5) * membership(x[:, 1], 100, width)
    second = membership(x[:, 0], 10, 4)
    return (first * 1 + second * 0.01 * x[:, 1]) / (first + second)


def batch(count=64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(count, 2, generator=generator, dtype=torch.float64)
    return x * torch.tensor([40.0, 120.0], dtype=torch.float64)


def test_a_network_of_written_rules_computes_the_weighted_mean_of_their_conclusions():
    net = npl.from_rules(RULES, VARIABLES, dtype=torch.float64).eval()
    x = batch()
    np.testing.assert_allclose(net(x).detach().numpy()[:, 0], by_hand(x.numpy()), rtol=1e-9)


def test_certainty_weighs_a_rule():
    text = "IF anything THEN y is 1 WITH certainty 0.2\nIF anything THEN y is 0 WITH certainty 0.6"
    net = npl.from_rules(text, {"x": (0, 1)}, dtype=torch.float64).eval()
    assert net(torch.zeros(1, 1, dtype=torch.float64)).item() == pytest.approx(0.25, rel=1e-12)


def test_mamdani_rules_of_a_person():
    text = "IF service is poor THEN tip is cheap\nIF service is excellent THEN tip is generous"
    service, tip = {"service": {"poor": 0, "excellent": 10}}, {"tip": {"cheap": 5, "generous": 25}}
    net = npl.from_rules(text, service, outputs=tip, dtype=torch.float64).eval()
    y = net(torch.tensor([[-30.0], [5.0], [40.0]], dtype=torch.float64))
    torch.testing.assert_close(y[:, 0], torch.tensor([5.0, 15.0, 25.0], dtype=torch.float64))


def fit(net, steps=60, seed=1):
    x = batch(seed=seed).to(net.centers.dtype)
    target = torch.sin(x[:, :1] / 7)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.02, weight_decay=0.05)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (net(x) - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_written_rules_learn_when_they_may():
    losses = fit(npl.from_rules(RULES, VARIABLES, dtype=torch.float64))
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("estimator", ["ste", "stge"])
def test_frozen_rules_keep_their_words_while_extra_rules_learn(estimator):
    names = {"feature_names": list(VARIABLES), "output_names": ["fan"]}
    net = npl.from_rules(
        RULES,
        VARIABLES,
        frozen=True,
        extra_rules=6,
        generator=torch.Generator().manual_seed(0),
        selection=npl.Selection(estimator=estimator),
        dtype=torch.float64,
    )
    before = npl.rule_base(net, **names)
    losses = fit(net)
    after = npl.rule_base(net, **names)
    assert before.text(exact=True).splitlines()[:2] == after.text(exact=True).splitlines()[:2]
    assert before.text(exact=True).splitlines()[2:] != after.text(exact=True).splitlines()[2:]
    used = {(0, 0), (0, 1), (1, 2)}
    assert used <= set(net.frozen[1])
    for attribute, term in used:
        assert before.inputs[attribute].terms[term] == after.inputs[attribute].terms[term]
    assert before.inputs[1].terms[0] != after.inputs[1].terms[0]
    assert losses[-1] < 0.8 * losses[0]


def test_rules_are_frozen_by_the_number_they_were_given():
    net = npl.from_rules(RULES, VARIABLES, frozen=[20])
    assert net.frozen[0] == [1]
    assert (0, 0) in net.frozen[1]
    assert (0, 1) not in net.frozen[1]
    unlabelled = npl.from_rules(RULES.replace("RULE 10:", "").replace("RULE 20:", ""), VARIABLES, frozen=[2])
    assert unlabelled.frozen[0] == [1]
    for wrong in ([1], [True], ["10"], 10):
        with pytest.raises(npl.ConfigError, match="frozen must"):
            npl.from_rules(RULES, VARIABLES, frozen=wrong)


def test_births_go_on_beside_frozen_rules():
    growth = npl.Neurogenesis(delay=1)
    net = npl.from_rules(RULES, VARIABLES, frozen=True, extra_rules=2, neurogenesis=growth, spare_terms=2)
    before = npl.rule_base(net)[0]
    net(torch.tensor([[200.0, 500.0], [201.0, 510.0]]))
    assert [birth.attribute for birth in net.births] == [0, 1]
    after = npl.rule_base(net)[0]
    assert [term.center for _, term in before.premises] == [term.center for _, term in after.premises]


@pytest.mark.parametrize("outputs", [None, {"fan": (0, 1, ["off", "on"])}])
@pytest.mark.parametrize("ending", ["", " WITH certainty 0.5"])
def test_extra_rules_begin_by_saying_what_the_expert_says(outputs, ending):
    off, on = ("0", "1") if outputs is None else ("off", "on")
    text = f"IF temperature is hot THEN fan is {on}{ending}\nIF temperature is cold THEN fan is {off}{ending}"
    made = {"outputs": outputs, "dtype": torch.float64, "generator": torch.Generator().manual_seed(3)}
    plain, net = (npl.from_rules(text, VARIABLES, extra_rules=extra, **made).eval() for extra in (0, 4))
    assert net.rules == 6
    corners = torch.tensor([[10.0, 0.0], [10, 100], [30, 0], [30, 100]], dtype=torch.float64)
    torch.testing.assert_close(net(corners), plain(corners), rtol=0, atol=0.05)
    rules = npl.rule_base(net)
    assert len({row.tobytes() for row in rules.premises}) == 6


def test_extra_rules_have_gain_and_shift_of_their_own():
    net = npl.from_rules("IF anything THEN y is 1 WITH gain 2 AND shift 3", {"x": (0, 1)}, extra_rules=2)
    assert net.kappa.tolist() == [2, 1, 1]
    assert net.beta.tolist() == [3, 0, 0]


def test_extra_rules_are_repeatable_by_their_generator():
    def weights(seed):
        made = npl.from_rules(RULES, VARIABLES, extra_rules=5, generator=torch.Generator().manual_seed(seed))
        return made.logits.detach()

    assert torch.equal(weights(1), weights(1))
    assert not torch.equal(weights(1), weights(2))


def test_variables_can_be_given_in_several_ways():
    found = variables_of(
        "variables",
        {
            "by sets": {"hot": (30, 5), "cold": (10, 4)},
            "by centres": {"a": 0, "b": 1, "c": 3},
            "by range": (0, 10),
            "by number": [0, 10, 5],
            "by words": (0, 10, ["no", "yes"]),
            "again": npl.Variable("other name", (npl.Term("only", 0, 1),)),
        },
    )
    assert [variable.name for variable in found][-1] == "again"
    words = [[term.name for term in variable.terms] for variable in found]
    assert words[:2] == [["cold", "hot"], ["a", "b", "c"]]
    assert words[2] == ["low", "medium", "high"]
    assert words[3] == ["very low", "low", "medium", "high", "very high"]
    assert words[4:] == [["no", "yes"], ["only"]]
    assert [term.center for term in found[3].terms] == [0, 2.5, 5, 7.5, 10]
    for terms in (found[2].terms, found[3].terms, found[4].terms, found[1].terms[:2]):
        middle = (terms[0].center + terms[1].center) / 2
        assert terms[0].membership(middle) == pytest.approx(0.5)
        assert terms[1].membership(middle) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, "at least one input"),
        ([], "at least one input"),
        (3, "must be npl.Variables or a mapping"),
        (["x"], "must hold npl.Variables, got 'x'"),
        ({1: (0, 1)}, "names as its keys, got 1"),
        ({"x": "low"}, r"variables\['x'\] must be"),
        ({"x": None}, r"variables\['x'\] must be"),
        ({"x": (1, 0)}, "low < high"),
        ({"x": (0, float("nan"))}, "finite numbers, got nan"),
        ({"x": (0, "1")}, "finite numbers, got '1'"),
        ({"x": (0, 1, 1)}, "2 to 1000 terms, got 1"),
        ({"x": (0, 1, 10**9)}, "2 to 1000 terms"),
        ({"x": (0, 1, "low")}, "a number of terms or at least two names"),
        ({"x": (0, 1, ["a", "a"])}, "unique"),
        ({"x": {"a": 0}}, r"needs \(center, width\)"),
        ({"x": {"a": (0, 1, 2)}}, r"must be \(center, width\) or a center"),
        ({"x": {"a": (0, 0)}}, "finite width above 0"),
        ({"x": {1: (0, 1)}}, "names of terms as its keys"),
        ({"x": {"any": (0, 1)}}, "must not be called 'any'"),
        ({"it's": (0, 1)}, "quotes"),
    ],
)
def test_wrong_variables_are_refused_by_name(variables, words):
    with pytest.raises(npl.ConfigError, match=words):
        npl.from_rules("IF x is low THEN y is 1", variables)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"defuzzifier": "centroid"}, "'height' or 'area', got 'centroid'"),
        ({"firing": "sum"}, "npl.Firing or None"),
        ({"firing": npl.Firing(alpha="learn")}, "alpha must be a number"),
        ({"extra_rules": -1}, "extra_rules"),
        (
            {"outputs": [npl.Variable("y"), npl.Variable("z", (npl.Term("a", 0, 1),))]},
            "either all outputs have",
        ),
    ],
)
def test_wrong_options_are_refused_by_name(options, words):
    with pytest.raises(npl.ConfigError, match=words):
        npl.from_rules("IF x is low THEN y is 1", {"x": (0, 1)}, **options)


def test_a_network_of_written_rules_keeps_their_words(tmp_path):
    variables = {"age": {"young": (20, 10), "old": (70, 10)}, "bmi": {"thin": (18, 3), "fat": (32, 4)}}
    text = "IF age is old AND bmi is fat THEN risk is 0.9\nIF age is young THEN risk is 0.1"
    net = npl.from_rules(text, variables)
    npl.save(net, tmp_path / "net.safetensors")
    for known in (net, npl.load(tmp_path / "net.safetensors")):
        assert "IF age is old AND bmi is fat THEN risk is 0.9" in str(npl.rule_base(known))
    assert "age is old" in npl.explain(net, torch.tensor([[65.0, 30.0]])).text(0)
    renamed = npl.rule_base(net, feature_names=["years", "bmi"])
    assert [term.name for term in renamed.inputs[0].terms] == ["low", "high"]


def test_words_are_given_up_when_a_set_was_born():
    net = npl.from_rules(
        "IF age is old THEN risk is 1",
        {"age": {"young": (20, 10), "old": (70, 10)}},
        spare_terms=1,
        neurogenesis=npl.Neurogenesis(delay=1),
    )
    net(torch.tensor([[200.0], [210.0]]))
    assert len(net.births) == 1
    assert [term.name for term in npl.rule_base(net).inputs[0].terms] == ["low", "medium", "high"]
