import pytest
import torch
from torch import nn

from neuroplastic.errors import ConfigError
from neuroplastic.network.dueling import ACTIVATIONS, DuelingNetwork, dnn_head
from neuroplastic.network.heads import DnnConfig, NfnConfig


def test_values_are_the_state_value_plus_the_centred_advantage():
    value, advantage = nn.Linear(4, 1), nn.Linear(4, 3)
    network = DuelingNetwork(nn.Identity(), value, advantage)
    x = torch.randn(5, 4)
    expected = value(x) + advantage(x) - advantage(x).mean(dim=1, keepdim=True)
    torch.testing.assert_close(network(x), expected)
    torch.testing.assert_close(network(x).mean(dim=1, keepdim=True), value(x))


def test_preferences_order_the_actions_like_the_values():
    torch.manual_seed(0)
    network = DuelingNetwork(nn.Identity(), nn.Linear(4, 1), nn.Linear(4, 3))
    x = torch.randn(50, 4)
    assert torch.equal(network.preferences(x).argsort(dim=1), network(x).argsort(dim=1))


def test_the_paper_has_22_activations():
    assert len(ACTIVATIONS) == 22
    assert {
        "Sigmoid",
        "LogSigmoid",
        "Softshrink",
        "PReLU",
        "RReLU",
        "Hardswish",
        "Mish",
    } <= ACTIVATIONS.keys()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation_learns_through_a_linear_read_out(activation):
    torch.manual_seed(0)
    head = dnn_head(6, 3, 16, activation)
    assert [type(layer) for layer in head] == [nn.Linear, ACTIVATIONS[activation]] * 2 + [nn.Linear]
    y = head(torch.randn(8, 6))
    assert y.shape == (8, 3)
    y.square().sum().backward()
    assert all(parameter.grad is not None for parameter in head.parameters())
    head[-1].bias.data.fill_(50.0)  # no activation bounds what the read-out gives
    assert head(torch.randn(8, 6)).mean() > 10


def test_the_other_reading_has_two_linear_layers():
    head = dnn_head(6, 3, 16, "Tanh", readout=False)
    assert [type(layer) for layer in head] == [nn.Linear, nn.Tanh, nn.Linear]


def test_the_literal_reading_bounds_what_a_head_gives():
    head = DnnConfig(16, "Hardtanh", readout=False, bounded=True).build(6, 3)
    assert [type(layer) for layer in head] == [nn.Linear, nn.Hardtanh] * 2
    assert head(100 * torch.randn(50, 6)).abs().max() <= 1


def test_a_read_out_is_not_bounded():
    with pytest.raises(ConfigError, match=r"bounded puts the activation .* got both true"):
        DnnConfig(bounded=True)


def test_hidden_levels_conclude_what_is_asked_for():
    for kind in ("constant", "affine", "low_rank"):
        head = NfnConfig(rules=4, levels=(5,), hidden_consequent=kind).build(6, 3)
        assert head.sizes == [6, 5, 3]
        kinds = [level.config()["consequent"]["kind"] for level in head.levels]
        assert kinds == [kind, "affine"]
    with pytest.raises(ConfigError, match="hidden_consequent must be one of"):
        NfnConfig(hidden_consequent="mamdani")


def test_a_misspelt_activation_gets_a_suggestion():
    with pytest.raises(ConfigError, match=r"activation must be one of .*did you mean 'LeakyReLU'"):
        dnn_head(6, 3, 16, "LeakyRelu")
