"""The seven scenarios of the paper, as data."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from ..errors import NeuroplasticError


class UnknownScenario(NeuroplasticError, ValueError):  # noqa: N818
    """A scenario was asked for that is none of the seven."""


class Score(NamedTuple):
    """Mean and standard deviation of the return over 25 episodes."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Scenario:
    """One scenario: what the player may press, what the engine pays, and what others scored.

    Where the paper's text and the file shipped with ViZDoom differ, the file wins.
    """

    key: str
    """The paper's abbreviation, such as "BP"."""
    config: str
    """Name of ViZDoom's file for it, without ".cfg"."""
    title: str
    """What the paper calls it."""
    description: str
    """The task in one line."""
    buttons: tuple[str, ...]
    """Names of the buttons, in the order of an action's bits."""
    living_reward: float
    """Paid by the engine for every tic (1/35 s) the player lives."""
    death_penalty: float
    """Taken by the engine when the player dies."""
    timeout: int | None
    """Tic at which the episode ends, None where only death ends it."""
    start_time: int
    """Tic at which the player takes over; before it, monsters and weapons settle."""
    skill: int
    """The game's difficulty, 1 to 5."""
    engine_arguments: str
    """What the engine's command line says besides."""
    random_play: float
    """Mean return of uniformly random actions, 4 tics each: `random_play(key, 1000)`."""
    paper_dnn: Score | None = None
    """The paper's best plain network; None where the paper does not play it."""
    paper_nfn: Score | None = None
    """The paper's best neuro-fuzzy network."""

    @property
    def action_count(self) -> int:
        """Number of actions: every combination of the buttons."""
        return int(2 ** len(self.buttons))

    def pressed(self, action: int) -> tuple[str, ...]:
        """Names of the buttons held down by `action`: bit i is button i. Action 0 presses nothing."""
        return tuple(button for i, button in enumerate(self.buttons) if action >> i & 1)

    @property
    def plain_actions(self) -> tuple[int, ...]:
        """For each action the one with the fewest buttons that does the same: walking left and right is standing still.

        Turning left and right is not the same as not turning: whoever has held a turn before turns faster at once.
        """
        pairs = [
            1 << i | 1 << self.buttons.index(_mirrored_name(button))
            for i, button in enumerate(self.buttons)
            if button == "MOVE_LEFT"
        ]
        plain = list(range(self.action_count))
        for pair in pairs:
            plain = [action & ~pair if action & pair == pair else action for action in plain]
        return tuple(plain)

    @property
    def mirrored_actions(self) -> tuple[int, ...]:
        """What each action becomes in a mirror: LEFT and RIGHT are swapped."""
        twins = [self.buttons.index(_mirrored_name(button)) for button in self.buttons]
        return tuple(
            sum(1 << twin for i, twin in enumerate(twins) if action >> i & 1)
            for action in range(self.action_count)
        )


def _mirrored_name(button: str) -> str:
    """The button that does in a mirror what this one does."""
    if button.endswith("_LEFT"):
        return button.removesuffix("LEFT") + "RIGHT"
    return button.removesuffix("RIGHT") + "LEFT" if button.endswith("_RIGHT") else button


_STRAFE_AND_SHOOT = ("MOVE_LEFT", "MOVE_RIGHT", "ATTACK")
_TURN_AND_SHOOT = ("TURN_LEFT", "TURN_RIGHT", "ATTACK")
_NO_AUTOAIM = "+sv_noautoaim 1"

