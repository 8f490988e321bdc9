"""The three things a run is made of, by what is asked of them: a task, a learner, an environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..learn.episodes import Stream
from ..learn.experience import Observations, Setting, Step
from ..network.observation import Observation

if TYPE_CHECKING:
    from torch import Tensor, nn

    from .configuration import RunConfig


class Score(NamedTuple):
    """What somebody scored: mean and standard deviation of the return over episodes; None where it is unknown."""

    mean: float
    sd: float | None = None


class Environment(Protocol):
    """Gymnasium's `reset`, `step`, `render` and `close`, with actions 0 to n - 1 and numbered episodes.

    `reset(options={"episode": k})` starts episode k. What happens in it must depend on k, on the environment's own
    seed and stream and on the actions, and on nothing else: an interrupted episode is played again from its actions.
    """

    metadata: dict[str, Any]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode; its first observation, and whatever else there is to know."""
        ...

    def step(self, action: Any, /) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Act; the next observation, the reward, whether the episode is over, whether it was cut short."""
        ...

    def render(self) -> Any:
        """Where it was made to film: all frames (height, width, 3), uint8, since the last call or reset, as a list."""
        ...

    def close(self) -> None:
        """Give back what it holds. Closing twice does nothing."""
        ...


class Task(Protocol):
    """What is to be learned: a frozen dataclass whose fields, but for its name, are options of the run.

    Nothing heavy is imported before `environment` is called: what a task is called, sees and does can be told
    where it cannot be played. Of a task `find` gives by a name, see the modules of `catalog.KINDS["task"]`.
    """

    @property
    def key(self) -> str:
        """Its short name, such as "BP" or "CartPole-v1"."""
        ...

    @property
    def title(self) -> str:
        """Its name in words."""
        ...

    @property
    def observation(self) -> Observation:
        """What the agent sees."""
        ...

    @property
    def actions(self) -> tuple[str, ...]:
        """What each action does, in words."""
        ...

    @property
    def mirrored_actions(self) -> tuple[int, ...] | None:
        """What each action becomes in a mirror; None where the world does not look and pay alike in one."""
        ...

    @property
    def scores(self) -> Mapping[str, Score]:
        """What others score, by who they are: "random play", "the paper's NFN", ...; may be empty."""
        ...

    @property
    def presets(self) -> tuple[str, ...]:
        """Names of the configurations that it brings; the first is the default."""
        ...

    def preset(self, name: str, agent: str, learner: str | None = None) -> RunConfig:
        """A whole configuration for an agent (a name of `catalog.KINDS["head"]`), with the learner it is meant for.

        An unknown name, or a learner that the preset is not for, is a ConfigError.
        """
        ...

    def environment(self, *, seed: int = 0, stream: Stream = "training", film: bool = False) -> Environment:
        """A game of it. The episodes of the two streams are never the same."""
        ...


class Learner(Protocol):
    """Learns to act in `games` games at once; knows nothing of what they are.

    The loop is: `begin` with the first observations, then again and again `act`, `observe`, `update`. Between two
    rounds `state_dict` may be taken, and a learner that loads it goes on exactly as this one would have.
    """

    games: int
    """How many games it plays at once."""
    network: nn.Module
    """What is learned."""

    @property
    def actor(self) -> nn.Module:
        """The network that acts in evaluation: `network`, or an average of it."""
        ...

    def begin(self, observations: Observations) -> None:
        """The first observations, (games, *shape); not called again after a resume."""
        ...

    def act(self) -> NDArray[np.int64]:
        """Exploring actions (games,) for the observations at hand."""
        ...

    def observe(self, step: Step) -> None:
        """What came of the actions."""
        ...

    def update(self) -> Tensor | None:
        """Learn, if it is time; the mean loss of the updates made (detached, on the device), or None."""
        ...

    def greedy(self, observations: Observations) -> NDArray[np.int64]:
        """The best actions (k,) for observations (k, *shape), by `actor` in evaluation mode; changes nothing."""
        ...

    def sample_observations(self, count: int) -> Tensor | None:
        """Up to `count` observations that it has seen lately, for a look at what its network does; changes nothing."""
        ...

    def replace_observation(self, game: int, observation: Observations) -> None:
        """The observation of a game is another one than it was: its environment did not repeat an episode."""
        ...

    def abandon_episode(self, game: int, observation: Observations) -> None:
        """The episode of a game is over with nothing more to come, and this is the first observation of the next."""
        ...

    def figures(self) -> dict[str, float]:
        """What a display may show of it, by name: the exploration rate, say."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that decides how learning goes on: nested dictionaries and lists of tensors and what JSON can hold."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        ...


@runtime_checkable
class InTurns(Protocol):
    """What a learner may offer beside: groups of games that take turns, as long as nothing is learned."""

    @property
    def rounds_ahead(self) -> int:
        """Decisions in each game until it learns."""
        ...

    def read_from(self, memory: Observations) -> None:
        """The memory that games show themselves in, (games, *shape)."""
        ...

    def consider_in(self, games: slice) -> None:
        """Begin to find actions for what these games show now; there is something else to do meanwhile."""
        ...

    def see_in(self, games: slice, ahead: int, observations: Observations) -> Observations:
        """What the decision that lies `ahead` is made upon in these games; a copy that stays for a while."""
        ...

    def act_in(self, games: slice, ahead: int, *, first: bool) -> NDArray[np.int64]:
        """Exploring actions (k,) of the games considered, when what came before is known; `first` of its groups."""
        ...

    def meanwhile(self, turns: int) -> None:
        """Called while a group is played, of so many turns that are left: time to learn from what was played before."""
        ...

    def observe_in(self, games: slice, ahead: int, step: Step) -> None:
        """What came of these actions, but for what is seen then."""
        ...

    def advance(self, rounds: int) -> None:
        """So many decisions have been made and observed in all games."""
        ...


class LearnerConfig(Protocol):
    """How a learner learns: a frozen dataclass whose fields are options of the run."""

    def build(self, network: nn.Module, setting: Setting) -> Learner:
        """The learner. `network` maps observations (k, *shape) to action values (k, actions)."""
        ...
