"""Conclusions learn at the full rate, everything else at a part of it, and every parameter once."""

import pytest
import torch
from torch import nn

import neuroplastic as npl
from neuroplastic.learn.optimizing import set_learning_rate
from neuroplastic.network.dueling import DuelingNetwork, dnn_head


def agent(consequent="constant"):
    return DuelingNetwork(
        nn.Linear(4, 5), dnn_head(5, 1, 8, "ReLU"), npl.Hierarchy([5, 3, 2], 6, consequent=consequent)
    )


@pytest.mark.parametrize("consequent", ["affine", "constant", "low_rank", "mamdani"])
def test_every_parameter_is_in_one_group_and_conclusions_are_in_the_fast_one(consequent):
    module = agent(consequent)
    fast, slow = npl.parameter_groups(module, 0.1, structure_rate=0.05)
    assert (fast["lr"], slow["lr"]) == (0.1, pytest.approx(0.005))
    found = {id(p) for group in (fast, slow) for p in group["params"]}
    assert len(fast["params"]) + len(slow["params"]) == len(found) == len(list(module.parameters()))
    concluded = {id(p) for name, p in module.named_parameters() if ".consequent." in name}
    assert {id(p) for p in fast["params"]} == concluded


def test_a_plain_module_and_a_rate_of_one_leave_a_single_group_in_the_modules_order():
    for module, rate in ((nn.Linear(3, 2), 0.1), (agent(), 1.0)):
        (group,) = npl.parameter_groups(module, 0.1, structure_rate=rate)
        assert [id(p) for p in group["params"]] == [id(p) for p in module.parameters()]


def test_a_schedule_keeps_the_groups_apart_also_after_a_reload():
    optimizer = torch.optim.Adam(npl.parameter_groups(agent(), 0.1))
    other = torch.optim.Adam(npl.parameter_groups(agent(), 0.3))
    other.load_state_dict(optimizer.state_dict())
    set_learning_rate(other, 0.02)
    assert [group["lr"] for group in other.param_groups] == pytest.approx([0.02, 0.002])


@pytest.mark.parametrize("settings", [{"lr": 0.0}, {"lr": 0.1, "structure_rate": -1.0}])
def test_a_rate_that_is_none_is_refused_by_name(settings):
    with pytest.raises(npl.ConfigError, match="must be a number above 0"):
        npl.parameter_groups(agent(), **settings)
