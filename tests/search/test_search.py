"""The search: spaces as printed, the best trial by the paper's rule, the same trials for the same seed."""

import csv
import io
import json
import sys
from dataclasses import replace

import optuna
import pytest
from optuna.trial import create_trial

from neuroplastic.doom.presets import PAPER_DNN, PAPER_NFN, preset
from neuroplastic.doom.scenarios import SCENARIOS
from neuroplastic.errors import ConfigError, MissingPackageError
from neuroplastic.experiment.configuration import from_json
from neuroplastic.experiment.saved_preset import load_preset
from neuroplastic.experiment.tasks import find_task
from neuroplastic.network.dueling import ACTIVATIONS
from neuroplastic.search.best import best_of, best_trial, figures_of
from neuroplastic.search.export import export_preset, export_table, trial_config, write_new
from neuroplastic.search.objective import Outcome, TrialFailed
from neuroplastic.search.ray_engine import run_on_ray
from neuroplastic.search.sampling import as_sampled, sampler
from neuroplastic.search.settings import DIRECTIONS, StudyError, StudySettings
from neuroplastic.search.space import (
    DNN_SPACE,
    INHERITED,
    NFN_SPACE,
    SPACES,
    at_point,
    distributions,
    draw,
    inherited_from,
)
from neuroplastic.search.storage import open_storage
from neuroplastic.search.studies import complete, create_study, load_study, settings_of, study_names
from neuroplastic.search.workers import run_workers
from neuroplastic.usecases.studies import StudyRequest, prepare_study
from tests.search.studies import Background, begin, check_whole, settings, trials_of


def test_dnn_space_is_the_printed_one():
    space = distributions(DNN_SPACE)
    assert {name: values(d) for name, d in space.items()} == {
        "frame_skip": [4, 8, 12],
        "learning_rate": (1e-5, 1e-3),
        "batch_size": [8, 16, 24, 32, 40, 48, 56, 64],
        "memory_size": [10_000, 20_000, 30_000, 40_000, 50_000],
        "discount": (0.9, 0.99),
        "hidden": [128, 256, 384, 512],
        "activation": list(ACTIVATIONS),
    }
    assert len(ACTIVATIONS) == 22


def test_nfn_space_is_the_printed_one_and_flat():
    space = distributions(NFN_SPACE)
    assert {name: values(d) for name, d in space.items()} == {
        "rules": [64, 128, 192, 256],
        "stge": [False, True],
        "temperature": (0.25, 1.25),
        "constraint": [0, 10],
        "noise_hold": [1, 32, 64, 128, 256],
        "epsilon": (0.1, 0.5),
        "delay": [1, 3, 5],
        "reduce": ["sum", "mean"],
        "alpha": [1.0, 1.5],
        "certainty": [False, True],
        "layer_norm": [False, True],
        "learning_rate": (1e-4, 1e-3),
    }
    assert not set(space) & set(INHERITED)


def values(distribution):
    if isinstance(distribution, optuna.distributions.IntDistribution):
        return list(range(distribution.low, distribution.high + 1, distribution.step))
    if isinstance(distribution, optuna.distributions.CategoricalDistribution):
        return list(distribution.choices)
    assert not distribution.log
    return (distribution.low, distribution.high)


@pytest.mark.parametrize("task", PAPER_DNN)
def test_best_trials_of_the_paper_are_points_of_the_spaces(task):
    dnn = PAPER_DNN[task]._asdict()
    nfn = {name: value for name, value in PAPER_NFN[task]._asdict().items() if value is not None}
    for agent, point in (("dnn", dnn), ("nfn", nfn)):
        space = distributions(SPACES["paper"][agent])
        for name, value in point.items():
            assert space[name]._contains(space[name].to_internal_repr(value)), (agent, name)
    asked = StudySettings.asked(task, "nfn")
    own = replace(asked, inherited=inherited_from(dnn, DNN_SPACE)).config(nfn, 0)
    theirs = preset("paper", task, "nfn")
    assert (own.learner, own.task) == (theirs.learner, theirs.task)
    assert own.head == theirs.head


