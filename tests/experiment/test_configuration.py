"""A configuration is a tree whose leaves are set by unique names, and survives JSON."""

import json
from dataclasses import replace

import pytest

import neuroplastic as npl
from neuroplastic.doom import SCENARIOS
from neuroplastic.doom.presets import PAPER_DNN, PAPER_NFN, preset
from neuroplastic.doom.task import DoomTask
from neuroplastic.experiment.configuration import as_json, from_json
from neuroplastic.experiment.options import names_of, options, parse, with_values
from neuroplastic.experiment.tasks import find_task, preset_of

EVERY = [
    (name, key, agent) for key in SCENARIOS for name in DoomTask(key).presets for agent in ("nfn", "dnn")
]


@pytest.mark.parametrize(("name", "key", "agent"), EVERY)
def test_every_preset_survives_json(name, key, agent):
    config = preset(name, key, agent, seed=3)
    assert from_json(json.loads(json.dumps(as_json(config)))) == config


@pytest.mark.parametrize("agent", ["nfn", "dnn"])
def test_leaf_names_are_unique_and_explained(agent):
    config = preset("paper", "BP", agent)
    names = [option.name for option in options(config)]
    assert len(names) == len(set(names))
    assert all(option.help for option in options(config))


def test_rules_are_compared_as_options_say_and_an_infinite_power_survives_json():
    config = preset("paper", "BP", "nfn")
    given = {"reduce": "worst", "power": "inf", "gain": "0.5", "balance": "0.1"}
    kinds = {option.name: option.type for option in options(config)}
    changed = with_values(config, {name: parse(name, kinds[name], text) for name, text in given.items()})
    assert changed.head.firing == replace(
        config.head.firing, reduce="worst", power=float("inf"), gain=0.5, balance=0.1
    )
    assert from_json(json.loads(json.dumps(as_json(changed)))) == changed


def test_paper_presets_are_the_papers_tables():
    bp, gh = preset("paper", "BP", "dnn"), preset("paper", "GH", "nfn")
    assert (bp.head.hidden, bp.head.activation, bp.learner.learning_rate) == (512, "Hardtanh", 6.9e-4)
    assert (bp.learner.batch_size, bp.learner.memory_size, bp.learner.discount) == (56, 30_000, 0.95)
    assert bp.task.frame_skip == 8
    assert (gh.head.rules, gh.head.firing.reduce, gh.learner.learning_rate) == (256, "sum", 6.1e-4)
    assert (gh.head.selection.estimator, gh.head.selection.temperature, gh.head.selection.noise_hold) == (
        "stge",
        0.93,
        64,
    )
    assert (gh.head.neurogenesis.epsilon, gh.head.neurogenesis.delay) == (0.20, 3)
    assert (gh.learner.batch_size, gh.task.frame_skip) == (16, 12), "inherited from the DNN's best trial"
    assert list(PAPER_DNN) == list(PAPER_NFN) == ["BP", "BR", "PP", "HTL", "DTC", "TC", "GH"]
    for key in PAPER_DNN:
        for agent in ("dnn", "nfn"):
            config = preset("paper", key, agent)
            assert (config.protocol.epochs, config.protocol.steps_per_epoch, config.protocol.episodes) == (
                10,
                500,
                25,
            )
            assert config.task.picture == "paper"
            assert config.learner.exploration_decay == 0.9999
            assert config.encoder.dropout == 0.2


def test_values_reach_their_place_in_the_tree():
    config = preset("tuned", "TC", "nfn")
    changed = with_values(config, {"rules": 7, "alpha": 1.0, "epsilon": 0.2, "batch_size": 16, "seed": 5})
    assert (changed.head.rules, changed.head.firing.alpha, changed.head.neurogenesis.epsilon) == (7, 1.0, 0.2)
    assert (changed.learner.batch_size, changed.seed) == (16, 5)
    assert with_values(config, {}) == config


def test_what_prunes_limits_and_renews_rules_is_set_by_name_and_reaches_the_network():
    values = {
        "any": True,
        "price": 0.1,
        "start": 2.0,
        "noise_passes": 900,
        "sets_start": "data",
        "sets_widest": 0.5,
        "renew": True,
        "renewal_every": 50,
    }
    head = with_values(preset("tuned", "TC", "nfn"), values).head
    level = head.build(3, 2).levels[0]
    assert level.selection == npl.Selection("stge", any=True, price=0.1, start=2.0, noise_passes=900)
    assert level.sets == npl.Sets(start="data", widest=0.5)
    assert level.renewal == npl.Renewal(every=50)
    plain = preset("tuned", "TC", "nfn").head.build(3, 2).levels[0]
    assert plain.sets is plain.renewal is None


def test_unknown_name_gets_a_suggestion():
    with pytest.raises(npl.ConfigError, match="unknown option 'rule'; did you mean 'rules'"):
        with_values(preset("tuned", "TC", "nfn"), {"rule": 3})


@pytest.mark.parametrize(
    ("agent", "name", "words"),
    [
        ("dnn", "rules", "the agent 'nfn' has it, and here the agent is 'dnn'"),
        ("dnn", "consequent_rank", "the agent 'nfn' has it, and here the agent is 'dnn'"),
        ("nfn", "consequent_rank", "the consequent 'low_rank' has it, and here the consequent is 'affine'"),
        ("nfn", "training_games", "the learner 'parallel_q' has it, and here the learner is 'dqn'"),
        ("nfn", "things", "the encoder 'places' has it, and here the encoder is 'paper'"),
    ],
)
def test_an_option_of_another_kind_of_part_is_told_as_that(agent, name, words):
    with pytest.raises(npl.ConfigError, match=f"unknown option '{name}': {words}"):
        with_values(preset("tuned", "TC", agent), {name: 3})


@pytest.mark.parametrize("agent", ["dnn", "nfn"])
@pytest.mark.parametrize("learner", ["dqn", "parallel_q"])
def test_the_names_of_a_class_are_those_of_the_options_of_its_objects(agent, learner):
    config = preset_of(find_task("TC"), None, agent, learner)
    for part in (config.learner, config.encoder, config.head):
        assert {option.name for option in options(part)} <= set(names_of(type(part)))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (int, "12", 12),
        (float, "1e-3", 1e-3),
        (float | None, "none", None),
        (float | str, "learn", "learn"),
        (float | str, "1.5", 1.5),
        (bool, "no", False),
        (str | None, "log", "log"),
        (tuple[int, ...], "64,32", (64, 32)),
        (tuple[int, ...], "none", ()),
    ],
)
def test_text_becomes_a_value_of_the_declared_type(kind, text, value):
    assert parse("field", kind, text) == value


@pytest.mark.parametrize(("kind", "text"), [(int, "many"), (bool, "perhaps"), (tuple[int, ...], "a,b")])
def test_bad_text_names_its_field(kind, text):
    with pytest.raises(npl.ConfigError, match="some_field"):
        parse("some_field", kind, text)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"temperature": 0.0}, "temperature"),
        ({"terms": 9}, "terms"),
        ({"dropout": 1.5}, "dropout"),
        ({"input_low": 3.0}, "input_low must be at most input_high, .* got 3.0 and 2.0"),
        ({"input_high": float("inf")}, "input_high"),
        ({"epochs": 0}, "epochs"),
        ({"discount": 2.0}, "discount"),
        ({"picture": "big"}, "picture"),
        ({"consequent": "afine"}, "affine"),
    ],
)
def test_bad_value_names_its_field(values, named):
    with pytest.raises(npl.ConfigError, match=named):
        with_values(preset("tuned", "BP", "nfn"), values)
