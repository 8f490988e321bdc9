"""Rules may choose "any" and pay for every other premise: the penalty, what never learns, and what is recorded."""

import copy
import io
import json

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import neuroplastic as npl
from neuroplastic.fuzzy.price import penalty
from neuroplastic.network.extra_state import written
from neuroplastic.network.prunings import EVERY, MOST

pytestmark = [
    pytest.mark.usefixtures("path"),
    pytest.mark.filterwarnings("ignore::neuroplastic.CapacityWarning"),
]

ESTIMATORS = pytest.mark.parametrize("estimator", ["ste", "stge"])


def network(price=0.0, estimator="ste", rules=5, neurogenesis=None, **options):
    torch.manual_seed(3)
    selection = npl.Selection(estimator, any=True, price=price, noise_hold=2, temperature=0.8, **options)
    return npl.NeuroFuzzyNetwork(
        4, 2, rules, terms=3, max_terms=5, selection=selection, neurogenesis=neurogenesis, dtype=torch.float64
    )


def batch(seed=0):
    return torch.rand(16, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def train(net, steps, first=0, learning_rate=0.05, optimizer=None):
    optimizer = optimizer or torch.optim.Adam(net.parameters(), lr=learning_rate, weight_decay=0.01)
    for step in range(first, first + steps):
        optimizer.zero_grad()
        (net(batch(step)) - 1).square().mean().backward()
        optimizer.step()
    return optimizer


@ESTIMATORS
def test_the_price_is_the_gradient_of_the_penalty_written_into_the_loss(estimator):
    paying, plain, x = network(0.3, estimator), network(0.0, estimator), batch()
    rate = paying.selection.rate
    (paying(x) - 1).square().mean().backward()
    loss = (plain(x) - 1).square().mean()
    nothing = plain.antecedent.any_mask
    chances = torch.softmax(
        (plain.logits * (rate or 1.0)).masked_fill(~plain.term_mask.t().unsqueeze(-1), -torch.inf), dim=0
    )
    asked = 0.3 * (1 - chances[-1]).sum(dim=0).mean()
    torch.testing.assert_close(penalty(plain.logits, plain.term_mask, nothing, 0.3, rate), asked)
    (loss + asked).backward()
    for (name, ours), theirs in zip(paying.named_parameters(), plain.parameters(), strict=True):
        if name == "antecedent.logits":
            torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-12, atol=1e-15)
        else:
            assert torch.equal(ours.grad, theirs.grad), name


def test_the_plain_estimator_tells_any_what_the_other_sets_of_a_premise_do():
    net, x = network(), batch()
    torch.manual_seed(3)
    plain = npl.NeuroFuzzyNetwork(
        4, 2, 5, terms=3, max_terms=5, selection=npl.Selection("ste"), neurogenesis=None, dtype=torch.float64
    )
    plain.place_sets(net.centers.detach(), net.widths.detach(), net.term_mask)
    for each in (net, plain):
        each(x).square().sum().backward()
    exists = net.term_mask.t().unsqueeze(-1)
    found = plain.logits.grad
    assert found[-1].abs().max() < 1e-20, "its own membership is 1 everywhere"
    expected = torch.where(exists, found - found.sum(dim=0) / exists.sum(dim=0), 0.0)
    torch.testing.assert_close(net.logits.grad, expected)


def test_the_price_changes_no_output():
    x = batch()
    assert torch.equal(network(0.3)(x), network(0.0)(x))
    assert torch.equal(network(0.3).eval()(x), network(0.0).eval()(x))


def test_reading_log_firing_or_evaluating_pays_nothing():
    paying, plain, x = network(0.3), network(0.0), batch()
    for net in (paying, plain):
        net.log_firing(x).sum().backward()
        net.eval()(x).sum().backward()
    assert torch.equal(paying.logits.grad, plain.logits.grad)


