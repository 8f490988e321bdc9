"""A student of CartPole from a teacher that is a formula: taught, kept as a run, and read like any other."""

from pathlib import Path

import numpy as np
import pytest
import torch

from neuroplastic import from_rules
from neuroplastic.cli.main import main
from neuroplastic.errors import ConfigError, InputError
from neuroplastic.experiment.demonstrating import demonstrate
from neuroplastic.experiment.game import Game, PolicyError
from neuroplastic.experiment.run_folder import RunError
from neuroplastic.experiment.teachers import Teacher, TeacherError, asked, model_teacher
from neuroplastic.learn.imitation.config import ImitationConfig
from neuroplastic.usecases.imitating import imitate_teacher
from neuroplastic.usecases.opening import open_run
from neuroplastic.usecases.rules import rules_of
from neuroplastic.usecases.runs import evaluate_run
from neuroplastic.usecases.teaching import find_teacher, student_task

pytest.importorskip("gymnasium")


def balance(observations: np.ndarray) -> np.ndarray:
    """Push to where the pole turns: action values that say by how much."""
    turns = observations[:, 3]
    return np.stack([-turns, turns], axis=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = imitate_teacher(
        student_task("CartPole-v1"),
        Teacher("balance", balance),
        ImitationConfig(rounds=1, states=600, max_rules=4, max_premises=2),
        episodes=3,
        runs=str(tmp_path_factory.mktemp("runs")),
    )
    assert made.agreement > 0.85
    assert made.score > 0.8 * made.teacher_score > 100
    assert 1 < len(made.sentences) <= 4
    assert all(" AND " not in line or line.count(" AND ") == 1 for line in made.sentences)
    shares = [float(line.rpartition("(")[2].split(" ")[0].replace("under", "0")) for line in made.sentences]
    assert sum(shares) == pytest.approx(100, abs=3)
    return made.folder


def test_a_student_is_evaluated_read_and_explained_like_any_run(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate_run(str(run), episodes=3).mean > 100
    assert main(["rules", str(run)]) == 0
    assert "THEN push right" in capsys.readouterr().out
    assert main(["explain", str(run)]) == 0
    assert "decision: push" in capsys.readouterr().out


def test_who_reads_only_the_sentences_foretells_every_action(run: Path) -> None:
    """The printed rules, parsed back, decide as the student does."""
    opened = open_run(run)
    rules = rules_of(opened).levels[0]
    parsed = from_rules(rules.text(exact=True), rules.inputs, firing=rules.firing, dtype=torch.float64).eval()
    states = np.random.default_rng(0).uniform(-0.2, 0.2, (500, 4)).astype(np.float32)
    encoder = opened.agent.encoder
    clipped = np.clip(states, encoder.low.numpy(), encoder.high.numpy())
    foretold = parsed(torch.from_numpy(clipped).double()).argmax(dim=1).numpy()
    own = opened.agent.preferences(torch.from_numpy(states)).argmax(dim=1).numpy()
    np.testing.assert_array_equal(foretold, own)


def test_teachers_are_found_by_name_or_refused() -> None:
    doom = student_task("DTC")
    teacher, task = find_teacher(None, doom)
    assert teacher.name == "scripted"
    assert not task.observation.is_picture
    boxed, task = find_teacher("DTC", doom)
    assert boxed.name == "DTC"
    assert task.frame_skip == 2
    assert task.observation.names[0] == "nearest monster"
    with pytest.raises(InputError, match="plays DTC; a teacher must play GH"):
        find_teacher("DTC", student_task("GH"))
    with pytest.raises(ConfigError, match="nobody wrote a player for CartPole-v1"):
        find_teacher(None, student_task("CartPole-v1"))
    with pytest.raises(InputError, match="does not exist"):
        find_teacher("nobody", doom)


def test_a_teacher_answers_with_actions_or_values_and_nothing_else() -> None:
    task = student_task("CartPole-v1")
    seen = np.zeros((3, 4), np.float32)

    class Model:
        def predict(self, observations: np.ndarray, *, deterministic: bool) -> tuple[np.ndarray, None]:
            return np.ones(len(observations), np.int64), None

    actions, costs = asked(model_teacher("model", Model()), seen, task)
    assert actions.tolist() == [1, 1, 1]
    assert costs.tolist() == [1, 1, 1]
    with pytest.raises(PolicyError, match="a teacher must answer 3 observations"):
        asked(Teacher("wrong", lambda observations: np.zeros((len(observations), 5))), seen, task)
    with Game(task) as game:
        game.begin(0)
        assert Teacher("same", balance).look(game) is game.observation


def test_a_teacher_that_fails_is_named_with_its_error_and_the_state_it_was_shown(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "my_teacher.py").write_text("def act(states):\n    return [1] * len(states) + states['x']\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    words = ["imitate", "CartPole-v1", "--teacher", "my_teacher:act", "--states", "100", "--rounds", "1"]
    assert main(words) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("neuroplastic: the teacher my_teacher:act failed with IndexError: ")
    assert "; it was shown float32 of shape (" in said
    assert ", the first [" in said

    def refuses(observations: np.ndarray) -> np.ndarray:
        raise KeyError("height")

    pictures = np.zeros((2, 4, 4, 3), np.uint8)
    with pytest.raises(
        TeacherError, match=r"'height'; it was shown uint8 of shape \(2, 4, 4, 3\)$"
    ) as caught:
        Teacher("mine", refuses).answered(pictures)
    assert isinstance(caught.value.__cause__, KeyError)


def test_what_the_teacher_values_nearly_as_much_counts_as_good_and_its_own_action_always_does():
    task = student_task("CartPole-v1")

    def values(gap: float) -> Teacher:
        return Teacher("values", lambda seen: np.tile([1.0, 1.0 - gap], (len(seen), 1)))

    def second(seen):
        return np.ones(len(seen), np.int64)

    other = demonstrate(task, values(1.0), second, states=40)
    assert (other.agreement, other.as_good) == (0.0, 0.0)
    equal = demonstrate(task, values(0.0), second, states=40)
    assert equal.agreement == 0.0
    assert equal.as_good == 1.0
    own = demonstrate(task, Teacher("actions", second), second, states=40)
    assert (own.agreement, own.as_good) == (1.0, 1.0)


def test_a_place_where_no_run_can_be_written_is_refused_before_anybody_plays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    teacher = Teacher("nobody", lambda _: pytest.fail("it was asked"))
    for place in ("file", "file/runs"):
        with pytest.raises(RunError, match=r"no run can be written to .*file is no folder"):
            imitate_teacher(
                student_task("CartPole-v1"), teacher, ImitationConfig(), runs=str(tmp_path / place)
            )
