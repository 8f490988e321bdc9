"""Diagnosis: each figure against a slow version written from its definition, its laws, and cases counted by hand."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import neuroplastic as npl
from neuroplastic.network.dueling import DuelingNetwork, dnn_head
from neuroplastic.rules import diagnosing, leading
from tests import reference
from tests.random_network import Setup, array, place, random_mask

law = settings(max_examples=40, deadline=None, derandomize=True, database=None)
seeds = st.integers(0, 2**31 - 1)


@st.composite
def setups(draw):
    """Any configuration of a small network."""
    return Setup(
        D=draw(st.integers(1, 6)),
        outputs=draw(st.integers(1, 4)),
        U=draw(st.integers(1, 12)),
        reduce=draw(st.sampled_from(["sum", "mean", "scaled", "worst"])),
        alpha=draw(st.sampled_from([1.0, 1.25, 1.5, 2.0, "learn"])),
        layer_norm=draw(st.booleans()),
        certainty=draw(st.sampled_from([None, "log", "tanh"])),
        consequent=draw(
            st.sampled_from(["affine", "constant", "low_rank", "mamdani", npl.Mamdani(defuzzifier="area")])
        ),
    )


def network_and_rows(setup, seed, rows=30):
    """A random network, some of whose sets are "any", and rows; and which sets (D, T) those are."""
    rng = np.random.default_rng(seed)
    net = setup.network(seed=seed).eval()
    shape = (setup.D, setup.max_terms)
    anything = rng.random(shape) < 0.2
    widths = np.where(anything, np.inf, rng.uniform(0.4, 2.0, size=shape))
    place(net, rng.normal(size=shape), widths, random_mask(rng, shape))
    return net, torch.tensor(rng.normal(size=(rows, setup.D))), anything


def by_definition(setup, net, x, anything, decision):
    """Every figure, row by row, from the oracle's terms and firing."""
    steps = setup.oracle(net, x)
    terms, firing = steps["terms"], steps["firing"]
    memberships = np.exp(reference.log_memberships(array(x), array(net.centers), array(net.widths)))
    rows, rules = firing.shape
    leads = [0] * rules
    fits = premises = deciding = 0
    for b in range(rows):
        leader = max(range(rules), key=lambda u: firing[b, u])
        leads[leader] += 1
        asked = [d for d in range(setup.D) if not anything[d, terms[leader, d]]]
        premises += len(asked)
        fits += all(memberships[b, d, terms[leader, d]] >= 0.5 for d in asked)
        held, count = 0.0, 0
        for level in sorted(firing[b], reverse=True):
            if held >= 0.95:
                break
            held, count = held + level, count + 1
        deciding += count
    shares = [count / rows for count in leads if count]
    averaged = setup.decided(net, array(x), np.tile(firing.mean(axis=0), (rows, 1)))
    outputs = steps["output"]
    left = outputs - averaged
    changes = stays = 0
    for b in range(rows):
        if decision == "class":
            taken = np.argmax(outputs[b])
            changes += int(taken != np.argmax(averaged[b]))
            others = [left[b, o] for o in range(outputs.shape[1]) if o != taken]
            stays += all(left[b, taken] - other > 1e-6 * np.abs(outputs).max() for other in others)
        else:
            unit = [0.1 * np.std(outputs[:, o]) for o in range(outputs.shape[1])]
            changes += any(abs(left[b, o]) > unit[o] for o in range(outputs.shape[1]))
            level = averaged.mean(axis=0)
            stays += all(abs(averaged[b, o] - level[o]) <= unit[o] for o in range(outputs.shape[1]))
    return {
        "leading_rules": np.exp(-sum(share * np.log(share) for share in shares)),
        "dead_rules": sum(all(firing[b, u] <= 0.01 for b in range(rows)) for u in range(rules)),
        "carry": changes / rows,
        "alone": stays / rows,
        "fit": fits / rows,
        "premises": premises / rows,
        "rules_per_decision": deciding / rows,
    }


def figures(diagnosis):
    names = ("leading_rules", "dead_rules", "carry", "alone", "fit", "premises", "rules_per_decision")
    return {name: getattr(diagnosis, name) for name in names}


@law
@given(setup=setups(), seed=seeds, decision=st.sampled_from(["class", "number"]))
def test_every_figure_is_what_its_definition_says(setup, seed, decision):
    net, x, anything = network_and_rows(setup, seed)
    if decision == "number" and setup.U == 1 and setup.consequent not in ("affine", "low_rank"):
        decision = "class"  # outputs that do not vary have no standard deviation to move by
    found = npl.diagnose(net, x, decision=decision)
    assert figures(found) == pytest.approx(by_definition(setup, net, x, anything, decision), abs=1e-12)
    assert (found.rows, found.rules, found.attributes) == (30, setup.U, setup.D)
    assert found.decision == decision


