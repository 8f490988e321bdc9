"""One running DOOM engine, with every setting made in code."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..errors import NeuroplasticError, choose
from ..experiment.game import GameLostError
from .keeper import ENGINE_FOLDER
from .lifeline import Lifeline, lifeline
from .packages import missing
from .pictures import PICTURES, TICS_PER_SECOND, Picture
from .scenarios import Scenario
from .shrinking import shrink
from .sight import VARIABLES, Sight, read_sight

try:
    import cv2
    import vizdoom
except ImportError as error:
    raise missing(error) from error

_RESOLUTIONS = {"paper": vizdoom.ScreenResolution.RES_640X480, "fast": vizdoom.ScreenResolution.RES_160X120}
_OVERRIDE = "_vizdoom.cfg"
_GAME = "freedoom2.wad"
_RENDER_FLAGS = {
    "hud": True,
    "minimal_hud": False,
    "weapon": True,
    "screen_flashes": True,
    "crosshair": False,
    "decals": False,
    "particles": False,
    "effects_sprites": False,
    "messages": False,
    "corpses": False,
    "all_frames": False,
}
_ENGINE_FAILURES = (
    vizdoom.ViZDoomErrorException,
    vizdoom.ViZDoomIsNotRunningException,
    vizdoom.ViZDoomUnexpectedExitException,
    vizdoom.MessageQueueException,
    vizdoom.SharedMemoryException,
    vizdoom.FileDoesNotExistException,
)

Frame = npt.NDArray[np.uint8]


class EngineError(GameLostError):
    """The DOOM engine did not start, or stopped in the middle of an episode."""


class EngineClosedError(NeuroplasticError, RuntimeError):
    """A game was used after it was closed."""


class Engine:
    """A DOOM engine playing one scenario: a process of its own that this object talks to.

    Not for use from two threads at once. Several engines may live in one process, each with its own thread:
    ViZDoom lets go of Python's lock while the engine works. An engine belongs to the process that made it.
    """

    def __init__(
        self, scenario: Scenario, picture: Picture = "paper", *, sights: bool = False, depth: bool = False
    ) -> None:
        choose("picture", picture, PICTURES)
        self.scenario = scenario
        self.picture = picture
        self._owner = os.getpid()
        program = _engine_program()
        self._game = _configured(scenario, picture)
        self._sights = sights
        if sights:
            _let_see(self._game, depth=depth)
        self._frame: Frame | None = None
        self._sight: Sight | None = None
        self._finished = True
        line = lifeline(program)
        try:
            instance = _start(self._game, line)
        except _ENGINE_FAILURES as error:
            raise EngineError(
                f"the DOOM engine for {scenario.key} did not start: {error}. Check that there is memory and room in "
                "/dev/shm, and that `python -c 'import vizdoom; print(vizdoom.__version__)'` works"
            ) from error
        # Runs on close(), when this object is collected, and when Python exits: whichever comes first.
        self._stop = weakref.finalize(self, _stop, self._game, self._owner, line, instance)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return not self._stop.alive

    @property
    def finished(self) -> bool:
        """Whether the episode is over, or none was begun."""
        return self._finished

    @property
    def timed_out(self) -> bool:
        """Whether the episode ended because its time was up, and not by the player's death in its last tic."""
        return bool(self._game.is_episode_timeout_reached() and not self._game.is_player_dead())

    @property
    def episode_return(self) -> float:
        """Sum of the episode's rewards so far, as the engine counts it."""
        return float(self._game.get_total_reward())

    @property
    def frame(self) -> Frame | None:
        """The latest full-size frame (height, width, 3), RGB; at the end of an episode, the last that was drawn."""
        return self._frame

    @property
    def sight(self) -> Sight | None:
        """What a player sees in the latest frame; None before the first, or if the engine was not made for it."""
        return self._sight

    def begin(self, seed: int) -> None:
        """Begin an episode, which depends on `seed` and the actions alone, not on what was played before."""
        self._check()
        try:
            self._game.set_seed(seed)
            self._game.new_episode()
            self._see(self._game.get_state())
        except _ENGINE_FAILURES as error:
            self._fail(error)
        self._finished = False

    def act(self, buttons: Sequence[float], tics: int) -> float:
        """Hold `buttons` down (1 or 0 each) for `tics`, or to the episode's end; the reward meanwhile."""
        self._check()
        try:
            reward = self._game.make_action(buttons, tics)
            state = self._game.get_state()
        except _ENGINE_FAILURES as error:
            self._fail(error)
        if state is None:
            self._finished = True
        else:
            self._see(state)
        return float(reward)

    def read(self, picture: Frame) -> None:
        """Write the latest frame, shrunk by area to 84x84, into `picture` (84, 84, 3); after the end, the last drawn.

        Zeros where no episode was begun.
        """
        if self._frame is None:
            picture.fill(0)
        else:
            shrink(self._frame, picture)

    def close(self) -> None:
        """End the engine. Closing twice does nothing."""
        self._finished = True
        self._stop()

    def _see(self, state: Any) -> None:
        self._frame = state.screen_buffer
        if self._sights:
            self._sight = read_sight(state, width=state.screen_buffer.shape[1])

    def _check(self) -> None:
        if self.closed:
            raise EngineClosedError(
                f"this game of {self.scenario.key} is closed; make another with neuroplastic.doom.make()"
            )
        if self._owner != os.getpid():
            raise EngineError(
                f"this game of {self.scenario.key} belongs to process {self._owner}, which forked this one; "
                "make the environment in the process that plays it"
            )

    def _fail(self, error: Exception) -> NoReturn:
        self.close()
        raise EngineError(
            f"the DOOM engine for {self.scenario.key} stopped in the middle of an episode: {error}. This game is now "
            "closed; make another and reset it to the same episode with reset(options={'episode': ...}). "
            "If it happens again, look for the system's out-of-memory killer"
        ) from error


