"""Frames that say why: nothing is cut off, and all frames of a film have one shape."""

import numpy as np
import pytest

pytest.importorskip("cv2")

import cv2

from neuroplastic.experiment import painting
from neuroplastic.experiment.painting import Told, paint
from neuroplastic.experiment.showing import show_episodes
from tests.small_game import CorridorTask

ACTIONS = ("nothing", "turn left", "turn left + turn right + attack")
LONG = "IF nearest monster is to the right by over 3.6° or not seen AND ammunition is at least 3 THEN attack"


@pytest.mark.parametrize("sentences", [0, 1, 3])
@pytest.mark.parametrize("size", [(60, 80), (480, 640)])
def test_all_words_are_written_within_the_panel(sentences, size, monkeypatch):
    written = []
    real = cv2.putText

    def noted(picture, text, where, font, scale, *rest):
        wide, high = cv2.getTextSize(text, font, scale, 1)[0]
        written.append((text, where, wide, high))
        return real(picture, text, where, font, scale, *rest)

    monkeypatch.setattr(painting._cv2(), "putText", noted)
    frame = np.zeros((*size, 3), np.uint8)
    painted = paint(frame, Told((LONG,) * sentences, ACTIONS, (0.0, 1.0, 0.5), 1))
    told = " ".join(text for text, *_ in written[: len(written) - len(ACTIONS)] if text)
    assert told == " ".join([LONG.replace("°", " deg")] * sentences)
    height, width = painted.shape[:2]
    panel = height - round(size[0] * max(1, np.ceil(480 / size[1])))
    for _, (x, y), wide, high in written:
        assert x >= 0
        assert x + wide <= width
        assert high <= y <= panel


def test_frames_have_one_shape_with_and_without_heat_and_the_hottest_place_is_reddest():
    frame = np.full((480, 640, 3), 90, np.uint8)
    heat = np.zeros((84, 84))
    heat[40:44, 60:64] = 2.0
    plain, hot = (paint(frame, Told(("a",), ACTIONS, (1.0,) * 3, 0, found)) for found in (None, heat))
    assert plain.shape == hot.shape
    change = np.abs(hot.astype(int) - plain)[:480].sum(axis=2)
    row, column = np.unravel_index(change.argmax(), change.shape)
    assert abs(row - 42 / 84 * 480) < 20
    assert abs(column - 62 / 84 * 640) < 20


def test_a_commentary_hears_each_decision_before_its_frames_and_paints_all_of_them():
    class Screen:
        def __init__(self):
            self.reason, self.shapes = "", set()

        def show(self, frames, action, score):
            self.shapes |= {frame.shape for frame in frames}

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    class Commentary:
        def __init__(self):
            self.heard = []

        def look(self, game):
            return game.observation

        def decided(self, game, seen, action):
            self.heard.append((game.steps, action))

        def painted(self, frame):
            return np.zeros((7, 5, 3), np.uint8)

    task, commentary, screen = CorridorTask(cells=4, limit=3), Commentary(), Screen()
    (shown,) = show_episodes(
        task, lambda seen: np.ones(len(seen), np.int64), lambda _, __: screen, commentary=commentary
    )
    assert commentary.heard == [(step, 1) for step in range(shown.decisions)]
    assert screen.shapes == {(7, 5, 3)}
    assert shown.seconds > 0
