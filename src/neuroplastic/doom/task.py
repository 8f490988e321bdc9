"""The scenarios as tasks: what a run needs to know of one, told without the game until it is played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..errors import at_least, choose
from ..experiment.protocols import Environment, Score
from ..learn.episodes import Stream
from ..network.observation import Observation
from .objects import observation_of
from .pictures import PICTURES, PLANES, SIDE, Picture, Planes
from .scenarios import SCENARIOS, UnknownScenario
from .scenarios import scenario as scenario_of

if TYPE_CHECKING:
    from ..experiment.configuration import RunConfig


@dataclass(frozen=True)
class DoomTask:
    """One scenario, how it is drawn and how long an action is held.

    >>> task = DoomTask("basic")
    >>> task.key, task.actions[5]
    ('BP', 'move left + attack')
    """

    scenario: str = field(metadata={"identity": True})
    """The paper's abbreviation, such as "BP"; ViZDoom's name, such as "basic", is taken too."""
    picture: Picture = field(
        default="paper", metadata={"help": "rendering: 'paper' (640x480) or 'fast' (160x120)"}
    )
    frame_skip: int = field(default=4, metadata={"help": "tics that an action is held"})
    observe: Literal["pictures", "objects"] = field(
        default="pictures", metadata={"help": "what is seen: 'pictures', or named attributes of 'objects'"}
    )
    planes: Planes = field(
        default="colours",
        metadata={
            "help": "three planes of a picture: its 'colours', or 'motion', grey of now and of two decisions before"
        },
    )

    advised: bool = field(
        default=False,
        metadata={"help": "training games tell what a script would do, for exploration_advised and taught"},
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "scenario", scenario_of(self.scenario).key)
        choose("picture", self.picture, PICTURES)
        at_least("frame_skip", self.frame_skip, 1)
        choose("observe", self.observe, ("pictures", "objects"))
        choose("planes", self.planes, PLANES)

    @property
    def key(self) -> str:
        """The paper's abbreviation."""
        return self.scenario

    @property
    def title(self) -> str:
        """What the paper calls it."""
        return SCENARIOS[self.scenario].title

    @property
    def observation(self) -> Observation:
        """A picture of 84 x 84 pixels, whatever size the engine draws, or the scenario's named attributes."""
        if self.observe == "objects":
            return observation_of(self.scenario)
        return Observation((SIDE, SIDE, 3))

    @property
    def actions(self) -> tuple[str, ...]:
        """What each action presses: "nothing", "move left", ..., "move left + attack"."""
        found = SCENARIOS[self.scenario]
        pressed = (found.pressed(action) for action in range(found.action_count))
        return tuple(" + ".join(buttons).lower().replace("_", " ") or "nothing" for buttons in pressed)

    @property
    def plain_actions(self) -> tuple[int, ...]:
        """For each action the one with the fewest buttons that does the same."""
        return SCENARIOS[self.scenario].plain_actions

    @property
    def mirrored_actions(self) -> tuple[int, ...] | None:
        """What each action becomes in a mirror: left and right are swapped. Only pictures are mirrored."""
        return None if self.observe == "objects" else SCENARIOS[self.scenario].mirrored_actions

    @property
    def scores(self) -> Mapping[str, Score]:
        """What random play scores here, and what the paper's best networks scored."""
        found = SCENARIOS[self.scenario]
        theirs = {"the paper's DNN": found.paper_dnn, "the paper's NFN": found.paper_nfn}
        return {
            "random play": Score(found.random_play),
            **{who: Score(*score) for who, score in theirs.items() if score is not None},
        }

    @property
    def presets(self) -> tuple[str, ...]:
        """The default first: where the paper plays the scenario `short`, whose rules decide, else `tuned`.

        Who sees attributes has presets of their own.
        """
        if self.observe == "objects":
            return ("readable",)
        in_paper = SCENARIOS[self.scenario].paper_nfn is not None
        return ("short", "tuned", "paper", "taught", "long") if in_paper else ("tuned", "long")

    def preset(self, name: str, agent: str, learner: str | None = None) -> RunConfig:
        """The configuration of that name for this scenario; the picture and frame skip are the preset's."""
        from . import presets  # here, for a task can be told of without what its runs are configured with

        return presets.preset(name, self, agent, learner)

    def environment(self, *, seed: int = 0, stream: Stream = "training", film: bool = False) -> Environment:
        """A game on the real engine; where that is not installed, a MissingPackageError says what to install."""
        from .environment import DoomEnv  # the first thing that needs the game

        return DoomEnv(
            self.scenario,
            picture=self.picture,
            frame_skip=self.frame_skip,
            seed=seed,
            stream=stream,
            render_mode="rgb_array_list" if film else None,
            observe=self.observe,
            planes=self.planes,
            advised=self.advised and stream == "training",
        )


def find(name: str) -> DoomTask | None:
    """The task of a scenario's key ("BP", in any case) or ViZDoom's name ("basic", "basic.cfg"); None for others."""
    try:
        return DoomTask(name)
    except UnknownScenario:
        return None


def suggestions() -> list[str]:
    """The names by which scenarios are found, for one that is misspelled."""
    return [name for found in SCENARIOS.values() for name in (found.key, found.config)]
