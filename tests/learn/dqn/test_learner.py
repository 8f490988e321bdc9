import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from neuroplastic.errors import ConfigError, InputError
from neuroplastic.learn import Batch, QConfig, QLearning, RandomStreams
from neuroplastic.learn.experience import Step


class Table(nn.Module):
    """Action values read from a table by the number in a one-pixel frame; counts its passes by mode."""

    def __init__(self, values: list[list[float]]) -> None:
        super().__init__()
        self.values = nn.Parameter(torch.tensor(values))
        self.register_buffer("passes_in_training", torch.tensor(0))
        self.passes_in_evaluation = 0
        self.extra = torch.tensor([0], dtype=torch.uint8)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        if self.training:
            self.passes_in_training += 1
        else:
            self.passes_in_evaluation += 1
        return self.values[frames.flatten().long()]

    def get_extra_state(self) -> torch.Tensor:
        return self.extra

    def set_extra_state(self, state: torch.Tensor) -> None:
        self.extra = state.clone()


def frame(number: int) -> np.ndarray:
    return np.array([number], np.uint8)


def outcome(
    number: int, *, reward: float = 0.0, terminated=False, truncated=False, last: int | None = None
) -> Step:
    """What came of a step in the one game; `number` is the frame that is acted upon next."""
    lasts = {} if last is None else {0: frame(last)}
    flags = (np.array([flag]) for flag in (terminated, truncated))
    return Step(np.array([reward], np.float32), *flags, frame(number)[None], lasts)


def learner_of(values: list[list[float]], **fields: object) -> QLearning:
    config = QConfig(**{"batch_size": 1, "memory_size": 10, "discount": 0.5, **fields})  # type: ignore[arg-type]
    return QLearning(Table(values), config, actions=len(values[0]), streams=RandomStreams(0))


def test_target_takes_the_action_of_the_network_and_its_value_from_the_target_network():
    learner = learner_of([[0.0, 0.0], [1.0, 2.0]], reward_scale=0.1)
    with torch.no_grad():
        learner.target.values.copy_(torch.tensor([[0.0, 0.0], [100.0, -30.0]]))
    batch = Batch(
        states=torch.tensor([[0], [0]], dtype=torch.uint8),
        actions=torch.tensor([0, 1]),
        returns=torch.tensor([4.0, 4.0]),
        discounts=torch.tensor([0.25, 0.0]),
        next_states=torch.tensor([[1], [1]], dtype=torch.uint8),
        next_steps=torch.tensor([1, 1]),
        advice=torch.tensor([-1, -1]),
    )
    # Best by the network: action 1 (2 > 1), worth -30 to the target network; plain Q-learning would take 100.
    assert learner.targets(batch).tolist() == pytest.approx([0.4 + 0.25 * -30.0, 0.4])


@pytest.mark.parametrize(("loss", "expected"), [("mse", 9.0), ("huber", 2.5)])
def test_loss_is_taken_between_the_action_done_and_the_target(loss, expected):
    learner = learner_of([[5.0, 1.0]], loss=loss)
    learner.replay.begin(frame(0))
    learner.replay.append(1, 4.0, None)
    result = learner.step()
    assert result is not None
    assert result.item() == pytest.approx(expected)  # (1 - 4)**2, or 3 - 0.5
    assert learner.network.values[0, 0].item() == 5.0  # the action not done is left alone
    assert learner.network.values[0, 1].item() > 1.0


def test_only_the_pass_of_the_loss_runs_in_training_mode():
    learner = learner_of([[0.0, 0.0]])
    learner.replay.begin(frame(0))
    learner.replay.append(0, 1.0, frame(0))
    learner.greedy(np.zeros((3, 1), np.uint8))
    learner.step()
    assert learner.network.passes_in_training == 1
    assert learner.network.passes_in_evaluation == 2
    assert learner.target.passes_in_training == 0
    assert learner.target.passes_in_evaluation == 1
    assert not learner.network.training


def test_hard_copy_takes_parameters_buffers_and_extra_state_every_n_updates():
    learner = learner_of([[0.0, 0.0]], target_every=3, learning_rate=0.1)
    learner.replay.begin(frame(0))
    learner.replay.append(0, 1.0, None)
    learner.network.extra = torch.tensor([7], dtype=torch.uint8)
    for update in range(1, 7):
        learner.step()
        equal = torch.equal(learner.network.values, learner.target.values)
        assert equal == (update % 3 == 0)
    assert learner.target.passes_in_training == 6
    assert learner.target.extra.tolist() == [7]


