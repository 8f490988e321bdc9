"""Dueling double Q-learning with experience replay and a target network."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...errors import ConfigError, InputError, at_least
from ...fuzzy.beside import beside
from ...network.following import come_after
from ...network.parameter_groups import parameter_groups
from ..capturing import RecordedPass, RecordedStep, check_values, why_not_captured
from ..experience import Observations, Step
from ..greedy import greedy_actions, preferences_of
from ..mirror import check_pictures, mirrored_pairs
from ..optimizing import (
    LOSSES,
    descend,
    hold_learning_rate,
    load_optimizer_state,
    optimizer_state,
    set_learning_rate,
)
from ..seeding import RandomStreams
from ..teaching import NO_ADVICE, margin_loss, teaching_weight, warn_unless_advised
from .augmentation import mirrored, shifted
from .both_ways import BothWays
from .device_replay import DeviceReplay
from .exploration import Exploration
from .replay import Batch
from .reward_spread import RewardSpread
from .sampling import memory_for, sampled
from .second_half import SecondHalf
from .target_values import TargetValues
from .training_mode import values_in_training

if TYPE_CHECKING:
    from .config import QConfig


class QLearning:
    """Learns action values from replayed transitions; knows nothing of how its network computes them.

    With the network's values Q, the target network's Q', a transition's n-step return R and discount d (0
    where the episode ended; of one that was cut short, d and s' are those of its last observation if
    `bootstrap_truncated`, else a time-out is an end like any other), the loss is taken between Q(s, a) and the
    double-Q target

        reward_scale * R + d * Q'(s', argmax_a Q(s', a)),

    where R also has the factor of `RewardSpread` if `normalise_rewards`. Some settings may change once half of the run
    is over (`SecondHalf`).

    A round of `act`, `observe` and `update` is a step of the one game that it plays: an exploring action, its
    transition remembered, `updates_per_step` updates once learning has started, the exploration rate lowered.

    With `mirror_agreement` each transition of a batch is seen both ways (`BothWays`): Q and Q' in the target are means
    over both, and how far Q is apart is part of the loss.

    Where the game advises, a share of the random actions may be what it advises; and where it is `taught`, the loss
    also has `margin_loss`, with a weight that falls over `total_steps`.

    Acting, argmax and target passes run in evaluation mode (no dropout, no noise, running statistics); only
    the loss's forward pass runs in training mode; with `always_training` exploring, argmax and target passes do too,
    and evaluation alone does not. The network is left in evaluation mode between steps. The target network takes over
    running statistics, other buffers and extra state whenever it moves.
    """

    games = 1

    def __init__(
        self,
        network: nn.Module,
        config: QConfig,
        *,
        actions: int,
        streams: RandomStreams,
        device: torch.device | str = "cpu",
        mirrored_actions: Sequence[int] | None = None,
        resident: bool | None = None,
        total_steps: int | None = None,
    ) -> None:
        """`network` maps observations (B, *frame) to values (B, actions).

        It may offer a method `preferences`, of the same arguments, that orders the actions like the values do at
        less cost; then that is asked wherever only the best action counts. (With `mirror_agreement` those of two
        pictures are added: they may differ from values by a constant for each picture, and nothing else.)

        `mirrored_actions[a]` is what action a becomes in a mirror; `mirror` needs it. A `resident` learner keeps its
        memory on the device and draws there, so that an update asks the host nothing: by default, on a GPU.
        `total_steps` are those of the run, which teaching falls over, and at half of which what is late begins; a run
        that is extended keeps those that it began with.
        """
        if config.taught and total_steps is None:
            raise ConfigError(f"taught={config.taught:g} falls over the run and needs total_steps, got None")
        self.config = config
        self.actions = at_least("actions", actions, 1)
        self.streams = streams
        self.device = torch.device(device)
        self.network = network.to(self.device).eval()
        self.target = copy.deepcopy(self.network).requires_grad_(False)
        self._preferences = preferences_of(self.network)
        self._actor_preferences = preferences_of(self.actor)
        on_gpu = self.device.type == "cuda"
        self.resident = on_gpu if resident is None else resident
        self.optimizer = torch.optim.Adam(
            parameter_groups(self.network, config.learning_rate, structure_rate=config.structure_rate),
            eps=config.adam_eps,
            fused=config.fused_adam,
            capturable=on_gpu,
        )
        if on_gpu:
            hold_learning_rate(self.optimizer, self.device)
        self._rate = config.learning_rate
        self.replay = memory_for(config, streams, self.device, resident=self.resident)
        self.exploration = Exploration(
            config.exploration_start,
            config.exploration_decay,
            config.exploration_floor,
            advised=config.exploration_advised,
            hold=config.exploration_hold,
        )
        # One slot more than transitions: the memory also holds the frame not yet acted upon.
        self._target_values = TargetValues(config.memory_size + 1, actions)
        # A target that moves with every update, and pictures that differ each time, leave nothing to keep; a GPU
        # would wait to learn what is missing.
        lasting = config.target_every > 1 and not (
            config.shift_pixels or config.mirror or config.always_training
        )
        self._reuses_target = config.reuse_target and lasting and not self.resident
        self._mirrored_actions = (
            mirrored_pairs(mirrored_actions, actions).to(self.device) if config.mirror else None
        )
        self._both_ways = (
            BothWays(self._mirrored_actions)
            if self._mirrored_actions is not None and config.mirror_agreement
            else None
        )
        self.updates = 0
        self._chosen = 0  # the action of the step under way
        self._advice = NO_ADVICE  # upon the observation at hand
        self._total_steps = 1 if total_steps is None else at_least("total_steps", total_steps, 1)
        self._half = SecondHalf(config, self.network, total_steps)
        self._spread = RewardSpread(config.discount, self.device) if config.normalise_rewards else None
        self._taught = torch.zeros((), device=self.device)  # a tensor, for updates that are recorded
        off = None if config.capture else "capture is off"
        unfit = "the target's passes are in training mode" if config.always_training else None
        self._update = RecordedStep(
            "the update",
            self._updated,
            self.device,
            changes=lambda: (*self.network.parameters(), *self.network.buffers()),
            generators=(streams.on_device(self.device),) if self.resident else (),
            why_not=lambda: off or unfit or why_not_captured(self.network),
            silent=not config.capture or unfit is not None,
        )
        self._decision = RecordedPass(
            "a decision", self._best, self.device, why_not=lambda: off, silent=not config.capture
        )
        self._recorded = (0, 0)  # places of the memory and batch size, when the update was recorded

    @property
    def actor(self) -> nn.Module:
        """The network that acts: `act_with` names it."""
        return self.network if self.config.act_with == "network" else self.target

    @property
    def ready(self) -> bool:
        """Whether the memory holds enough transitions to learn from."""
        return len(self.replay) >= max(self.config.batch_size, self.config.learning_starts)

    @property
    def batch_size(self) -> int:
        """Transitions of an update now."""
        return self._half.batch_size

    def begin(self, observations: Observations) -> None:
        """The first observation of the first episode, (1, *frame)."""
        if self.config.shift_pixels:
            check_pictures("shift_pixels", "moves", observations.shape)
        if self.config.mirror:
            check_pictures("mirror", "turns", observations.shape)
        self.replay.begin(self._only(observations))

    def act(self) -> NDArray[np.int64]:
        """An exploring action (1,) for the observation at hand."""
        frame = self.replay.current_frame
        if frame is None:
            raise InputError("there is nothing to act upon; give the first observations to begin()")
        self._chosen = self.explore(frame)
        return np.array([self._chosen])

    def observe(self, step: Step) -> None:
        """Remember what came of the action."""
        following = self._only(step.observations)
        ended, reward = bool(step.ended[0]), float(step.rewards[0])
        cut_short = ended and self.config.bootstrap_truncated and not step.terminated[0]
        self.replay.append(
            self._chosen,
            reward,
            None if ended else following,
            last_frame=step.last[0] if cut_short else None,
            advice=self._advice,
        )
        self._advice = NO_ADVICE if step.advice is None else int(step.advice[0])
        if self._spread is not None:
            self._spread.see(reward, ended=ended)
        if ended:
            self.replay.begin(following)

    def update(self) -> Tensor | None:
        """Make the updates of one step and lower the exploration rate; their mean loss, None before learning starts."""
        losses = [loss for _ in range(self.config.updates_per_step) if (loss := self.step()) is not None]
        self.exploration.step()
        if len(losses) > 1:
            return torch.stack(losses).mean()
        return losses[0] if losses else None

    def greedy(self, observations: Observations) -> NDArray[np.int64]:
        """The best actions (k,) for observations (k, *frame)."""
        if self.network.training:
            self.network.eval()
        if self.resident:
            return self._decision(observations).astype(np.int64)
        return greedy_actions(self._actor_preferences, observations, self.actions, self.device)

    def _best(self, observations: Tensor) -> Tensor:
        values = self._actor_preferences(observations)
        return check_values(values, len(observations), self.actions).argmax(dim=1)

    def explore(self, observation: Observations) -> int:
        """An action for one observation: random at the exploration rate, or what is advised instead, else greedy."""
        drawn = self.exploration.action(self.actions, self._advice, self.streams.exploration)
        if drawn is not None:
            return drawn
        if self.config.always_training:
            frames = torch.from_numpy(observation[None]).to(self.device)
            return int(values_in_training(self.actor, frames).argmax())
        return int(self.greedy(observation[None])[0])

    def sample_observations(self, count: int) -> Tensor | None:
        """That many observations of transitions that are remembered, always those while nothing is added."""
        if not len(self.replay):
            return None
        # A generator of its own: looking must not change what is learned.
        return self.replay.sample(count, np.random.default_rng(0)).states.to(self.device)

    def replace_observation(self, game: int, observation: Observations) -> None:
        """Replace the observation to be acted upon next, where an environment did not repeat an episode."""
        self.replay.replace_current(observation)
        self._target_values.forget()
        self._advice = NO_ADVICE

    def abandon_episode(self, game: int, observation: Observations) -> None:
        """End the episode under way, if there is one, as if it had been cut short; `observation` begins the next."""
        if self.replay.current_frame is not None:
            self.replay.end_episode(cut_short=self.config.bootstrap_truncated)
            self._target_values.forget()  # the step to come has another frame now
        self.replay.begin(observation)
        self._advice = NO_ADVICE
        if self._spread is not None:
            self._spread.begin_episode()

    def figures(self) -> dict[str, float]:
        """Exploration rate, step size and updates so far."""
        return {
            "exploration": self.exploration.rate,
            "learning_rate": self._rate,
            "updates": float(self.updates),
        }

    def _only(self, observations: Observations) -> Observations:
        if len(observations) != self.games:
            raise InputError(f"this learner plays one game, got observations of {len(observations)}")
        only: Observations = observations[0]
        return only

    def step(self) -> Tensor | None:
        """Make one update; return its loss (on the device, detached), or None before learning starts."""
        if self._half.is_due(self.replay.added, self._total_steps):
            self._begin_second_half()
        if not self.ready:
            return None
        if self.config.anneal_updates is not None:
            progress = min(1.0, self.updates / self.config.anneal_updates)
            self._rate = self.config.learning_rate * (1 - 0.9 * progress)
            set_learning_rate(self.optimizer, self._rate)
        if self.config.taught or self.config.exploration_advised:
            self._be_taught()
        loss = self._once()
        self.updates += 1
        if self.updates % self.config.target_every == 0:
            self.move_target()
        return loss

    def _begin_second_half(self) -> None:
        self._half.take_up(self.replay, begun=True)
        if self.config.reset_heads:
            self._half.reset(self.network, self.target, self.optimizer)
            self._target_values.forget()
            self._update.forget()  # heads that begin on data are placed by a pass that is not replayed
            self._decision.forget()

    def _be_taught(self) -> None:
        """Bring the weight of advice up to date, and say so if there is none."""
        if not self.updates:
            warn_unless_advised(self.replay.advice, self.config, "the steps before the first update")
        self._taught.fill_(teaching_weight(self.config, self.replay.added - 1, self._total_steps))

    def _once(self) -> Tensor:
        """One update, replayed where it can be; its loss."""
        if not isinstance(self.replay, DeviceReplay):
            return self._updated()
        recorded = (self.replay.places, self.batch_size)
        if recorded != self._recorded:
            self._update.forget()
            self._recorded = recorded
        return self._update()

    def _updated(self) -> Tensor:
        """Sample, learn from it, and give the loss: with a resident memory a function of tensors that stay in place."""
        batch = self._batch()
        targets = self._begin_targets(batch)
        self.network.train()
        values = self.network(batch.states)
        loss = LOSSES[self.config.loss](values.gather(1, batch.actions[:, None]).squeeze(1), targets())
        if self.config.taught:
            loss = loss + self._taught * margin_loss(values, batch.advice, self.config.taught_margin)
        if self._both_ways is not None:
            loss = loss + self.config.mirror_agreement * self._both_ways.apart(values)
        descend(self.optimizer, loss, clip_norm=self.config.clip_norm)
        self.network.eval()
        return loss.detach()

    def _batch(self) -> Batch:
        """Transitions to learn from, drawn and changed as is asked for, on the device."""
        batch, draws = sampled(self.replay, self.batch_size, self.streams, self.device)
        if self.config.shift_pixels:
            batch = shifted(batch, self.config.shift_pixels, draws)
        if self._both_ways is not None:
            return self._both_ways.seen(batch)
        if self._mirrored_actions is not None:
            batch = mirrored(batch, self._mirrored_actions, draws)
        return batch

    def targets(self, batch: Batch) -> Tensor:
        """Double-Q targets (B,) of a batch on the learner's device; for a network in evaluation mode."""
        return self._begin_targets(batch)()

    def _begin_targets(self, batch: Batch) -> Callable[[], Tensor]:
        """Find the best actions by the network as it is; what the function returned gives are the targets."""
        if self.config.always_training:
            given = self._targets_in_training(batch)
            return lambda: given
        with torch.inference_mode():
            # Nothing else reads or writes the target network, so it may be computed along with the loss.
            target_values = beside(
                lambda frames: self._values_by_target(frames, batch.next_steps), batch.next_states
            )
            best = self._together(self._preferences(batch.next_states)).argmax(dim=1, keepdim=True)

        def targets() -> Tensor:
            with torch.inference_mode():
                following = self._together(target_values()).gather(1, best).squeeze(1)
            # Outside of inference mode: the loss's backward pass has to keep the targets.
            return self._scaled(batch.returns) + batch.discounts * following

        return targets

    def _targets_in_training(self, batch: Batch) -> Tensor:
        """Targets of passes in training mode, one after the other: they draw from the same random numbers."""
        best = self._together(values_in_training(self.network, batch.next_states)).argmax(dim=1, keepdim=True)
        following = (
            self._together(values_in_training(self.target, batch.next_states)).gather(1, best).squeeze(1)
        )
        return self._scaled(batch.returns) + batch.discounts * following

    def _together(self, values: Tensor) -> Tensor:
        return values if self._both_ways is None else self._both_ways.together(values)

    def _scaled(self, returns: Tensor) -> Tensor:
        scaled = self.config.reward_scale * returns
        return scaled if self._spread is None else self._spread.factor * scaled

    def _values_by_target(self, frames: Tensor, steps: Tensor) -> Tensor:
        if self._reuses_target:
            return self._target_values(self.target, frames, steps)
        values: Tensor = self.target(frames)
        return values

    def move_target(self) -> None:
        """Move the target's parameters `target_rate` of the way to the network's, and copy all else."""
        self._target_values.forget()
        come_after(self.target, self.network, self.config.target_rate)

    def state_dict(self) -> dict[str, Any]:
        """All that decides how learning goes on: nested dictionaries of tensors and what JSON can hold."""
        return {
            "network": self.network.state_dict(),
            "target": self.target.state_dict(),
            "optimizer": optimizer_state(self.optimizer),
            "replay": self.replay.state_dict(),
            "target_values": self._target_values.state_dict(),
            "exploration": self.exploration.state_dict(),
            "random": self.streams.state_dict(),
            "updates": self.updates,
            "total_steps": self._total_steps,
            "advice": self._advice,
            "second_half": self._half.begun,
            **({} if self._spread is None else {"spread": self._spread.state_dict()}),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self.network.load_state_dict(state["network"])
        self.target.load_state_dict(state["target"])
        load_optimizer_state(self.optimizer, state["optimizer"])
        self.replay.load_state_dict(state["replay"])
        self._target_values.load_state_dict(state["target_values"])
        self.exploration.load_state_dict(state["exploration"])
        self.streams.load_state_dict(state["random"])
        self.updates = state["updates"]
        self._total_steps = state.get("total_steps", self._total_steps)  # earlier states have none
        self._advice = state.get("advice", NO_ADVICE)  # earlier states have none
        self._rate = float(self.optimizer.param_groups[0]["lr"])
        if self._spread is not None:
            self._spread.load_state_dict(state["spread"])
        self._half.take_up(self.replay, begun=state.get("second_half", False))
        self._update.forget()
        self._decision.forget()
