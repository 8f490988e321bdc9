"""Whatever has rules is opened by its path."""

import pytest

from neuroplastic.errors import InputError
from neuroplastic.usecases.opening import (
    FILE,
    RUN,
    TABLE,
    OpenedEstimator,
    OpenedNetwork,
    OpenedRun,
    OpenedTable,
    kind_of,
    open_anything,
)


@pytest.mark.parametrize(
    ("name", "kind", "opened"),
    [
        ("model", TABLE, OpenedTable),
        ("estimator.safetensors", FILE, OpenedEstimator),
        ("network.safetensors", FILE, OpenedNetwork),
        ("hierarchy.safetensors", FILE, OpenedNetwork),
    ],
)
def test_everything_is_opened_as_what_it_is(name, kind, opened, place):
    assert kind_of(place / name) == kind
    found = open_anything(place / name)
    assert isinstance(found, opened)
    assert found.path == place / name


@pytest.mark.parametrize("agent", ["nfn", "dnn"])
def test_a_run_is_opened_with_its_agent_in_evaluation_mode(agent, run_of):
    path = run_of(agent)
    assert kind_of(path) == RUN
    found = open_anything(path)
    assert isinstance(found, OpenedRun)
    assert found.config.agent == agent
    assert not found.agent.training


def test_a_run_is_found_by_its_name_under_runs(run_of, monkeypatch):
    path = run_of("nfn")
    monkeypatch.chdir(path.parent.parent)
    assert kind_of(path.name) == RUN
    assert isinstance(open_anything(path.name), OpenedRun)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", "does not exist; give a folder made by"),
        ("empty", "holds neither a model nor a run; give a folder made by"),
        ("words.txt", "not a readable safetensors file: .*; give a folder made by"),
    ],
)
def test_what_has_no_rules_is_refused_with_what_to_give(name, words, place):
    with pytest.raises(InputError, match=words):
        open_anything(place / name)
