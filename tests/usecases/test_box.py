"""Trained agents that the package brings along: found by their names, read, never written."""

import hashlib
import math

import pytest

pytest.importorskip("vizdoom")

from neuroplastic.errors import InputError
from neuroplastic.rules.networks import levels_of
from neuroplastic.usecases.cards import Card
from neuroplastic.usecases.opening import BOX, in_the_box, kind_of, open_run, student_of
from neuroplastic.usecases.runs import evaluate_run, record_run

NAMES = sorted(folder.name for folder in BOX.iterdir())
SLOW = pytest.mark.slow  # one of them is enough for every day


def digests():
    return {
        path: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(BOX.rglob("*"))
        if path.is_file()
    }


def enough(card: Card) -> int:
    """Episodes whose mean lies three standard errors from half-way between random play and the card, at least two."""
    return max(2, math.ceil((6 * card.sd / (card.mean - card.random_play)) ** 2))


def test_there_are_agents_and_none_is_large():
    assert {"DTC", "DTC-student", "GH", "GH-student"} <= set(NAMES)
    assert all(path.stat().st_size < 3_000_000 for path in BOX.rglob("*"))
    assert sum(path.stat().st_size for path in BOX.rglob("*")) < 24_000_000


@pytest.mark.parametrize(
    "name", [name if name == "DTC" else pytest.param(name, marks=SLOW) for name in NAMES]
)
def test_an_agent_in_the_box_plays_well_without_any_run_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = digests()
    assert kind_of(name) == "run"
    card = open_run(name.removesuffix("-student")).card
    found = evaluate_run(name, episodes=enough(card), seed=7)
    assert found.mean > (card.mean + card.random_play) / 2, "it is nearer to its card than to random play"
    assert digests() == before
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_film_of_one_lies_here_and_not_in_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = digests()
    recorded = record_run("DTC", episode=1)
    assert recorded.path.name == "DTC-episode-1.mp4"
    assert (tmp_path / recorded.path).stat().st_size > 1000
    assert digests() == before


def test_a_run_of_ones_own_of_that_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "runs" / "DTC"
    own.mkdir(parents=True)
    (own / "config.json").write_text("{}")
    assert in_the_box("DTC") is None


@pytest.mark.parametrize("name", ["../box/DTC", "box/DTC", "DTC/..", "..", ".", "HTX", ""])
def test_nothing_else_is_reached_by_a_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert in_the_box(name) is None
    with pytest.raises(InputError):
        kind_of(name)


def test_its_rules_conclude_constants_over_64_features():
    (head,) = levels_of(open_run("DTC").agent.advantage)
    assert type(head.consequent_config).__name__ == "Constant"
    assert (head.in_features, head.rules) == (64, 64)


def test_an_agents_student_is_found_beside_it_and_a_student_has_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agent = open_run("DTC")
    student = student_of(agent)
    assert student is not None
    assert student.path == BOX / "DTC-student"
    assert student.config.task.observe == "objects"
    assert student_of(student) is None


@pytest.mark.slow
def test_a_film_that_explains_has_a_students_words_and_lasts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recorded = record_run("DTC", explain=True)
    assert len(recorded.episodes) == 5 or sum(film.seconds for film in recorded.episodes) >= 20
    assert recorded.path.stat().st_size > 100_000