def test_soft_copy_moves_parameters_part_of_the_way_and_copies_the_rest():
    learner = learner_of([[8.0, 0.0]], target_every=1, target_rate=0.25)
    with torch.no_grad():
        learner.network.values.zero_()
    learner.network.passes_in_training += 4
    learner.network.extra = torch.tensor([7], dtype=torch.uint8)
    learner.move_target()
    assert learner.target.values.tolist() == [[6.0, 0.0]]
    assert learner.target.passes_in_training == 4
    assert learner.target.extra.tolist() == [7]


def test_soft_copy_keeps_tied_parameters_tied():
    class Tied(Table):
        def __init__(self) -> None:
            super().__init__([[8.0, 0.0]])
            self.again = self.values

    learner = QLearning(
        Tied(), QConfig(target_every=1, target_rate=0.25), actions=2, streams=RandomStreams(0)
    )
    with torch.no_grad():
        learner.network.values.zero_()
    learner.move_target()
    assert learner.target.values.tolist() == [[6.0, 0.0]]


def test_learning_waits_for_a_batch_and_for_learning_starts():
    learner = learner_of([[0.0, 0.0]], batch_size=2, learning_starts=4, memory_size=20)
    losses = []
    learner.replay.begin(frame(0))
    for _ in range(5):
        learner.replay.append(0, 1.0, frame(0))
        losses.append(learner.step())
    assert [loss is None for loss in losses] == [True, True, True, False, False]
    assert learner.updates == 2


def test_gradient_is_clipped_to_the_norm():
    # Adam's first step does not depend on the gradient's size: look at the gradient itself.
    learner = learner_of([[1000.0, 0.0]], clip_norm=0.5)
    learner.replay.begin(frame(0))
    learner.replay.append(0, 0.0, None)
    learner.step()
    assert learner.network.values.grad.norm().item() == pytest.approx(0.5, rel=1e-4)


def test_greedy_actions_are_batched_and_need_no_exploration():
    learner = learner_of([[0.0, 1.0, 0.0], [3.0, 1.0, 2.0]])
    learner.network.train()  # someone else's doing: acting still happens in evaluation mode
    assert learner.greedy(np.array([[0], [1], [0]], np.uint8)).tolist() == [1, 0, 1]
    assert not learner.network.training


@pytest.mark.parametrize("always", [False, True])
def test_only_evaluation_is_spared_training_mode_where_that_is_asked_for(always):
    learner = learner_of([[0.0, 1.0]], always_training=always, target_every=50)
    learner.exploration.rate = 0.0
    learner.replay.begin(frame(0))
    learner.replay.append(0, 1.0, frame(0))
    learner.step()
    learner.explore(frame(0))
    learner.greedy(frame(0)[None])
    network, target = learner.network, learner.target
    # The loss and the argmax, and the exploring action; the target; then the one in evaluation mode.
    expected = (3, 1, 1) if always else (1, 0, 3)
    assert (
        network.passes_in_training.item(),
        target.passes_in_training.item(),
        network.passes_in_evaluation,
    ) == expected
    assert not network.training
    assert not target.training


def test_exploring_draws_all_actions_at_rate_one_and_none_at_zero():
    learner = learner_of([[0.0, 1.0, 0.0]])
    assert {learner.explore(frame(0)) for _ in range(100)} == {0, 1, 2}
    learner.exploration.rate = 0.0
    assert {learner.explore(frame(0)) for _ in range(100)} == {1}


def test_preferences_are_asked_where_only_the_best_action_counts():
    class Preferring(Table):
        def preferences(self, frames: torch.Tensor) -> torch.Tensor:
            return -super().forward(frames)

    learner = QLearning(Preferring([[1.0, 2.0]]), QConfig(), actions=2, streams=RandomStreams(0))
    assert learner.greedy(np.zeros((1, 1), np.uint8)).tolist() == [0]


def test_a_network_of_the_wrong_width_is_named():
    learner = QLearning(Table([[0.0, 1.0]]), QConfig(), actions=3, streams=RandomStreams(0))
    with pytest.raises(InputError, match=r"\(1, 3\) values, got \(1, 2\)"):
        learner.greedy(np.zeros((1, 1), np.uint8))


