"""An agent shown at play: in a window where there is a display, else on a film."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..errors import InputError, at_least
from ..experiment.agent import greedy
from ..experiment.configuration import RunConfig
from ..experiment.filming import film_at
from ..experiment.showing import ShownEpisode, show_episodes
from ..experiment.trial import EVALUATION_SEED
from ..experiment.window import NoDisplayError, WindowClosedError, check_display, window
from .cards import Card
from .commenting import Commentary
from .opening import RUN, box_names, in_the_box, kind_of, near_in_the_box, open_run


@dataclass(frozen=True)
class Shown:
    """Episodes that were shown."""

    config: RunConfig
    scores: tuple[float, ...]
    """of the episodes that were shown to their end"""
    film: Path | None
    """None: in a window"""
    no_window: str | None
    """why there was none"""
    card: Card | None = None
    """what is known of an agent in the box"""


def play_run(
    run: str,
    *,
    which: str = "best",
    episodes: int = 1,
    seed: int | None = None,
    out: str | None = None,
    explain: bool = False,
    on_screen: Callable[[Shown], None] = lambda _: None,
    on_episode: Callable[[float], None] = lambda _: None,
) -> Shown:
    """Show greedy episodes in a window, or, where there is no display or `out` names a file, as a film.

    `on_screen` is told where before anything is shown. A window that is closed ends it.
    """
    at_least("episodes", episodes, 1)
    opened = open_run(checked(run), which)
    config = opened.config
    if explain and config.agent != "nfn":
        raise InputError(f"{run} is a {config.agent} run: it has no rules; leave --explain out")
    why_not = None
    if out is None:
        try:
            check_display()
        except NoDisplayError as error:
            why_not = str(error)
    own = Path(f"{opened.path.name}-play.mp4") if in_the_box(run) else opened.path / "play.mp4"
    film = None if out is None and why_not is None else Path(out) if out else own
    on_screen(Shown(config, (), film, why_not, opened.card))
    scores: list[float] = []

    def over(episode: ShownEpisode) -> None:
        scores.append(episode.score)
        on_episode(episode.score)

    with suppress(WindowClosedError):  # whoever watches has seen enough
        # To find out where an agent looks takes longer than a decision lasts: a window goes without.
        commentary = Commentary(opened, heat=film is not None) if explain else None
        show_episodes(
            config.task if commentary is None else commentary.task,
            partial(greedy, opened.agent),
            window if film is None else film_at(film),
            episodes=range(episodes),
            seed=EVALUATION_SEED if seed is None else seed,
            commentary=commentary,
            on_episode=over,
        )
    return Shown(config, tuple(scores), film, why_not, opened.card)


def checked(run: str) -> str:
    """The name, if there is a run or an agent in the box of it; else an InputError says what there is to play."""
    try:
        is_run = kind_of(run) == RUN
    except InputError:
        is_run = False
    if is_run:
        return run
    raise InputError(
        f"there is no trained agent {run!r:.80}; in the box are {', '.join(box_names())}; others are trained "
        f"first, with: neuroplastic train TASK{near_in_the_box(run)}"
    )
