"""The kernels of the paper's convolutions compute what PyTorch does in double precision, and repeat themselves."""

import copy
import os

import pytest
import torch
from torch.testing import assert_close

from neuroplastic.network.encoder import PictureEncoder

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"  # slow: kernels as Python, where there is no GPU
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
pytestmark = pytest.mark.skipif(DEVICE == "cpu" and not INTERPRETED, reason="no CUDA device on this machine")
B = 33 if DEVICE == "cuda" else 2


def encoder(dropout=0.0):
    torch.manual_seed(0)
    made = PictureEncoder(dropout=dropout)
    with torch.no_grad():
        for norm in made.norms:
            norm.weight.uniform_(0.5, 1.5)
            norm.bias.normal_()
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.5, 2.0)
    return made.to(DEVICE)


def pictures(count=B):
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, 256, (count, 84, 84, 3), dtype=torch.uint8, generator=generator).to(DEVICE)


def staged(made):
    from neuroplastic.network.fused_stages import Stage

    return [Stage(convolution, norm) for convolution, norm in made._stages()]


@pytest.mark.parametrize("kind", [torch.uint8, torch.float32])
def test_evaluation_equals_convolution_batch_norm_and_relu(kind):
    from neuroplastic.network.fused_stages import settled_stages

    made, x = encoder().eval(), pictures()
    with torch.no_grad():
        expected = copy.deepcopy(made).double()(x.double())
        assert_close(
            settled_stages(x.to(kind), staged(made), 1 / 255).double(), expected, rtol=1e-5, atol=1e-5
        )


def test_training_equals_autograd_in_value_gradient_and_running_statistics():
    from neuroplastic.network.fused_stages import training_stages

    made, x = encoder().train(), pictures()
    exact = copy.deepcopy(made).double()
    found, expected = (
        training_stages(x, staged(made), 1 / 255, 0.0),
        exact._convolve(x.double().permute(0, 3, 1, 2)),
    )
    assert_close(found.double(), expected.flatten(1), rtol=1e-4, atol=1e-5)
    upstream = torch.randn(found.shape, generator=torch.Generator().manual_seed(2)).to(DEVICE)
    found.backward(upstream)
    expected.flatten(1).backward(upstream.double())
    for (name, ours), theirs in zip(made.named_parameters(), exact.parameters(), strict=True):
        scale = float(theirs.grad.abs().max())
        assert_close(ours.grad.double(), theirs.grad, rtol=1e-4, atol=1e-5 * scale, msg=name)
    for ours, theirs in zip(made.buffers(), exact.buffers(), strict=True):
        assert_close(ours.double(), theirs.double(), rtol=1e-5, atol=1e-5)


def test_dropout_leaves_out_its_share_and_the_gradient_knows_which():
    from neuroplastic.network.fused_stages import training_stages

    made, x = encoder(0.5).train(), pictures()
    with torch.no_grad():
        for norm in made.norms:
            norm.bias.fill_(6.0)  # ReLU lets nearly all pass
    found = training_stages(x, staged(made), 1 / 255, 0.5)
    assert float((found == 0).double().mean()) == pytest.approx(0.5, abs=0.05)
    (shift,) = torch.autograd.grad(found.sum(), [made.norms[3].bias])
    kept = (found > 0).view(len(x), 16, 100).sum(dim=(0, 2))
    assert_close(shift, 2.0 * kept, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize(("channels", "side"), [(32, 20), (64, 9), (5, 3)])
def test_layer_norm_over_planes_and_relu_equal_autograd(channels, side):
    from neuroplastic.network.fused_norm import norm_relu

    torch.manual_seed(0)
    norm = torch.nn.GroupNorm(1, channels).to(DEVICE)
    with torch.no_grad():
        norm.weight.normal_()
        norm.bias.normal_()
    exact = copy.deepcopy(norm).double()
    x = torch.randn(3, channels, side, side, device=DEVICE, requires_grad=True)
    wide = x.detach().double().requires_grad_()
    found, expected = norm_relu(x, norm), exact(wide).relu()
    upstream = torch.randn_like(found)
    found.backward(upstream)
    expected.backward(upstream.double())
    assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    for ours, theirs in ((x, wide), (norm.weight, exact.weight), (norm.bias, exact.bias)):
        assert_close(ours.grad.double(), theirs.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(DEVICE == "cpu", reason="no CUDA device on this machine")
def test_an_encoder_on_a_gpu_uses_them_and_repeats_itself_to_the_last_bit():
    made, x = encoder().train(), pictures()
    gradients = []
    for _ in range(2):
        made.zero_grad()
        made(x).square().sum().backward()
        gradients.append([parameter.grad.clone() for parameter in made.parameters()])
    assert made._fuses(x)
    assert all(torch.equal(*pair) for pair in zip(*gradients, strict=True))
    assert not made._fuses(x.float().requires_grad_())
    assert not made.eval()._fuses(x)
    with torch.no_grad():
        assert made._fuses(x)
        assert not made.double()._fuses(x)