def test_a_reloaded_learner_makes_the_same_updates():
    def play(learner: QLearning, steps: int) -> None:
        if learner.replay.current_frame is None:
            learner.replay.begin(frame(0))
        for step in range(steps):
            action = learner.explore(frame(step % 2))
            learner.replay.append(action, float(step), frame(step % 2))
            learner.step()

    fields = {"batch_size": 4, "memory_size": 30, "n_step": 2, "target_every": 7}
    first = learner_of([[0.0, 0.5], [1.0, 2.0]], **fields)
    play(first, 50)
    state = first.state_dict()
    second = learner_of([[9.0, 9.0], [9.0, 9.0]], **fields)
    second.load_state_dict(state)
    play(first, 20)
    expected = first.network.values.clone()
    second.load_state_dict(second.state_dict())
    first_random = first.streams.exploration.random()
    play(second, 20)
    assert torch.equal(second.network.values, expected)
    assert second.streams.exploration.random() == first_random


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("learning_rate", float("inf")),
        ("learning_rate", "fast"),
        ("batch_size", 0),
        ("batch_size", 2.5),
        ("batch_size", 10_001),
        ("memory_size", -1),
        ("discount", 1.01),
        ("discount", -0.1),
        ("n_step", 0),
        ("loss", "hubert"),
        ("clip_norm", 0.0),
        ("reward_scale", 0),
        ("target_every", 0),
        ("target_rate", 0.0),
        ("target_rate", 1.5),
        ("updates_per_step", 0),
        ("learning_starts", -1),
        ("exploration_start", 2),
        ("exploration_decay", True),
        ("exploration_floor", -1),
        ("adam_eps", 0),
    ],
)
def test_a_bad_value_names_its_field(field, value):
    with pytest.raises(ConfigError, match=f"^{field} must be"):
        QConfig(**{field: value})


def test_a_near_miss_gets_a_suggestion():
    with pytest.raises(ConfigError, match="did you mean 'huber'"):
        QConfig(loss="hubert")


def test_every_field_has_one_line_of_help():
    for field in dataclasses.fields(QConfig):
        assert 5 < len(field.metadata["help"]) < 80, field.name
        assert "\n" not in field.metadata["help"]


def test_an_update_is_seen_by_what_is_kept_per_version_of_the_parameters():
    learner = learner_of([[5.0, 1.0]], fused_adam=True)
    learner.replay.begin(frame(0))
    learner.replay.append(1, 4.0, None)
    before = learner.network.values._version
    learner.step()
    assert learner.network.values._version > before


def test_kept_target_values_give_the_targets_of_fresh_ones_and_save_passes():
    fields = {"batch_size": 8, "memory_size": 12, "n_step": 2, "target_every": 30, "learning_rate": 0.01}
    values = np.random.default_rng(0).normal(size=(256, 2)).tolist()
    keeping, fresh = (learner_of(values, reuse_target=reuse, **fields) for reuse in (True, False))
    for learner in (keeping, fresh):
        learner.replay.begin(frame(0))
        for step in range(1, 300):  # the memory is overwritten many times over
            over = step % 7 == 0
            learner.replay.append(step % 2, float(step % 3), None if over else frame(step % 256))
            if over:
                learner.replay.begin(frame(step % 256))
            learner.step()
    assert torch.equal(keeping.network.values, fresh.network.values)
    assert fresh.target.passes_in_evaluation == fresh.updates
    assert keeping.target.passes_in_evaluation < 0.9 * fresh.updates


def test_a_replaced_observation_is_valued_anew():
    learner = learner_of([[0.0], [1.0], [50.0]], target_every=100)
    learner.replay.begin(frame(0))
    learner.replay.append(0, 0.0, frame(1))
    assert learner.targets(learner.replay.gather(np.array([0]))).tolist() == [0.5]
    learner.replace_observation(0, frame(2))
    assert learner.targets(learner.replay.gather(np.array([0]))).tolist() == [25.0]


def test_a_round_explores_remembers_updates_and_lowers_the_exploration_rate():
    learner = learner_of(
        [[0.0, 0.0]], batch_size=2, updates_per_step=3, exploration_decay=0.5, exploration_floor=0
    )
    learner.begin(frame(0)[None])
    losses = []
    for _ in range(3):
        assert learner.act().shape == (1,)
        learner.observe(outcome(0, reward=1.0))
        losses.append(learner.update())
    assert [loss is None for loss in losses] == [True, False, False]
    assert learner.updates == 6
    assert learner.figures() == {"exploration": 0.125, "learning_rate": 1e-4, "updates": 6.0}


