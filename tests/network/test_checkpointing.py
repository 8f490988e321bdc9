"""Gradient checkpointing computes passes again, inside the backward pass, and nothing else may differ."""

import copy
import warnings

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import neuroplastic as npl
from neuroplastic.network import passes
from neuroplastic.network.dueling import DuelingNetwork
from neuroplastic.network.encoder import PictureEncoder

pytestmark = [pytest.mark.usefixtures("path"), pytest.mark.filterwarnings("ignore::UserWarning")]

KINDS = pytest.mark.parametrize("reentrant", [True, False], ids=["reentrant", "non-reentrant"])
STEPS = 20  # by then the sets are full, and noise that is held for 7 passes was renewed twice

EVERY_BATCH = npl.Neurogenesis(delay=1)


def network(noise_hold=1, estimator="stge", constraint=0.0, **options):
    torch.manual_seed(4)
    options = {"neurogenesis": EVERY_BATCH, "max_terms": 12, "dtype": torch.float64, **options}
    selection = npl.Selection(estimator=estimator, noise_hold=noise_hold, constraint=constraint)
    return npl.NeuroFuzzyNetwork(3, 2, 6, terms=2, selection=selection, **options)


def hierarchy(noise_hold=1):
    torch.manual_seed(4)
    selection = npl.Selection(noise_hold=noise_hold)
    return npl.Hierarchy(
        [3, 4, 2],
        6,
        terms=2,
        max_terms=12,
        selection=selection,
        neurogenesis=EVERY_BATCH,
        hidden_range=(-0.2, 0.2),
        dtype=torch.float64,
    )


MODELS = {
    "stge": network,
    "stge held for 7 passes": lambda: network(noise_hold=7),
    "ste": lambda: network(estimator="ste"),
    "not growing": lambda: network(neurogenesis=None),
    "nothing varies": lambda: network(estimator="ste", neurogenesis=None),
    "constraint": lambda: network(constraint=40.0),
    "worst premise and balance": lambda: network(firing=npl.Firing(reduce="worst", balance=0.1)),
    "mamdani": lambda: network(consequent=npl.Mamdani(defuzzifier="area")),
    "hierarchy": hierarchy,
    "dropout before and after": lambda: nn.Sequential(
        nn.Dropout(0.3), network(), nn.Dropout(0.3), nn.Linear(2, 2, dtype=torch.float64)
    ),
}


def networks(model):
    return [part for part in model.modules() if isinstance(part, npl.NeuroFuzzyNetwork)]


def assert_equal_state(one, other):
    for (name, ours), theirs in zip(one.state_dict().items(), other.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs), name
    for ours, theirs in zip(networks(one), networks(other), strict=True):
        assert ours.births == theirs.births
        assert ours.antecedent.passes == theirs.antecedent.passes
        assert torch.equal(ours.noise(), theirs.noise())


def assert_trains_alike(model, loss_of, plain_loss_of, batch_of, steps=STEPS):
    """Loss, gradients and everything kept are bit-equal, step by step, to the run without checkpointing."""
    twin = copy.deepcopy(model)
    optimizers = [torch.optim.Adam(net.parameters(), lr=0.01) for net in (model, twin)]
    for step in range(steps):
        x, losses = batch_of(step), []
        for net, optimizer, loss_function in zip(
            (model, twin), optimizers, (loss_of, plain_loss_of), strict=True
        ):
            torch.manual_seed(100 + step)
            optimizer.zero_grad()
            losses.append(loss_function(net, x))
            losses[-1].backward()
        assert torch.equal(*losses), step
        for (name, ours), theirs in zip(model.named_parameters(), twin.parameters(), strict=True):
            assert (ours.grad is None) == (theirs.grad is None), name
            assert ours.grad is None or torch.equal(ours.grad, theirs.grad), (step, name)
        for optimizer in optimizers:
            optimizer.step()
        assert_equal_state(model, twin)


def growing_batch(step):
    generator = torch.Generator().manual_seed(step)
    x = torch.rand(8, 3, generator=generator, dtype=torch.float64) * (1 + step / 3)
    return x.requires_grad_()  # reentrant checkpointing wants an input that does


