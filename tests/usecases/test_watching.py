import numpy as np
import pytest

pytest.importorskip("vizdoom", reason="needs the extra 'doom'")

from neuroplastic.usecases.opening import open_run
from neuroplastic.usecases.watching import Watching

DECISIONS = 12


@pytest.fixture(scope="module")
def run():
    return open_run("DTC")


def watched(run, seed):
    moments = []
    with Watching(run, seed=seed) as watching:
        watching.begin(2)
        for _ in range(DECISIONS):
            moments.append(watching.look())
            assert len(watching.act(moments[-1].action)) == 2  # a frame a tic
    return moments


def test_the_same_seed_shows_the_same_decisions_and_another_seed_others(run):
    first, again, other = watched(run, 11), watched(run, 11), watched(run, 12)
    assert [m.values for m in first] == [m.values for m in again]
    assert all((a.observation == b.observation).all() for a, b in zip(first, again, strict=True))
    assert [m.values for m in first] != [m.values for m in other]


def test_shares_of_fired_rules_come_in_order_and_the_best_action_is_taken(run):
    for moment in watched(run, 3):
        shares = [rule.share for rule in moment.fired]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1 + 1e-6
        assert moment.values[moment.action] == pytest.approx(max(moment.values), abs=1e-5)
        assert moment.frame.shape == (480, 640, 3)
        assert [moment.rules, moment.number >= 0] == [64, True]


def test_why_not_names_a_rule_that_is_for_the_action_and_heat_lies_over_the_picture(run):
    pytest.importorskip("captum", reason="needs the extra 'rules'")
    with Watching(run, seed=7) as watching:
        watching.begin(0)
        moment = watching.look()
        other = next(k for k in range(len(watching.actions)) if k != moment.action)
        assert watching.why_not(moment.observation, moment.action).text.startswith("It did")
        told = watching.why_not(moment.observation, other)
        in_words = watching.why_not(moment.observation, other, moment.attributes)
        heat = watching.heat(moment.observation)
    assert f"more than {watching.actions[other]}" in told.text
    assert "the nearest is rule" in told.details
    assert "feature" not in told.text + in_words.text
    assert "student" in in_words.text
    assert heat.shape == moment.observation.shape[:2]
    assert np.abs(heat).max() == pytest.approx(1)


def test_a_student_in_the_box_says_in_words_what_happens_and_changes_nothing(run, monkeypatch):
    beside = watched(run, 7)
    assert all(m.words.sentence.startswith("IF ") and "monster" in m.words.sentence for m in beside)
    assert any(m.words_agree for m in beside)
    monkeypatch.setattr("neuroplastic.usecases.watching.student_of", lambda _: None)
    alone = watched(run, 7)
    assert alone[0].words is None
    assert [m.values for m in alone] == [m.values for m in beside]
    assert all((a.observation == b.observation).all() for a, b in zip(alone, beside, strict=True))
