"""Heat maps lie where the reasons are, and a decision's parts add up to its value."""

import sys

import numpy as np
import pytest
import torch
from torch import nn

import neuroplastic as npl
from neuroplastic.network.dueling import DuelingNetwork, dnn_head
from neuroplastic.network.encoder import PictureEncoder
from neuroplastic.network.encoders.pictures import PictureEncoderConfig
from neuroplastic.network.observation import Observation
from neuroplastic.rules.explanations.regions import METHODS, explain_picture

SPOT = (51, 35)
"""row and column that cell (7, 3) of the encoder's 10 x 10 looks at with its middle: 23 + 4 cell"""


def seeing_encoder():
    """An encoder whose first plane passes the brightness under the middle of each cell on, and nothing else."""
    encoder = PictureEncoder(dropout=0.0)
    with torch.no_grad():
        for convolution in encoder.convolutions:
            convolution.weight.zero_()
            middle = convolution.kernel_size[0] // 2
            convolution.weight[0, :, middle, middle] = 1 / convolution.in_channels
        for convolution in encoder.convolutions[1:]:
            convolution.weight[0, 0, convolution.kernel_size[0] // 2, convolution.kernel_size[0] // 2] = 1
    return encoder.eval()


def agent():
    """Two actions: 'shoot' where the cell that sees the spot is bright, else 'wait'."""
    head = npl.NeuroFuzzyNetwork(
        1600, 2, 2, terms=2, max_terms=2, consequent="constant", firing=npl.Firing(layer_norm=False)
    )
    widths = torch.full((1600, 2), torch.inf)
    widths[73] = 0.6  # wide enough that both rules fire: gradients do not vanish
    head.place_sets(torch.tensor([[0.0, 1.0]]).repeat(1600, 1), widths)
    with torch.no_grad():
        head.logits.zero_()
        head.logits[1, 73, 1] = 5.0
        head.bias.copy_(torch.tensor([[0.0, 1.0], [2.0, 0.0]]))
    value = npl.Hierarchy([1600, 1], 4)
    return DuelingNetwork(seeing_encoder(), value, head).eval()


def picture():
    pixels = np.zeros((84, 84, 3), dtype=np.uint8)
    pixels[SPOT[0] - 3 : SPOT[0] + 4, SPOT[1] - 3 : SPOT[1] + 4] = 255
    return pixels


@pytest.mark.parametrize("about", ["action", "rule"])
@pytest.mark.parametrize("method", METHODS)
def test_heat_lies_where_the_deciding_feature_looks(method, about):
    if method == "usual" and about == "rule":
        with pytest.raises(npl.ConfigError, match="'usual' is about the action"):
            explain_picture(agent(), picture(), method=method, about=about, usual=picture())
        return
    found = explain_picture(
        agent(),
        picture(),
        method=method,
        about=about,
        action_names=["shoot", "wait"],
        usual=np.zeros_like(picture()),
    )
    assert found.heat.shape == (84, 84)
    assert found.action_name == "shoot"
    assert np.isfinite(found.heat).all()
    assert found.heat.max() > 0
    top, left, bottom, right = found.region()
    assert top <= SPOT[0] < bottom
    assert left <= SPOT[1] < right


def test_integrated_gradients_add_up_to_the_change_from_the_dark_picture():
    torch.manual_seed(0)
    network = DuelingNetwork(
        PictureEncoder(), npl.Hierarchy([1600, 1], 4), npl.Hierarchy([1600, 5, 3], 8)
    ).eval()
    pixels = np.random.default_rng(0).integers(0, 255, (84, 84, 3), dtype=np.uint8)
    found = explain_picture(network, pixels, method="integrated_gradients", about="rule", rule=2)
    with torch.no_grad():
        w = [
            network.advantage.levels[0].log_firing(network.encoder(torch.from_numpy(p)[None]))[0].double()
            for p in (pixels, np.zeros_like(pixels))
        ]
    change = (w[0][2] - w[0].mean()) - (w[1][2] - w[1].mean())
    np.testing.assert_allclose(found.heat.sum(), change, rtol=0.05)
    assert found.target == "the log-firing of rule 3 over the mean"


@pytest.mark.parametrize("levels", [(), (6,)])
def test_parts_of_both_heads_add_up_to_the_value_of_the_action(levels):
    torch.manual_seed(1)
    network = DuelingNetwork(
        PictureEncoder(), npl.Hierarchy([1600, *levels, 1], 8), npl.Hierarchy([1600, *levels, 4], 8)
    ).eval()
    pixels = np.random.default_rng(1).integers(0, 255, (84, 84, 3), dtype=np.uint8)
    for action in (None, 2):
        found = explain_picture(network, pixels, action=action, method=None)
        np.testing.assert_allclose(
            sum(part for _, _, part in found.parts()), found.values[found.action], rtol=1e-5
        )
        assert found.heat is None
    assert found.action == 2
    with pytest.raises(npl.InputError, match="without a heat map"):
        found.region()


def test_the_network_keeps_its_mode_and_gets_no_gradients():
    network = agent().train()
    network.encoder.norms[0].eval()
    explain_picture(network, picture())
    assert network.training
    assert not network.encoder.norms[0].training
    assert all(parameter.grad is None for parameter in network.parameters())


def test_wrong_arguments_are_refused_by_name():
    network = agent()
    with pytest.raises(npl.InputError, match="shape \\(H, W, C\\)"):
        explain_picture(network, np.zeros((1, 84, 84, 3), dtype=np.uint8))
    with pytest.raises(npl.InputError, match="action must be one of the 2"):
        explain_picture(network, picture(), action=2)
    with pytest.raises(npl.InputError, match="rule must be one of the 2"):
        explain_picture(network, picture(), rule=-1)
    with pytest.raises(npl.ConfigError, match="method must be one of"):
        explain_picture(network, picture(), method="gradcam")
    plain = DuelingNetwork(PictureEncoder(), dnn_head(1600, 1, 4, "ReLU"), dnn_head(1600, 2, 4, "ReLU"))
    with pytest.raises(npl.ConfigError, match="must be neuro-fuzzy"):
        explain_picture(plain, picture())
    flat = DuelingNetwork(
        nn.Sequential(nn.Flatten(), nn.Linear(84 * 84 * 3, 1600)), network.value, network.advantage
    )
    with pytest.raises(npl.ConfigError, match="need an encoder with convolutions"):
        explain_picture(flat.float(), torch.zeros(84, 84, 3))


@pytest.mark.parametrize(("channels", "newest"), [(1, (0, 0, 0)), (2, (1, 1, 1)), (6, (3, 4, 5))])
@pytest.mark.parametrize("method", METHODS)
def test_grey_and_stacked_pictures_are_explained_and_the_newest_frame_is_shown(channels, newest, method):
    shape = (10, 12, channels)
    encoder = PictureEncoderConfig((4, 4), features=6).build(Observation(shape))
    network = DuelingNetwork(encoder, dnn_head(6, 1, 4, "ReLU"), npl.NeuroFuzzyNetwork(6, 2, 3))
    pixels = np.random.default_rng(0).integers(256, size=shape, dtype=np.uint8)
    found = explain_picture(network.eval(), pixels, method=method, usual=np.zeros_like(pixels))
    assert found.heat.shape == shape[:2]
    assert np.array_equal(found.shown, pixels[..., newest])


def test_without_captum_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "captum", None)
    with pytest.raises(npl.NeuroplasticError, match=r"pip install 'neuroplastic\[rules\]'"):
        explain_picture(agent(), picture())
    assert explain_picture(agent(), picture(), method=None).heat is None