@law
@given(setup=setups(), seed=seeds)
def test_figures_keep_within_their_bounds(setup, seed):
    net, x, _ = network_and_rows(setup, seed)
    found = npl.diagnose(net, x)
    assert 1 <= found.leading_rules <= setup.U * (1 + 1e-12)
    assert 0 <= found.dead_rules < setup.U
    assert 0 <= found.carry <= 1
    assert 0 <= found.alone <= 1
    assert 0 <= found.fit <= 1
    assert 0 <= found.premises <= setup.D
    assert 1 <= found.rules_per_decision <= setup.U
    assert found.leading_rules <= (setup.U - found.dead_rules) * (1 + 1e-12), "who leads 12 rules is not dead"


@law
@given(setup=setups(), seed=seeds)
def test_with_constant_conclusions_carry_is_one_less_the_share_of_the_action_that_is_best_on_average(
    setup, seed
):
    net, x, _ = network_and_rows(replace(setup, consequent="constant"), seed)
    outputs = net.eval()(x).detach()
    one = (outputs.argmax(dim=1) == outputs.mean(dim=0).argmax()).double().mean()
    assert npl.diagnose(net, x, decision="class").carry == pytest.approx(1 - float(one))


@law
@given(setup=setups(), seed=seeds, decision=st.sampled_from(["class", "number"]))
def test_one_rule_leads_alone_and_its_if_part_carries_nothing(setup, seed, decision):
    net, x, _ = network_and_rows(replace(setup, U=1), seed)
    found = npl.diagnose(net, x, decision=decision)
    assert (found.leading_rules, found.dead_rules, found.carry, found.rules_per_decision) == (1, 0, 0, 1)
    assert found.collapsed
    assert "one rule" in found.advice


def permuted(net, order):
    """The same network with its rules in another order."""
    state = net.state_dict()
    by_rule = {"antecedent.logits": 2, "consequent.conclusion_logits": 2}
    for name in ("kappa", "beta", "certainty", "consequent.weight", "consequent.bias"):
        by_rule[name] = 0
    for name, dimension in by_rule.items():
        if name in state:
            state[name] = state[name].index_select(dimension, order)
    other = npl.NeuroFuzzyNetwork.from_config(net.config())
    other.load_state_dict(state)
    return other.eval()


@law
@given(setup=setups(), seed=seeds)
def test_neither_the_order_of_rules_nor_that_of_rows_matters(setup, seed):
    net, x, _ = network_and_rows(setup, seed)
    rng = torch.Generator().manual_seed(seed % 1000)
    found = figures(npl.diagnose(net, x))
    other = permuted(net, torch.randperm(setup.U, generator=rng))
    twins = len(torch.unique(net.firing(x), dim=1).T) < setup.U  # a tie goes to the lower number
    if not twins:
        assert figures(npl.diagnose(other, x)) == pytest.approx(found)
    assert figures(npl.diagnose(net, x[torch.randperm(len(x), generator=rng)])) == pytest.approx(found)


@law
@given(setup=setups(), seed=seeds)
def test_rows_that_come_twice_change_nothing(setup, seed):
    net, x, _ = network_and_rows(setup, seed)
    assert figures(npl.diagnose(net, torch.cat([x, x]))) == pytest.approx(figures(npl.diagnose(net, x)))


@pytest.mark.parametrize("consequent", ["affine", "constant", "low_rank"])
def test_rules_that_come_twice_lead_and_carry_as_one(consequent):
    setup = Setup(U=5, alpha=1.0, layer_norm=False, consequent=consequent)
    net, x, _ = network_and_rows(setup, 3)
    twice = npl.NeuroFuzzyNetwork.from_config({**net.config(), "rules": 10})
    state = net.state_dict()
    for name in ("consequent.weight", "consequent.bias"):
        if name in state:
            state[name] = torch.cat([state[name], state[name]])
    state["antecedent.logits"] = torch.cat([state["antecedent.logits"]] * 2, dim=2)
    twice.load_state_dict(state)
    one, two = npl.diagnose(net, x), npl.diagnose(twice, x)
    for name in ("leading_rules", "carry", "fit", "premises"):
        assert getattr(two, name) == pytest.approx(getattr(one, name)), name
    assert two.rules_per_decision > one.rules_per_decision


