"""An episode on film is the one that the evaluation plays; a film that was stopped leaves no file."""

import numpy as np
import pytest
import torch
from torch import nn

from neuroplastic.doom.presets import preset
from neuroplastic.experiment import recording
from neuroplastic.experiment.agent import greedy
from neuroplastic.experiment.recording import record_episode, watch_episode

CONFIG = preset("tuned", "BP", "dnn")


class TwoPictures:
    """An engine whose episodes last two decisions; `acted` are the buttons held."""

    def __init__(self, game, picture) -> None:
        self.acted: list[tuple[bool, ...]] = []
        self.episode_return, self.tics = 0.0, 0
        made.append(self)

    @property
    def finished(self) -> bool:
        return self.tics >= 2 * CONFIG.protocol.frame_skip

    @property
    def frame(self):
        return np.zeros((480, 640, 3), np.uint8)

    def begin(self, seed) -> None:
        pass

    def read(self, picture) -> None:
        picture[:] = self.tics

    def act(self, buttons, tics) -> None:
        self.acted.append(tuple(buttons))
        self.tics += tics

    def close(self) -> None:
        pass


made: list[TwoPictures] = []


class Rounded(nn.Module):
    """Prefers the second action by so little that the values, which are large, are equal."""

    def preferences(self, pictures):
        return torch.tensor([[0.0, 1e-6]]).expand(len(pictures), 2)

    def forward(self, pictures):
        return self.preferences(pictures) + 1e6


@pytest.fixture(autouse=True)
def engine(monkeypatch):
    made.clear()
    monkeypatch.setattr(recording, "Engine", TwoPictures)
    monkeypatch.setattr(recording, "button_presses", lambda _: [(False,), (True,)])


def test_films_and_explanations_show_the_actions_of_the_evaluation(tmp_path):
    network = Rounded()
    pictures = np.zeros((3, 84, 84, 3), np.uint8)
    assert greedy(network, pictures).tolist() == [1, 1, 1]
    assert int(network(torch.from_numpy(pictures[:1])).argmax()) == 0
    assert len(watch_episode(CONFIG, network)) == 2
    pytest.importorskip("imageio_ffmpeg")
    assert record_episode(CONFIG, network, tmp_path / "film.mp4").decisions == 2
    assert {buttons for engine in made for buttons in engine.acted} == {(True,)}
    assert [path.name for path in tmp_path.iterdir()] == ["film.mp4"]


def test_film_that_was_stopped_leaves_no_file(tmp_path):
    pytest.importorskip("imageio_ffmpeg")

    class Stopping(Rounded):
        def preferences(self, pictures):
            if pictures.any():  # the second decision
                raise KeyboardInterrupt
            return super().preferences(pictures)

    with pytest.raises(KeyboardInterrupt):
        record_episode(CONFIG, Stopping(), tmp_path / "film.mp4")
    assert not list(tmp_path.iterdir())