def test_point_reaches_every_part_of_the_configuration():
    point = {"stge": False, "certainty": True, "constraint": 10, "alpha": 1.0, "rules": 64, "delay": 5}
    config = at_point(preset("paper", "BP", "nfn"), point)
    assert config.head.selection.estimator == "ste"
    assert config.head.firing.certainty == "log"
    assert config.head.selection.constraint == 10
    assert config.head.neurogenesis.delay == 5
    with pytest.raises(ConfigError, match="unknown option"):
        at_point(preset("paper", "BP", "dnn"), {"rules": 64})


@pytest.mark.parametrize("agent", ["dnn", "nfn"])
@pytest.mark.parametrize(
    ("chosen_preset", "space"), [("tuned", "ours"), ("taught", "ours"), ("short", "short")]
)
def test_points_of_our_spaces_are_configurations_and_name_all_that_is_searched(agent, chosen_preset, space):
    asked = StudySettings.asked("HTL", agent, preset=chosen_preset, searched=space)
    study = optuna.create_study(directions=list(DIRECTIONS), sampler=sampler(asked, 0, 0))
    point = draw(study, asked.space())
    assert point.keys() == SPACES[space][agent].keys()
    config = asked.config(point, 3)
    assert (config.learner.n_step, config.task.frame_skip) == (point["n_step"], point["frame_skip"])
    assert config.seed == 3
    assert f"space {space}" in asked.protocol
    assert asked.protocol.startswith("not the paper's protocol")
    assert StudySettings.from_json(asked.as_json()) == asked


@pytest.mark.parametrize("agent", ["dnn", "nfn"])
@pytest.mark.parametrize("task", sorted(SCENARIOS))
def test_search_about_short_begins_at_short(task, agent):
    asked = StudySettings.asked(task, agent, preset="short", searched="short")
    point = asked.first_point()
    assert point is not None
    assert asked.config(point, 0) == asked.base(0)


def test_search_begins_anywhere_where_the_preset_is_outside_or_the_space_the_papers():
    assert StudySettings.asked("GH", "nfn", preset="short", searched="ours").first_point() is None
    assert StudySettings.asked("GH", "dnn").first_point() is None


def test_our_spaces_are_searched_by_the_mean_alone():
    never_shoots, shoots = trial(-300.0, 0.0, 0.0), trial(50.0, 30.0, 1.0)
    study = optuna.create_study(directions=list(DIRECTIONS))
    study.add_trials([never_shoots, shoots])
    ours = as_sampled(study, StudySettings.asked("BR", "dnn", preset="short", searched="short"))
    assert [seen.value for seen in ours.trials] == [-300.0, 50.0]
    assert ours.best_trial.number == 1
    assert as_sampled(study, StudySettings.asked("BR", "dnn")) is study


def test_settings_of_before_there_were_several_spaces_are_of_the_papers():
    asked = StudySettings.asked("BP", "nfn")
    saved = {name: value for name, value in asked.as_json().items() if name != "searched"}
    assert StudySettings.from_json(saved) == asked


def test_nothing_is_inherited_in_our_space(tmp_path):
    request = StudyRequest(
        task="BP", agent="nfn", trials=1, storage=f"sqlite:///{tmp_path}/s.db", preset="taught", space="ours"
    )
    prepared = prepare_study(request)
    assert (prepared.name, prepared.settings.inherited) == ("BP-nfn-ours", {})
    study = load_study(open_storage(request.storage), prepared.name)
    assert study.user_attrs["agent"] == "nfn-ours"  # a report must not take it for the paper's
    with pytest.raises(ConfigError, match="leaves nothing to inherit"):
        prepare_study(replace(request, inherit="paper"))
    with pytest.raises(ConfigError, match="space must be one of"):
        prepare_study(replace(request, space="theirs"))


