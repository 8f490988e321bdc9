"""Q-learning in many games at once, with lambda-returns and without replay or target network (PQN)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...errors import InputError, at_least
from ...network.following import come_after
from ..experience import Observations, Setting, Step
from ..greedy import greedy_actions, preferences_of
from ..mirror import check_pictures
from ..optimizing import load_optimizer_state, optimizer_state
from ..teaching import teaching_weight, warn_unless_advised
from .deciding import Decisions
from .exploring import RandomActions
from .returns import lambda_returns
from .rollout import Rollout
from .updating import Updates

if TYPE_CHECKING:
    from .config import ParallelQConfig


class ParallelQLearning:
    """Learns action values from the latest decisions of G games; knows nothing of how its network computes them.

    After T decisions in each game it learns: the loss is taken between Q(s_t, a_t) and the lambda-return R_t (see
    `lambda_returns`) of scaled rewards, with the value max_a Q(s, a) of each observation by the network as it was
    while they were made. An episode's end cuts returns; through one that was cut short they go on with the value of
    its last observation if `bootstrap_truncated`. Each of `passes` goes once over all G x T decisions, in an order
    drawn anew, in batches of about `batch_size`.

    With `overlap`, games need not wait for the updates: a rollout is played, and its observations valued, by the
    network as it was before the last rollout was learned from. On a GPU updates are then made between decisions; when
    each of them is made changes nothing of what is learned.

    Where games advise and it is `taught`, the loss also has `margin_loss`, with a weight that falls.

    Acting and values run in evaluation mode (no dropout, no noise, running statistics); only the loss's forward pass
    runs in training mode. The network is left in evaluation mode between rounds.

    Step size and exploration follow the decisions made so far, out of `total_steps` when the run began: if it is
    extended later, both stay where they were in the end.
    """

    def __init__(
        self,
        network: nn.Module,
        config: ParallelQConfig,
        setting: Setting,
        *,
        resident: bool | None = None,
    ) -> None:
        """`network` maps observations (k, *shape) to values (k, actions).

        It may offer a method `preferences`, of the same arguments, that orders the actions like the values do at
        less cost; then that is asked wherever only the best action counts. A `resident` learner keeps what it learns
        from on the device, so that an update asks the host nothing: by default, on a GPU.
        """
        self.config = config
        self.games = config.training_games
        self.actions = at_least("actions", setting.actions, 1)
        self.total_steps = at_least("total_steps", setting.total_steps, 1)
        self.streams = setting.streams
        self.device = torch.device(setting.device)
        self.network = network.to(self.device).eval()
        self._playing = copy.deepcopy(self.network).requires_grad_(False) if config.overlap else self.network
        on_gpu = self._on_gpu = self.device.type == "cuda"
        self.resident = on_gpu if resident is None else resident
        self._updates = Updates(self.network, config, setting, resident=self.resident)
        self.optimizer = self._updates.optimizer
        self._decisions = Decisions(
            self._playing,
            self.network,
            self.actions,
            self.device,
            resident=self.resident,
            capture=config.capture,
        )
        self._rate = config.learning_rate
        self.steps = 0
        self._preferences = preferences_of(self.network)
        self._rollout: Rollout | None = None
        self._random = RandomActions(config, self.actions, self.streams)
        self._mean_value = 0.0  # of the observations of the last rollout

    @property
    def updates(self) -> int:
        """Updates so far, with those that are pending."""
        return self._updates.done

    @property
    def actor(self) -> nn.Module:
        """The network itself, when all that was played has been learned from."""
        self._updates.catch_up()
        return self.network

    @property
    def exploration(self) -> float:
        """The rate of random actions in the game that explores most."""
        return self._random.rate(self.steps, self.total_steps)

    def begin(self, observations: Observations) -> None:
        """The first observations, (G, *shape)."""
        if self.config.mirror:
            check_pictures("mirror", "turns", observations.shape)
        if len(observations) != self.games:
            raise InputError(
                f"this learner plays {self.games} games, got observations of {len(observations)}"
            )
        self._rollout = Rollout(self.config.rollout, observations, pinned=self._on_gpu)
        self._updates.settle(self._rollout)

    def act(self) -> NDArray[np.int64]:
        """Exploring actions (G,) for the observations at hand."""
        rollout = self._begun()
        self._random.renew(self.steps, self.total_steps)
        best, values = self._decisions.best(rollout.current)
        actions = self._random.chosen(best)
        rollout.decide(actions, values, self._random.advice())
        return actions

    def observe(self, step: Step) -> None:
        """Note what came of the actions."""
        self._begun().observe(step, keep_cut_short=self.config.bootstrap_truncated)
        self._random.advise(step.advice)
        self.steps += self.games

    @property
    def rounds_ahead(self) -> int:
        """Decisions in each game until it learns: so long groups of games may be played in turns."""
        rollout = self._begun()
        return rollout.length - rollout.filled

    def read_from(self, memory: Observations) -> None:
        """The memory that games show themselves in, (G, *shape): what `consider_in` considers."""
        self._decisions.read_from(memory)

    def consider_in(self, games: slice) -> None:
        """Begin to find the best actions of some games for what they show now."""
        self._decisions.launch(games)

    def see_in(self, games: slice, ahead: int, observations: Observations) -> Observations:
        """Note what the decision that lies `ahead` is to be made upon in some games; the copy."""
        rollout = self._begun()
        return rollout.see_in(rollout.filled + ahead, games, observations)

    def act_in(self, games: slice, ahead: int, *, first: bool) -> NDArray[np.int64]:
        """Exploring actions (k,) of some games for the decision considered last; `first` of the groups to make it.

        Groups take turns: a game's decision may be made while others are still at the one before, which changes
        nothing, as nothing is learned meanwhile.
        """
        rollout = self._begun()
        if first:
            self._random.renew(self.steps + ahead * self.games, self.total_steps)
        best, values = self._decisions.launched()
        actions = self._random.chosen(best, games)
        rollout.decide_in(rollout.filled + ahead, games, actions, values, self._random.advice(games))
        return actions

    def observe_in(self, games: slice, ahead: int, step: Step) -> None:
        """Note what came of the actions of `act_in`, but for what is seen then."""
        rollout = self._begun()
        rollout.observe_in(
            rollout.filled + ahead, games, step, keep_cut_short=self.config.bootstrap_truncated
        )
        self._random.advise(step.advice, games)

    def advance(self, rounds: int) -> None:
        """So many decisions have been made and observed in all games."""
        self._begun().skip(rounds)
        self.steps += rounds * self.games

    def meanwhile(self, turns: int) -> None:
        """While games are played: make a share of the updates that are pending, of so many turns that are left."""
        self._updates.go_on(turns)

    def update(self) -> Tensor | None:
        """Learn once the rollout is full; the mean loss of its updates, else None.

        With `overlap` on a GPU the loss is not a number until they are made: see `meanwhile`.
        """
        rollout = self._begun()
        if not rollout.full:
            return None
        self._updates.bring(rollout)
        targets = self._targets(rollout)
        self._updates.catch_up()
        self._follow()
        self._mean_value = float(rollout.values.mean())
        self._rate = self._learning_rate()
        if not self.updates:
            warn_unless_advised(rollout.advice, self.config, "the first rollout")
        loss = self._updates.learn(rollout, targets, rate=self._rate, taught=self._teaching())
        rollout.restart()
        return loss

    def greedy(self, observations: Observations) -> NDArray[np.int64]:
        """The best actions (k,) for observations (k, *shape)."""
        self._updates.catch_up()
        if self.network.training:
            self.network.eval()
        if self.resident:
            return self._decisions.best(observations, judging=True)[0]
        return greedy_actions(self._preferences, observations, self.actions, self.device)

    def sample_observations(self, count: int) -> Tensor | None:
        """Up to that many observations, evenly over the rollout under way and those at hand."""
        if self._rollout is None:
            return None
        seen = self._rollout.observations[: self._rollout.filled + 1]
        seen = seen.reshape(-1, *seen.shape[2:])
        chosen = np.linspace(0, len(seen) - 1, min(count, len(seen))).astype(np.int64)
        return torch.from_numpy(seen[chosen]).to(self.device)

    def replace_observation(self, game: int, observation: Observations) -> None:
        """Replace what is acted upon next in a game, where its environment did not repeat an episode."""
        self._begun().replace(game, observation)
        self._random.forget_advice(game)

    def abandon_episode(self, game: int, observation: Observations) -> None:
        """End the episode under way in a game as if it had been cut short; `observation` begins the next."""
        rollout = self._begun()
        rollout.end_episode(game, keep_cut_short=self.config.bootstrap_truncated)
        rollout.replace(game, observation)
        self._random.forget_advice(game)

    def figures(self) -> dict[str, float]:
        """Exploration rate, step size, mean value of the last rollout's observations, updates so far."""
        return {
            "exploration": self.exploration,
            "learning_rate": self._rate,
            "value": self._mean_value,
            "updates": float(self.updates),
        }

    def state_dict(self) -> dict[str, Any]:
        """All that decides how learning goes on: nested dictionaries of tensors and what JSON can hold."""
        self._updates.catch_up()
        return {
            "network": self.network.state_dict(),
            "playing": self._playing.state_dict() if self.config.overlap else None,
            "optimizer": optimizer_state(self.optimizer),
            "rollout": None if self._rollout is None else self._rollout.state_dict(),
            "random": self.streams.state_dict(),
            "steps": self.steps,
            "total_steps": self.total_steps,
            "updates": self.updates,
            "mean_value": self._mean_value,
            **self._random.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self._updates.forget()
        self.network.load_state_dict(state["network"])
        if self.config.overlap:
            self._playing.load_state_dict(state.get("playing") or state["network"])
        load_optimizer_state(self.optimizer, state["optimizer"])
        saved = state["rollout"]
        self._rollout = (
            None if saved is None else Rollout.from_state(self.config.rollout, saved, pinned=self._on_gpu)
        )
        self._rate = float(self.optimizer.param_groups[0]["lr"])
        self._decisions.forget()
        if self._rollout is not None:
            self._updates.settle(self._rollout)
        self.streams.load_state_dict(state["random"])
        self.steps, self.total_steps = state["steps"], state["total_steps"]
        self._updates.done, self._mean_value = state["updates"], state["mean_value"]
        self._random.load_state_dict(state)

    def _begun(self) -> Rollout:
        if self._rollout is None:
            raise InputError("there is nothing to act upon; give the first observations to begin()")
        return self._rollout

    def _follow(self) -> None:
        """The next rollout is played by the network as it is now."""
        if self._playing is not self.network:
            come_after(self._playing, self.network, 1.0)

    def _targets(self, rollout: Rollout) -> NDArray[np.float32]:
        """Lambda-returns (T, G). Decisions brought their values; what lies behind the last ones is valued here."""
        reached = rollout.current
        if rollout.last:
            reached = np.concatenate((reached, np.stack(list(rollout.last.values()))))
        values = self._decisions.values(reached, self.games)
        return lambda_returns(
            np.float32(self.config.reward_scale) * rollout.rewards,
            rollout.following(values[: self.games], values[self.games :]),
            rollout.ended,
            discount=self.config.discount,
            q_lambda=self.config.q_lambda,
        )

    def _learning_rate(self) -> float:
        """The step size for the rollout at hand: from the whole to nearly 0 with the last rollout of the run."""
        if not self.config.anneal:
            return self.config.learning_rate
        before, last = self.steps - self.config.decisions, self.total_steps - self.config.decisions
        return self.config.learning_rate * (1 - max(0, min(before, last)) / self.total_steps)

    def _teaching(self) -> float:
        """The weight of what games advise for the rollout at hand."""
        return teaching_weight(self.config, self.steps - self.config.decisions, self.total_steps)
