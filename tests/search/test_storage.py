"""Storages: their addresses, many processes on one SQLite file, and what is said when one cannot be reached."""

import json
import multiprocessing
import sqlite3
import sys
import threading
import urllib.request
from contextlib import closing

import optuna
import pytest
import sqlalchemy

from neuroplastic.search.slots import Slots
from neuroplastic.search.storage import StorageError, open_storage, reachable, shown, storage_url
from neuroplastic.search.studies import create_study, load_study
from neuroplastic.search.workers import run_workers
from tests.search.studies import begin, check_whole, settings

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="forks")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("postgresql://me@host/db", "postgresql+psycopg://me@host/db"),
        ("postgres://me@host/db", "postgresql+psycopg://me@host/db"),
        ("postgresql+psycopg://me@host/db", "postgresql+psycopg://me@host/db"),
        ("sqlite:////data/s.db", "sqlite:////data/s.db"),
        ("/data/s.db", "sqlite:////data/s.db"),
    ],
)
def test_address_gets_the_driver_that_is_installed(text, url):
    assert storage_url(text) == url
    assert storage_url(url) == url


def test_relative_file_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert storage_url("sqlite:///s.db") == f"sqlite:///{tmp_path}/s.db"


@pytest.mark.parametrize("text", ["mysql://host/db", "sqlite:///:memory:", "sqlite:///"])
def test_other_address_is_refused(text):
    with pytest.raises(StorageError):
        storage_url(text)


def test_password_is_not_shown():
    assert shown("postgresql://me:secret@host/db") == "postgresql://me:***@host/db"


def test_sqlite_is_in_write_ahead_mode(tmp_path):
    open_storage(f"sqlite:///{tmp_path}/s.db")
    assert sqlite3.connect(tmp_path / "s.db").execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_storage_that_is_not_there_is_not_made_by_looking(tmp_path):
    with pytest.raises(StorageError, match="there is no study storage"):
        open_storage(f"sqlite:///{tmp_path}/s.db", create=False)
    assert not list(tmp_path.iterdir())


def test_looking_leaves_a_database_of_something_else_alone(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE thing (x)")
        other.commit()
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(StorageError, match="without studies"):
        open_storage(f"sqlite:///{tmp_path}/other.db", create=False)
    assert (tmp_path / "other.db").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["other.db"]


def test_looking_takes_no_lock_and_leaves_the_journal_as_it_is(tmp_path):
    """So it works on a file that nobody may write; and while another writes."""
    create_study(optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/s.db"), "s", settings())
    with closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        opened = open_storage(f"sqlite:///{tmp_path}/s.db", create=False)
        assert load_study(opened, "s").user_attrs["task"] == "BP"
        assert not Slots(opened.engine, "s").exist()
        writer.execute("ROLLBACK")
        assert writer.execute("PRAGMA journal_mode").fetchone() == ("delete",)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM version_info",
        "DELETE FROM alembic_version",
        "ALTER TABLE version_info RENAME COLUMN version_info_id TO other",
    ],
)
def test_looking_at_a_damaged_database_changes_nothing_in_it(tmp_path, damage):
    """Optuna would write its version there; the last of these ended in its own error."""
    create_study(optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/s.db"), "s", settings())
    with closing(sqlite3.connect(tmp_path / "s.db")) as database:
        database.execute(damage)
        database.commit()
    before = (tmp_path / "s.db").read_bytes()
    with pytest.raises(StorageError, match="it is damaged"):
        open_storage(f"sqlite:///{tmp_path}/s.db", create=False)
    assert (tmp_path / "s.db").read_bytes() == before


def test_looking_at_a_server_makes_no_tables(postgresql):
    with pytest.raises(StorageError, match="without studies"):
        open_storage(postgresql, create=False)
    with pytest.raises(StorageError, match="without studies"):
        open_storage(postgresql, create=False)


@pytest.mark.parametrize("create", [True, False])
def test_port_that_is_no_number_is_refused(create):
    with pytest.raises(StorageError, match="is not the address of a storage"):
        open_storage("postgresql://me@host:54x/db", create=create)


@pytest.mark.parametrize("create", [True, False])
def test_file_that_is_no_database_is_left_as_it_is(tmp_path, create):
    (tmp_path / "s.db").write_text("a text of some length, which is no database at all" * 100)
    before = (tmp_path / "s.db").read_bytes()
    with pytest.raises(StorageError, match=r"s\.db cannot be .*not a database"):
        open_storage(f"sqlite:///{tmp_path}/s.db", create=create)
    assert (tmp_path / "s.db").read_bytes() == before


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(StorageError, match="does not exist"):
        open_storage(f"sqlite:///{tmp_path}/nowhere/s.db")


def test_server_that_cannot_be_reached_is_named_without_its_password():
    pytest.importorskip("psycopg")
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        open_storage("postgresql://me:secret@127.0.0.1:1/db")
    assert "secret" not in str(caught.value)


def test_storage_lost_in_the_middle_says_that_finished_trials_are_safe():
    expected = r"me:\*\*\*@host/db was lost \(gone\); finished trials are safe"
    with pytest.raises(StorageError, match=expected), reachable("postgresql://me:secret@host/db"):
        raise sqlalchemy.exc.OperationalError("SELECT 1", {}, Exception("gone"))


def _create(url, barrier, failures):
    try:
        barrier.wait()
        storage = open_storage(url)
        create_study(storage, "s", settings())
        Slots(storage.engine, "s").create(5)
    except BaseException as error:
        failures.put(repr(error))
        raise


@posix_only
def test_many_processes_may_create_the_same_study_at_once(storage):
    context = multiprocessing.get_context("fork")
    barrier, failures = context.Barrier(6), context.Queue()
    processes = [context.Process(target=_create, args=(storage, barrier, failures)) for _ in range(6)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * 6, failures.get()
    opened = open_storage(storage)
    assert load_study(opened, "s").user_attrs["task"] == "BP"
    assert Slots(opened.engine, "s").count()["open"] == 5


def test_eight_workers_with_fifty_reports_each_never_meet_a_locked_database(tmp_path):
    storage = f"sqlite:///{tmp_path}/studies.db"
    run_workers(begin(tmp_path, storage, 8, objective="busy"), 8)
    trials = check_whole(tmp_path, storage, 8)
    assert len(trials) == 8, "none failed on the way, and no worker ended with an error"


def test_slots_are_taken_once_each_by_many_threads(tmp_path):
    storage = open_storage(f"sqlite:///{tmp_path}/s.db")
    slots = Slots(storage.engine, "s")
    slots.create(20)
    taken = []

    def take(number):
        while (lease := slots.take(f"here/1/{number}", 15)) is not None:
            taken.append(lease.slot)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(15))


@pytest.mark.slow
def test_dashboard_opens_on_a_storage(tmp_path, storage):
    dashboard = pytest.importorskip("optuna_dashboard", reason="optuna-dashboard is not installed")
    from wsgiref.simple_server import make_server

    run_workers(begin(tmp_path, storage, 3), 1)
    server = make_server("127.0.0.1", 0, dashboard.wsgi(open_storage(storage)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{server.server_port}/api/studies", timeout=60
        ) as answer:
            studies = json.load(answer)["study_summaries"]
    finally:
        server.shutdown()
        server.server_close()
    assert [study["study_name"] for study in studies] == ["s"]
