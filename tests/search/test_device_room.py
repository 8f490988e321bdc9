"""A study whose trials do not fit on the GPU at once is refused before the first begins."""

import pytest
import torch

from neuroplastic.errors import ConfigError
from neuroplastic.search import device_room
from neuroplastic.search.device_room import check_room_for_workers, largest_trial
from neuroplastic.search.settings import StudySettings


def test_the_memory_of_all_workers_is_set_against_what_is_free(monkeypatch):
    settings = StudySettings.asked("BP", "dnn")
    assert largest_trial(settings).learner.memory_size == 50_000  # the largest of the search space
    monkeypatch.setattr(device_room, "free_bytes", lambda device: 20_000_000_000)
    check_room_for_workers(settings, 9, torch.device("cuda"))
    with pytest.raises(
        ConfigError, match=r"16 workers need up to 32\.9 GB on cuda \(1\.06 GB .* use --workers 9, or"
    ):
        check_room_for_workers(settings, 16, torch.device("cuda"))


def test_a_neuro_fuzzy_study_has_the_memory_that_it_inherits():
    settings = StudySettings("BP", "nfn", "paper", 1, 10, 1, inherited={"memory_size": 20_000})
    assert largest_trial(settings).learner.memory_size == 20_000


def test_a_cpu_answers_for_itself():
    check_room_for_workers(StudySettings.asked("BP", "dnn"), 10_000, torch.device("cpu"))
