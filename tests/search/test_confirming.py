"""A study's best trial learned anew: with which settings, seeds and episodes, and what is refused."""

import copy
import dataclasses
import statistics
import threading
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState

from neuroplastic.analysis.studies import load_studies
from neuroplastic.doom import needs
from neuroplastic.errors import ConfigError, NeuroplasticError
from neuroplastic.experiment.run_folder import run_folders
from neuroplastic.experiment.saved_preset import load_preset
from neuroplastic.experiment.tasks import find_task
from neuroplastic.search.confirmed import new_score
from neuroplastic.search.objective import Assignment, TrialStopped
from neuroplastic.search.settings import DIRECTIONS, StudyError
from neuroplastic.search.slots import Slots
from neuroplastic.search.storage import open_storage
from neuroplastic.search.studies import complete, load_study, settings_of, study_names
from neuroplastic.search.trial_objective import NEW_EPISODES, run_trial
from neuroplastic.usecases import confirming
from neuroplastic.usecases.confirming import (
    APART,
    ConfirmRequest,
    prepare_confirmation,
)
from neuroplastic.usecases.runs import evaluate_run
from neuroplastic.usecases.studies import (
    StudyRequest,
    best_of_study,
    export_study,
    prepare_study,
    study_states,
)
from tests.search.studies import without_kept

BOWL = "neuroplastic.search.cheap:bowl"


@pytest.fixture
def where(tmp_path) -> dict[str, str]:
    return {"storage": f"sqlite:///{tmp_path}/s.db", "runs": str(tmp_path / "runs")}


def searched(where, trials=4, *, name="s", prune=False) -> str:
    """A cheap study that is finished."""
    fields = {"epochs": "4", "episodes": "3"}
    request = StudyRequest(
        task="BP",
        agent="dnn",
        trials=trials,
        name=name,
        prune=prune,
        space="short" if prune else "paper",
        objective=BOWL,
        fields=fields,
        seed=7,
        **where,
    )
    prepare_study(request).run()
    return name


def study_of(where, name):
    return load_study(open_storage(where["storage"], create=False), name)


def test_every_new_seed_has_the_trials_settings_and_runs_to_the_end(where):
    searched(where, prune=True)
    prepared = prepare_confirmation(ConfirmRequest(study="s", trial=2, seeds=3, episodes=10, **where))
    assert prepared.study.name == "s-trial2"
    told = []
    found = prepared.run(lambda score, done: told.append((score.seed, done)))
    assert sorted(seed for seed, _ in told) == [7 + APART, 8 + APART, 9 + APART]

    of_search, anew = settings_of(study_of(where, "s")), settings_of(study_of(where, "s-trial2"))
    there = complete(study_of(where, "s"))[2]
    trials = complete(study_of(where, "s-trial2"))
    assert not anew.prune
    for slot, trial in enumerate(trials):
        assert trial.params == {}
        learned, first = (
            anew.config(trial.params, slot),
            of_search.config(there.params, there.user_attrs["slot"]),
        )
        assert learned == dataclasses.replace(first, seed=7 + APART + slot)
        assert len(trial.user_attrs["epochs"]) == 4
        assert len(trial.user_attrs["new_returns"]) == 10
    assert [score.mean for score in found.scores] == [
        statistics.fmean(trial.user_attrs["new_returns"])
        for trial in sorted(trials, key=lambda t: t.user_attrs["seed"])
    ]
    assert found.mean == statistics.fmean(score.mean for score in found.scores)
    assert found.sd == statistics.stdev(score.mean for score in found.scores)
    assert found.scores[0].sd == statistics.stdev(trials[0].user_attrs["new_returns"])


def test_without_a_number_it_is_the_best_trial_and_the_same_request_goes_on(where):
    searched(where)
    few = ConfirmRequest(study="s", seeds=1, **where)
    best = prepare_confirmation(few).trial
    assert best.values[0] == max(trial.values[0] for trial in complete(study_of(where, "s")))
    first = prepare_confirmation(few).run()
    more = prepare_confirmation(ConfirmRequest(study="s", seeds=3, **where)).run()
    assert more.scores[: len(first.scores)] == first.scores
    assert len(more.scores) == 3


def test_a_confirmation_of_an_earlier_versions_study_goes_on_when_the_preset_has_changed(where, monkeypatch):
    searched(where, prune=True)
    without_kept(open_storage(where["storage"]), "s")
    first = prepare_confirmation(ConfirmRequest(study="s", trial=1, seeds=1, **where)).run()
    base = settings_of(study_of(where, "s-trial1")).base(0)
    monkeypatch.setitem(needs.SHORT, "BP", {"mirror": False})
    more = prepare_confirmation(ConfirmRequest(study="s", trial=1, seeds=2, **where)).run()
    assert more.scores[:1] == first.scores
    assert settings_of(study_of(where, "s-trial1")).base(0) == base
    assert base.learner.mirror