SCENARIOS: dict[str, Scenario] = {
    s.key: s
    for s in (
        Scenario(
            key="BP",
            config="basic",
            title="Target practice with pistol",
            description="Shoot a monster that stands somewhere along the opposite wall, soon and with few shots.",
            buttons=_STRAFE_AND_SHOOT,
            living_reward=-1.0,
            death_penalty=0.0,
            timeout=300,
            start_time=14,
            skill=5,
            engine_arguments="",
            paper_dnn=Score(85.4, 9.3),
            paper_nfn=Score(86.6, 9.2),
            random_play=-150.0,
        ),
        Scenario(
            key="BR",
            config="rocket_basic",
            title="Handling rocket launchers",
            description="The same with a rocket launcher, whose shot arrives late and needs the trigger let go first.",
            buttons=_STRAFE_AND_SHOOT,
            living_reward=-1.0,
            death_penalty=0.0,
            timeout=300,
            start_time=14,
            skill=3,
            engine_arguments=_NO_AUTOAIM,
            paper_dnn=Score(58.4, 10.0),
            paper_nfn=Score(37.2, 41.6),
            random_play=-165.0,
        ),
        Scenario(
            key="PP",
            config="predict_position",
            title="Target tracking and trajectory prediction",
            description="Hit a walking monster with the only rocket.",
            buttons=_TURN_AND_SHOOT,
            living_reward=-0.001,
            death_penalty=0.0,
            timeout=300,
            start_time=16,
            skill=1,
            engine_arguments=_NO_AUTOAIM,
            paper_dnn=Score(0.29, 0.48),
            paper_nfn=Score(0.36, 0.50),
            random_play=0.02,
        ),
        Scenario(
            key="HTL",
            config="defend_the_line",
            title="Hold the line",
            description="Kill as many as possible of ever tougher monsters that come from the opposite wall.",
            buttons=_TURN_AND_SHOOT,
            living_reward=0.0,
            death_penalty=1.0,
            timeout=None,
            start_time=10,
            skill=3,
            engine_arguments="",
            paper_dnn=Score(27.2, 5.6),
            paper_nfn=Score(25.4, 5.4),
            random_play=8.6,
        ),
        Scenario(
            key="DTC",
            config="defend_the_center",
            title="Defend the center",
            description="Kill monsters that come from all sides, with 26 shots.",
            buttons=_TURN_AND_SHOOT,
            living_reward=0.0,
            death_penalty=1.0,
            timeout=2100,
            start_time=10,
            skill=3,
            engine_arguments="",
            paper_dnn=Score(17.9, 2.0),
            paper_nfn=Score(16.6, 3.4),
            random_play=0.46,
        ),
        Scenario(
            key="TC",
            config="take_cover",
            title="Take cover",
            description="Dodge the fireballs of ever more monsters.",
            buttons=("MOVE_LEFT", "MOVE_RIGHT"),
            living_reward=1.0,
            death_penalty=0.0,
            timeout=None,
            start_time=1,
            skill=4,
            engine_arguments="",
            paper_dnn=Score(481.0, 297.0),
            paper_nfn=Score(521.0, 188.0),
            random_play=274.0,
        ),
        Scenario(
            key="GH",
            config="health_gathering",
            title="Gathering health",
            description="Survive on an acid floor by walking over medkits.",
            buttons=("TURN_LEFT", "TURN_RIGHT", "MOVE_FORWARD"),
            living_reward=1.0,
            death_penalty=100.0,
            timeout=2100,
            start_time=1,
            skill=3,
            engine_arguments="",
            paper_dnn=Score(2100.0, 0.0),
            paper_nfn=Score(1992.0, 340.0),
            random_play=394.0,
        ),
    )
}
"""The seven by key, in the paper's order of presentation."""


def scenario(name: str | Scenario) -> Scenario:
    """The scenario of that key ("BP", in any case) or of that ViZDoom file ("basic", "basic.cfg").

    A `Scenario` is handed back unchanged. Raises `UnknownScenario`, with the nearest name, for anything else.
    """
    if isinstance(name, Scenario):
        return name
    wanted = str(name).lower().removesuffix(".cfg")
    names = {s.key.lower(): s for s in SCENARIOS.values()} | {s.config: s for s in SCENARIOS.values()}
    if wanted in names:
        return names[wanted]
    near = get_close_matches(wanted, names, n=1)
    hint = f"; did you mean {names[near[0]].key!r} ({names[near[0]].config})?" if near else ""
    raise UnknownScenario(f"scenario must be one of {', '.join(SCENARIOS)}, got {name!r}{hint}")
