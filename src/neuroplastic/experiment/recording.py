"""Films an episode as an mp4 that browsers play, every tic of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from ..doom.engine import SIDE, TICS_PER_SECOND, Engine
from ..doom.environment import button_presses
from ..doom.scenarios import scenario
from ..learn.seeding import episode_seed
from ..network.dueling import DuelingNetwork
from .agent import greedy
from .configuration import RunConfig


@dataclass(frozen=True)
class RecordedEpisode:
    """What was filmed: its score, the number of decisions, and the pictures they were made on."""

    score: float
    decisions: int
    pictures: list[NDArray[np.uint8]]


def record_episode(
    config: RunConfig,
    network: DuelingNetwork,
    path: str | os.PathLike[str],
    *,
    episode: int = 0,
    seed: int = 0,
    longest: float = 120.0,
) -> RecordedEpisode:
    """Play one evaluation episode greedily and film it, for at most `longest` seconds of game time.

    The film is drawn at 640x480; the agent sees the picture that it was trained on, from a second engine that
    plays the same episode with the same actions.
    """
    import imageio_ffmpeg  # here, for a machine that only trains need not have it

    game = scenario(config.scenario)
    presses = button_presses(game)
    number = episode_seed(seed, episode, stream="evaluation")
    stage, eyes = Engine(game, "paper"), Engine(game, config.protocol.picture)
    pictures: list[NDArray[np.uint8]] = []
    temporary = Path(path).with_name(f".{Path(path).name}.writing.mp4")
    film = imageio_ffmpeg.write_frames(
        str(temporary), (640, 480), fps=TICS_PER_SECOND, quality=6, macro_block_size=16
    )
    try:
        film.send(None)
        stage.begin(number)
        eyes.begin(number)
        tics = 0
        while not stage.finished and not eyes.finished and tics < longest * TICS_PER_SECOND:
            picture = np.empty((SIDE, SIDE, 3), np.uint8)
            eyes.read(picture)
            pictures.append(picture)
            action = int(greedy(network, picture[None])[0])
            for _ in range(config.protocol.frame_skip):
                frame = stage.frame
                if frame is None or stage.finished:
                    break
                film.send(
                    _captioned(frame, " + ".join(game.pressed(action)) or "nothing", stage.episode_return)
                )
                stage.act(presses[action], 1)
                tics += 1
            eyes.act(presses[action], config.protocol.frame_skip)
        score = stage.episode_return
        film.close()
        os.replace(temporary, path)
    finally:
        film.close()
        stage.close()
        eyes.close()
        temporary.unlink(missing_ok=True)  # of a film that was stopped
    return RecordedEpisode(score, len(pictures), pictures)


def watch_episode(
    config: RunConfig, network: DuelingNetwork, *, episode: int = 0, seed: int = 0
) -> list[NDArray[np.uint8]]:
    """Play one evaluation episode greedily; the pictures (84, 84, 3) that its decisions were made on."""
    game = scenario(config.scenario)
    presses = button_presses(game)
    engine = Engine(game, config.protocol.picture)
    pictures: list[NDArray[np.uint8]] = []
    try:
        engine.begin(episode_seed(seed, episode, stream="evaluation"))
        while not engine.finished:
            picture = np.empty((SIDE, SIDE, 3), np.uint8)
            engine.read(picture)
            pictures.append(picture)
            action = int(greedy(network, picture[None])[0])
            engine.act(presses[action], config.protocol.frame_skip)
    finally:
        engine.close()
    return pictures


def _captioned(frame: NDArray[np.uint8], action: str, score: float) -> bytes:
    shown = np.ascontiguousarray(frame)
    text = f"{action.lower().replace('_', ' ')}   score {score:.4g}"
    for colour, thickness in (((0, 0, 0), 4), ((255, 255, 255), 1)):
        cv2.putText(shown, text, (12, 28), cv2.FONT_HERSHEY_SIMPLEX, 0.7, colour, thickness, cv2.LINE_AA)
    return shown.tobytes()
