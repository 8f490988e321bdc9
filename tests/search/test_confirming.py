"""A study's best trial learned anew: with which settings, seeds and episodes, and what is refused."""

import dataclasses
import statistics
import threading
from pathlib import Path

import pytest

from neuroplastic.analysis.studies import load_studies
from neuroplastic.errors import ConfigError
from neuroplastic.experiment.run_folder import run_folders
from neuroplastic.search.objective import Assignment, TrialStopped
from neuroplastic.search.storage import open_storage
from neuroplastic.search.studies import StudyError, complete, load_study, settings_of
from neuroplastic.search.trial_objective import NEW_EPISODES, run_trial
from neuroplastic.usecases.confirming import (
    APART,
    ConfirmRequest,
    confirmation,
    new_score,
    prepare_confirmation,
)
from neuroplastic.usecases.runs import evaluate_run
from neuroplastic.usecases.studies import StudyRequest, prepare_study

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


def test_seeds_of_the_search_are_refused_and_others_need_a_name_of_their_own(where):
    searched(where)
    with pytest.raises(ConfigError, match="seed 9 is one of the study's own; choose --seed above 10"):
        prepare_confirmation(ConfirmRequest(study="s", first_seed=9, **where))
    prepare_confirmation(ConfirmRequest(study="s", trial=0, seeds=1, **where)).run()
    with pytest.raises(StudyError, match="begun with seed 1007"):
        prepare_confirmation(ConfirmRequest(study="s", trial=0, seeds=1, first_seed=50, **where))
    other = ConfirmRequest(study="s", trial=0, seeds=1, first_seed=50, name="other", **where)
    assert [score.seed for score in prepare_confirmation(other).run().scores] == [50]


def test_mistakes_are_refused_before_anything_is_written(where):
    searched(where)
    with pytest.raises(StudyError, match="no finished trial 9"):
        prepare_confirmation(ConfirmRequest(study="s", trial=9, **where))
    with pytest.raises(StudyError, match="there is no study 't'"):
        prepare_confirmation(ConfirmRequest(study="t", **where))
    with pytest.raises(ConfigError, match="episodes must be a whole number of at least 1"):
        prepare_confirmation(ConfirmRequest(study="s", episodes=0, **where))
    with pytest.raises(StudyError, match="'s' is a search"):
        confirmation(where["storage"], "s")
    assert [table.name for table in load_studies(where["storage"])] == ["s"]
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
    with pytest.raises(StudyError, match="new_returns of its trial 0 is None"):
        new_score(trial)


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