def test_a_trial_is_exported_as_it_was_learned_when_the_preset_has_changed(where, monkeypatch, tmp_path):
    searched(where, prune=True)
    monkeypatch.setitem(needs.SHORT, "BP", {"mirror": False})
    export_study(where["storage"], "s", preset=str(tmp_path / "kept.json"))
    assert load_preset(tmp_path / "kept.json", find_task("BP"), "dnn").learner.mirror


def test_seeds_of_the_search_are_refused_and_others_need_a_name_of_their_own(where):
    searched(where)
    for first, own in ((9, 9), (3, 7)):
        with pytest.raises(
            ConfigError, match=f"seed {own} is one of the study's own, 7 to 10: choose --seed 11 or above"
        ):
            prepare_confirmation(ConfirmRequest(study="s", first_seed=first, **where))
    prepare_confirmation(ConfirmRequest(study="s", trial=0, seeds=1, **where)).run()
    with pytest.raises(StudyError, match="begun with seed 1007"):
        prepare_confirmation(ConfirmRequest(study="s", trial=0, seeds=1, first_seed=50, **where))
    other = ConfirmRequest(study="s", trial=0, seeds=1, first_seed=50, name="other", **where)
    assert [score.seed for score in prepare_confirmation(other).run().scores] == [50]


def test_seeds_of_trials_that_are_asked_for_are_the_searchs_own_too(where):
    searched(where)
    asked = ConfirmRequest(study="s", trial=0, seeds=2, **where)
    first = prepare_confirmation(asked).run()
    Slots(open_storage(where["storage"]).engine, "s").create(1500)
    assert prepare_confirmation(asked).run() == first, "a confirmation that was begun goes on"
    assert prepare_confirmation(dataclasses.replace(asked, name="later")).study.settings.seed == 1507
    with pytest.raises(
        ConfigError, match="seed 1200 is one of the study's own, 7 to 1506: choose --seed 1507"
    ):
        prepare_confirmation(dataclasses.replace(asked, name="other", first_seed=1200))


def test_a_confirmation_that_is_half_made_is_made(where):
    searched(where)
    optuna.create_study(
        storage=open_storage(where["storage"]), study_name="s-trial0", directions=list(DIRECTIONS)
    )
    found = prepare_confirmation(ConfirmRequest(study="s", trial=0, seeds=2, **where)).run()
    assert [score.seed for score in found.scores] == [7 + APART, 8 + APART]


def test_failed_trials_may_say_what_they_like(where):
    searched(where)
    study = load_study(open_storage(where["storage"]), "s")
    study.add_trial(optuna.trial.create_trial(state=TrialState.FAIL, user_attrs={"slot": "x", "seed": "x"}))
    assert prepare_confirmation(ConfirmRequest(study="s", **where)).study.settings.seed == 7 + APART


def test_mistakes_are_refused_before_anything_is_written(where):
    searched(where)
    with pytest.raises(StudyError, match="no finished trial 9"):
        prepare_confirmation(ConfirmRequest(study="s", trial=9, **where))
    with pytest.raises(StudyError, match="there is no study 't'"):
        prepare_confirmation(ConfirmRequest(study="t", **where))
    with pytest.raises(ConfigError, match="episodes must be a whole number of at least 1"):
        prepare_confirmation(ConfirmRequest(study="s", episodes=0, **where))
    with pytest.raises(ConfigError, match=r"^episodes must be at most 1000000"):
        prepare_confirmation(ConfirmRequest(study="s", episodes=10**7, **where))
    with pytest.raises(ConfigError, match="seed must be at most"):
        prepare_confirmation(ConfirmRequest(study="s", first_seed=10**30, **where))
    assert study_names(open_storage(where["storage"], create=False)) == ["s"]
    prepare_confirmation(ConfirmRequest(study="s", trial=1, seeds=1, **where)).run()
    with pytest.raises(ConfigError, match="'s-trial1' is itself trial 1 of study s, learned anew"):
        prepare_confirmation(ConfirmRequest(study="s-trial1", **where))


def test_reports_leave_out_what_was_learned_anew(where):
    searched(where)
    prepare_confirmation(ConfirmRequest(study="s", seeds=1, **where)).run()
    assert [table.name for table in load_studies(where["storage"])] == ["s"]


def test_damaged_new_returns_are_named(where):
    searched(where)
    trial = complete(study_of(where, "s"))[0]
    with pytest.raises(StudyError, match="its trial 0 has no new_returns"):
        new_score("s", trial)
    for name, value in (
        ("new_returns", [float("nan"), 1.0]),
        ("new_returns", "no list"),
        ("new_returns", [10**400]),
        ("epochs", [{"epoch": 1}]),
        ("epochs", []),
        ("epochs", 5),
        ("epochs", [{"epoch": 1, "mean": "a"}]),
        ("epochs", [{"epoch": 1, "mean": -(10**400)}]),
    ):
        damaged = copy.deepcopy(trial)
        damaged.set_user_attr(name, value)
        with pytest.raises(StudyError, match=f"study 's' is damaged: {name} of its trial 0 is"):
            new_score("s", damaged)


