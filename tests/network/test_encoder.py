import copy

import numpy as np
import pytest
import torch
from torch import nn

from neuroplastic.errors import ConfigError, InputError
from neuroplastic.network.encoder import PictureEncoder


def pictures(count: int = 5, seed: int = 0) -> torch.Tensor:
    numbers = np.random.default_rng(seed).integers(0, 256, (count, 84, 84, 3), dtype=np.uint8)
    return torch.from_numpy(numbers)


def trained_encoder(**options: object) -> PictureEncoder:
    """An encoder whose batch norms are far from their start."""
    torch.manual_seed(0)
    encoder = PictureEncoder(**options)  # type: ignore[arg-type]
    with torch.no_grad():
        for norm in encoder.norms:
            norm.weight.uniform_(-1.5, 1.5)
            norm.bias.uniform_(-1, 1)
    for seed in range(3):
        encoder(pictures(seed=seed))
    return encoder.eval()


def layer_by_layer(encoder: PictureEncoder, x: torch.Tensor) -> torch.Tensor:
    """The paper's evaluation pass, spelled out in double precision."""
    x = x.permute(0, 3, 1, 2).double() / 255
    for convolution, norm in zip(encoder.convolutions, encoder.norms, strict=True):
        plain = nn.Conv2d(
            convolution.in_channels, convolution.out_channels, convolution.kernel_size, convolution.stride
        )
        plain.double().weight.data = convolution.weight.detach().double()
        plain.bias.data.zero_()
        x = copy.deepcopy(norm).double().eval()(plain(x)).relu()
    return x.reshape(len(x), -1)


def evaluated(encoder: PictureEncoder, x: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return encoder(x).clone()


def test_pictures_become_1600_features_in_row_major_order():
    encoder = trained_encoder()
    features = evaluated(encoder, pictures())
    assert features.shape == (5, 1600)
    assert features.is_contiguous()
    torch.testing.assert_close(features.double(), layer_by_layer(encoder, pictures()), rtol=1e-5, atol=1e-5)


def test_folded_and_unfolded_evaluation_agree():
    encoder = trained_encoder()
    unfolded = encoder(pictures())  # with gradients nothing is folded
    assert unfolded.requires_grad
    torch.testing.assert_close(evaluated(encoder, pictures()), unfolded.detach(), rtol=1e-5, atol=1e-5)


def test_floats_from_0_to_255_count_like_bytes():
    encoder = trained_encoder()
    assert torch.equal(evaluated(encoder, pictures().float()), evaluated(encoder, pictures()))


@torch.no_grad()
def _change_weight(encoder: PictureEncoder) -> None:
    encoder.convolutions[2].weight.mul_(2)


@torch.no_grad()
def _change_norm(encoder: PictureEncoder) -> None:
    encoder.norms[3].bias.add_(1)


def _change_statistics(encoder: PictureEncoder) -> None:
    encoder.norms[0].running_mean.add_(0.1)


def _pass_in_training(encoder: PictureEncoder) -> None:
    encoder.train()
    with torch.no_grad():
        encoder(pictures(seed=9))
    encoder.eval()


def _train_one_norm(encoder: PictureEncoder) -> None:
    encoder.norms[1].train()
    encoder(pictures(seed=9))
    encoder.norms[1].eval()


def _optimizer_step(encoder: PictureEncoder) -> None:
    optimizer = torch.optim.Adam(encoder.parameters(), fused=True)
    encoder(pictures()).sum().backward()
    optimizer.step()


def _load(encoder: PictureEncoder) -> None:
    torch.manual_seed(5)
    encoder.load_state_dict(PictureEncoder().state_dict())


def _write_data(encoder: PictureEncoder) -> None:
    encoder.convolutions[0].weight.data.mul_(3)
    encoder.eval()


@pytest.mark.parametrize(
    "change",
    [
        _change_weight,
        _change_norm,
        _change_statistics,
        _pass_in_training,
        _train_one_norm,
        _optimizer_step,
        _load,
        _write_data,
    ],
)
def test_folded_weights_are_dropped_when_anything_changes(change):
    encoder = trained_encoder()
    before = evaluated(encoder, pictures())
    change(encoder)
    after = evaluated(encoder, pictures())
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after.double(), layer_by_layer(encoder, pictures()), rtol=1e-5, atol=1e-5)


def test_folded_weights_follow_the_type_and_stay_out_of_copies():
    encoder = trained_encoder()
    evaluated(encoder, pictures())
    copied = copy.deepcopy(encoder)
    assert copied.settled._kept is None
    assert torch.equal(evaluated(copied, pictures()), evaluated(encoder, pictures()))
    assert evaluated(encoder.double(), pictures()).dtype == torch.float64


def test_features_are_normalised_on_request():
    features = evaluated(trained_encoder(feature_norm=True), pictures())
    torch.testing.assert_close(features.mean(dim=1), torch.zeros(5), atol=1e-5, rtol=0)
    torch.testing.assert_close(features.std(dim=1), torch.ones(5), atol=1e-2, rtol=0)


def test_dropout_works_in_training_only():
    encoder = trained_encoder(dropout=0.5)
    assert torch.equal(evaluated(encoder, pictures()), evaluated(encoder, pictures()))
    encoder.train()
    assert not torch.equal(encoder(pictures()), encoder(pictures()))
    still = trained_encoder(dropout=0.0).train()
    assert torch.equal(still(pictures()), still(pictures()))


def test_frozen_statistics_do_not_stop_dropout():
    encoder = trained_encoder(dropout=0.5).train()
    encoder.norms.eval()
    before = encoder.norms[0].running_mean.clone()
    assert not torch.equal(encoder(pictures()), encoder(pictures()))
    assert torch.equal(encoder.norms[0].running_mean, before)


def test_dropout_keeps_the_mean_of_the_features():
    torch.manual_seed(0)
    encoder = trained_encoder(dropout=0.2).train()
    with torch.no_grad():
        mean = torch.stack([encoder(pictures(40)).mean() for _ in range(20)]).mean()
        encoder.dropout = 0.0
        expected = encoder(pictures(40)).mean()
    assert mean.item() == pytest.approx(expected.item(), rel=0.05)


def test_mistakes_are_named():
    with pytest.raises(InputError, match=r"\(B, 84, 84, 3\).*got \(2, 3, 84, 84\)"):
        PictureEncoder()(torch.zeros(2, 3, 84, 84))
    with pytest.raises(ConfigError, match=r"dropout must lie in \[0, 1\), got 1"):
        PictureEncoder(dropout=1)
