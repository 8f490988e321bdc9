"""A network gives on a GPU what it gives on the CPU. Left out, and said so, where there is no CUDA device."""

import copy

import pytest
import torch

import neuroplastic as npl

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")


@pytest.mark.parametrize("estimator", ["stge", "ste"])
@pytest.mark.parametrize(
    ("consequent", "firing"),
    [
        *((kind, npl.Firing()) for kind in ("affine", "constant", "low_rank", "mamdani")),
        *(("constant", npl.Firing(reduce, layer_norm=False, balance=0.1)) for reduce in ("scaled", "worst")),
    ],
)
def test_training_on_cuda_follows_training_on_the_cpu(estimator, consequent, firing):
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(
        20,
        3,
        17,
        selection=npl.Selection(estimator, noise_hold=2),
        consequent=consequent,
        firing=firing,
        # The first logits of a set are drawn in another way on a GPU, so they are not drawn here.
        neurogenesis=npl.Neurogenesis(delay=2, sprouting="max"),
        dtype=torch.float64,
    )
    models = {"cpu": net, "cuda": copy.deepcopy(net).cuda()}
    optimizers = {name: torch.optim.Adam(model.parameters(), lr=0.01) for name, model in models.items()}
    for step in range(6):
        x = torch.rand(12, 20, dtype=torch.float64) * (1 + step)
        outputs = {}
        for name, model in models.items():
            outputs[name] = model(x.to(name))
            optimizers[name].zero_grad()
            outputs[name].square().mean().backward()
            optimizers[name].step()
        torch.testing.assert_close(outputs["cuda"].cpu(), outputs["cpu"], rtol=1e-6, atol=1e-8)
    assert len(models["cuda"].births) == len(net.births) > 0
    assert torch.equal(models["cuda"].premises().cpu(), net.premises())
    if estimator == "stge":
        torch.testing.assert_close(models["cuda"].noise().cpu(), net.noise())


def test_half_precision_training_step_on_cuda_is_finite():
    net = npl.NeuroFuzzyNetwork(1600, 8, 64).cuda()
    with torch.autocast("cuda", dtype=torch.float16):
        y = net(torch.rand(32, 1600, device="cuda"))
    y.float().square().sum().backward()
    assert torch.isfinite(y).all()
    assert torch.isfinite(net.logits.grad).all()


def test_saved_cuda_network_loads_on_the_cpu(tmp_path):
    net = npl.NeuroFuzzyNetwork(6, 2, 5).cuda().eval()
    npl.save(net, tmp_path / "net")
    x = torch.rand(4, 6)
    torch.testing.assert_close(npl.load(tmp_path / "net").eval()(x), net(x.cuda()).cpu())


@pytest.mark.parametrize("size", [(1, 1, 1), (3, 20, 5), (64, 37, 33), (130, 16, 100)], ids=str)
@pytest.mark.parametrize("terms", [1, 3, 16, 17])
def test_rule_parts_of_every_size_have_the_gradients_of_the_cpu(size, terms):
    """Kernels work on whole blocks of rows, attributes and rules, and of up to 16 terms at once."""
    rows, attributes, rules = size
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(attributes, 1, rules, terms=terms, max_terms=terms, neurogenesis=None)
    x, upstream = 2 * torch.rand(rows, attributes), torch.randn(rows, rules)
    found = {}
    for device in ("cpu", "cuda"):
        model = copy.deepcopy(net).to(device)
        given = x.to(device, copy=True).requires_grad_()
        model.log_firing(given).backward(upstream.to(device))
        learned = (model.centers, model.antecedent.raw_widths, model.logits)
        found[device] = [given.grad.cpu(), *(tensor.grad.cpu() for tensor in learned)]
    for mine, theirs in zip(found["cuda"], found["cpu"], strict=True):
        scale = float(theirs.abs().max()) or 1.0
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-5 * scale)
