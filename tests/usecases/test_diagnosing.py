"""Anything that was opened is diagnosed, on rows of a file or in play."""

import numpy as np
import pandas as pd
import pytest

import neuroplastic as npl
from neuroplastic.errors import InputError
from neuroplastic.experiment.agent import build_agent
from neuroplastic.experiment.options import with_values
from neuroplastic.experiment.play import watch_episode, watch_evaluation
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.usecases import diagnosing
from neuroplastic.usecases.diagnosing import diagnose_evaluation, diagnose_file
from neuroplastic.usecases.opening import open_anything
from tests.small_game import CorridorTask


@pytest.mark.parametrize(
    ("name", "data", "rules", "source"),
    [
        ("estimator.safetensors", "columns.csv", 3, "estimator"),
        ("network.safetensors", "inputs.csv", 4, "network"),
        ("hierarchy.safetensors", "inputs.csv", 4, "network"),
    ],
)
def test_rows_of_a_file_are_as_good_as_rows(name, data, rules, source, place):
    opened = open_anything(place / name)
    found = diagnose_file(opened, place / data)
    model = getattr(opened, "estimator", None) or opened.network
    assert found == npl.diagnose(model, pd.read_csv(place / data))
    assert (found.rows, found.rules, found.source) == (40, rules, source)


def test_a_model_of_a_table_takes_the_tables_own_columns(place):
    found = diagnose_file(open_anything(place / "model"), place / "rows.csv")
    assert found == diagnose_file(open_anything(place / "estimator.safetensors"), place / "columns.csv")


def test_rows_that_do_not_fit_are_refused_in_one_line(place, tmp_path):
    pd.DataFrame({"size": [1.0, 2.0]}).to_csv(tmp_path / "few.csv", index=False)
    for name, data, words in (
        ("network.safetensors", place / "rows.csv", "inputs alone, as numbers"),
        ("estimator.safetensors", tmp_path / "few.csv", "needs the columns it was fitted to"),
        ("network.safetensors", tmp_path / "few.csv", "3 columns"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            diagnose_file(open_anything(place / name), data)
        assert "\n" not in str(caught.value)


@pytest.fixture
def run(tmp_path):
    """Makes a run of the corridor with an untrained agent as its best."""

    def make(agent="nfn"):
        config = CorridorTask().preset("standard", agent)
        config = with_values(config, {"rules": 3}) if agent == "nfn" else config
        folder = RunFolder.create(tmp_path / "runs", config)
        folder.write_best(build_agent(config))
        return open_anything(folder.path)

    return make


def test_an_agent_is_diagnosed_on_what_it_sees_in_evaluation(run, monkeypatch):
    opened = run()
    found = diagnose_evaluation(opened)
    assert 25 <= found.rows <= 25 * 8
    assert (found.rules, found.attributes, found.source) == (3, 3, "agent")
    monkeypatch.setattr(diagnosing, "ENOUGH", 1)
    assert 1 <= diagnose_evaluation(opened).rows <= 8, "one episode shows enough"


def test_evaluation_is_watched_episode_by_episode_until_enough_was_seen():
    task = CorridorTask()

    def right(observations):
        return np.ones(len(observations), dtype=np.int64)

    single = [watch_episode(task, right, episode=episode) for episode in range(4)]
    lengths = np.cumsum([len(seen) for seen in single])
    whole = watch_evaluation(task, right, observations=10**6, episodes=4)
    assert np.array_equal(whole, np.concatenate(single))
    assert len(watch_evaluation(task, right, observations=int(lengths[1]), episodes=4)) == lengths[1]
    assert len(watch_evaluation(task, right, observations=int(lengths[1]) + 1, episodes=4)) == lengths[2]


def test_a_plain_agent_has_nothing_to_diagnose(run):
    with pytest.raises(InputError, match="it has no rules"):
        diagnose_evaluation(run("dnn"))
