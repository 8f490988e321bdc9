"""Rules that hardly fire are retired and reborn where errors are large, and nothing else changes by it."""

import copy
import io

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import neuroplastic as npl
from neuroplastic.network.renewal_state import RenewalState, read, written

pytestmark = pytest.mark.usefixtures("path")

EVERY = 5
CONSEQUENTS = ["affine", "constant", "low_rank", "mamdani"]


def network(consequent="affine", renewal=True, selection=None, **options):
    """Sets at 0 and 1; all rules but rule 0 are at 0 and far less certain, so that they hardly fire."""
    torch.manual_seed(2)
    net = npl.NeuroFuzzyNetwork(
        2,
        1,
        4,
        terms=2,
        max_terms=3,
        selection=selection or npl.Selection("ste", start=9.0),
        firing=npl.Firing(alpha=1.0, layer_norm=False, certainty="log"),
        consequent=consequent,
        neurogenesis=None,
        renewal=npl.Renewal(every=EVERY) if renewal is True else renewal,
        dtype=torch.float64,
        **options,
    )
    with torch.no_grad():
        net.certainty.copy_(torch.tensor([1.0, 1.0, -30.0, -40.0]))
    return net


def batch(seed=0):
    return torch.rand(16, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def train(net, steps, first=0, optimizer=None, call=None):
    optimizer = optimizer or torch.optim.SGD(net.parameters(), lr=0.0)
    for step in range(first, first + steps):
        optimizer.zero_grad()
        x = batch(step).requires_grad_()
        y = net(x) if call is None else call(net, x)
        ((y - 9 * (x.detach().sum(dim=1, keepdim=True) > 1.9)) ** 2).mean().backward()
        optimizer.step()
    return optimizer


@pytest.mark.parametrize("consequent", CONSEQUENTS)
def test_a_rule_that_hardly_fires_is_reborn_at_the_row_of_the_greatest_gradient(consequent):
    net = network(consequent)
    train(net, EVERY)
    assert not net.renewals
    worst = max((g.item(), x) for step in range(EVERY) for g, x in gradients(net, batch(step)))
    said = net.eval()(worst[1].unsqueeze(0)).detach()
    net.train()
    before = {name: value.clone() for name, value in net.state_dict().items() if value.is_floating_point()}
    net(batch(EVERY))
    first, second = net.renewals
    assert (first.step, first.rule, second.rule) == (EVERY, 3, 2), "those that fired least come first"
    assert first.firing < second.firing < 0.01 / 4
    assert first.error == pytest.approx(worst[0])
    assert net.premises()[3].tolist() == worst[1].round().long().tolist()
    assert net.certainty[3] == 1
    if consequent == "mamdani":
        nearest = (net.output_centers[0] - said).abs().argmin()
        assert net.conclusions()[3].item() == nearest
    else:
        torch.testing.assert_close(net.bias[3], said[0])
    if consequent in ("affine", "low_rank"):
        assert not net.weight[3].any()
    for name, value in net.state_dict().items():
        if name in ("antecedent.logits",):
            assert torch.equal(value[..., :2], before[name][..., :2])
        elif name in ("certainty", "consequent.bias", "consequent.weight"):
            assert torch.equal(value[:2], before[name][:2]), name
        elif name.startswith("antecedent.") and value.is_floating_point():
            assert torch.equal(value, before[name]), name


def gradients(net, x):
    """Size of the gradient at the output, of each row."""
    y = net.eval()(x)
    net.train()
    target = 9 * (x.sum(dim=1, keepdim=True) > 1.9)
    return zip((2 * (y - target) / len(x)).norm(dim=1), x, strict=True)


def test_where_a_rule_is_reborn_the_output_does_not_jump():
    net = network("constant")
    net.freeze(rules=[2])
    train(net, EVERY)
    rows = net.renewing.rows[net.renewing.errors > 0].clone()
    errors = net.renewing.errors[net.renewing.errors > 0]
    row = rows[errors.argmax()].unsqueeze(0)
    before = net.eval()(row).detach()
    net.train()(batch())
    assert len(net.renewals) == 1
    assert net.eval().firing(row)[0, 3] > 0.1
    torch.testing.assert_close(net(row).detach(), before, rtol=1e-9, atol=1e-9)


def test_rules_that_fire_enough_and_frozen_ones_are_never_renewed():
    busy = network(renewal=npl.Renewal(every=EVERY, least=1e-30))
    train(busy, 3 * EVERY)
    assert not busy.renewals
    net = network()
    net.freeze(rules=[3])
    kept = net.premises()[3].clone(), net.bias[3].clone(), net.certainty[3].clone()
    train(net, EVERY + 1)
    assert [event.rule for event in net.renewals] == [2]
    for ours, theirs in zip((net.premises()[3], net.bias[3], net.certainty[3]), kept, strict=True):
        assert torch.equal(ours, theirs)


def test_without_a_backward_pass_there_is_no_error_to_be_reborn_at():
    net = network()
    with torch.no_grad():
        for step in range(2 * EVERY):
            net(batch(step))
    with torch.inference_mode():
        net(batch())
    assert not net.renewals
    train(net, EVERY + 1)
    assert net.renewals


def test_rules_wait_while_a_graph_waits_for_its_backward_pass():
    net, twin = network(), network()
    train(net, EVERY)
    train(twin, EVERY)
    waiting = net(batch(7)).square().sum()  # renews, and waits
    assert len(net.renewals) == 2
    state = net.renewing.state
    state.since = EVERY
    net(batch(8)), net(batch(9))
    assert state.since == EVERY + 2
    waiting.backward()
    assert len(net.renewals) == 2


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_renews_the_same_rules_and_counts_no_pass_twice(reentrant):
    selection = npl.Selection(noise_hold=2, start=2.0)
    one, other = network(selection=selection), network(selection=selection)
    train(one, 3 * EVERY, call=lambda net, x: checkpoint(net, x, use_reentrant=reentrant))
    train(other, 3 * EVERY)
    assert one.renewals == other.renewals
    assert one.renewals
    for (name, ours), theirs in zip(one.state_dict().items(), other.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs), name


@pytest.mark.parametrize("steps", [3, EVERY + 2])
def test_a_resumed_training_goes_on_bit_for_bit(steps):
    whole = network("low_rank")
    optimizer = train(whole, steps, optimizer=torch.optim.Adam(whole.parameters(), lr=0.01))
    half = network("low_rank")
    half.load_state_dict(whole.state_dict())
    second = torch.optim.Adam(half.parameters(), lr=0.01)
    second.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for net, stepper in ((whole, optimizer), (half, second)):
        train(net, 2 * EVERY, first=steps, optimizer=stepper)
    assert whole.renewals == half.renewals
    assert whole.renewals
    for (name, ours), theirs in zip(whole.state_dict().items(), half.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs), name


def test_copies_and_files_keep_the_records(tmp_path):
    net = network()
    train(net, EVERY + 1)
    npl.save(net, tmp_path / "net")
    pickled = io.BytesIO()
    torch.save(net, pickled)
    pickled.seek(0)
    for other in (npl.load(tmp_path / "net"), copy.deepcopy(net), torch.load(pickled, weights_only=False)):
        assert other.renewals == net.renewals
        assert other.renewal == npl.Renewal(every=EVERY)
        train(other, EVERY + 1)
        assert len(other.renewals) >= len(net.renewals)
    assert not npl.NeuroFuzzyNetwork.from_config(net.config(), device="meta").renewals


def test_a_row_that_is_met_again_and_again_is_kept_once():
    net = network()
    x = batch()
    for _ in range(EVERY):
        net(x).square().sum().backward()
    rows = net.renewing.rows[net.renewing.errors > 0]
    assert len(rows.unique(dim=0)) == len(rows) > 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_every_level_of_a_hierarchy_renews_rules_in_any_precision(dtype):
    torch.manual_seed(0)
    stack = npl.Hierarchy([2, 2, 1], 6, renewal=npl.Renewal(every=2, least=0.99), dtype=dtype)
    for step in range(6):
        stack(batch(step).to(dtype)).square().mean().backward()
    assert {level for level, _ in stack.renewals} == {0, 1}
    assert torch.isfinite(stack(batch().to(dtype))).all()


def test_records_that_cannot_be_are_refused_by_name():
    for state in (
        RenewalState(since=-1),
        RenewalState(total=0, latest=[npl.Rebirth(1, 0, 0.1, 1.0)]),
        RenewalState(total=1, latest=[npl.Rebirth(1, 4, 0.1, 1.0)]),
    ):
        with pytest.raises(npl.ConfigError, match="renewals"):
            read(written(state), 4)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: npl.Renewal(every=0), "renewal.every"),
        (lambda: npl.Renewal(least=0.0), "renewal.least"),
        (lambda: npl.Renewal(least=1.0), "renewal.least"),
        (lambda: npl.NeuroFuzzyNetwork(2, 1, 2, renewal=500), "npl.Renewal"),
    ],
)
def test_settings_by_which_no_rule_could_be_renewed_or_none_would_stay_are_refused(make, said):
    with pytest.raises(npl.ConfigError, match=said):
        make()
