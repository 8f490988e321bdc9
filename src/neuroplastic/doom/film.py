"""Every tic of a game in full size, drawn by an engine of its own."""

from __future__ import annotations

from collections.abc import Sequence

from .engine import Engine, Frame
from .scenarios import Scenario


class Film:
    """A second engine that plays the same episode with the same actions, tic by tic, and keeps every frame.

    The engine that the agent looks at draws once for each decision, and perhaps small. The two show the same world;
    the figures and the face of the status bar move a little with every drawing, so that the film's are ahead.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._engine = Engine(scenario, "paper")
        self._frames: list[Frame] = []

    def begin(self, seed: int) -> None:
        """Begin an episode: its first frame is the first of the film."""
        self._engine.begin(seed)
        self._frames = []
        self._keep()

    def act(self, buttons: Sequence[float], tics: int) -> None:
        """Hold `buttons` down for `tics`, or to the episode's end, after which no frame is drawn."""
        for _ in range(tics):
            self._engine.act(buttons, 1)
            if self._engine.finished:
                break
            self._keep()

    def take(self) -> list[Frame]:
        """The frames (480, 640, 3) since the last call or the episode's beginning; they are not kept any longer."""
        frames, self._frames = self._frames, []
        return frames

    def close(self) -> None:
        """End the engine. Closing twice does nothing."""
        self._engine.close()

    def _keep(self) -> None:
        assert self._engine.frame is not None
        self._frames.append(self._engine.frame)
