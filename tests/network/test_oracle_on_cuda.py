"""The option matrix on a GPU against the NumPy oracle: values, gradients, births. Left out where there is no GPU."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

import neuroplastic as npl
from tests import reference
from tests.network.test_gradients import straightforward_firing
from tests.random_network import Setup, array, place

DEVICE = "cuda"
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")

BASE = Setup(D=7, outputs=3, U=21, terms=3, max_terms=5)
MATRIX = {
    **{
        f"{estimator}, {reduce}": replace(BASE, estimator=estimator, reduce=reduce)
        for estimator in ("ste", "stge")
        for reduce in ("sum", "mean", "scaled", "worst")
    },
    **{f"alpha {alpha}": replace(BASE, alpha=alpha) for alpha in (1.0, 1.3, 2.0, "learn")},
    "no layer norm": replace(BASE, layer_norm=False),
    "no layer norm, softmax": replace(BASE, layer_norm=False, alpha=1.0),
    **{f"certainty {form}": replace(BASE, certainty=form) for form in ("log", "tanh")},
    "constraint": replace(BASE, constraint=50.0),
    **{
        str(consequent): replace(BASE, consequent=consequent)
        for consequent in (
            "constant",
            npl.LowRank(rank=2),
            npl.Mamdani(terms=4),
            npl.Mamdani(terms=4, defuzzifier="area"),
        )
    },
}
# In single precision the kernels compute, in double precision PyTorch's own steps.
TOLERANCES = {torch.float64: 1e-9, torch.float32: 2e-4}


def inputs(B=33, seed=10, scale=1.0):
    return torch.tensor(np.random.default_rng(seed).normal(size=(B, BASE.D)) * scale)


def close(actual, expected, dtype, what=""):
    expected = np.asarray(expected)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(
        array(actual), expected, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype] * scale, err_msg=what
    )


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("name", MATRIX)
def test_every_step_on_a_gpu_equals_the_oracle(name, dtype):
    setup = MATRIX[name]
    net = setup.network(dtype=dtype).to(DEVICE)
    x = inputs().to(DEVICE, dtype)
    for training in (True, False):
        y = net.train(training)(x)
        steps = setup.oracle(net, x)
        close(net.log_firing(x), steps["log_firing"], dtype, "log-firing")
        close(net.firing(x), steps["firing"], dtype, "firing")
        close(y, steps["output"], dtype, "output")


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("name", [name for name, setup in MATRIX.items() if setup.alpha != "learn"])
def test_every_gradient_on_a_gpu_equals_that_of_the_straightforward_version(name, dtype):
    setup = MATRIX[name]
    net = setup.network(dtype=dtype).train().to(DEVICE)
    x = inputs().to(DEVICE, dtype)
    net(x)
    twin = copy.deepcopy(net).cpu().double()
    upstream = torch.tensor(np.random.default_rng(8).normal(size=(len(x), setup.U)))
    ours, theirs = x.clone().requires_grad_(), x.cpu().double().requires_grad_()
    net.firing(ours).backward(upstream.to(DEVICE, dtype))
    straightforward_firing(setup, twin, theirs).backward(upstream)
    close(ours.grad, theirs.grad, dtype, "inputs")
    for (what, mine), wanted in zip(net.named_parameters(), twin.parameters(), strict=True):
        if wanted.grad is not None:
            close(mine.grad, wanted.grad, dtype, what)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("frozen", [False, True], ids=["free", "frozen"])
@pytest.mark.parametrize("estimator", ["ste", "stge"])
def test_sets_are_born_on_a_gpu_in_the_batches_and_from_the_statistics_of_the_oracle(
    estimator, frozen, dtype
):
    D, T, epsilon, delay = 7, 5, 0.3, 2
    setup = replace(BASE, estimator=estimator, terms=1, max_terms=T)
    mask = np.zeros((D, T), bool)
    mask[:, 0] = True
    growing = npl.Neurogenesis(epsilon=epsilon, delay=delay, sprouting="max", min_count=2)
    net = setup.network(neurogenesis=growing, mask=mask, dtype=dtype)
    place(net, np.zeros((D, T)), np.ones((D, T)), mask)
    if frozen:
        net.freeze(rules=[1, 4], sets=[(0, 0)])
    net.to(DEVICE).train()
    kept = [net.centers[0, 0].item(), net.widths[0, 0].item(), net.premises()[[1, 4]].cpu()]
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    statistics, wanted = [(0, 0.0, 0.0)] * D, []
    for step in range(1, 7):
        x = inputs(B=40, seed=step, scale=1 + step).to(DEVICE, dtype)
        sets = array(net.centers), array(net.widths), array(net.term_mask)
        fails = reference.incomplete(array(x), *sets, epsilon)
        for i in range(D):
            statistics[i] = reference.welford_merge(*statistics[i], array(x)[fails[:, i], i])
            count, mean, m2 = statistics[i]
            if step % delay == 0 and count >= growing.min_count and not array(net.term_mask)[i].all():
                wanted.append(
                    (step, i, int(array(net.term_mask)[i].argmin()), count, mean, (m2 / count) ** 0.5)
                )
                statistics[i] = (0, 0.0, 0.0)
        y = net(x)
        steps, free = setup.oracle(net, x), [u for u in range(setup.U) if not (frozen and u in (1, 4))]
        close(net.log_firing(x)[:, free], steps["log_firing"][:, free], dtype, f"log-firing of batch {step}")
        if (
            not frozen or estimator == "ste"
        ):  # noise does not move the premises of frozen rules, as the oracle's
            close(y, steps["output"], dtype, f"output of batch {step}")
        optimizer.zero_grad()
        y.square().mean().backward()
        optimizer.step()
    births = sorted(net.births, key=lambda birth: (birth.step, birth.attribute))
    assert [(b.step, b.attribute, b.term, b.count) for b in births] == [one[:4] for one in wanted]
    close(
        torch.tensor([[b.center, b.width] for b in births], dtype=torch.float64),
        [one[4:] for one in wanted],
        dtype,
        "sets born",
    )
    assert births
    if frozen:
        assert [net.centers[0, 0].item(), net.widths[0, 0].item()] == kept[:2]
        assert torch.equal(net.premises()[[1, 4]].cpu(), kept[2])