def test_a_field_of_the_neuro_fuzzy_agent_alone_may_be_given_where_it_inherits(tmp_path):
    request = StudyRequest(
        task="BP", agent="nfn", storage=f"sqlite:///{tmp_path}/s.db", inherit="paper", fields={"terms": "2"}
    )
    settings = prepare_study(request).settings
    assert (settings.fields, set(settings.inherited)) == ({"terms": 2}, set(INHERITED))


def test_the_space_about_short_begins_at_that_preset_without_being_told(tmp_path):
    request = StudyRequest(
        task="BP", agent="nfn", trials=1, storage=f"sqlite:///{tmp_path}/s.db", space="short"
    )
    settings = prepare_study(request).settings
    assert settings.preset == "short"
    assert settings.config(settings.first_point(), 0) == settings.base(0)


def test_our_other_space_needs_the_preset_that_it_is_searched_about(tmp_path):
    request = StudyRequest(task="BP", agent="nfn", storage=f"sqlite:///{tmp_path}/s.db", space="ours")
    with pytest.raises(ConfigError, match=r"--space ours needs --preset, .*: short or taught"):
        prepare_study(request)
    assert not (tmp_path / "s.db").exists()


def test_a_task_without_the_preset_that_a_space_is_about_needs_another_named(tmp_path):
    request = StudyRequest(
        task="CartPole-v1", agent="dnn", storage=f"sqlite:///{tmp_path}/s.db", space="short"
    )
    with pytest.raises(
        ConfigError, match="'short' is about the preset 'short', which CartPole-v1 does not have"
    ):
        prepare_study(request)
    assert not (tmp_path / "s.db").exists()
    assert prepare_study(replace(request, preset="standard")).settings.preset == "standard"


def test_a_field_that_trials_get_another_value_of_is_refused_when_a_study_is_made(tmp_path):
    def asked(agent, space, **fields):
        where = {"storage": f"sqlite:///{tmp_path}/s.db", "objective": "neuroplastic.search.cheap:bowl"}
        return StudyRequest(task="BP", agent=agent, trials=1, space=space, fields=fields, **where)

    inheriting = replace(asked("nfn", "paper", batch_size="16"), inherit="paper")
    for request, told in (
        (asked("dnn", "short", batch_size="32"), "batch_size is searched in the space 'short'.*leave it out"),
        (
            replace(asked("nfn", "ours", rules="64"), preset="short"),
            "rules is searched in the space 'ours'",
        ),
        (replace(inheriting, fields={"estimator": "ste"}), "estimator is searched in the space 'paper'"),
        (inheriting, "batch_size is inherited in the space 'paper'"),
    ):
        with pytest.raises(ConfigError, match=told):
            prepare_study(request)
    storage = open_storage(f"sqlite:///{tmp_path}/s.db")
    assert study_names(storage) == []

    early = StudySettings.asked(
        "BP",
        "dnn",
        preset="short",
        searched="short",
        objective="neuroplastic.search.cheap:bowl",
        fields={"batch_size": 32},
    )
    create_study(storage, "BP-dnn-short", early)  # as an earlier version did
    assert prepare_study(asked("dnn", "short", batch_size="32")).settings == early


def trial(mean, sd, slope, episodes=25):
    return create_trial(values=(mean, sd, slope), user_attrs={"returns": [0.0] * episodes})


def chosen(*trials):
    study = optuna.create_study(directions=list(DIRECTIONS))
    study.add_trials(trials)
    return best_of(complete(study)).values


def test_greatest_mean_wins_where_there_is_no_near_tie():
    assert chosen(trial(80, 10, -1), trial(70, 1, 5)) == [80, 10, -1]