def test_large_data_go_through_in_parts(monkeypatch):
    net, x, _ = network_and_rows(Setup(), 5, rows=50)
    whole = figures(npl.diagnose(net, x))
    monkeypatch.setattr(leading, "NUMBERS_AT_ONCE", 7 * 12)
    assert figures(npl.diagnose(net, x)) == pytest.approx(whole)


# By hand


def hot_and_cold(consequent="constant"):
    """Two rules: cold THEN (1, 0), hot THEN (0, 1); the sets lie at 0 and 10 and have width 2."""
    net = npl.NeuroFuzzyNetwork(
        1,
        2,
        rules=2,
        terms=2,
        max_terms=2,
        firing=npl.Firing(alpha=1.0, layer_norm=False),
        consequent=consequent,
        neurogenesis=None,
        dtype=torch.float64,
    )
    net.place_sets(torch.tensor([[0.0, 10.0]]), torch.tensor([[2.0, 2.0]]))
    with torch.no_grad():
        net.logits.copy_(torch.eye(2).unsqueeze(1))
        net.bias.copy_(torch.eye(2))
        if consequent == "affine":
            net.weight.zero_()
    return net


def test_two_rules_that_share_the_rows():
    # Cold leads at 0, 1, 2 and 3, of which 3 lies 1.5 widths away, exp(-1.125) = .32; hot at 9 and 10. The middle, 5,
    # goes to the lower number of a tie, and fits neither.
    x = [[0.0], [1.0], [2.0], [3.0], [5.0], [9.0], [10.0]]
    found = npl.diagnose(hot_and_cold(), x)
    share = np.array([5, 2]) / 7
    assert found.leading_rules == pytest.approx(np.exp(-(share * np.log(share)).sum()))
    assert found.fit == pytest.approx(5 / 7)
    # On average cold fires more, so cold is decided everywhere: the two hot rows change.
    assert found.carry == pytest.approx(2 / 7)
    # Less that average, what is left says hot in the middle row too, where both fire alike.
    assert found.alone == pytest.approx(6 / 7)
    assert (found.dead_rules, found.premises) == (0, 1)
    # Only in the middle does it take both rules to hold 95 %: at 3 hot fires exp(-49/8 + 9/8) = .7 %.
    assert found.rules_per_decision == pytest.approx(8 / 7)
    assert (found.rows, found.rules, found.decision, found.consequent) == (7, 2, "class", "constant")
    assert not found.collapsed
    assert found.advice == "The rules decide, and mostly fit what they decide."


def test_a_rule_that_never_fires_is_dead():
    found = npl.diagnose(hot_and_cold(), [[0.0], [1.0], [-1.0]])
    assert (found.dead_rules, found.leading_rules, found.carry, found.fit) == (1, 1, 0, 1)
    assert found.collapsed


def test_premises_on_any_are_not_counted_and_always_fit():
    net = npl.from_rules(
        "IF a is low AND b is low THEN y is 0\nIF a is high THEN y is 1",
        {"a": {"low": (0, 1), "high": (9, 1)}, "b": {"low": (0, 1)}},
    )
    found = npl.diagnose(net, [[0.0, 0.0], [0.0, 99.0], [9.0, 99.0], [9.0, 99.0]])
    assert found.premises == 1.25  # the first row's leader asks for both
    assert found.fit == 0.75  # at (0, 99) the second rule leads, though a is not high
    assert found.attributes == 2


def test_a_linear_model_with_rules_around_it_is_said_to_be_collapsed():
    net = hot_and_cold("affine")
    with torch.no_grad():
        net.bias.zero_()
        net.weight.copy_(torch.tensor([[[1.0], [0.0]]]).expand(2, 2, 1))
    found = npl.diagnose(net, torch.linspace(-5, 15, 41).unsqueeze(1))
    assert (found.carry, found.alone) == (0, 0)
    assert found.leading_rules > 1.9
    assert found.collapsed
    assert "rules take turns, but the THEN parts decide" in found.advice
    assert 'consequent="constant"' in found.advice


def test_numbers_move_by_a_tenth_of_their_deviation():
    net = hot_and_cold()
    with torch.no_grad():
        net.bias.copy_(torch.tensor([[0.0, 5.0], [1.0, 5.0]]))
    x = torch.tensor([[0.0]] * 19 + [[10.0]], dtype=torch.float64)
    # The output is 0 nineteen times and 1 once: SD .218. On average it is .05, so 19 rows move by .05, one by .95.
    assert npl.diagnose(net, x, decision="number").carry == 1
    x = torch.tensor([[0.0]] * 199 + [[10.0]], dtype=torch.float64)
    # SD .0705, and 199 rows move by .005 only.
    assert npl.diagnose(net, x, decision="number").carry == 1 / 200
    assert npl.diagnose(net, x).decision == "class"
    assert npl.diagnose(npl.NeuroFuzzyNetwork(1, 1, rules=2), x).decision == "number"


