"""Presets are what was asked for, also of a task that pays no heed."""

from dataclasses import dataclass

import pytest

from neuroplastic import catalog
from neuroplastic.errors import ConfigError
from neuroplastic.experiment.tasks import find_task, preset_of
from neuroplastic.usecases.training import TrainRequest, configuration
from tests.small_game import CorridorTask


@dataclass(frozen=True)
class CarelessTask(CorridorTask):
    """Comes with rules and parallel_q, whatever it is asked for."""

    def preset(self, name, agent, learner=None):
        return super().preset("standard", "nfn", "parallel_q")


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(catalog.KINDS["task"], "careless", CarelessTask)


@pytest.mark.parametrize(
    ("name", "agent", "learner", "complaint"),
    [
        (None, "nnf", None, "agent must be one of 'dnn', 'nfn', got 'nnf'; did you mean 'nfn'?"),
        (None, "nfn", "dqm", "did you mean 'dqn'?"),
        ("standart", "nfn", None, "did you mean 'standard'?"),
        (None, "dnn", None, "the preset 'standard' of corridor is for the agent 'nfn', got 'dnn'"),
        (None, "nfn", "dqn", "the preset 'standard' of corridor is for the learner 'parallel_q', got 'dqn'"),
    ],
)
def test_nobody_trains_something_else_unawares(name, agent, learner, complaint):
    with pytest.raises(ConfigError) as caught:
        preset_of(CarelessTask(), name, agent, learner)
    assert complaint in str(caught.value)
    with pytest.raises(ConfigError):
        configuration(TrainRequest(CarelessTask(), agent, name, learner))


def test_the_first_preset_is_the_default_and_comes_with_its_own_learner():
    task = find_task("CartPole-v1")
    assert preset_of(task, None, "nfn") == task.preset("standard", "nfn")
    assert preset_of(task, "standard", "dnn", "dqn") == task.preset("standard", "dnn", "dqn")


@pytest.mark.parametrize("agent", ["nfn", "dnn"])
def test_doom_is_learned_by_short_unless_another_learner_is_asked_for(agent):
    task = find_task("GH")
    assert preset_of(task, None, agent) == task.preset("short", agent)
    assert preset_of(task, None, agent, "dqn") == task.preset("short", agent)
    assert preset_of(task, None, agent, "parallel_q") == task.preset("tuned", agent, "parallel_q")
    with pytest.raises(ConfigError, match="use 'tuned'"):
        preset_of(task, "short", agent, "parallel_q")
