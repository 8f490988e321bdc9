"""What the encoders of pictures of any size have in common, and that places are where things are."""

import numpy as np
import pytest
import torch
from torch import nn

import neuroplastic as npl
from neuroplastic import catalog
from neuroplastic.network.dueling import DuelingNetwork, dnn_head
from neuroplastic.network.encoders.places import PlacesEncoderConfig
from neuroplastic.network.observation import Observation
from neuroplastic.rules.explanations.regions import METHODS, explain_picture

SHAPES = [(84, 84, 3), (60, 80, 1), (10, 12, 2), (1, 9, 3)]
ENCODERS = ("pictures", "places")
TOTAL = 84


def built(name: str, shape: tuple[int, ...] = SHAPES[0]) -> nn.Module:
    torch.manual_seed(0)
    return catalog.kind("encoder", name)().build(Observation(shape))


def pictures(shape: tuple[int, ...] = SHAPES[0], count: int = 5) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).integers(256, size=(count, *shape), dtype=np.uint8))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ENCODERS)
def test_each_picture_has_its_features_whatever_lies_beside_it(name, shape):
    encoder, given = built(name, shape), pictures(shape)
    features = encoder(given)
    assert features.shape == (5, encoder.out_features)
    assert len(encoder.feature_names(Observation(shape))) == encoder.out_features
    torch.testing.assert_close(encoder(given[3:4]), features[3:4], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ENCODERS)
def test_every_parameter_has_a_gradient(name):
    encoder = built(name)
    encoder(pictures()).square().sum().backward()
    without = [key for key, parameter in encoder.named_parameters() if parameter.grad.abs().max() < 1e-3]
    assert without == (["responses.bias"] if name == "places" else [])  # the mean of responses is taken away


@pytest.mark.parametrize("name", ENCODERS)
def test_vectors_and_other_pictures_are_refused(name):
    with pytest.raises(npl.ConfigError, match=f"encoder '{name}' takes pictures"):
        catalog.kind("encoder", name)().build(Observation((4,)))
    with pytest.raises(npl.InputError, match=r"shape \(B, 84, 84, 3\), got"):
        built(name)(torch.zeros(2, 84, 80, 3, dtype=torch.uint8))


@pytest.mark.parametrize("method", METHODS)
def test_decisions_by_places_are_explained(method):
    shape = (10, 12, 3)
    encoder = PlacesEncoderConfig(2, 4).build(Observation(shape))
    network = DuelingNetwork(encoder, dnn_head(6, 1, 4, "ReLU"), npl.NeuroFuzzyNetwork(6, 2, 3))
    pixels = pictures(shape, 1)[0].numpy()
    found = explain_picture(network.eval(), pixels, method=method, usual=np.zeros_like(pixels))
    assert found.heat.shape == shape[:2]
    assert np.isfinite(found.heat).all()
    assert found.things.shape == (2, 3)
    told = dict(zip(encoder.feature_names(Observation(shape)), found.advantage.x[0], strict=True))
    assert told["column of thing 2 (%)"] == pytest.approx(100 * (found.things[1, 0] + 0.5) / 12, abs=1e-3)
    assert told["row of thing 1 (%)"] == pytest.approx(100 * (found.things[0, 1] + 0.5) / 10, abs=1e-3)


@pytest.mark.parametrize("field", ["things", "hidden_channels"])
def test_places_need_something_to_look_for(field):
    with pytest.raises(npl.ConfigError, match=f"{field} must be a whole number of at least 1"):
        PlacesEncoderConfig(**{field: 0})


def seeing() -> nn.Module:
    """One thing, what is bright, told sharply."""
    encoder = PlacesEncoderConfig(1, 1).build(Observation((TOTAL, TOTAL, 3)))
    with torch.no_grad():
        for part in encoder.modules():
            if isinstance(part, nn.Conv2d):
                part.weight.zero_()
                part.bias.zero_()
        first, second = encoder.convolutions[0], encoder.convolutions[3]
        first.weight.fill_(1 / first.weight.numel())
        second.weight[0, 0, 1, 1] = encoder.responses.weight[0, 0, 0, 0] = 1
        encoder.sharpness.fill_(20.0)
    return encoder.eval()


def spot(row: int, column: int, size: int = 8) -> torch.Tensor:
    pixels = torch.zeros(1, TOTAL, TOTAL, 3, dtype=torch.uint8)
    pixels[:, row : row + size, column : column + size] = 255
    return pixels


@pytest.mark.parametrize("row", [0, 36, 76])
@pytest.mark.parametrize("column", [0, 20, 76])
def test_a_place_is_where_the_thing_is_in_percent_of_the_picture(row, column):
    encoder = seeing()
    offset, scale = encoder.scaling()
    told = offset + scale * encoder(spot(row, column)).detach().numpy()[0]
    assert told[:2].tolist() == pytest.approx([100 * (column + 4) / TOTAL, 100 * (row + 4) / TOTAL], abs=0.1)
    point = encoder.points(encoder(spot(row, column))).detach()[0, 0]
    assert point[:2].tolist() == pytest.approx([column + 3.5, row + 3.5], abs=0.1)  # the middle of the spot
    names = encoder.feature_names(Observation((TOTAL, TOTAL, 3)))
    assert names == ["column of thing 1 (%)", "row of thing 1 (%)", "strength of thing 1"]


@pytest.mark.parametrize("shape", [(1, 16, 3), (16, 1, 3)])
def test_a_picture_of_one_row_or_column_has_places_in_percent_too(shape):
    encoder = PlacesEncoderConfig(2, 4).build(Observation(shape))
    offset, scale = encoder.scaling()
    assert (scale > 0).all()
    told = offset + scale * encoder(torch.randint(0, 256, (3, *shape), dtype=torch.uint8)).detach().numpy()
    only = slice(0, 2) if shape[1] == 1 else slice(2, 4)
    assert (told[:, only] == 50).all()
    assert ((told[:, :4] >= 0) & (told[:, :4] <= 100)).all()


def test_a_thing_is_seen_more_clearly_where_it_is_than_where_it_is_not():
    encoder = seeing()
    nothing = encoder(torch.zeros(1, TOTAL, TOTAL, 3, dtype=torch.uint8)).detach()[0]
    seen = encoder(spot(40, 40)).detach()[0]
    assert nothing.tolist() == pytest.approx([0, 0, 0], abs=1e-5)  # of nothing, the middle
    assert seen[2] > 1


def test_a_place_is_a_mean_of_cells_by_hand():
    encoder = built("places").double()
    with torch.no_grad():
        attention, responses = encoder.attention(pictures(count=2))
        features = encoder(pictures(count=2))
    column = row = 0.0
    for cell in range(400):
        down, across = divmod(cell, 20)
        weight = attention[1, 5, cell]
        column, row = column + weight * (-2 + 4 * across / 19), row + weight * (-2 + 4 * down / 19)
    strength = (attention[1, 5] * responses[1, 5]).sum()
    assert responses[1, 5].mean() == pytest.approx(0, abs=1e-6)
    assert responses[1, 5].var(correction=0) == pytest.approx(1, abs=0.01)
    torch.testing.assert_close(
        features[1, [5, 37, 69]], torch.stack((column, row, strength)), rtol=1e-6, atol=1e-6
    )