def test_an_output_that_does_not_vary_does_not_move():
    net = hot_and_cold()
    with torch.no_grad():
        net.bias.fill_(0.1)
    x = torch.linspace(-5, 15, 41).unsqueeze(1)
    assert npl.diagnose(net.float(), x, decision="number").carry == 0


# Hierarchies, estimators, agents


def test_of_a_hierarchy_the_last_level_is_diagnosed_and_the_others_on_demand():
    torch.manual_seed(0)
    stack = npl.Hierarchy([3, 4, 2], rules=[5, 6], neurogenesis=None, dtype=torch.float64).eval()
    x = torch.rand(40, 3, dtype=torch.float64)
    below, above = stack.levels
    hidden = below(x).detach()
    assert npl.diagnose(stack, x) == npl.diagnose(stack, x, level=1) == npl.diagnose(above, hidden)
    first = npl.diagnose(stack, x, level=0)
    assert (first.rules, first.attributes, first.consequent) == (5, 3, "constant")
    alone = npl.diagnose(below, x)
    # which decision is meant is that of the last level
    assert replace(first, carry=0, alone=0) == replace(alone, carry=0, alone=0)
    # What counts as a change is the last level's answer: constants below, fired alike, make it one for all rows.
    same = above(below.consequent(x, below.firing(x).mean(dim=0).expand(40, -1), 0)).argmax(dim=1)
    assert first.carry == float((same != stack(x).argmax(dim=1)).double().mean())
    for level in (2, -3, True, 0.0):
        with pytest.raises(npl.ConfigError, match="level must lie in 0 to 1"):
            npl.diagnose(stack, x, level=level)


X = np.random.default_rng(0).normal(50, [1, 10, 100], size=(60, 3))


def test_an_estimator_is_diagnosed_in_its_own_units_and_knows_what_it_decides():
    settings = {"rules": 3, "max_updates": 5, "random_state": 0}
    classes = npl.NeuroFuzzyClassifier(**settings).fit(X, np.where(X[:, 0] > 50, "high", "low"))
    numbers = npl.NeuroFuzzyRegressor(**settings).fit(X, X[:, :2])
    for model, decision in ((classes, "class"), (numbers, "number")):
        found = npl.diagnose(model, X)
        seen = (X - model.offset_) / model.scale_
        assert (found.decision, found.source) == (decision, "estimator")
        assert replace(found, source="network") == npl.diagnose(model.network_, seen, decision=decision)
        assert found == model.diagnose(X)
        with pytest.raises(npl.ConfigError, match=r"diagnose\(model, X\) without"):
            npl.diagnose(model, X, decision="class")
        with pytest.raises(ValueError, match="2 features"):
            npl.diagnose(model, X[:, :2])


def agent(advantage):
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(8, 3), nn.Dropout(0.5))
    return DuelingNetwork(encoder, dnn_head(3, 1, 4, "ReLU"), advantage)


@pytest.mark.parametrize("kind", [npl.Hierarchy, npl.NeuroFuzzyNetwork])
def test_an_agent_is_diagnosed_by_its_advantage_head_behind_its_encoder(kind, monkeypatch):
    torch.manual_seed(0)
    sizes = ([3, 4],) if kind is npl.Hierarchy else (3, 4)
    whole = agent(kind(*sizes, rules=5)).train()
    pictures = torch.rand(20, 2, 2, 2)
    monkeypatch.setattr(diagnosing, "PICTURES_AT_ONCE", 7)
    found = npl.diagnose(whole, pictures)
    assert whole.training, "its mode stays"
    whole.eval()
    assert found == npl.diagnose(whole, pictures.numpy())
    alone = npl.diagnose(whole.advantage, whole.encoder(pictures), decision="class")
    assert found == replace(alone, source="agent")


# Mistakes and modes


