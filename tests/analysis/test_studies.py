"""Studies from Optuna storages, CSV and JSON: the same table from each, clear errors, nothing written."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import optuna
import pytest
from optuna.distributions import (
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)

from neuroplastic.analysis import StudyError, StudyTable, TooFewError, load_studies, load_study, studies
from neuroplastic.search.storage import open_storage

from .made_up import made_up_study

optuna.logging.set_verbosity(optuna.logging.WARNING)


def store(table: StudyTable, url: str | optuna.storages.BaseStorage) -> None:
    study = optuna.create_study(
        storage=url, study_name=table.name, directions=["maximize", "minimize", "maximize"]
    )
    for name in ("task", "agent", "protocol"):
        study.set_user_attr(name, getattr(table, name))
    for trial in table.trials:
        study.add_trial(
            optuna.create_trial(
                values=[trial.mean, trial.sd, trial.slope],
                params=dict(trial.parameters),
                distributions={name: table.distributions[name] for name in trial.parameters},
                user_attrs={
                    "epochs": [vars(epoch) for epoch in trial.epochs],
                    "returns": list(trial.returns),
                    "protocol": trial.protocol,
                    "pruned": trial.pruned,
                },
            )
        )
    study.enqueue_trial({})  # waits for ever; it must not count


def as_json(table: StudyTable) -> str:
    return json.dumps(
        {
            **{name: getattr(table, name) for name in ("name", "task", "agent", "protocol")},
            "distributions": {name: distribution_to_json(part) for name, part in table.distributions.items()},
            "trials": [{**vars(trial), "epochs": [vars(e) for e in trial.epochs]} for trial in table.trials],
        }
    )


def write_csv(table: StudyTable, path: Path) -> None:
    objectives = ("number", "state", "mean", "sd", "slope", "protocol", "pruned")
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*objectives, "task", "agent", "epochs", "returns", *table.parameters])
        for trial in table.trials:
            writer.writerow(
                [
                    *(getattr(trial, name) for name in objectives),
                    table.task,
                    table.agent,
                    json.dumps([vars(epoch) for epoch in trial.epochs]),
                    json.dumps(trial.returns),
                    *(trial.parameters.get(name, "") for name in table.parameters),
                ]
            )


def one_ended_early(table: StudyTable) -> StudyTable:
    return replace(table, trials=(*table.trials[:-1], replace(table.trials[-1], pruned=True)))


def test_a_study_read_back_from_sqlite_is_the_same(tmp_path: Path) -> None:
    table = one_ended_early(made_up_study(trials=8, conditional=True))
    store(table, f"sqlite:///{tmp_path}/studies.db")
    for source in (f"sqlite:///{tmp_path}/studies.db", tmp_path / "studies.db", tmp_path):
        back = load_study(source, "BP-nfn")
        assert back.finished == table.trials
        assert (back.task, back.agent, back.protocol) == ("BP", "nfn", table.protocol)
        assert dict(back.distributions) == dict(table.distributions)
        assert len(back.trials) == 9
        assert back.space == "conditional"


def test_reading_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    store(made_up_study(trials=2), f"sqlite:///{tmp_path}/studies.db")
    before = (tmp_path / "studies.db").read_bytes()
    load_studies(tmp_path / "studies.db")
    assert (tmp_path / "studies.db").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["studies.db"]


def test_a_study_read_back_from_json_and_csv_is_the_same(tmp_path: Path) -> None:
    table = one_ended_early(made_up_study(trials=3, conditional=True))
    (tmp_path / "study.json").write_text(as_json(table))
    assert load_study(tmp_path / "study.json") == table
    write_csv(table, tmp_path / "study.csv")
    back = load_study(tmp_path / "study.csv")
    assert back.trials == table.trials
    assert set(back.parameters) == set(table.parameters)


def test_a_table_exported_by_the_study_command_is_read_with_its_space(tmp_path: Path) -> None:
    head = "trial,task,agent,mean,sd,slope,best_epoch,episodes,seed,seconds,alpha,delay,epsilon,noise_hold,rules,stge"
    cells = [
        f"{n},BP,nfn,{n}.5,1.0,0.1,2,5,{n},3.2,{(1.0, 1.5)[n % 2]},{(1, 3, 5)[n % 3]},{0.1 + n / 80},"
        f"{(1, 32, 256)[n % 3]},{(64, 256)[n % 2]},{n % 2 == 0},8,32,20000,0.95,cheap"
        for n in range(30)
    ]
    inherited = ",frame_skip,batch_size,memory_size,discount,protocol\n"
    (tmp_path / "study.csv").write_text(head + inherited + "\n".join(cells) + "\n")
    table = load_study(tmp_path / "study.csv")
    assert set(table.parameters) == {"alpha", "delay", "epsilon", "noise_hold", "rules", "stge"}
    assert len(table.finished) == 30
    assert not any(trial.pruned for trial in table.trials)
    assert (table.protocol, table.trials[0].score.n) == ("cheap", 5)
    assert table.distributions["delay"] == IntDistribution(1, 5, step=2)
    assert table.distributions["rules"] == IntDistribution(64, 256, step=192)
    assert table.distributions["noise_hold"] == CategoricalDistribution((1, 32, 256))
    assert table.distributions["alpha"] == CategoricalDistribution((1.0, 1.5))
    assert isinstance(table.distributions["epsilon"], FloatDistribution)


def test_a_study_that_workers_write_at_this_moment_can_be_read(tmp_path: Path) -> None:
    storage = open_storage(f"sqlite:///{tmp_path}/studies.db")  # write-ahead mode, as the workers have it
    store(made_up_study(trials=2), storage)
    assert len(load_study(tmp_path / "studies.db").finished) == 2
    storage.remove_session()
    storage.engine.dispose()
    assert len(load_study(tmp_path / "studies.db").finished) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["studies.db"]


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE thing (x)")
        other.commit()
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(StudyError, match="without studies"):
        load_studies(tmp_path / "other.db")
    assert (tmp_path / "other.db").read_bytes() == before


def test_a_database_may_have_an_odd_name(tmp_path: Path) -> None:
    store(made_up_study(trials=1), f"sqlite:///{tmp_path}/my studies#1.db")
    assert len(load_study(tmp_path / "my studies#1.db").finished) == 1


def test_several_studies_of_one_storage_are_told_apart_by_name(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/studies.db"
    for task in ("BP", "GH"):
        store(made_up_study(trials=2, task=task), url)
    assert {table.task for table in load_studies(url)} == {"BP", "GH"}
    assert load_study(url, "GH-nfn").task == "GH"
    with pytest.raises(StudyError, match="holds 2 studies; name one of"):
        load_study(url)
    with pytest.raises(StudyError, match="has no study 'XX'"):
        load_study(url, "XX")


def test_a_storage_that_is_not_there_raises_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no study storage"):
        load_studies(f"sqlite:///{tmp_path}/none.db")
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(StudyError, match="there is no study at"):
        load_studies(tmp_path / "none.csv")
    with pytest.raises(StudyError, match="holds no study"):
        load_studies(tmp_path)


def test_a_server_out_of_reach_raises_without_showing_the_password() -> None:
    with pytest.raises(StudyError, match="cannot be reached") as caught:
        load_studies("postgresql+psycopg://somebody:secret@127.0.0.1:9/studies")
    assert "secret" not in str(caught.value)


def test_an_address_with_a_port_that_is_no_number_is_refused() -> None:
    with pytest.raises(StudyError, match="is not the address"):
        load_studies("postgresql://somebody@127.0.0.1:54x/studies")


def test_files_that_are_no_studies_raise(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"not a database at all, only some text that is long enough" * 20)
    (tmp_path / "a.json").write_text("{]")
    (tmp_path / "b.json").write_text("{}")
    (tmp_path / "a.csv").write_text("number,state\n1,COMPLETE\n")
    (tmp_path / "b.csv").write_text("number,state,mean,sd,slope,task,agent\n")
    for name in ("a.db", "a.json", "b.json", "a.csv", "b.csv"):
        with pytest.raises(StudyError):
            load_studies(tmp_path / name)


def test_an_empty_study_and_one_without_a_task_raise(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/studies.db"
    study = optuna.create_study(storage=url, study_name="x", directions=["maximize", "minimize", "maximize"])
    with pytest.raises(StudyError, match="does not say its task"):
        load_studies(url)
    study.set_user_attr("task", "BP")
    study.set_user_attr("agent", "dnn")
    with pytest.raises(TooFewError, match="has no trials"):
        load_studies(url)


def test_a_trial_that_is_not_finished_has_no_score(tmp_path: Path) -> None:
    store(made_up_study(trials=1), f"sqlite:///{tmp_path}/studies.db")
    with pytest.raises(TooFewError, match="not finished"):
        _ = load_study(tmp_path).trials[-1].score


def test_what_an_nfn_takes_over_is_what_the_search_leaves_out() -> None:
    space = pytest.importorskip("neuroplastic.search.space")
    assert studies._INHERITED == space.INHERITED
