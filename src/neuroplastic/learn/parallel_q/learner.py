"""Q-learning in many games at once, with lambda-returns and without replay or target network (PQN)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...errors import InputError, at_least
from ...network.following import can_follow, follow
from ...network.parameter_groups import parameter_groups
from ..capturing import RecordedPass, RecordedStep, check_values, why_not_captured
from ..experience import Observations, Setting, Step
from ..greedy import action_values, greedy_actions, preferences_of
from ..mirror import check_pictures, mirrored_pairs, turned
from ..optimizing import (
    LOSSES,
    descend,
    hold_learning_rate,
    load_optimizer_state,
    optimizer_state,
    set_learning_rate,
)
from ..radam import DeviceRAdam
from .device_rollout import DeviceRollout
from .exploring import RandomActions
from .pending import PendingUpdates
from .returns import lambda_returns
from .rollout import Rollout
from .teaching import margin_loss, warn_unless_advised

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
        groups = parameter_groups(self.network, config.learning_rate, structure_rate=config.structure_rate)
        on_gpu = self._on_gpu = self.device.type == "cuda"
        self.resident = on_gpu if resident is None else resident
        self.optimizer: torch.optim.RAdam
        if self.resident:
            self.optimizer = DeviceRAdam(groups, config.learning_rate)
            hold_learning_rate(self.optimizer, self.device)
        else:
            self.optimizer = torch.optim.RAdam(groups)
        self._rate = config.learning_rate
        self._taught = torch.zeros((), device=self.device)  # a tensor, for updates that are recorded
        self.steps = 0
        self.updates = 0
        self._preferences = preferences_of(self.network)
        self._rollout: Rollout | None = None
        self._random = RandomActions(config, self.actions, self.streams)
        self._mean_value = 0.0  # of the observations of the last rollout
        self._mirrored_actions = (
            mirrored_pairs(setting.mirrored_actions, self.actions).to(self.device) if config.mirror else None
        )
        self._on_device: DeviceRollout | None = None
        self._why_not = None if config.capture else "capture is off"
        self._decision = self._recorded_decision(self._playing)
        self._judgement = self._recorded_decision(self.network) if config.overlap else self._decision
        self._pending = PendingUpdates((), self.device)
        # Where updates are made while games are played, so that decisions need not wait for them.
        apart = config.overlap and on_gpu
        self._aside = torch.cuda.Stream(self.device) if apart else None  # type: ignore[no-untyped-call]
        self._steps: dict[int, RecordedStep] = {}  # by the size of a part

    @property
    def actor(self) -> nn.Module:
        """The network itself, when all that was played has been learned from."""
        self._catch_up()
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
        self._settle(self._rollout)

    def act(self) -> NDArray[np.int64]:
        """Exploring actions (G,) for the observations at hand."""
        rollout = self._begun()
        self._random.renew(self.steps, self.total_steps)
        best, values = self._best(rollout.current)
        if self._on_device is not None:
            seen = self._decision.latest
            self._on_device.see(rollout.filled, torch.from_numpy(rollout.current) if seen is None else seen)
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

    def see_in(self, games: slice, ahead: int, observations: Observations) -> None:
        """Note what the decision that lies `ahead` is to be made upon in some games."""
        rollout = self._begun()
        rollout.see_in(rollout.filled + ahead, games, observations)

    @torch.inference_mode()
    def consider_in(self, games: slice, ahead: int) -> None:
        """Begin to find the best actions of some games for the decision that lies `ahead`, upon what was seen."""
        rollout = self._begun()
        assert self._on_device is not None
        if self.network.training:
            self.network.eval()
        row = rollout.filled + ahead
        self._decision.launch(self._on_device.see_in(row, games, rollout.held(row, games)))

    def act_in(self, games: slice, ahead: int, *, first: bool) -> NDArray[np.int64]:
        """Exploring actions (k,) of some games for the decision considered last; `first` of the groups to make it.

        Groups take turns: a game's decision may be made while others are still at the one before, which changes
        nothing, as nothing is learned meanwhile.
        """
        rollout = self._begun()
        if first:
            self._random.renew(self.steps + ahead * self.games, self.total_steps)
        best, values = self._decision.answer()
        actions = self._random.chosen(best.astype(np.int64), games)
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
        with torch.cuda.stream(self._aside):
            self._pending.go_on(turns)

    def update(self) -> Tensor | None:
        """Learn once the rollout is full; the mean loss of its updates, else None.

        With `overlap` on a GPU the loss is not a number until they are made: see `meanwhile`.
        """
        rollout = self._begun()
        if not rollout.full:
            return None
        targets = self._targets(rollout)
        self._catch_up()
        self._follow()
        self._mean_value = float(rollout.values.mean())
        self._rate = self._learning_rate()
        set_learning_rate(self.optimizer, self._rate)
        self._taught.fill_(self._teaching())
        if not self.updates:
            warn_unless_advised(
                rollout.advice, taught=self.config.taught, followed=self.config.exploration_advised
            )
        learn = self._learn if self._on_device is None else self._learn_on_device
        loss = learn(rollout, targets)
        rollout.restart()
        return loss

    def greedy(self, observations: Observations) -> NDArray[np.int64]:
        """The best actions (k,) for observations (k, *shape)."""
        self._catch_up()
        if self.network.training:
            self.network.eval()
        if self.resident:
            return self._best(observations, judging=True)[0]
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
        self._catch_up()
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
        self._pending = PendingUpdates((), self.device)
        self.network.load_state_dict(state["network"])
        if self.config.overlap:
            self._playing.load_state_dict(state.get("playing") or state["network"])
        load_optimizer_state(self.optimizer, state["optimizer"])
        saved = state["rollout"]
        self._rollout = (
            None if saved is None else Rollout.from_state(self.config.rollout, saved, pinned=self._on_gpu)
        )
        self._rate = float(self.optimizer.param_groups[0]["lr"])
        self._decision.forget()
        self._judgement.forget()
        self._steps.clear()
        if self._rollout is not None:
            self._settle(self._rollout)
        self.streams.load_state_dict(state["random"])
        self.steps, self.total_steps = state["steps"], state["total_steps"]
        self.updates, self._mean_value = state["updates"], state["mean_value"]
        self._random.load_state_dict(state)

    def _begun(self) -> Rollout:
        if self._rollout is None:
            raise InputError("there is nothing to act upon; give the first observations to begin()")
        return self._rollout

    def _settle(self, rollout: Rollout) -> None:
        """Make room on the device, and bring there what decisions of the rollout under way were made upon."""
        if not self.resident:
            return
        config = self.config
        self._on_device = DeviceRollout(
            config.rollout, rollout.current, self.device, passes=config.passes, apart=config.overlap
        )
        for row in range(rollout.filled):
            self._on_device.see(row, torch.from_numpy(rollout.observations[row]))

    def _catch_up(self) -> None:
        """Make all updates that are pending; what comes after waits for them on the device."""
        self.meanwhile(1)
        if self._aside is not None:
            torch.cuda.current_stream(self.device).wait_stream(self._aside)

    @torch.no_grad()
    def _follow(self) -> None:
        """The next rollout is played by the network as it is now."""
        if self._playing is self.network:
            return
        if can_follow(self.network):
            follow(self._playing, self.network, 1.0)
        else:
            self._playing.load_state_dict(self.network.state_dict())

    @torch.inference_mode()
    def _best(
        self, observations: Observations, *, judging: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The best actions (k,) for observations (k, *shape), and their values.

        They are by the network that plays, or for `judging` by that which learns.
        """
        if self.network.training:
            self.network.eval()
        if self.resident:
            best_now, values_now = (self._judgement if judging else self._decision)(observations)
            return best_now.astype(np.int64), values_now
        network = self.network if judging else self._playing
        values, best = action_values(network, observations, self.actions, self.device).max(dim=1)
        return best.cpu().numpy(), values.float().cpu().numpy()

    def _recorded_decision(self, network: nn.Module) -> RecordedPass:
        return RecordedPass(
            "a decision",
            partial(self._valued, network),
            self.device,
            why_not=lambda: self._why_not,
            silent=not self.config.capture,
        )

    def _valued(self, network: nn.Module, observations: Tensor) -> Tensor:
        """The best actions and their values, (2, k), as one tensor: one copy comes back."""
        values = check_values(network(observations), len(observations), self.actions)
        worth, best = values.max(dim=1)
        return torch.stack((best.to(worth.dtype), worth))

    def _targets(self, rollout: Rollout) -> NDArray[np.float32]:
        """Lambda-returns (T, G). Decisions brought their values; what lies behind the last ones is valued here."""
        reached = rollout.current
        if rollout.last:
            reached = np.concatenate((reached, np.stack(list(rollout.last.values()))))
        values = self._values_in_parts(reached) if self.resident else self._best(reached)[1]
        return lambda_returns(
            np.float32(self.config.reward_scale) * rollout.rewards,
            rollout.following(values[: self.games], values[self.games :]),
            rollout.ended,
            discount=self.config.discount,
            q_lambda=self.config.q_lambda,
        )

    def _values_in_parts(self, observations: Observations) -> NDArray[np.float32]:
        """Values (k,) of the best actions, valued as many at a time as there are games: a pass that is recorded."""
        missing = -len(observations) % self.games
        padded = np.concatenate((observations, observations[:1].repeat(missing, axis=0)))
        parts = np.split(padded, len(padded) // self.games)
        return np.concatenate([self._best(part)[1] for part in parts])[: len(observations)]

    def _learning_rate(self) -> float:
        """The step size for the rollout at hand: from the whole to nearly 0 with the last rollout of the run."""
        if not self.config.anneal:
            return self.config.learning_rate
        before, last = self.steps - self.config.decisions, self.total_steps - self.config.decisions
        return self.config.learning_rate * (1 - max(0, min(before, last)) / self.total_steps)

    def _teaching(self) -> float:
        """The weight of what games advise for the rollout at hand."""
        before, falls_over = self.steps - self.config.decisions, self.config.taught_share * self.total_steps
        return self.config.taught * (1 - before / falls_over) if before < falls_over else 0.0

    def _learn(self, rollout: Rollout, targets: NDArray[np.float32]) -> Tensor:
        """Make the updates of a rollout; their mean loss."""
        decisions = self.config.decisions
        states = torch.from_numpy(rollout.observations[:-1]).flatten(0, 1).to(self.device)
        decided = (
            torch.from_numpy(array).flatten().to(self.device)
            for array in (rollout.actions, targets, rollout.advice)
        )
        actions, wanted, advice = decided
        losses = []
        self.network.train()
        for _ in range(self.config.passes):
            order = self.streams.replay.permutation(decisions)
            for part in np.array_split(order, max(1, round(decisions / self.config.batch_size))):
                batch = torch.from_numpy(part).to(self.device)
                losses.append(self._update(states[batch], actions[batch], wanted[batch], advice[batch]))
        self.network.eval()
        return torch.stack(losses).mean()

    def _update(self, states: Tensor, actions: Tensor, targets: Tensor, advice: Tensor) -> Tensor:
        """Make one update; its loss."""
        turn = None
        if self._mirrored_actions is not None:
            turn = torch.from_numpy(self.streams.replay.random(len(states)) < 0.5).to(self.device)
        self.updates += 1
        return self._descended(states, actions, targets, advice, turn)

    def _learn_on_device(self, rollout: Rollout, targets: NDArray[np.float32]) -> Tensor:
        """Have the updates of a rollout made from what lies on the device; the same numbers are drawn as elsewhere."""
        assert self._on_device is not None
        self._on_device.decide(rollout.actions, targets, rollout.advice)
        orders, turns, sizes = [], [], []
        for _ in range(self.config.passes):
            order = self.streams.replay.permutation(self.config.decisions)
            parts = np.array_split(order, max(1, round(self.config.decisions / self.config.batch_size)))
            orders.append(order)
            sizes += [len(part) for part in parts]
            if self._mirrored_actions is not None:
                turns += [self.streams.replay.random(len(part)) < 0.5 for part in parts]
        self._on_device.line_up(np.concatenate(orders), np.concatenate(turns) if turns else None)
        self._pending = PendingUpdates(map(self._step, sizes), self.device)
        self.updates += len(sizes)
        if self._aside is not None:
            self._aside.wait_stream(torch.cuda.current_stream(self.device))
        if not self.config.overlap:
            self._catch_up()
        return self._pending.loss

    def _step(self, size: int) -> RecordedStep:
        """The update of a part of that size."""
        if size not in self._steps:
            self._steps[size] = RecordedStep(
                "the update",
                lambda: self._learned(size),
                self.device,
                changes=lambda: (*self.network.parameters(), *self.network.buffers()),
                why_not=lambda: self._why_not or why_not_captured(self.network),
                silent=not self.config.capture or bool(self._steps),
            )
        return self._steps[size]

    def _learned(self, size: int) -> Tensor:
        """One update from the next part of the rollout on the device: a function of tensors that stay in place."""
        assert self._on_device is not None
        rollout = self._on_device
        places, turned = rollout.next_part(size)
        kept = (rollout.states, rollout.actions, rollout.targets, rollout.advice)
        states, actions, targets, advice = (held[places] for held in kept)
        self.network.train()
        loss = self._descended(states, actions, targets, advice, turned)
        self.network.eval()
        return loss

    def _descended(
        self, states: Tensor, actions: Tensor, targets: Tensor, advice: Tensor, turn: Tensor | None
    ) -> Tensor:
        """Change the parameters by these decisions, those of `turn` seen in a mirror where that is asked for."""
        if self._mirrored_actions is not None:
            assert turn is not None
            states = turned(states, turn)
            actions = torch.where(turn, self._mirrored_actions[actions], actions)
            seen = self._mirrored_actions[advice.clamp(min=0)]
            advice = torch.where(turn & (advice >= 0), seen, advice)
        values = self.network(states)
        loss = LOSSES[self.config.loss](values.gather(1, actions[:, None]).squeeze(1), targets)
        if self.config.taught:
            loss = loss + self._taught * margin_loss(values, advice, self.config.taught_margin)
        descend(self.optimizer, loss, clip_norm=self.config.clip_norm)
        return loss.detach()
