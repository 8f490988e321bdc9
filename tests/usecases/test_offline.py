"""Recordings go to Minari and back, and a run learns from one, stops and goes on."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from neuroplastic.cli.main import main
from neuroplastic.errors import ConfigError, InputError
from neuroplastic.experiment.recording_play import record_play
from neuroplastic.experiment.run_folder import RunFolder, run_folders
from neuroplastic.experiment.teachers import Teacher
from neuroplastic.gym.recordings import read_recording, write_recording
from neuroplastic.usecases.offline import PlayRequest, offline_configuration, record_to_file, resume_offline
from neuroplastic.usecases.teaching import student_task

minari = pytest.importorskip("minari")
from gymnasium import spaces  # noqa: E402

CARTPOLE = student_task("CartPole-v1")


def balance(observations: np.ndarray) -> np.ndarray:
    turns = observations[:, 3]
    return np.stack([-turns, turns], axis=1)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "pole"
    write_recording(
        path,
        CARTPOLE,
        record_play(CARTPOLE, Teacher("balance", balance), episodes=6, random_share=0.2),
        player="balance",
    )
    return path


def test_a_recording_is_a_data_set_of_minari_and_comes_back_as_it_was(data: Path) -> None:
    played = list(record_play(CARTPOLE, Teacher("balance", balance), episodes=6, random_share=0.2))
    theirs = minari.MinariDataset(data)
    assert theirs.total_episodes == 6
    assert theirs.action_space == spaces.Discrete(2)
    ours = read_recording(data)
    for was, found, other in zip(played, ours.episodes, theirs.iterate_episodes(), strict=True):
        np.testing.assert_array_equal(was.observations, found.observations)
        np.testing.assert_array_equal(was.observations, other.observations)
        np.testing.assert_array_equal(was.actions, other.actions)
        np.testing.assert_array_equal(was.values, found.values)
        np.testing.assert_array_equal(was.rewards, found.rewards)
        assert was.terminated == found.terminated


@pytest.mark.filterwarnings("ignore")  # Minari would like to know an author
def test_a_discrete_data_set_of_others_can_be_read_and_a_continuous_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))

    def made(name: str, space: spaces.Space, actions: np.ndarray) -> None:
        buffer = minari.data_collector.EpisodeBuffer(
            id=0,
            observations=np.zeros((4, 2), np.float64),
            actions=actions,
            rewards=[1.0, 2.0, 3.0],
            terminations=[False] * 3,
            truncations=[False, False, True],
        )
        minari.create_dataset_from_buffers(
            name, [buffer], observation_space=spaces.Box(-1, 1, (2,), np.float64), action_space=space
        )

    made("others/one-v0", spaces.Discrete(3, start=1), np.array([1, 3, 2]))
    made("others/two-v0", spaces.Box(-1, 1, (1,)), np.zeros((3, 1), np.float32))
    found = read_recording("others/one-v0")
    assert found.actions == 3
    assert found.episodes[0].actions.tolist() == [0, 2, 1]
    assert found.mean_score == 6
    assert not found.episodes[0].terminated
    assert len(read_recording(tmp_path / "others" / "one-v0")) == 3
    with pytest.raises(InputError, match="must have discrete actions"):
        read_recording("others/two-v0")
    with pytest.raises(InputError, match="is no Minari data set that can be read"):
        read_recording(tmp_path / "others")


def test_a_run_learns_from_a_recording_stops_and_goes_on(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["--steps-per-epoch", "20", "--episodes", "2", "--runs", str(tmp_path)]
    words = ["offline", "CartPole-v1", "--data", str(data), "--agent", "dnn", *short]
    assert main([*words, "--epochs", "2"]) == 0
    assert main([*words, "--epochs", "1"]) == 0
    whole, half = tmp_path / "CartPole-v1-dnn-offline-seed0", tmp_path / "CartPole-v1-dnn-offline-seed0-2"
    assert main(["offline", "--resume", str(half), "--epochs", "2"]) == 0
    assert (whole / "metrics.csv").read_text() == (half / "metrics.csv").read_text()
    assert main(["evaluate", str(half), "--which", "last", "--episodes", "1"]) == 0
    assert "epoch 2" in capsys.readouterr().out
    assert main(["train", "--resume", str(half)]) == 2
    assert "offline --resume RUN" in capsys.readouterr().err
    (half / "metrics.csv").unlink()  # as if killed between the last checkpoint and its figures
    assert main(["offline", "--resume", str(half)]) == 0
    assert (whole / "metrics.csv").read_text() == (half / "metrics.csv").read_text()
    shutil.rmtree(half / "checkpoints")
    assert main(["offline", "--resume", str(half)]) == 2
    assert "its checkpoints are gone: it cannot go on" in capsys.readouterr().err
    assert (whole / "metrics.csv").read_text() == (half / "metrics.csv").read_text()


def test_a_run_that_is_made_at_once_is_none_before_all_of_it_is_there(tmp_path: Path) -> None:
    config = offline_configuration("CartPole-v1", "nowhere", agent="dnn", method="cql", fields={})

    def killed(folder: RunFolder) -> None:
        assert folder.path.is_dir()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RunFolder.create(tmp_path, config, killed)
    assert list(run_folders(tmp_path)) == []


def test_a_student_clones_what_was_recorded(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "imitate",
        "CartPole-v1",
        "--data",
        str(data),
        "--rules",
        "3",
        "--premises",
        "1",
        "--episodes",
        "2",
    ]
    assert main([*words, "--runs", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "THEN push right" in told
    assert "of episodes held out" in told
    assert main([*words, "--teacher", "scripted"]) == 2


def test_mistakes_are_told(tmp_path: Path, data: Path) -> None:
    with pytest.raises(ConfigError, match="say what scripted is to play"):
        record_to_file(PlayRequest("scripted", str(tmp_path / "out")))
    with pytest.raises(ConfigError, match="is not overwritten"):
        record_to_file(PlayRequest("DTC", str(data)))
    assert main(["offline", "CartPole-v1"]) == 2
    assert main(["offline", "Acrobot-v1", "--data", str(data), "--runs", str(tmp_path)]) == 2
    with pytest.raises(InputError, match="does not learn from a recording"):
        resume_offline(str(Path(__file__).parents[2] / "src" / "neuroplastic" / "box" / "DTC"))
