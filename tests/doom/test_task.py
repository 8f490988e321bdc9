import dataclasses
import importlib.util

import numpy as np
import pytest

from neuroplastic import catalog
from neuroplastic.doom import SCENARIOS, UnknownScenario
from neuroplastic.doom.task import DoomTask, find, suggestions
from neuroplastic.errors import ConfigError
from neuroplastic.experiment.protocols import Task
from neuroplastic.network.consequents import Constant
from neuroplastic.network.encoders.places import PlacesEncoderConfig
from neuroplastic.usecases.training import TrainRequest, configuration

played = pytest.mark.skipif(importlib.util.find_spec("vizdoom") is None, reason="the game is not installed")


def told(task: Task) -> tuple[str, str, int]:
    """What everybody asks of a task; typed, so that the type checker compares the two."""
    return task.key, task.title, len(task.actions)


@pytest.mark.parametrize("name", ["BP", "bp", "basic", "basic.cfg", "BASIC"])
def test_a_scenario_is_found_by_its_key_and_by_the_name_of_its_file(name: str) -> None:
    assert find(name) == DoomTask("BP")
    assert DoomTask(name).key == "BP"


def test_what_is_no_scenario_is_not_found() -> None:
    assert find("CartPole-v1") is None
    with pytest.raises(UnknownScenario, match="did you mean 'BP'"):
        DoomTask("basik")


@pytest.mark.parametrize("key", SCENARIOS)
def test_every_scenario_is_a_task(key: str) -> None:
    task, scenario = DoomTask(key), SCENARIOS[key]
    assert told(task) == (key, scenario.title, scenario.action_count)
    assert task.observation.shape == (84, 84, 3)
    assert len(set(task.actions)) == scenario.action_count
    assert [task.mirrored_actions[mirrored] for mirrored in task.mirrored_actions] == list(
        range(len(task.actions))
    )
    assert task.scores["random play"] == (scenario.random_play, None)
    in_paper = scenario.paper_nfn is not None
    assert task.scores.get("the paper's NFN") == scenario.paper_nfn
    assert task.presets == (("short", "tuned", "paper", "taught", "long") if in_paper else ("tuned", "long"))
    assert {key, scenario.config} <= set(suggestions())


def test_actions_are_told_in_words() -> None:
    assert DoomTask("BP").actions == (
        "nothing",
        "move left",
        "move right",
        "move left + move right",
        "attack",
        "move left + attack",
        "move right + attack",
        "move left + move right + attack",
    )


def test_options_have_help_and_the_scenario_is_no_option() -> None:
    fields = {entry.name: entry.metadata for entry in dataclasses.fields(DoomTask)}
    assert fields["scenario"]["identity"]
    assert all("help" in metadata for name, metadata in fields.items() if name != "scenario")
    with pytest.raises(ConfigError, match="did you mean 'fast'"):
        DoomTask("BP", picture="fest")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="frame_skip must be a whole number of at least 1"):
        DoomTask("BP", frame_skip=0)


def test_the_catalogue_knows_the_kind() -> None:
    assert catalog.kind("task", "doom") is DoomTask
    assert catalog.name_of("task", DoomTask("BP")) == "doom"


@played
def test_the_environment_is_the_one_described() -> None:
    task = DoomTask("TC", picture="fast", frame_skip=8)
    environments = [
        task.environment(seed=3, stream="evaluation"),
        task.environment(seed=3, stream="evaluation", film=True),
        task.environment(seed=3),
    ]
    judged, filmed, learned = (environment.reset(options={"episode": 2})[0] for environment in environments)
    assert judged.shape == task.observation.shape
    np.testing.assert_array_equal(judged, filmed)
    assert (judged != learned).any()
    assert environments[1].metadata["render_fps"] == 35
    for environment in environments:
        picture, reward, terminated, truncated, _ = environment.step(len(task.actions) - 1)
        assert (reward, terminated, truncated) == (8.0, False, False)
        assert picture.dtype == np.uint8
    frames = environments[1].render()
    assert len(frames) == 9
    assert frames[0].shape == (480, 640, 3)
    for environment in environments:
        environment.close()


