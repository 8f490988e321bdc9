"""Trials that lag end early: by which trials they are judged, when, and what is stored of them."""

import threading

import optuna
import pytest
from optuna.trial import create_trial

from neuroplastic import analysis
from neuroplastic.analysis import load_studies
from neuroplastic.doom.presets import preset
from neuroplastic.errors import ConfigError
from neuroplastic.experiment.run_folder import EpochMetrics
from neuroplastic.experiment.trial import Stopped, Trial
from neuroplastic.search import trial_objective
from neuroplastic.search.best import best_of, best_trial, near_ties
from neuroplastic.search.export import export_table
from neuroplastic.search.objective import Assignment, TrialStopped
from neuroplastic.search.pruning import FEWEST, lags
from neuroplastic.search.settings import DIRECTIONS, StudyError, StudySettings
from neuroplastic.search.storage import open_storage
from neuroplastic.search.studies import complete, create_study, load_study
from neuroplastic.search.trial_objective import run_trial
from neuroplastic.search.worker import Worker
from neuroplastic.usecases.studies import StudyRequest, prepare_study
from tests.search.studies import begin, settings, trials_of

BOWL = "neuroplastic.search.cheap:bowl"
FINISHED = [[0.0, 10.0 * number, 0.0, 0.0] for number in range(FEWEST)]  # their median after two epochs is 20


def test_below_the_median_of_what_others_had_after_as_many_epochs_lags():
    assert lags([0.0, 19.0], FINISHED, planned=4)
    assert not lags([0.0, 20.0], FINISHED, planned=4)


def test_the_greatest_mean_so_far_is_what_is_compared():
    assert not lags([20.0, -300.0], FINISHED, planned=4)


def test_nothing_is_judged_after_the_first_epoch_nor_past_half():
    assert not lags([-1.0], FINISHED, planned=4)
    assert not lags([-1.0, -1.0, -1.0], FINISHED, planned=4)
    assert lags([-1.0, -1.0, -1.0], [[5.0] * 6] * FEWEST, planned=6)


def test_trials_that_ended_before_that_epoch_do_not_count():
    early = [[100.0]] * 20
    assert not lags([0.0, -1.0], [*FINISHED[1:], *early], planned=4)
    assert lags([0.0, -1.0], [*FINISHED, *early], planned=4)


def made(tmp_path, *, prune: bool):
    storage = f"sqlite:///{tmp_path}/s.db"
    Worker(begin(tmp_path, storage, 30, epochs=6, prune=prune), "token", threading.Event()).run()
    return trials_of(storage)


def test_trials_of_a_study_that_prunes_end_early_and_are_complete(tmp_path):
    trials = made(tmp_path, prune=True)
    lengths = [len(trial.user_attrs["epochs"]) for trial in trials]
    assert lengths[:FEWEST] == [6] * FEWEST
    assert set(lengths) <= {2, 3, 6}
    assert min(lengths) < 6
    for trial, length in zip(trials, lengths, strict=True):
        assert trial.state.name == "COMPLETE"
        assert trial.user_attrs["pruned"] == (length < 6)
        assert trial.values[0] == max(epoch["mean"] for epoch in trial.user_attrs["epochs"])