@KINDS
@pytest.mark.parametrize("model", MODELS)
def test_a_checkpointed_network_trains_as_if_it_were_not(model, reentrant):
    net = MODELS[model]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", npl.CapacityWarning)
        assert_trains_alike(
            net,
            lambda net, x: checkpoint(net, x, use_reentrant=reentrant).square().sum(),
            lambda net, x: net(x).square().sum(),
            growing_batch,
        )
    if networks(net)[0].neurogenesis is not None:
        assert networks(net)[0].births


@KINDS
@pytest.mark.parametrize("model", ["stge", "mamdani", "hierarchy", "dropout before and after"])
def test_several_checkpointed_passes_may_wait_for_one_backward_pass(model, reentrant):
    """Noise is renewed and sets are born between a pass and its repetition."""
    assert_trains_alike(
        MODELS[model](),
        lambda net, x: sum(
            checkpoint(net, x * k, use_reentrant=reentrant).square().sum() for k in (1, 5, 2, 7)
        ),
        lambda net, x: sum(net(x * k).square().sum() for k in (1, 5, 2, 7)),
        growing_batch,
        steps=8,
    )


@KINDS
def test_one_segment_may_call_a_network_several_times(reentrant):
    def several(net, x):
        return net(x).square().sum() + net(x * 2).square().sum() + net.log_firing(x * 2).sum()

    assert_trains_alike(
        network(),
        lambda net, x: checkpoint(several, net, x, use_reentrant=reentrant),
        several,
        growing_batch,
        steps=8,
    )


@KINDS
def test_training_on_one_batch_over_and_over_is_no_ambiguity(reentrant):
    assert_trains_alike(
        network(),
        lambda net, x: checkpoint(net, x, use_reentrant=reentrant).square().sum(),
        lambda net, x: net(x).square().sum(),
        lambda step: growing_batch(9),
        steps=8,
    )


@KINDS
def test_the_random_numbers_of_a_run_are_those_of_the_run_without_checkpointing(reentrant):
    """Batches, dropout and networks share torch's generator, which is seeded once."""

    def run(call):
        model = MODELS["dropout before and after"]()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(STEPS):
            x = (torch.rand(8, 3, dtype=torch.float64) * (1 + step / 3)).requires_grad_()
            optimizer.zero_grad()
            call(model, x).square().sum().backward()
            optimizer.step()
        return model, torch.get_rng_state()

    ours, our_state = run(lambda model, x: checkpoint(model, x, use_reentrant=reentrant))
    theirs, their_state = run(lambda model, x: model(x))
    assert_equal_state(ours, theirs)
    assert torch.equal(our_state, their_state)


@KINDS
def test_checkpoints_may_be_nested(reentrant):
    def inner(net, x):
        return checkpoint(net, x, use_reentrant=reentrant)

    assert_trains_alike(
        hierarchy(),
        lambda net, x: checkpoint(inner, net, x, use_reentrant=reentrant).square().sum(),
        lambda net, x: net(x).square().sum(),
        growing_batch,
        steps=8,
    )


@KINDS
def test_backward_passes_may_come_in_any_order_and_twice(reentrant):
    net, inputs = network(), [growing_batch(step) for step in (3, 4, 5)]
    twin = copy.deepcopy(net)
    ours = [checkpoint(net, x, use_reentrant=reentrant).square().sum() for x in inputs]
    theirs = [twin(x).square().sum() for x in inputs]
    for place in (0, 2, 1, 0):
        ours[place].backward(retain_graph=True)
        theirs[place].backward(retain_graph=True)
        assert torch.equal(net.logits.grad, twin.logits.grad), place
    assert_equal_state(net, twin)


@KINDS
def test_reading_log_firing_in_a_segment_sees_the_noise_of_its_time(reentrant):
    net, x = network(), growing_batch(0)
    net(x)
    twin = copy.deepcopy(net)
    ours = checkpoint(net.log_firing, x, use_reentrant=reentrant).sum()
    theirs = twin.log_firing(x).sum()
    for each in (net, twin):
        each(x * 5)  # renews the noise and gives birth
    ours.backward()
    theirs.backward()
    assert torch.equal(net.logits.grad, twin.logits.grad)
    assert_equal_state(net, twin)


