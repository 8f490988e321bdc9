"""A clear start of the choices, and noise that is scaled and falls to nothing."""

import math

import pytest
import torch

import neuroplastic as npl

pytestmark = pytest.mark.usefixtures("path")


def network(seed=0, attributes=30, rules=40, max_terms=6, **options):
    torch.manual_seed(seed)
    selection = npl.Selection(**options)
    return npl.NeuroFuzzyNetwork(
        attributes, 2, rules, terms=3, max_terms=max_terms, selection=selection, neurogenesis=None
    )


def test_without_a_clear_start_the_random_numbers_are_those_of_before():
    plain, told = network(), network(start=0.0, noise=1.0, noise_passes=None, any=False)
    for ours, theirs in zip(plain.state_dict().values(), told.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs)


def test_a_clear_start_raises_one_existing_set_of_each_premise_and_draws_all_of_them_alike():
    plain, clear = network(), network(start=50.0)
    raised = clear.logits - plain.logits
    chosen = raised > 25
    assert bool((chosen.sum(dim=0) == 1).all())
    torch.testing.assert_close(raised[chosen], torch.full((1200,), 50.0), rtol=1e-4, atol=0)
    assert not raised[~chosen].any()
    assert torch.equal(clear.premises(), chosen.long().argmax(dim=0).t())
    counts = chosen.sum(dim=(1, 2))
    assert not counts[3:].any()
    assert bool((counts[:3] > 330).all()), "a third of 1200 each, less four deviations"


def test_any_is_drawn_like_the_other_sets():
    net = network(start=50.0, any=True)
    assert {0, 1, 2, 5} == set(net.premises().unique().tolist())


@pytest.mark.parametrize("premises", [0, 2, 30, 99])
def test_rules_start_with_so_many_premises_and_the_others_at_any(premises):
    net = network(start=50.0, any=True, start_premises=premises)
    asking = net.premises() != net.max_terms - 1
    assert asking.sum(dim=1).tolist() == [min(premises, 30)] * 40
    if premises == 2:
        assert len({tuple(row.nonzero().flatten().tolist()) for row in asking}) > 20, "drawn, not the first"


@pytest.mark.parametrize("consequent", ["affine", "mamdani"])
def test_noise_is_scaled_and_falls_in_a_line_to_nothing(consequent):
    def noises(**options):
        torch.manual_seed(0)
        selection = npl.Selection(noise_hold=2, **options)
        net = npl.NeuroFuzzyNetwork(3, 2, 4, selection=selection, consequent=consequent, neurogenesis=None)
        for _ in range(12):
            net(torch.rand(5, 3))
            yield net.noise() if consequent == "affine" else net.conclusion_noise()

    scales = [0.5 * max(0, 1 - start / 7) for start in (0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10)]
    for full, scaled, scale in zip(noises(), noises(noise=0.5, noise_passes=7), scales, strict=True):
        torch.testing.assert_close(scaled, full * scale, rtol=1e-6, atol=0)


def test_without_noise_the_choice_in_training_is_that_of_evaluation_and_gradients_go_through_the_softmax():
    net = network(noise=0.0)
    x = torch.rand(8, 30)
    assert net.antecedent.noise() is None
    torch.testing.assert_close(net.firing(x), net.eval().firing(x))
    net.train()(x).square().sum().backward()
    grad = net.logits.grad[:3]
    assert grad.abs().sum() > 0
    assert grad.sum(dim=0).abs().max() < 1e-5 * grad.abs().max(), "of a softmax they add up to nothing"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("noise", -0.1),
        ("noise", math.inf),
        ("noise_passes", 0),
        ("start", -1.0),
        ("start", math.nan),
        ("start", 1e5),
    ],
)
def test_scales_that_mean_nothing_are_refused_by_name(field, value):
    with pytest.raises(npl.ConfigError, match=f"selection.{field}"):
        npl.Selection(**{field: value})


def test_a_network_on_the_meta_device_has_shapes_and_no_start():
    selection = npl.Selection(start=2.0, any=True, price=0.1, start_premises=1)
    net = npl.NeuroFuzzyNetwork(3, 2, 4, selection=selection, device="meta")
    assert net.logits.is_meta
    assert npl.NeuroFuzzyNetwork.from_config(net.config()).selection == selection