def test_near_tie_goes_to_a_rising_trial_then_to_the_least_sd():
    assert figures_of(trial(80, 10, -1)).near_tie == 2.0
    assert chosen(trial(80, 10, -1), trial(78, 9, 1), trial(79, 9.5, 2), trial(77.9, 1, 1)) == [78, 9, 1]


def test_near_tie_without_a_rising_trial_goes_to_the_least_sd():
    assert chosen(trial(80, 10, -1), trial(79, 9, -2), trial(79, 9, 0)) == [79, 9, -2]


def test_equal_means_without_spread_go_to_the_earliest():
    assert chosen(*[trial(5, 0, 0) for _ in range(4)]) == [5, 0, 0]
    assert chosen(trial(5, 0, 0)) == [5, 0, 0]


def test_study_without_a_finished_trial_has_no_best():
    with pytest.raises(StudyError, match="no finished trial"):
        best_trial(optuna.create_study(directions=list(DIRECTIONS)))


def test_study_of_other_objectives_has_no_best():
    study = optuna.create_study(study_name="own")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    with pytest.raises(StudyError, match="'own' must have the three objectives"):
        best_trial(study)


def test_preset_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "x.json").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(ConfigError, match="is not a preset"):
        load_preset(tmp_path / "x.json", find_task("BP"), "dnn")


def test_outcome_takes_the_best_epoch_and_the_slope_of_all():
    epochs = [{"epoch": k + 1, "mean": mean, "sd": k} for k, mean in enumerate((0.0, 6.0, 3.0))]
    assert Outcome(epochs, []).values == pytest.approx((6.0, 1, 1.5))
    assert Outcome(epochs[:1], []).values == (0.0, 0, 0.0)
    with pytest.raises(TrialFailed, match="finite"):
        _ = Outcome([{"epoch": 1, "mean": float("nan"), "sd": 0.0}], []).values


def test_protocol_says_whether_it_is_the_papers():
    assert StudySettings.asked("BP", "dnn").protocol.startswith(
        "the paper's protocol: 10 epochs of 500 steps, 25 episodes"
    )
    for other in ({"picture": "fast"}, {"epochs": 20}):
        assert StudySettings.asked("BP", "dnn", fields=other).protocol.startswith(
            "not the paper's protocol: "
        )
    assert "4 epochs" in StudySettings.asked("BP", "dnn", fields={"epochs": 4}).protocol


@pytest.mark.slow
def test_same_seed_and_one_worker_give_the_same_trials_twice_and_after_an_interruption(tmp_path):
    """Twice in one go, and once stopped in the middle; more trials than the sampler draws at random."""
    ways = {"whole": None, "again": None, "stopped": 6}
    made = {}
    for way, stop_at in ways.items():
        storage = f"sqlite:///{tmp_path}/{way}.db"
        (tmp_path / way).mkdir()
        job = begin(tmp_path / way, storage, 14)

        def interrupt(_, done, stop_at=stop_at):
            if stop_at is not None and done >= stop_at:
                raise KeyboardInterrupt

        try:
            run_workers(job, 1, interrupt)
        except KeyboardInterrupt:
            run_workers(job, 1)
        check_whole(tmp_path / way, storage, 14)
        complete_ones = [t for t in trials_of(storage) if t.state.name == "COMPLETE"]
        in_order = sorted(complete_ones, key=lambda t: t.user_attrs["slot"])
        made[way] = [(t.params, t.values, t.user_attrs["seed"]) for t in in_order]
    assert made["whole"] == made["again"] == made["stopped"]
    assert len({json.dumps(point) for point, _, _ in made["whole"]}) == 14


def test_another_seed_gives_other_trials():
    points = []
    for seed in (0, 1):
        study = optuna.create_study(
            directions=list(DIRECTIONS), sampler=sampler(StudySettings.asked("BP", "dnn", seed=seed), 0, 0)
        )
        points.append(draw(study, DNN_SPACE))
    assert points[0] != points[1]