@ESTIMATORS
def test_a_price_drops_premises_and_a_record_is_kept_of_each(estimator):
    net = network(1.0, estimator, start=1.0)
    asked = int((~dropped(net)).sum())
    train(net, 3 * EVERY)
    assert int((~dropped(net)).sum()) < asked / 2
    change = [1 if event.kind == "dropped" else -1 for event in net.prunings]
    net.eval()
    assert {event.step % EVERY for event in net.prunings} == {0}
    assert net.antecedent.prunings.total == len(net.prunings)
    assert sum(change) == int(net.antecedent.ignored.sum()) - (
        network(1.0, estimator, start=1.0).rules * 4 - asked
    )


def dropped(net):
    """Which premises (U, D) are "any"."""
    return torch.stack([net.antecedent.any_mask[d][net.premises()[:, d]] for d in range(net.in_features)], 1)


def test_a_premise_that_is_taken_up_again_is_recorded_so():
    net = network()
    with torch.no_grad():
        net.logits[-1, 2, 1] = 9.0
    net(batch())
    with torch.no_grad():
        net.logits[0, 2, 1] = 20.0
    for step in range(EVERY - 1):
        assert not net.prunings
        net(batch(step))
    assert net.prunings == [npl.Pruning(EVERY, rule=1, attribute=2, kind="taken up")]


def test_only_the_latest_events_are_kept_and_all_are_counted():
    torch.manual_seed(0)
    selection = npl.Selection("ste", any=True)
    net = npl.NeuroFuzzyNetwork(110, 1, 100, terms=2, max_terms=3, selection=selection, neurogenesis=None)
    x = torch.rand(2, 110)
    with torch.no_grad():
        net.logits[-1] = -9.0
    net(x)
    with torch.no_grad():
        net.logits[-1] = 9.0
        for _ in range(EVERY - 1):
            net(x)
    assert net.antecedent.prunings.total == 11_000
    assert len(net.prunings) == MOST
    loaded = npl.NeuroFuzzyNetwork.from_config(net.config())
    loaded.load_state_dict(net.state_dict())
    assert loaded.prunings == net.prunings
    assert loaded.antecedent.prunings.total == 11_000


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_any_never_learns_covers_nothing_and_nothing_is_born_into_it(dtype):
    torch.manual_seed(0)
    growth = npl.Neurogenesis(delay=1, min_count=1)
    net = npl.NeuroFuzzyNetwork(
        2, 1, 3, terms=1, max_terms=3, selection=npl.Selection(any=True), neurogenesis=growth, dtype=dtype
    )
    before = net.antecedent.raw_widths[:, -1].clone()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=0.5)
    for step in range(30):
        optimizer.zero_grad()
        net(torch.rand(8, 2, dtype=dtype) * (1 + 9 * step)).mean().backward()
        optimizer.step()
    net(torch.rand(8, 2, dtype=dtype))
    assert torch.equal(net.antecedent.raw_widths[:, -1], before)
    assert {birth.term for birth in net.births} == {1}
    assert net.antecedent.any_mask.tolist() == [[False, False, True]] * 2
    assert not net.covered(torch.full((1, 2), 1e4, dtype=dtype)).any()


def test_a_rule_of_nothing_but_any_fires_alike_everywhere():
    net = network().eval()
    with torch.no_grad():
        net.logits[-1] = 9.0
    assert net.log_firing(batch() * 100).abs().max() < 1e-20
    assert (npl.rule_base(net).premises == -1).all()


def test_a_resumed_training_goes_on_bit_for_bit():
    growth = npl.Neurogenesis(delay=3, epsilon=0.9)
    options = {"price": 0.5, "estimator": "stge", "neurogenesis": growth, "noise_passes": 150}
    whole = network(**options)
    optimizer = train(whole, 100)
    half = network(**options)
    half.load_state_dict(whole.state_dict())
    second = torch.optim.Adam(half.parameters(), lr=0.05, weight_decay=0.01)
    second.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    train(whole, 100, first=100, optimizer=optimizer)
    train(half, 100, first=100, optimizer=second)
    for (name, ours), theirs in zip(whole.state_dict().items(), half.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs), name
    assert whole.prunings == half.prunings
    assert whole.prunings


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_pays_the_price_once_and_counts_no_event_twice(reentrant):
    one, other = network(0.5, "stge"), network(0.5, "stge")
    for step in range(EVERY + 3):
        losses = []
        for net, call in (
            (one, lambda net, x: checkpoint(net, x, use_reentrant=reentrant)),
            (other, lambda net, x: net(x)),
        ):
            net.zero_grad()
            losses.append(call(net, batch(step).requires_grad_()).square().sum())
            losses[-1].backward()
            with torch.no_grad():
                net.logits.sub_(net.logits.grad)
        assert torch.equal(*losses)
        assert torch.equal(one.logits.grad, other.logits.grad)
    assert one.prunings == other.prunings


