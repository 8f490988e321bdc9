"""An agent is shown at play: in a window where there is a display, else on a film."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from neuroplastic.cli.main import main
from neuroplastic.errors import InputError
from neuroplastic.experiment import window as windows
from neuroplastic.experiment.agent import build_agent, greedy
from neuroplastic.experiment.play import Games
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.usecases.opening import box_names
from neuroplastic.usecases.playing import play_run
from tests.small_game import CatchTask

pytest.importorskip("imageio_ffmpeg")
pytest.importorskip("cv2")


class FakeTk:
    """A display that keeps what it is shown; whoever watches closes the window after some frames."""

    def __init__(self, patience: int = 10**6) -> None:
        self.shown, self.captions, self.patience, self.close = [], [], patience, lambda: None
        self.open = 0

    def module(self) -> SimpleNamespace:
        def label(root, **_):
            return SimpleNamespace(pack=lambda **_: None, configure=self.configure)

        return SimpleNamespace(
            Tk=lambda className: self.root(), TclError=RuntimeError, Label=label, PhotoImage=self.photo
        )

    def root(self) -> SimpleNamespace:
        self.open += 1
        return SimpleNamespace(protocol=self.protocol, update=self.update, destroy=self.destroy)

    def protocol(self, name, close) -> None:
        self.close = close

    def update(self) -> None:
        if len(self.shown) >= self.patience:
            self.close()

    def destroy(self) -> None:
        self.open -= 1

    def photo(self, data, format) -> SimpleNamespace:
        return SimpleNamespace(data=data, zoom=lambda factor: SimpleNamespace(data=data))

    def configure(self, image=None, text=None) -> None:
        if image is not None:
            self.shown.append(image.data)
        if text is not None:
            self.captions.append(text)


@pytest.fixture
def run(tmp_path) -> RunFolder:
    task = CatchTask(cells=4, side=8)
    config = task.preset(task.presets[0], "nfn")
    folder = RunFolder.create(tmp_path, config)
    folder.write_best(build_agent(config))
    return folder


@pytest.fixture
def _no_display(monkeypatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)


@pytest.mark.usefixtures("_no_display")
def test_without_a_display_the_episodes_of_an_evaluation_go_on_one_film_and_it_is_said_why(run):
    told = []
    shown = play_run(str(run.path), episodes=3, seed=5, on_screen=told.append)
    assert shown.film == run.path / "play.mp4"
    assert shown.film.stat().st_size > 0
    assert told[0].film == shown.film
    assert "display" in shown.no_window
    agent = build_agent(shown.config)
    run.load_into(agent, "best")
    with Games(shown.config.task) as games:
        results = games.play(lambda seen: greedy(agent.eval(), seen), 3, seed=5)
    assert shown.scores == tuple(result.return_ for result in results)


def test_with_a_display_every_frame_is_shown_with_action_and_score_and_nothing_is_written(run, monkeypatch):
    display = FakeTk()
    monkeypatch.setitem(sys.modules, "tkinter", display.module())
    monkeypatch.setattr(windows.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(windows.time, "monotonic", iter(np.arange(0.0, 1e6, 1.0)).__next__)
    before = sorted(path.name for path in run.path.iterdir())
    shown = play_run(str(run.path), episodes=2)
    assert shown.film is None
    assert len(shown.scores) == 2
    assert len(display.shown) == len(display.captions) > 2
    assert all(data.startswith(b"P6 8 8 255 ") and len(data) == 11 + 3 * 64 for data in display.shown)
    assert display.captions[-1].endswith(f"score {shown.scores[-1]:.4g}")
    assert display.open == 0
    assert sorted(path.name for path in run.path.iterdir()) == before


def test_a_window_that_is_closed_ends_the_show(run, monkeypatch):
    display = FakeTk(patience=2)
    monkeypatch.setitem(sys.modules, "tkinter", display.module())
    shown = play_run(str(run.path), episodes=50)
    assert len(display.shown) == 2
    assert len(shown.scores) < 50
    assert display.open == 0


def test_a_name_without_a_trained_agent_is_told_what_there_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"no trained agent 'DTX'; in the box are .*DTC.*did you mean 'DTC'"):
        play_run("DTX")


@pytest.mark.usefixtures("_no_display")
def test_the_command_says_where_it_plays_and_what_was_scored(run, capsys):
    assert main(["play", str(run.path), "--episodes", "2"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert "no window can be opened here" in said[0]
    assert [line.split()[0] for line in said[1:]] == ["score", "score", "film:"]


def test_the_box_is_listed_and_a_card_shown(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["box"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{name}: " in listed for name in box_names())
    assert main(["box", "BP"]) == 0
    assert "by: neuroplastic train BP --agent nfn --preset long" in capsys.readouterr().out
