"""Sets and rules that start on the first data, and limits that sets keep to."""

import copy

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import neuroplastic as npl
from neuroplastic.network.placing import far_apart

pytestmark = pytest.mark.usefixtures("path")


def network(sets, dtype=torch.float64, selection=None, **options):
    torch.manual_seed(1)
    options = {"terms": 3, "max_terms": 4, "neurogenesis": None, **options}
    selection = selection or npl.Selection("ste")
    return npl.NeuroFuzzyNetwork(3, 2, 6, sets=sets, selection=selection, dtype=dtype, **options)


def batch(seed=0, rows=64, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return (
        torch.rand(rows, 3, generator=generator, dtype=torch.float64) * torch.tensor([1, 10, 0.1]) + 5
    ).to(dtype)


def push(net):
    """What an optimizer that overshoots may do."""
    with torch.no_grad():
        net.centers.add_(torch.tensor([-99.0, 99.0, 0.0, 0.0]))
        net.antecedent.raw_widths.add_(50.0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_a_training_pass_brings_sets_back_within_their_limits_and_leaves_the_others_alone(dtype):
    net = network(npl.Sets(widest=0.5, margin=0.25), dtype, input_range=([0.0, 2.0, -1.0], [1.0, 6.0, -1.0]))
    before = net.centers.clone(), net.widths.clone()
    net(torch.rand(4, 3, dtype=dtype))
    assert torch.equal(net.centers, before[0])
    assert torch.equal(net.widths, before[1].where(before[1] <= 1, net.widths))
    push(net)
    net.eval()(torch.rand(4, 3, dtype=dtype))
    assert float(net.centers.min()) < -90, "evaluation changes nothing"
    net.train()(torch.rand(4, 3, dtype=dtype))
    extent = torch.tensor([1.0, 4.0, 1.0], dtype=dtype)  # the last does not vary
    exists = net.term_mask
    widest = (0.5 * extent).unsqueeze(1).expand(3, 4)[exists]
    torch.testing.assert_close(net.widths[exists], widest, rtol=1e-2, atol=0)
    assert net.centers[:, 0].tolist() == [-0.25, 1.0, -1.25]
    assert net.centers[:, 1].tolist() == [1.25, 7.0, -0.75]
    after = net.centers.clone(), net.antecedent.raw_widths.clone()
    net(torch.rand(4, 3, dtype=dtype))
    assert torch.equal(net.centers, after[0])
    assert torch.equal(net.antecedent.raw_widths, after[1]), "a second time changes nothing"


def test_any_and_frozen_sets_are_exempt():
    net = network(npl.Sets(widest=0.5, margin=0.0), selection=npl.Selection("ste", any=True))
    push(net)
    net.freeze(sets=[(1, 0)])
    center, width = net.centers[1, 0].clone(), net.widths[1, 0].clone()
    net(torch.rand(4, 3, dtype=torch.float64))
    assert net.antecedent.any_mask[:, -1].all()
    assert torch.equal(net.antecedent.centers[1, 0], center)
    assert torch.equal(net.widths[1, 0], width)
    assert net.centers[0, 0] == 0


def test_the_first_batch_places_sets_at_its_quantiles_and_neighbours_cross_at_a_half():
    net, x = network(npl.Sets(start="data")), batch()
    net(x)
    centers, widths = net.centers[:, :3], net.widths[:, :3]
    torch.testing.assert_close(
        centers, torch.quantile(x, torch.tensor([1 / 6, 0.5, 5 / 6]).double(), dim=0).t()
    )
    for one, other in ((0, 1), (2, 1)):  # the outer ones have one neighbour
        middle = (centers[:, one] + centers[:, other]) / 2
        reached = torch.exp(-((middle - centers[:, one]) ** 2) / (2 * widths[:, one] ** 2))
        torch.testing.assert_close(reached, torch.full((3,), 0.5, dtype=torch.float64))
    gaps = centers.diff(dim=1).amax(dim=1)
    torch.testing.assert_close(widths[:, 1], gaps / 2.3548200450309493)
    assert torch.equal(net.antecedent.limits.low, x.amin(dim=0))


def test_every_rule_starts_at_the_sets_nearest_to_a_row_and_the_rows_lie_far_apart():
    net = network(npl.Sets(start="data"), selection=npl.Selection("ste", start=30.0))
    corners = torch.tensor([[0.0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1], [0, 0, 1], [1, 1, 0]]).double()
    x = corners.repeat(20, 1)
    net(x)
    expected = {tuple(row) for row in (2 * corners).long().tolist()}
    assert {tuple(row) for row in net.premises().tolist()} == expected


def test_rows_far_apart_are_all_different_while_there_are_any_and_follow_from_the_generator():
    x = torch.rand(5, 2).repeat(4, 1)
    chosen = far_apart(x, 9, torch.Generator().manual_seed(0))
    assert len({tuple(row) for row in x[chosen[:5]].tolist()}) == 5
    assert torch.equal(chosen, far_apart(x, 9, torch.Generator().manual_seed(0)))
    assert len(far_apart(torch.ones(3, 2), 4, torch.Generator().manual_seed(0))) == 4


def test_the_start_happens_once_with_two_rows_or_more_and_a_copy_does_not_repeat_it(tmp_path):
    net = network(npl.Sets(start="data", widest=1.0), consequent="constant")
    before = net.centers.clone()
    net(batch(rows=1))
    net.eval()(batch())
    assert torch.equal(net.centers, before)
    net.train()(batch(1))
    started = net.centers.clone()
    assert not torch.equal(started, before)
    npl.save(net, tmp_path / "net")
    loaded = network(npl.Sets(start="data", widest=1.0), consequent="constant")
    loaded.load_state_dict(net.state_dict())
    for other in (net, copy.deepcopy(net), npl.load(tmp_path / "net"), loaded):
        other.train()(batch(2) * 3)
        assert torch.equal(other.centers, started)
        assert torch.equal(other.antecedent.limits.high, batch(1).amax(dim=0))


def test_with_start_premises_rules_start_on_data_with_few_premises():
    selection = npl.Selection("ste", start=30.0, any=True, start_premises=2)
    net = network(npl.Sets(start="data"), selection=selection)
    net(batch())
    assert ((net.premises() != 3).sum(dim=1) == 2).all()
    for step in range(70):
        net(batch(step))
    assert not net.prunings, "the start is no event"


def test_frozen_rules_and_sets_stay_where_they_were_when_the_others_start_on_data():
    net = network(npl.Sets(start="data"), selection=npl.Selection("ste", start=30.0))
    net.freeze(rules=[2], sets=[(0, 1)])
    premises, center = net.premises()[2].clone(), net.centers[0, 1].clone()
    net(batch())
    assert torch.equal(net.premises()[2], premises)
    assert torch.equal(net.antecedent.centers[0, 1], center)
    assert net.centers[0, 0] > 5


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpointed_network_starts_and_stays_within_limits_as_if_it_were_not(reentrant):
    sets = npl.Sets(start="data", widest=0.3, margin=0.1)
    one, other = (network(sets, selection=npl.Selection(noise_hold=2)) for _ in range(2))
    optimizers = [torch.optim.Adam(net.parameters(), lr=0.1) for net in (one, other)]
    for step in range(6):
        x = batch(step).requires_grad_()
        for net, optimizer in zip((one, other), optimizers, strict=True):
            optimizer.zero_grad()
            y = checkpoint(net, x, use_reentrant=reentrant) if net is one else net(x)
            y.square().sum().backward()
            optimizer.step()
    for (name, ours), theirs in zip(one.state_dict().items(), other.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs), name


def test_all_levels_of_a_hierarchy_start_on_what_reaches_them():
    torch.manual_seed(0)
    stack = npl.Hierarchy([3, 2, 1], 4, sets=npl.Sets(start="data", margin=0.0), neurogenesis=None)
    with torch.inference_mode():
        stack(batch(dtype=torch.float32))
    assert all(level.antecedent.started for level in stack.levels)
    stack(batch(1, dtype=torch.float32)).sum().backward()
    assert npl.Hierarchy.from_config(stack.config()).levels[1].sets == npl.Sets(start="data", margin=0.0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: npl.Sets(start="datum"), "sets.start"),
        (lambda: npl.Sets(widest=0.0), "sets.widest"),
        (lambda: npl.Sets(margin=-0.1), "sets.margin"),
        (lambda: npl.NeuroFuzzyNetwork(2, 1, 2, sets="data"), "npl.Sets"),
    ],
)
def test_limits_that_leave_no_room_are_refused_by_name(make, said):
    with pytest.raises(npl.ConfigError, match=said):
        make()
