"""docs/how_to/stable_baselines3.md, run as written: Stable-Baselines3's DQN and PPO on BP with rules inside."""

import warnings
from typing import Any

import pytest
import torch

from neuroplastic import CapacityWarning
from tests.pages import HOW_TO, Worked, worked_through

pytest.importorskip(
    "stable_baselines3", reason="Stable-Baselines3 is not installed; `make bench-packages` installs it"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Worked:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("error", CapacityWarning)
        patch.chdir(tmp_path_factory.mktemp("page"))  # the page saves a model
        return worked_through(HOW_TO / "stable_baselines3.md")


def test_the_page_runs_and_prints_what_is_shown(page: Worked) -> None:
    assert page.checked == 1
    assert page.names["model"].num_timesteps == 300
    assert page.names["actor"].num_timesteps == 256
    assert -430 < page.names["mean"] <= 95


def rules_in(page: Worked) -> dict[str, Any]:
    return {"model": page.names["model"].q_net.q_net[1], "actor": page.names["actor"].policy.action_net[1]}


@pytest.mark.parametrize("learner", ["model", "actor"])
def test_the_optimizer_moves_the_rules_and_sets_are_born(page: Worked, learner: str) -> None:
    rules = rules_in(page)[learner]
    optimizer = page.names[learner].policy.optimizer
    for parameter in (rules.centers, rules.logits, rules.weight):
        assert optimizer.state[parameter]["exp_avg"].any()
    assert rules.births


def test_the_target_network_has_the_sets_that_were_born(page: Worked) -> None:
    target = page.names["model"].q_net_target.q_net[1]
    assert target.births
    assert all(target.term_mask[birth.attribute, birth.term] for birth in target.births)


def test_the_target_network_acts_like_the_one_it_was_copied_from(page: Worked) -> None:
    model = page.names["model"]
    pictures = torch.as_tensor(model.replay_buffer.observations[:16, 0])
    model.policy.set_training_mode(False)
    with torch.no_grad():
        model.q_net_target(pictures)  # fills what evaluation keeps
        model.target_update_interval = 1
        callback = page.names["CopyToTarget"]()
        callback.init_callback(model)
        callback.on_step()
        torch.testing.assert_close(model.q_net_target(pictures), model.q_net(pictures))