class SetWhenAsked(threading.Event):
    """Is set from the n-th time on that somebody asks."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._left = times

    def is_set(self) -> bool:
        self._left -= 1
        return self._left <= 0 or super().is_set()


def test_a_study_that_prunes_has_the_same_trials_after_interruptions(tmp_path):
    made = {}
    for way, stops in {"whole": [], "interrupted": [31, 33, 28]}.items():
        (tmp_path / way).mkdir()
        storage = f"sqlite:///{tmp_path}/{way}/s.db"
        ours = {"preset": "short", "searched": "short", "prune": True}
        job = begin(tmp_path / way, storage, 18, objective=BOWL, epochs=6, **ours)
        for times in stops:
            Worker(job, "token", SetWhenAsked(times)).run()
        Worker(job, "token", threading.Event()).run()
        trials = trials_of(storage)
        failures = [trial.user_attrs["failure"] for trial in trials if trial.state.name == "FAIL"]
        assert failures == ["stopped"] * len(stops), "each came in the middle of a trial"
        whole = sorted(complete(load_study(open_storage(storage), "s")), key=lambda t: t.user_attrs["slot"])
        made[way] = [(t.params, t.values, t.user_attrs["epochs"], t.user_attrs["pruned"]) for t in whole]
    assert made["whole"] == made["interrupted"]
    assert len(made["whole"]) == 18
    assert {pruned for *_, pruned in made["whole"]} == {True, False}


def test_no_trial_ends_early_where_that_was_not_asked_for(tmp_path):
    assert {len(trial.user_attrs["epochs"]) for trial in made(tmp_path, prune=False)} == {6}


def test_study_that_prunes_is_not_continued_without(tmp_path):
    opened = open_storage(f"sqlite:///{tmp_path}/s.db")
    create_study(opened, "s", settings(prune=True))
    assert "trials that lag end early" in settings(prune=True).protocol
    with pytest.raises(StudyError, match="prune True"):
        create_study(opened, "s", settings())


def asked(**changes) -> StudyRequest:
    fields = {"epochs": "6", "episodes": "3"}
    return StudyRequest(
        **{"task": "BP", "agent": "dnn", "space": "short", "prune": True, "fields": fields} | changes
    )


def test_it_is_for_our_spaces_and_needs_epochs_to_look_at(tmp_path):
    where = {"storage": f"sqlite:///{tmp_path}/s.db"}
    with pytest.raises(ConfigError, match="--prune is for our spaces"):
        prepare_study(asked(space="paper", **where))
    with pytest.raises(ConfigError, match="give --epochs 4 or more, got 3"):
        prepare_study(asked(fields={"epochs": "3"}, **where))
    assert not (tmp_path / "s.db").exists()
    assert prepare_study(asked(**where)).settings.prune


def finished(mean, sd, pruned):
    noted = {"slot": 0, "seed": 0, "best_epoch": 1, "seconds": 1.0, "returns": [0.0] * 25, "protocol": ""}
    epochs = [{"epoch": 1, "mean": mean, "sd": sd}]
    return create_trial(values=(mean, sd, 1.0), user_attrs={**noted, "epochs": epochs, "pruned": pruned})


def test_the_best_trial_is_one_that_ran_to_its_end():
    study = optuna.create_study(directions=list(DIRECTIONS))
    study.add_trials([finished(50, 0, True), finished(50, 10, False), finished(30, 1, False)])
    assert best_of(complete(study)).number == 1
    assert [trial.number for trial in near_ties(complete(study))] == [1]
    alone = optuna.create_study(directions=list(DIRECTIONS))
    alone.add_trials([finished(50, 0, True)])
    assert best_of(complete(alone)).number == 0


def test_a_report_of_the_storage_or_the_csv_names_the_same_best_trial(tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    create_study(open_storage(storage), "s", settings(prune=True))
    study = load_study(open_storage(storage), "s")
    study.add_trials([finished(50.1, 10, False), finished(50, 0, True), finished(49, 9, False)])
    (tmp_path / "s.csv").write_text(export_table(study))
    chosen = best_trial(study)
    assert chosen.number == 2
    for source in (storage, tmp_path / "s.csv"):
        (read,) = load_studies(source)
        assert [trial.pruned for trial in read.trials] == [False, True, False]
        assert analysis.best_trial(read.trials).number == chosen.number


class Endless:
    """A trial that shows its progress after each epoch, and ends when it is asked to."""

    def __init__(self, config, folder, *, device) -> None:
        self.metrics: list[EpochMetrics] = []
        self.stop_requested, self.folder = False, folder

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        pass

    def resume(self) -> int:
        return 0

    def run(self, on_progress):
        while not self.stop_requested:
            epoch = len(self.metrics) + 1
            self.metrics.append(EpochMetrics(epoch, 5, float(epoch), 1.0, 1.0, 1.0, 1, 0.0, 1.0, 0, 0, None))
            self.folder.write_returns(epoch, [float(epoch)])
            on_progress(None)
        raise Stopped


def test_a_real_trial_that_lags_ends_right_after_the_epoch_which_it_saves_once(tmp_path, monkeypatch):
    save, saved_at = Trial.save, []

    def noted(trial: Trial) -> None:
        saved_at.append(trial.trainer.steps)
        save(trial)

    def report(epochs) -> bool:
        return len(epochs) < 2

    monkeypatch.setattr(Trial, "save", noted)
    fields = {"epochs": 4, "steps_per_epoch": 40, "episodes": 2}
    config = StudySettings.asked("CartPole-v1", "dnn", fields=fields).config({}, 0)
    outcome = run_trial(Assignment(config, {}, 0, 1, tmp_path, "cpu", threading.Event(), report))
    assert outcome.pruned
    assert [epoch["epoch"] for epoch in outcome.epochs] == [1, 2]
    assert saved_at == [40, 80]


@pytest.mark.parametrize("asked_to_stop", [False, True])
def test_trial_that_lags_ends_with_its_epochs_and_one_that_is_stopped_does_not(
    tmp_path, monkeypatch, asked_to_stop
):
    monkeypatch.setattr(trial_objective, "Trial", Endless)
    stop = threading.Event()

    def report(epochs) -> bool:
        if len(epochs) == 3 and asked_to_stop:
            stop.set()
        return asked_to_stop or len(epochs) < 3

    assignment = Assignment(preset("tuned", "BP", "dnn"), {}, 0, 1, tmp_path, "cpu", stop, report)
    if asked_to_stop:
        with pytest.raises(TrialStopped):
            trial_objective.run_trial(assignment)
        return
    outcome = trial_objective.run_trial(assignment)
    assert outcome.pruned
    assert [epoch["mean"] for epoch in outcome.epochs] == [1.0, 2.0, 3.0]
    assert outcome.returns == [3.0]
    assert outcome.values[0] == 3.0
