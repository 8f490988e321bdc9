"""Workers spread over a Ray cluster of two nodes on this machine."""

import os
import threading
import time

import pytest

from neuroplastic.search.ray_engine import run_on_ray
from tests.search.studies import begin, check_whole, lines, wait_for

ray = pytest.importorskip("ray", reason="the ray extra is not installed")

# A cluster takes a quarter of a minute and a core to start: too dear for the normal run.
pytestmark = pytest.mark.slow


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    from ray.cluster_utils import Cluster

    # Workers find the tests' trials by this; without the first, Ray asks its makers for a new version.
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    node = {"num_cpus": 2, "object_store_memory": 80_000_000}
    try:
        made = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        made.second = made.add_node(**node)
        ray.init(address=made.address, log_to_driver=False, logging_level="error")
    except Exception as error:
        pytest.skip(f"no Ray cluster can be started here: {error}")
    yield made
    ray.shutdown()
    made.shutdown()


def test_trials_spread_over_both_nodes(tmp_path, cluster):
    storage = f"sqlite:///{tmp_path}/studies.db"
    run_on_ray(begin(tmp_path, storage, 12, objective="second"), 4)
    trials = check_whole(tmp_path, storage, 12)
    nodes = {trial.user_attrs["node"] for trial in trials}
    assert nodes == {node["NodeID"] for node in ray.nodes()}


def test_study_ends_with_all_trials_when_a_node_is_killed(tmp_path, cluster):
    storage = f"sqlite:///{tmp_path}/studies.db"
    job = begin(tmp_path, storage, 16, objective="second")
    errors = []

    def run():
        try:
            run_on_ray(job, 4)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    wait_for(lambda: len(lines(tmp_path / "runs" / "s" / "computed")) >= 3, 240)
    time.sleep(0.5)
    cluster.remove_node(cluster.second, allow_graceful=False)
    thread.join(240)
    assert not thread.is_alive()
    assert not errors
    check_whole(tmp_path, storage, 16)