def grey_of(picture: Frame) -> Frame:
    """The brightness (height, width) of a picture (height, width, 3), RGB."""
    grey: Frame = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    return grey


def _engine_program() -> Path:
    """ViZDoom's engine. Looked at first, for an engine that ends while it starts takes Python with it (a fault)."""
    program = Path(vizdoom.exe_path)
    again = "install ViZDoom again with: pip install --force-reinstall vizdoom"
    for file in (program, program.with_name("vizdoom.pk3"), program.with_name(_GAME)):
        if not file.is_file():
            raise EngineError(f"the DOOM engine needs the file {file}, which is not there; {again}")
    if not os.access(program, os.X_OK):
        raise EngineError(
            f"the DOOM engine {program} must be executable, and is not; run: chmod +x {program} (where that changes "
            f"nothing, its file system forbids programs: {again}, elsewhere)"
        )
    return program


def _configured(scenario: Scenario, picture: Picture) -> Any:
    """A game that has not started. ViZDoom's file is read first, then all that matters is set again."""
    game = vizdoom.DoomGame()
    game.load_config(os.path.join(vizdoom.scenarios_path, f"{scenario.config}.cfg"))
    # A game in the working folder would take precedence over the one in the package.
    game.set_doom_game_path(os.path.join(vizdoom.root_path, _GAME))
    game.set_doom_scenario_path(os.path.join(vizdoom.scenarios_path, f"{scenario.config}.wad"))
    if os.name == "posix":
        game.set_doom_config_path(os.devnull)  # what one engine saves at its end must not reach the next
    game.set_doom_map("map01")
    game.set_doom_skill(scenario.skill)
    game.set_mode(vizdoom.Mode.PLAYER)
    game.set_ticrate(TICS_PER_SECOND)
    game.set_game_args(scenario.engine_arguments)
    game.set_episode_start_time(scenario.start_time)
    game.set_episode_timeout(scenario.timeout or 0)
    game.set_living_reward(scenario.living_reward)
    game.set_death_penalty(scenario.death_penalty)
    game.set_available_buttons([getattr(vizdoom.Button, name) for name in scenario.buttons])
    game.set_available_game_variables([])
    game.set_screen_resolution(_RESOLUTIONS[picture])
    game.set_screen_format(vizdoom.ScreenFormat.RGB24)
    for flag, shown in _RENDER_FLAGS.items():
        getattr(game, f"set_render_{flag}")(shown)
    for buffer in ("depth", "labels", "automap", "audio", "notifications"):
        getattr(game, f"set_{buffer}_buffer_enabled")(False)
    game.set_objects_info_enabled(False)
    game.set_sectors_info_enabled(False)
    # Without a window the engine also leaves animated textures still, which it would move by the wall clock.
    game.set_window_visible(False)
    game.set_console_enabled(False)
    game.set_sound_enabled(False)
    return game


def _let_see(game: Any, *, depth: bool) -> None:
    """Have the engine tell what is drawn where. What is not drawn stays untold: `state.objects` is left off."""
    game.set_labels_buffer_enabled(True)
    game.set_depth_buffer_enabled(depth)
    game.set_available_game_variables([getattr(vizdoom.GameVariable, name) for name in VARIABLES])


def _start(game: Any, line: Lifeline | None) -> str:
    """Start the engine; its instance id."""
    if os.path.exists(_OVERRIDE):
        raise EngineError(
            f"the file {os.path.abspath(_OVERRIDE)} would override the scenario's settings; move it or start elsewhere"
        )
    if line is None:
        with _engine_folder_here():
            game.init()
            return str(game.get_instance_id())
    game.set_vizdoom_path(str(line.launcher))
    with line.starting():
        game.init()
        instance = str(game.get_instance_id())
        line.started(instance)
    return instance


_starts_here = threading.Lock()


@contextlib.contextmanager
def _engine_folder_here() -> Iterator[None]:
    """While inside, the working folder has the folder that an engine wants there when it starts, if no lifeline does.

    One engine at a time: each would make the folder, and one that cannot, because another just did, gives up.
    """
    folder = Path(ENGINE_FOLDER).absolute()
    with _starts_here:
        made = not folder.is_dir()
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise EngineError(
                f"the DOOM engine needs a folder {folder}, which cannot be made ({error.strerror}); "
                "start the program in a folder that it may write to"
            ) from error
        try:
            yield
        finally:
            if made:
                with contextlib.suppress(OSError):  # something was written there: not ours to remove
                    folder.rmdir()


def _stop(game: Any, owner: int, line: Lifeline | None, instance: str) -> None:
    if owner != os.getpid():
        # A forked child's copy: closing or collecting it would end the parent's engine and wait for a thread that
        # does not exist here. One reference too many keeps it untouched until the child ends.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(game))
        return
    with contextlib.suppress(*_ENGINE_FAILURES):  # it may have ended by itself
        game.close()
    if line is not None:
        line.closed(instance)