def test_a_scenario_that_the_paper_does_not_play_needs_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    added = dataclasses.replace(
        SCENARIOS["BP"], key="SB", config="simpler_basic", random_play=-160.0, paper_dnn=None, paper_nfn=None
    )
    monkeypatch.setitem(SCENARIOS, "SB", added)
    task = find("simpler_basic")
    assert task is not None
    assert task.presets == ("tuned", "long")
    assert set(task.scores) == {"random play"}
    for agent in ("nfn", "dnn"):
        for learner in ("dqn", "parallel_q"):
            assert task.preset("tuned", agent, learner).task.key == "SB"
    with pytest.raises(ConfigError, match="preset must be one of 'tuned', 'long', got 'paper'"):
        task.preset("paper", "nfn")


@pytest.mark.parametrize("key", SCENARIOS)
@pytest.mark.parametrize("agent", ["nfn", "dnn"])
def test_the_long_preset_plays_many_games_at_once_and_refuses_replay(key: str, agent: str) -> None:
    config = DoomTask(key).preset("long", agent)
    assert config == DoomTask(key).preset("long", agent, "parallel_q")
    assert config.name == f"{key}-{agent}-long-seed0"
    assert catalog.name_of("learner", config.learner) == "parallel_q"
    assert config.protocol.steps <= 400_000
    with pytest.raises(
        ConfigError, match=r"'long' is for many games at once \('parallel_q'\), got learner 'dqn'"
    ):
        DoomTask(key).preset("long", agent, "dqn")


@pytest.mark.parametrize("key", SCENARIOS)
@pytest.mark.parametrize("agent", ["nfn", "dnn"])
@pytest.mark.parametrize("name", ["short", "taught"])
def test_the_short_presets_have_the_papers_steps_and_advice_in_one_alone(
    key: str, agent: str, name: str
) -> None:
    config = DoomTask(key).preset(name, agent)
    assert config == DoomTask(key).preset(name, agent, "dqn")
    assert config.name == f"{key}-{agent}-{name}-seed0"
    assert config.protocol.steps == 5000
    taught = name == "taught"
    assert config.task.advised is taught
    assert (config.learner.taught > 0, config.learner.exploration_advised > 0) == (taught, taught)
    with pytest.raises(
        ConfigError, match=rf"'{name}' is replay learning \('dqn'\), got learner 'parallel_q'"
    ):
        DoomTask(key).preset(name, agent, "parallel_q")


@pytest.mark.parametrize("key", SCENARIOS)
def test_in_short_rules_conclude_constants_and_what_they_need_is_not_given_to_plain_networks(
    key: str,
) -> None:
    rules, plain = (DoomTask(key).preset("short", agent) for agent in ("nfn", "dnn"))
    assert rules.head.consequent == Constant("zeros")
    of_rules = ("learning_rate", "structure_rate", "mirror_agreement")
    alike = dataclasses.replace(rules.learner, **{name: getattr(plain.learner, name) for name in of_rules})
    assert plain.learner.mirror_agreement == 0
    assert rules.learner.mirror_agreement == (1 if key == "GH" else 0)
    assert (rules.task, alike, rules.encoder) == (plain.task, plain.learner, plain.encoder)
    # Encoders learn about as fast beside either, conclusions of rules faster.
    encoders = rules.learner.learning_rate * rules.learner.structure_rate
    assert plain.learner.learning_rate == pytest.approx(encoders, rel=0.25)
    assert plain.learner.learning_rate == (1e-3 if isinstance(plain.encoder, PlacesEncoderConfig) else 5e-4)


def test_a_learner_without_a_preset_of_its_own_comes_with_its_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(catalog.KINDS["learner"], "another", catalog.KINDS["learner"]["parallel_q"])
    config = DoomTask("BP").preset("tuned", "dnn", "another")
    assert config.learner == catalog.kind("learner", "parallel_q")()


def test_over_attributes_there_is_one_preset_and_its_rules_are_short():
    config = configuration(TrainRequest("DTC", fields={"observe": "objects", "rules": "12"}))
    assert (config.preset, config.task.observe, config.head.rules) == ("readable", "objects", 12)
    assert config.head.selection.start_premises == 3
    assert config.learner.mirror is False
    plain = configuration(TrainRequest("GH", agent="dnn", fields={"observe": "objects"}))
    assert plain.learner.reward_scale == 0.01
    with pytest.raises(ConfigError, match="is for the learner 'parallel_q', got 'dqn'"):
        configuration(TrainRequest("DTC", learner="dqn", fields={"observe": "objects"}))
    with pytest.raises(ConfigError, match="preset"):
        configuration(TrainRequest("DTC", preset="paper", fields={"observe": "objects"}))