def test_a_study_whose_fields_hold_several_values_goes_on(tmp_path):
    storage = open_storage(f"sqlite:///{tmp_path / 's.db'}")
    asked = settings(preset="short", channels=(8, 8, 16))
    create_study(storage, "s", asked)
    again = create_study(storage, "s", asked)
    assert again == asked
    assert again.base(0) == asked.base(0)
    with pytest.raises(StudyError, match=r"begun with channels \(8, 8, 16\) \(asked for: \(8, 8, 32\)\);"):
        create_study(storage, "s", settings(preset="short", channels=(8, 8, 32)))


def test_study_with_other_settings_is_not_continued(tmp_path):
    storage = open_storage(f"sqlite:///{tmp_path}/s.db")
    create_study(storage, "s", settings())
    assert create_study(storage, "s", settings()) == settings()
    with pytest.raises(StudyError, match=r"begun with epochs 2 \(asked for: 3\)"):
        create_study(storage, "s", settings(epochs=3))
    assert settings_of(load_study(storage, "s")).epochs == 2
    with pytest.raises(StudyError, match="there are s"):
        load_study(storage, "t")


def test_study_of_other_objectives_is_not_joined(tmp_path):
    storage = open_storage(f"sqlite:///{tmp_path}/s.db")
    optuna.create_study(storage=storage, study_name="own")
    with pytest.raises(StudyError, match="'own' exists and was not made by this command"):
        create_study(storage, "own", settings())
    assert load_study(storage, "own").user_attrs == {}


def test_trials_that_fail_in_a_row_end_the_run_and_say_why(tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    with pytest.raises(StudyError, match=r"the game does not start.*finished trials are safe"):
        run_workers(begin(tmp_path, storage, 3, objective="failing"), 1)
    assert {t.state.name for t in trials_of(storage)} == {"FAIL"}


def test_missing_ray_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackageError, match=r"neuroplastic\[ray\]"):
        run_on_ray(begin(tmp_path, f"sqlite:///{tmp_path}/s.db", 1), 1)


def test_study_of_several_workers_has_what_a_report_needs(tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    study = Background(begin(tmp_path, storage, 4), 2)
    study.join()
    loaded = load_study(open_storage(storage), "s")
    assert [d.name for d in loaded.directions] == ["MAXIMIZE", "MINIMIZE", "MAXIMIZE"]
    assert {
        "task": "BP",
        "agent": "dnn",
        "protocol": settings().protocol,
    }.items() <= loaded.user_attrs.items()
    for made in check_whole(tmp_path, storage, 4):
        noted = made.user_attrs
        assert noted["protocol"] == settings().protocol
        assert [epoch["epoch"] for epoch in noted["epochs"]] == [1, 2]
        best = max(noted["epochs"], key=lambda epoch: epoch["mean"])
        assert made.values[:2] == [best["mean"], best["sd"]]
        assert sum(noted["returns"]) / len(noted["returns"]) == pytest.approx(best["mean"])

    rows = list(csv.DictReader(io.StringIO(export_table(loaded))))
    assert [int(row["trial"]) for row in rows] == [0, 1, 2, 3]
    assert all(row["protocol"] == settings().protocol for row in rows)
    best = best_trial(loaded)
    path = tmp_path / "best.json"
    write_new({str(path): export_preset(loaded, best)})
    config = load_preset(path, find_task("BP"), "dnn")
    assert config.head == trial_config(settings_of(loaded), best).head
    assert config.learner.learning_rate == best.params["learning_rate"]
    assert from_json(json.loads(path.read_text())["config"]) == config
    with pytest.raises(ConfigError, match="a preset for BP --agent dnn"):
        load_preset(path, find_task("GH"), "dnn")
    before = path.read_bytes()
    with pytest.raises(StudyError, match="left as it is"):
        write_new({str(tmp_path / "new.csv"): "x", str(path): "y"})
    assert path.read_bytes() == before
    assert not (tmp_path / "new.csv").exists()