def test_frozen_rules_drop_nothing():
    net = network(1.0)
    net.freeze(rules=[0, 3])
    before = net.premises()[[0, 3]].clone()
    train(net, 2 * EVERY)
    assert torch.equal(net.premises()[[0, 3]], before)
    assert {event.rule for event in net.prunings} <= {1, 2, 4}


def test_copies_files_and_inference_mode_keep_any_and_its_records(tmp_path):
    net = network(1.0, start=1.0)
    train(net, EVERY)
    with torch.inference_mode():
        net(batch())
    npl.save(net, tmp_path / "net")
    pickled = io.BytesIO()
    torch.save(net, pickled)
    pickled.seek(0)
    copies = npl.load(tmp_path / "net"), copy.deepcopy(net), torch.load(pickled, weights_only=False)
    for other in copies:
        assert other.selection == net.selection
        assert other.prunings == net.prunings
        assert torch.equal(other.eval()(batch()), net.eval()(batch()))
        other.train()(batch()).sum().backward()
        net.train()


def test_a_hierarchy_drops_premises_in_every_level():
    torch.manual_seed(0)
    selection = npl.Selection("ste", any=True, price=2.0, start=1.0)
    stack = npl.Hierarchy([4, 3, 2], 4, terms=2, max_terms=4, selection=selection, neurogenesis=None)
    optimizer = torch.optim.Adam(stack.parameters(), lr=0.3)
    for _ in range(EVERY):
        optimizer.zero_grad()
        stack(torch.rand(8, 4)).square().mean().backward()
        optimizer.step()
    assert {level for level, _ in stack.prunings} == {0, 1}


def test_simplified_networks_and_those_made_of_rules_may_go_on_dropping_premises():
    net = network(1.0, start=1.0)
    train(net, EVERY)
    x = batch()
    for other in (
        npl.simplify(net, x, tolerance=0.01).network,
        npl.network_of(npl.rule_base(net), selection=net.selection),
    ):
        assert other.selection.any
        assert other.antecedent.any_mask.any(dim=1).all()
        other.double().train()(x).sum().backward()
        assert not other.prunings


def test_extra_state_without_events_still_loads_and_events_out_of_place_are_refused():
    net = network()
    net(batch())
    old = json.loads(bytes(net.state_dict()["antecedent._extra_state"].tolist()))
    assert "prunings" not in old
    for change in ({"rules": [5]}, {"attributes": [4]}, {"dropped": [2]}, {"steps": []}, {"total": 0}):
        columns = {"total": 1, "steps": [1], "rules": [0], "attributes": [0], "dropped": [1], **change}
        with pytest.raises(npl.ConfigError, match="prunings"):
            net.antecedent.set_extra_state(written({**old, "prunings": columns}))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: npl.Selection(price=0.1), "any=True"),
        (lambda: npl.Selection(any=True, price=-1.0), "selection.price"),
        (lambda: npl.Selection(any=1), "selection.any"),
        (lambda: npl.Selection(start_premises=2, start=1.0), "selection.start_premises"),
        (lambda: npl.Selection(any=True, start_premises=2), "selection.start_premises"),
        (
            lambda: npl.NeuroFuzzyNetwork(2, 1, 2, terms=3, max_terms=3, selection=npl.Selection(any=True)),
            "max_terms",
        ),
    ],
)
def test_what_cannot_be_priced_is_refused_by_name(make, said):
    with pytest.raises(npl.ConfigError, match=said):
        make()