def test_mistakes_are_said_in_full():
    net, plain = hot_and_cold(), agent(dnn_head(3, 2, 4, "ReLU"))
    for model, words in (
        (nn.Linear(1, 2), "a NeuroFuzzyNetwork, a Hierarchy, a fitted estimator or a DuelingNetwork"),
        (npl.NeuroFuzzyClassifier(), "call fit"),
        (plain, "the agent has no rules: its advantage head is a Sequential"),
    ):
        with pytest.raises(npl.ConfigError, match=words):
            npl.diagnose(model, torch.rand(3, 8))
    with pytest.raises(npl.ConfigError, match="did you mean 'class'"):
        npl.diagnose(net, [[1.0]], decision="clas")
    with pytest.raises(npl.ConfigError, match="decides for an action"):
        npl.diagnose(plain, [[1.0]], decision="number")
    with pytest.raises(npl.InputError, match="at least one row"):
        npl.diagnose(net, np.zeros((0, 1)))
    with pytest.raises(npl.InputError, match="1 columns"):
        npl.diagnose(net, [[1.0, 2.0]])
    for bad in (torch.rand(3), torch.rand(0, 8), ["a"]):
        with pytest.raises(npl.InputError, match="data must be"):
            npl.diagnose(agent(npl.NeuroFuzzyNetwork(3, 4, rules=2)), bad)
    with torch.no_grad():
        net.bias.fill_(torch.inf)
    with pytest.raises(npl.InputError, match="not finite"):
        npl.diagnose(net, [[1.0]])


def test_a_look_changes_nothing():
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(3, 2, rules=4).train()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    x = torch.rand(20, 3) * 3
    generator = torch.get_rng_state()
    npl.diagnose(net, x)
    assert net.training
    assert torch.equal(generator, torch.get_rng_state())
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())


def test_frozen_rules_count_as_they_are_kept():
    net, x, _ = network_and_rows(Setup(consequent="affine"), 1)
    net.freeze()
    before = npl.diagnose(net, x)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(-0.5)  # as an optimizer might, that knows nothing of frozen entries
    assert npl.diagnose(net, x) == before


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_other_precisions_are_diagnosed_too(dtype):
    net, x, _ = network_and_rows(Setup(), 2)
    found = npl.diagnose(net.to(dtype), x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert npl.diagnose(net, x) == found


# Words


@pytest.mark.parametrize(
    ("change", "collapsed", "words"),
    [
        ({"leading_rules": 1.0, "carry": 0.0}, True, "one rule leads everywhere, and 100 % of the decisions"),
        ({"leading_rules": 1.04, "carry": 0.5}, True, "only how much others join in differs"),
        ({"carry": 0.19}, True, "the THEN parts decide; 81 % of the decisions stay"),
        (
            {"carry": 0.19, "alone": 0.79, "consequent": "mamdani"},
            True,
            "nearly the same is decided everywhere",
        ),
        (
            {"carry": 0.19, "alone": 0.8, "consequent": "constant"},
            False,
            "fit what they decide; 81 % of the decisions",
        ),
        (
            {"carry": 0.19, "alone": 0.8, "leading_rules": 1.0, "consequent": "constant"},
            True,
            "one rule leads",
        ),
        ({"carry": 0.19, "alone": 0.8, "consequent": "affine"}, True, "the THEN parts decide"),
        ({"carry": 0.0, "source": "estimator"}, True, "Compare a linear model"),
        ({"carry": 0.0, "source": "estimator"}, True, "readable=True, on the command line fit --readable"),
        ({"carry": 0.0, "source": "agent"}, True, "train --consequent constant"),
        ({"carry": 0.0, "source": "agent"}, True, "train --structure-rate 0.1"),
        ({"fit": 0.4, "source": "agent"}, False, "neuroplastic imitate TASK --teacher RUN"),
        ({"leading_rules": 1.0, "carry": 0.0, "source": "agent"}, True, "Fewer features help"),
        ({"carry": 0.0}, True, "npl.parameter_groups(net, lr)"),
        ({"leading_rules": 1.05, "carry": 0.2}, False, "The rules decide, and mostly fit"),
        ({"fit": 0.4}, False, "in 60 % of the decisions one of its premises fits below .5"),
        ({"fit": 0.0, "source": "estimator"}, False, "model.simplify"),
        ({"rules": 1, "leading_rules": 1.0, "carry": 0.0}, True, "There is one rule"),
        ({"rows": 1, "leading_rules": 1.0, "carry": 0.0}, True, "Give more rows"),
    ],
)
def test_advice_says_what_the_figures_mean_and_what_to_do(change, collapsed, words):
    fine = npl.Diagnosis(
        rows=10,
        rules=4,
        attributes=3,
        leading_rules=3.0,
        dead_rules=0,
        carry=0.6,
        alone=0.9,
        fit=0.9,
        premises=2.0,
        rules_per_decision=1.5,
        decision="class",
        consequent="affine",
    )
    found = replace(fine, **change)
    assert found.collapsed == collapsed
    assert words in found.advice
    assert found.advice.startswith(found.verdict)
    lines = str(found).splitlines()
    what = "observations" if found.source == "agent" else "rows"
    assert lines[0] == f"Do the rules decide? On {found.rows} {what}:"
    assert " ".join(lines[8:]) == found.advice
    assert max(map(len, lines)) <= 110
