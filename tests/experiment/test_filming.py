"""An episode on film is the one that the evaluation plays; a film that was stopped leaves no file."""

from dataclasses import dataclass

import numpy as np
import pytest

from neuroplastic.errors import ConfigError
from neuroplastic.experiment import filming
from neuroplastic.experiment.filming import record_episode
from neuroplastic.experiment.game import GameError
from neuroplastic.experiment.play import Games, watch_episode
from neuroplastic.network.observation import Observation
from tests.small_game import FRAMES_PER_SECOND, CatchTask, Corridor, CorridorTask

imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
pytest.importorskip("cv2")


def always_right(observations: np.ndarray) -> np.ndarray:
    return np.ones(len(observations), np.int64)


def film_of(path) -> tuple[dict, int]:
    """What the file says of itself, and how many frames are in it."""
    reader = imageio_ffmpeg.read_frames(str(path))
    meta = next(reader)
    return meta, sum(1 for _ in reader)


@pytest.fixture
def captions(monkeypatch) -> list[str]:
    """What is written into each frame."""
    written: list[str] = []
    monkeypatch.setattr(filming._Film, "_write_caption", lambda self, picture, text: written.append(text))
    return written


@pytest.mark.parametrize("task", [CatchTask(cells=6, side=15), CorridorTask()], ids=lambda task: task.key)
def test_film_is_the_episode_that_the_evaluation_plays(task, tmp_path):
    recorded = record_episode(task, always_right, tmp_path / "film.mp4", episode=2, seed=5)
    with Games(task) as games:
        result = games.play(always_right, 3, seed=5)[2]
    assert (recorded.score, recorded.decisions) == (result.return_, result.steps)
    watched = watch_episode(task, always_right, episode=2, seed=5)
    assert all((a == b).all() for a, b in zip(recorded.observations, watched, strict=True))
    assert [path.name for path in tmp_path.iterdir()] == ["film.mp4"]
    meta, frames = film_of(tmp_path / "film.mp4")
    assert frames == recorded.decisions + 1
    assert meta["fps"] == FRAMES_PER_SECOND
    width, height = meta["size"]
    assert width % 2 == height % 2 == 0
    assert width >= 320


def test_frames_tell_the_action_taken_on_them_and_the_score_so_far(captions, tmp_path):
    recorded = record_episode(CorridorTask(cells=4, limit=3), always_right, tmp_path / "film.mp4", episode=1)
    assert recorded.decisions == 3
    assert captions == [f"right   score {score:.4g}" for score in (0, -0.1, -0.2, recorded.score)]


class Tics(Corridor):
    """Draws three frames for each decision, and none after the end."""

    def render(self):
        frames = super().render()
        return [] if self.over else frames if self._time == 0 else frames * 3


@dataclass(frozen=True)
class TicsTask(CorridorTask):
    def environment(self, *, seed=0, stream="training", film=False) -> Tics:
        return Tics(self, seed, stream, film=film)


def test_all_frames_of_an_action_are_shown_with_it_but_the_last_which_the_next_is_decided_on(
    captions, tmp_path
):
    def alternate(observations: np.ndarray) -> np.ndarray:
        taken.append(len(taken) % 2)
        return np.array(taken[-1:])

    taken: list[int] = []
    recorded = record_episode(TicsTask(cells=9, limit=3), alternate, tmp_path / "film.mp4", episode=1)
    assert recorded.decisions == 3
    scores = [float(caption.split("score ")[1]) for caption in captions]
    assert [caption.split("   ")[0] for caption in captions] == ["left"] * 3 + ["right"] * 3 + ["left"]
    assert scores == pytest.approx([0, 0, 0, -0.1, -0.1, -0.1, -0.2])


def test_film_is_no_longer_than_asked(tmp_path):
    task = CorridorTask(cells=90, limit=80)
    recorded = record_episode(task, always_right, tmp_path / "film.mp4", longest=1.5)
    assert recorded.decisions == 1.5 * FRAMES_PER_SECOND - 1
    assert film_of(tmp_path / "film.mp4")[1] == 1.5 * FRAMES_PER_SECOND
    with pytest.raises(ConfigError, match="longest must be a number of seconds above 0, got 0"):
        record_episode(task, always_right, tmp_path / "film.mp4", longest=0)


def test_film_that_was_stopped_leaves_no_file_and_the_old_one_as_it_was(tmp_path):
    (tmp_path / "film.mp4").write_text("the old one")

    def stopping(observations: np.ndarray) -> np.ndarray:
        if next(decisions) == 2:
            raise KeyboardInterrupt
        return always_right(observations)

    decisions = iter(range(9))
    with pytest.raises(KeyboardInterrupt):
        record_episode(CorridorTask(cells=30), stopping, tmp_path / "film.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["film.mp4"]
    assert (tmp_path / "film.mp4").read_text() == "the old one"


def test_task_that_gives_no_frames_is_told_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(Corridor, "render", lambda self: None)
    with pytest.raises(GameError, match="corridor gives no frame at the beginning of an episode"):
        record_episode(CorridorTask(), always_right, tmp_path / "film.mp4")
    assert not list(tmp_path.iterdir())


def test_caption_is_readable_and_fits_small_frames(tmp_path):
    """Red and green of the game stay, black and white of letters come, and nothing is cut off at the right."""
    film = filming._Film(tmp_path / "film.mp4", np.zeros((11, 33, 3), np.uint8), 10.0)
    try:
        picture = filming._prepared(np.full((11, 33, 3), 100, np.uint8))
        film._write_caption(picture, "a long name for an action that somebody thought of   score 12.5")
    finally:
        film.close()
    assert picture.shape == (110, 330, 3)
    assert {0, 255} <= set(np.unique(picture))
    assert (picture[:, -8:] == 100).all()


def test_film_of_a_gymnasium_environment(tmp_path):
    gymnasium = pytest.importorskip("gymnasium")
    pytest.importorskip("pygame")

    class CartPole(gymnasium.Wrapper):
        def __init__(self, *, film: bool) -> None:
            super().__init__(gymnasium.make("CartPole-v1", render_mode="rgb_array_list" if film else None))

        def reset(self, *, seed=None, options=None):
            return super().reset(seed=(options or {}).get("episode", seed))

    class CartPoleTask(CorridorTask):
        observation = Observation((4,))

        def environment(self, *, seed=0, stream="training", film=False):
            return CartPole(film=film)

    recorded = record_episode(CartPoleTask(), always_right, tmp_path / "film.mp4")
    meta, frames = film_of(tmp_path / "film.mp4")
    assert (meta["size"], meta["fps"], frames) == ((600, 400), 50.0, recorded.decisions + 1)


def test_a_film_may_say_why_below_the_caption(monkeypatch, tmp_path):
    lines: list[tuple[str, int]] = []
    monkeypatch.setattr(
        filming._Film, "_write_line", lambda self, picture, text, base: lines.append((text, base))
    )
    task = CorridorTask(cells=4, limit=3)
    record_episode(
        task, always_right, tmp_path / "film.mp4", why=lambda seen: f"door is {seen.size}° away " * 4
    )
    first = [text for text, base in lines if base > lines[0][1]]
    assert first[0].startswith("door is ")
    assert all(text.isascii() and len(text) <= 60 for text in first)


def test_a_film_of_another_kind_is_refused_before_anything_is_played(tmp_path):
    with pytest.raises(ConfigError, match=r"a film is an \.mp4, got .*film\.gif"):
        record_episode(CorridorTask(cells=4, limit=3), always_right, tmp_path / "film.gif", episode=0)
    assert not list(tmp_path.iterdir())