def test_a_good_and_a_bad_trial_come_to_what_they_are(where):
    searched(where, 6)
    trials = sorted(complete(study_of(where, "s")), key=lambda trial: trial.values[0])
    found = [
        prepare_confirmation(ConfirmRequest(study="s", trial=trial.number, seeds=1, **where)).run().mean
        for trial in (trials[0], trials[-1])
    ]
    assert found[0] < found[1]
    assert found == pytest.approx([trials[0].values[0], trials[-1].values[0]], abs=2)


def test_an_objective_that_plays_no_new_episodes_completes_no_trial(where):
    prepare_study(
        StudyRequest(task="BP", agent="dnn", trials=1, objective="tests.search.objectives:forgetful", **where)
    ).run()
    anew = prepare_confirmation(ConfirmRequest(study="BP-dnn", seeds=1, retries=0, **where))
    with pytest.raises(StudyError, match="forgetful played 0 new episodes of 100"):
        anew.run()
    assert complete(study_of(where, "BP-dnn-trial0")) == []


def test_a_search_of_more_than_a_thousand_seeds_moves_on_and_what_was_begun_keeps_its_seed(
    where, monkeypatch
):
    searched(where)
    prepare_confirmation(ConfirmRequest(study="s", trial=0, seeds=1, **where)).run()
    monkeypatch.setattr(confirming, "APART", 1)
    assert (
        prepare_confirmation(ConfirmRequest(study="s", trial=1, seeds=1, **where)).study.settings.seed == 11
    )
    assert (
        prepare_confirmation(ConfirmRequest(study="s", trial=0, seeds=2, **where)).study.settings.seed
        == 7 + APART
    )


def test_what_was_learned_anew_has_a_state_and_no_best_trial(where):
    searched(where)
    prepared = prepare_confirmation(ConfirmRequest(study="s", trial=0, seeds=2, **where))
    state = study_states(where["storage"], "s-trial0")[0]
    assert (state.best, state.confirmed) == (None, None)
    assert prepared.run() == study_states(where["storage"], "s-trial0")[0].confirmed
    with pytest.raises(StudyError, match="s-trial0' searched nothing: it is trial 0 of study s"):
        best_of_study(where["storage"], "s-trial0")
    with pytest.raises(StudyError, match="searched nothing"):
        export_study(where["storage"], "s-trial0", table="t.csv")


def test_studies_of_another_version_have_states_like_any_other(where):
    searched(where)
    prepare_confirmation(ConfirmRequest(study="s", trial=1, seeds=1, **where)).run()
    before = study_states(where["storage"])
    stored = open_storage(where["storage"])
    for name, settings in (("s", {"searched": "of the future"}), ("s-trial1", {"novelty": 1})):
        study = load_study(stored, name)
        study.set_user_attr("settings", {**study.user_attrs["settings"], **settings})
        with pytest.raises(NeuroplasticError):
            settings_of(study)
    assert study_states(where["storage"]) == before


def cartpole(where, **more) -> StudyRequest:
    fields = {"epochs": "2", "steps_per_epoch": "40", "episodes": "2"}
    return StudyRequest(task="CartPole-v1", agent="dnn", trials=1, fields=fields, **where, **more)


def test_new_episodes_are_those_of_evaluate_with_their_seed(where):
    prepare_study(cartpole(where)).run()
    found = prepare_confirmation(ConfirmRequest(study="CartPole-v1-dnn", seeds=1, episodes=3, **where)).run()
    (folder,) = run_folders(Path(where["runs"]) / "CartPole-v1-dnn-trial0" / "slot-0000")
    again = evaluate_run(str(folder.path), episodes=3, seed=NEW_EPISODES)
    assert found.scores[0].mean == again.mean
    assert found.scores[0].sd == again.sd
    assert found.scores[0].episodes == 3


def test_new_episodes_that_are_cut_short_are_played_when_the_trial_is_made_again(where, tmp_path):
    config = prepare_study(cartpole(where)).settings.config({}, 0)

    def assigned(folder: Path, stop: threading.Event, stop_after: int | None) -> Assignment:
        def report(epochs) -> bool:
            if len(epochs) == stop_after:
                stop.set()
            return True

        return Assignment(config, {}, 0, 1, folder, "cpu", stop, report, new_episodes=3)

    with pytest.raises(TrialStopped):
        run_trial(assigned(tmp_path / "a", threading.Event(), 2))
    again = run_trial(assigned(tmp_path / "a", threading.Event(), None))
    straight = run_trial(assigned(tmp_path / "b", threading.Event(), None))
    assert again.resumed_at == 80
    assert again.new_returns == straight.new_returns
    assert len(straight.new_returns) == 3
