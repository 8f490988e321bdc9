"""Cards of rules told by play, and an agent beside its student."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from neuroplastic.cli.main import main
from neuroplastic.experiment.demonstrating import Demonstrated
from neuroplastic.learn.imitation import Demonstrations
from neuroplastic.report.agent_page import bars, heat_picture, page, picture, section
from neuroplastic.usecases.agent_cards import agent_cards
from neuroplastic.usecases.card_pages import cards_page
from neuroplastic.usecases.opening import open_anything, open_run
from neuroplastic.usecases.translating import compared, translation_page

RNG = np.random.default_rng(0)
PICTURES = [RNG.integers(0, 255, (84, 84, 3), dtype=np.uint8) for _ in range(9)]


def test_every_rule_that_leads_has_a_card_and_the_others_are_counted(run_of, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("neuroplastic.usecases.agent_cards.watch_evaluation", lambda *_, **__: PICTURES)
    run = run_of("nfn")
    found = agent_cards(open_anything(run))
    assert found.rules == 2
    assert len(found.cards) + found.silent == 2
    assert sum(card.share for card in found.cards) == pytest.approx(1)
    card = found.cards[0]
    assert card.pictures.shape[1:] == card.mean.shape == (84, 84, 3)
    assert card.heat.shape == (84, 84)
    assert card.values.sum() == pytest.approx(0, abs=1e-9)
    text = cards_page(found)
    assert text.count("<section>") == len(found.cards)
    assert "://" not in text
    assert main(["rules", str(run), "--cards", str(tmp_path / "cards.html")]) == 0
    assert (tmp_path / "cards.html").read_text() == text
    assert main(["rules", str(run), "--cards", str(tmp_path / "cards.txt")]) == 2
    assert "rules that lead" in capsys.readouterr().out


def test_a_run_with_many_rules_prints_a_screenful_unless_all_are_asked_for(capsys, monkeypatch):
    pytest.importorskip("vizdoom")
    monkeypatch.setattr("neuroplastic.cli.rules._diagnosis", lambda *_: "")
    assert main(["rules", "DTC"]) == 0
    few = capsys.readouterr().out
    assert few.count("RULE ") == 20
    assert "# and 44 more: --all" in few
    assert main(["rules", "DTC", "--all"]) == 0
    assert capsys.readouterr().out.count("RULE ") == 64


def test_a_page_escapes_its_words_and_holds_its_pictures():
    figures = [picture(PICTURES[0], "<first>"), heat_picture(np.eye(84), PICTURES[0], "heat")]
    made = page(
        "a < b", "why", [section("one", ["two & three"], figures=figures, bars=bars(["x"], np.ones(1)))]
    )
    assert "a &lt; b" in made
    assert "two &amp; three" in made
    assert made.count("data:image/png;base64,") == 2


def test_a_student_is_held_beside_its_teacher_rule_by_rule(tmp_path: Path):
    opened = open_run(_student(tmp_path))
    states = RNG.uniform(-0.2, 0.2, (60, 4)).astype(np.float32)
    does = (states[:, 3] > 0).astype(np.int64)
    shown = Demonstrations(states, np.where(np.arange(60) < 6, 1 - does, does), np.arange(60.0))
    looks = np.zeros((60, 5, 5, 3), np.uint8)
    student = SimpleNamespace(config=opened.config, agent=opened.agent, score=1.0, teacher_score=2.0)
    found = compared(student, Demonstrated(shown, shown.actions, looks))
    assert sum(each.share for each in found.situations) == pytest.approx(1)
    assert found.agreement == pytest.approx(sum(each.share * each.agreement for each in found.situations))
    assert "the teacher does what the student does in" in found.text()
    assert translation_page(found).count("<section>") == len(found.situations)
    assert "% of them</" not in translation_page(found)
    outvoted = replace(found, situations=(replace(found.situations[0], student_share=0.56),))
    assert "in 56 % of them</" in translation_page(outvoted)


def _student(folder: Path) -> Path:
    from neuroplastic.experiment.agent import build_agent
    from neuroplastic.experiment.configuration import RunConfig
    from neuroplastic.experiment.run_folder import RunFolder
    from neuroplastic.learn.estimators.readable.draft import Draft
    from neuroplastic.learn.imitation import ImitationConfig, Student
    from neuroplastic.network.encoders.attributes import AttributeEncoderConfig
    from neuroplastic.usecases.teaching import student_task

    premises = np.array([[-1, -1, -1, 0], [-1, -1, -1, 1]])
    draft = Draft(
        np.tile([-0.1, 0.1], (4, 1)),
        np.full((4, 2), 0.1),
        np.zeros(4, bool),
        premises,
        np.array([[1.0, 0], [0, 1]]),
    )
    student = Student(draft, np.full(4, -1.0), np.full(4, 1.0))
    config = RunConfig(
        student_task("CartPole-v1"),
        "student",
        ImitationConfig("x"),
        AttributeEncoderConfig(clip=True),
        student.head,
    )
    agent = build_agent(config)
    student.write_into(agent)
    made = RunFolder.create(folder, config)
    made.write_best(agent)
    return made.path