@KINDS
def test_the_picture_encoder_counts_a_batch_once(reentrant):
    torch.manual_seed(0)
    model = DuelingNetwork(PictureEncoder(), *(npl.NeuroFuzzyNetwork(1600, out, 4) for out in (1, 3)))
    spare = torch.zeros(1, requires_grad=True)  # pictures are whole numbers, which take no gradient

    def loss_of(model, pictures):
        segment = checkpoint(lambda x, _: model(x), pictures, spare, use_reentrant=reentrant)
        return segment.square().sum()

    assert_trains_alike(
        model,
        loss_of,
        lambda model, pictures: model(pictures).square().sum(),
        lambda step: torch.randint(256, (4, 84, 84, 3), dtype=torch.uint8),
        steps=3,
    )
    assert int(model.encoder.norms[0].num_batches_tracked) == 3


@KINDS
def test_without_the_generator_state_a_repetition_is_refused_by_name(reentrant):
    net = network()
    y = checkpoint(net, growing_batch(0), use_reentrant=reentrant, preserve_rng_state=False)
    torch.rand(1)
    with pytest.raises(npl.RecomputationError, match="preserve_rng_state=True"):
        y.sum().backward()


@KINDS
def test_a_network_in_which_nothing_varies_needs_no_generator_state(reentrant):
    net = MODELS["nothing varies"]()
    twin, x = copy.deepcopy(net), growing_batch(0)
    y = checkpoint(net, x, use_reentrant=reentrant, preserve_rng_state=False)
    torch.rand(1)
    y.sum().backward()
    twin(x).sum().backward()
    assert torch.equal(net.logits.grad, twin.logits.grad)
    assert_equal_state(net, twin)


@KINDS
def test_passes_on_one_input_that_saw_different_noise_are_refused_by_name_or_told_apart(reentrant):
    net, x = network(), growing_batch(0)
    outputs = [checkpoint(net, x, use_reentrant=reentrant) for _ in range(2)]
    with pytest.raises(npl.RecomputationError, match=r"torch\.rand"):
        sum(outputs).sum().backward()

    def loss_of(net, x):
        return sum(
            checkpoint(net, x, use_reentrant=reentrant).sum() for _ in range(3) if torch.rand(()) is not None
        )

    assert_trains_alike(
        network(), loss_of, lambda net, x: sum(net(x).sum() for _ in range(3)), growing_batch, 8
    )


@KINDS
def test_passes_on_one_input_that_saw_the_same_need_not_be_told_apart(reentrant):
    assert_trains_alike(
        network(noise_hold=100, neurogenesis=None),
        lambda net, x: sum(checkpoint(net, x, use_reentrant=reentrant).square().sum() for _ in range(3)),
        lambda net, x: sum(net(x).square().sum() for _ in range(3)),
        growing_batch,
        steps=4,
    )


def test_a_training_pass_of_its_own_inside_a_backward_pass_is_refused_by_name():
    net, x = network(), growing_batch(0)
    x.register_hook(lambda grad: net(x.detach()).sum())
    with pytest.raises(npl.RecomputationError, match="must repeat an earlier one"):
        net(x).sum().backward()


def test_a_pass_that_nothing_can_repeat_is_not_remembered():
    net, x = network(), growing_batch(0)
    net(x).sum().backward()
    with torch.no_grad():
        net(x)
    with torch.inference_mode():
        net(x)
    assert len(net.antecedent._book) == 0


def test_only_so_many_passes_are_remembered_and_copies_remember_none(monkeypatch):
    most = 40  # the limit itself takes thousands of passes to reach
    assert most < passes.MOST_WAITING
    monkeypatch.setattr(passes, "MOST_WAITING", most)
    net, x = network(estimator="stge", neurogenesis=None), growing_batch(0)
    first = checkpoint(net, x, use_reentrant=False)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        for step in range(most):
            net(x + 1 + step)
    assert len(net.antecedent._book) == most
    assert len(copy.deepcopy(net).antecedent._book) == 0
    with pytest.raises(npl.RecomputationError, match=f"most {most} passes"):
        first.sum().backward()