def test_loss_of_several_updates_is_their_mean():
    learner = learner_of([[0.0, 0.0]], updates_per_step=2, learning_rate=1.0)
    learner.begin(frame(0)[None])
    learner.act()
    learner.observe(outcome(0, reward=3.0, terminated=True))
    # Adam's first step is as long as the learning rate: from 0 to 1.
    assert learner.update().item() == pytest.approx((3.0**2 + 2.0**2) / 2, rel=1e-5)


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("terminated", [False, True])
def test_a_time_out_ends_an_episode_unless_its_value_is_to_count_on(bootstrap, terminated):
    learner = learner_of([[0.0], [8.0], [50.0]], bootstrap_truncated=bootstrap, target_every=100)
    learner.begin(frame(0)[None])
    learner.act()
    learner.observe(outcome(2, reward=1.0, terminated=terminated, truncated=True, last=1))
    counts_on = bootstrap and not terminated
    for _ in range(2):  # also with values kept from the first time
        targets = learner.targets(learner.replay.gather(np.array([0])))
        assert targets.tolist() == [1.0 + 0.5 * 8.0 if counts_on else 1.0]


def test_last_frames_are_valued_with_those_of_steps_and_never_kept():
    learner = learner_of([[0.0], [8.0], [50.0], [70.0]], bootstrap_truncated=True, target_every=100)
    learner.begin(frame(0)[None])
    for number in (1, 3):
        learner.act()
        learner.observe(outcome(2, truncated=True, last=number))
        learner.act()
        learner.observe(outcome(0))
    batch = learner.replay.gather(np.array([0, 1, 2, 0]))
    assert learner.targets(batch).tolist() == [4.0, 0.0, 35.0, 4.0]
    assert learner.targets(batch).tolist() == [4.0, 0.0, 35.0, 4.0]
    assert learner.state_dict()["target_values"]["steps"].tolist() == [2]


@pytest.mark.parametrize(("bootstrap", "target"), [(False, 1.0), (True, 5.0)])
def test_an_abandoned_episode_counts_as_cut_short(bootstrap, target):
    learner = learner_of([[0.0], [8.0], [50.0]], bootstrap_truncated=bootstrap, target_every=100)
    learner.begin(frame(0)[None])
    learner.act()
    learner.observe(outcome(1, reward=1.0))
    assert learner.targets(learner.replay.gather(np.array([0]))).tolist() == [5.0]
    learner.abandon_episode(0, frame(2))
    assert learner.targets(learner.replay.gather(np.array([0]))).tolist() == [target]
    learner.act()
    learner.observe(outcome(0, reward=2.0))
    assert learner.replay.gather(np.array([1])).states.tolist() == [[2]]


def test_an_episode_that_never_began_is_abandoned_without_a_trace():
    # Earlier versions left no first frame of the next episode behind when they stopped between two.
    learner = learner_of([[0.0], [1.0]])
    learner.replay.begin(frame(0))
    learner.replay.append(0, 1.0, None)
    learner.targets(learner.replay.gather(np.array([0])))
    kept = learner.state_dict()["target_values"]["steps"].tolist()
    learner.abandon_episode(0, frame(1))
    assert learner.state_dict()["target_values"]["steps"].tolist() == kept
    assert learner.act().tolist() == [0]


def test_observations_of_several_games_are_refused():
    learner = learner_of([[0.0, 1.0]])
    with pytest.raises(InputError, match="plays one game, got observations of 2"):
        learner.begin(np.zeros((2, 1), np.uint8))


def test_acting_before_the_first_observation_is_refused():
    with pytest.raises(InputError, match=r"begin\(\)"):
        learner_of([[0.0, 1.0]]).act()


def test_a_memory_that_never_holds_enough_to_learn_from_is_refused():
    """The newest transitions of an episode cannot be drawn before their returns are known."""
    assert QConfig(batch_size=8, memory_size=10, n_step=3)
    message = (
        "memory_size must be at least 10: the 8 transitions .* the 2 newest, .* returns of 3 steps .* got 9"
    )
    with pytest.raises(ConfigError, match=message):
        QConfig(batch_size=8, memory_size=9, n_step=3)
    with pytest.raises(ConfigError, match="memory_size must be at least 39: the 30"):
        QConfig(batch_size=8, memory_size=30, learning_starts=30, late_n_step=10)
