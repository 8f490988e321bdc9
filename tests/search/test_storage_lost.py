"""The storage's file, or the server that starts workers, goes away while a study runs: never an end like any other."""

import multiprocessing.forkserver
import os
import signal
import sys

import pytest

from neuroplastic.search.storage import StorageError, open_storage
from neuroplastic.search.storage_file import StorageFile
from tests.search.studies import Background, begin, check_whole, lines, wait_for, worker_processes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")


def test_database_that_is_lost_while_trials_are_made_ends_the_study_with_an_error(tmp_path):
    path = tmp_path / "studies.db"
    study = Background(begin(tmp_path, f"sqlite:///{path}", 6, objective="fifth_of_a_second"), 1)
    wait_for(lambda: lines(tmp_path / "stored"))
    path.unlink()
    with pytest.raises(StorageError, match=r"studies\.db was removed or replaced while the study ran"):
        study.join()
    assert not worker_processes(), "none goes on into a file that nobody will find"


def test_database_that_another_takes_the_place_of_is_told_from_it(tmp_path):
    for name in ("studies.db", "other.db"):
        open_storage(f"sqlite:///{tmp_path}/{name}").engine.dispose()
    file = StorageFile(f"sqlite:///{tmp_path}/studies.db")
    file.check()
    (tmp_path / "other.db").replace(tmp_path / "studies.db")
    with pytest.raises(StorageError, match="removed or replaced"):
        file.check()


@pytest.mark.slow
def test_killed_fork_server_costs_no_trial_and_makes_none_twice(tmp_path):
    storage = f"sqlite:///{tmp_path}/studies.db"
    study = Background(begin(tmp_path, storage, 6, objective="fifth_of_a_second"), 2)
    wait_for(lambda: lines(tmp_path / "stored"))
    workers = worker_processes()
    os.kill(multiprocessing.forkserver._forkserver._forkserver_pid, signal.SIGKILL)
    study.join()
    check_whole(tmp_path, storage, 6)
    assert not any(worker.is_running() for worker in workers)
