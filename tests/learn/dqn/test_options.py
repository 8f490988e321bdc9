"""The learner's options beyond the paper: a step size that falls, an acting target, pictures moved or mirrored."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from neuroplastic.errors import ConfigError, InputError
from neuroplastic.learn import Batch, QConfig, QLearning, RandomStreams
from neuroplastic.learn.dqn.augmentation import mirrored, shifted
from neuroplastic.learn.dqn.draws import HostDraws
from tests.learn.agents import make_learner
from tests.learn.catch import Catch
from tests.learn.loop import Loop


def batch_of(states: torch.Tensor, next_states: torch.Tensor | None = None) -> Batch:
    numbers = torch.zeros(len(states))
    following = states if next_states is None else next_states
    return Batch(states, numbers.long(), numbers, numbers, following, numbers.long(), numbers.long() - 1)


def pictures(count: int, height: int = 7, width: int = 5, seed: int = 0, channels: int = 3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (count, height, width, channels), dtype=torch.uint8, generator=generator)


def moved(picture: np.ndarray, down: int, right: int, most: int) -> np.ndarray:
    """`picture` (H, W, C) with row y taken from row y + down, and columns alike, out of a frame of repeated edge."""
    height, width, _ = picture.shape
    framed = np.pad(picture, ((most, most), (most, most), (0, 0)), mode="edge")
    return framed[most + down : most + down + height, most + right : most + right + width]


def test_a_shift_of_no_pixels_changes_nothing():
    batch = batch_of(pictures(4), pictures(4, seed=1))
    for before, after in zip(batch, shifted(batch, 0, HostDraws(np.random.default_rng(0))), strict=True):
        assert torch.equal(before, after)


@pytest.mark.parametrize(("most", "count"), [(1, 60), (2, 60), (9, 10)])
def test_every_shifted_picture_is_the_original_moved_with_its_edge_repeated(most, count):
    batch = batch_of(pictures(count), pictures(count, seed=1))
    result = shifted(batch, most, HostDraws(np.random.default_rng(3)))
    both_ways = [(down, right) for down in range(-most, most + 1) for right in range(-most, most + 1)]
    seen = set()
    for name in ("states", "next_states"):
        for before, after in zip(getattr(batch, name).numpy(), getattr(result, name).numpy(), strict=True):
            places = [place for place in both_ways if np.array_equal(moved(before, *place, most), after)]
            assert places
            seen.update(places)
    if most < 5:  # all moves within the picture are told apart, and all happen
        assert seen == set(both_ways)
    for name in ("actions", "returns", "discounts", "next_steps"):
        assert getattr(result, name) is getattr(batch, name)


def test_a_picture_and_the_one_that_follows_are_moved_independently():
    result = shifted(batch_of(pictures(40)), 2, HostDraws(np.random.default_rng(0)))
    equal = [torch.equal(a, b) for a, b in zip(result.states, result.next_states, strict=True)]
    assert sum(equal) < 10  # one in 25 by chance


def test_equal_generators_shift_alike_and_the_original_stays():
    states = pictures(8)
    kept = states.clone()
    first, again = (shifted(batch_of(states), 3, HostDraws(np.random.default_rng(5))) for _ in range(2))
    assert torch.equal(first.states, again.states)
    assert torch.equal(first.next_states, again.next_states)
    assert not torch.equal(
        first.states, shifted(batch_of(states), 3, HostDraws(np.random.default_rng(6))).states
    )
    assert torch.equal(states, kept)


def test_pictures_of_one_channel_need_no_channel_axis():
    grey = pictures(8, channels=1)
    with_axis, without = (
        shifted(batch_of(states), 2, HostDraws(np.random.default_rng(1))).states
        for states in (grey, grey.squeeze(3))
    )
    assert torch.equal(with_axis.squeeze(3), without)


class Linear(nn.Module):
    """Values of two actions, linear in the observation."""

    def __init__(self, pixels: int) -> None:
        super().__init__()
        self.linear = nn.Linear(pixels, 2)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = self.linear(observations.flatten(1) / 255)
        return values


def learner_of(shape: tuple[int, ...], *, total_steps: int | None = None, **fields: object) -> QLearning:
    config = QConfig(**{"batch_size": 2, "memory_size": 20, "learning_rate": 0.01, **fields})  # type: ignore[arg-type]
    learner = QLearning(
        Linear(int(np.prod(shape))),
        config,
        actions=2,
        streams=RandomStreams(0),
        mirrored_actions=(1, 0),
        total_steps=total_steps,
    )
    generator = np.random.default_rng(0)
    learner.replay.begin(generator.integers(0, 256, shape, np.uint8))
    for step in range(10):
        learner.replay.append(step % 2, float(step), generator.integers(0, 256, shape, np.uint8))
    return learner


def test_observations_that_are_no_pictures_cannot_be_shifted():
    with pytest.raises(InputError, match=r"moves pictures.* got observations \(2, 8\); switch it off"):
        learner_of((8,), shift_pixels=1).step()
    assert learner_of((8,)).step() is not None


def test_learning_sees_shifted_pictures_and_the_memory_keeps_the_originals():
    still, moving = (learner_of((6, 6, 3), shift_pixels=pixels, n_step=1) for pixels in (0, 2))
    stored = moving.replay.gather(np.arange(10)).states.clone()
    losses = [[learner.step().item() for _ in range(5)] for learner in (still, moving)]
    assert losses[0] != losses[1]
    assert torch.equal(moving.replay.gather(np.arange(10)).states, stored)


def test_shifted_pictures_are_never_valued_by_kept_target_values():
    learner = learner_of((6, 6, 3), shift_pixels=2, target_every=100, reuse_target=True)
    passes = []
    learner.target.register_forward_hook(lambda *_: passes.append(1))
    for _ in range(30):  # three times as often as there are frames
        learner.step()
    assert len(passes) == 30


def test_a_mirror_turns_half_of_the_transitions_whole():
    batch = batch_of(pictures(400), pictures(400, seed=1))._replace(actions=torch.arange(400) % 4)
    swapped = torch.tensor([0, 2, 1, 3])
    result = mirrored(batch, swapped, HostDraws(np.random.default_rng(0)))
    turned = torch.tensor([not torch.equal(a, b) for a, b in zip(batch.states, result.states, strict=True)])
    assert 160 < turned.sum() < 240
    assert torch.equal(result.states[turned], batch.states[turned].flip(2))
    assert torch.equal(result.next_states[turned], batch.next_states[turned].flip(2))
    assert torch.equal(result.next_states[~turned], batch.next_states[~turned])
    assert torch.equal(result.actions[turned], swapped[batch.actions[turned]])
    assert torch.equal(result.actions[~turned], batch.actions[~turned])
    for name in ("returns", "discounts", "next_steps"):
        assert getattr(result, name) is getattr(batch, name)


def test_a_learner_with_a_mirror_comes_to_value_both_sides_alike():
    # The memory only ever shows a light on the left, and that the first action pays there.
    config = QConfig(batch_size=16, memory_size=20, learning_rate=0.05, discount=0.0, mirror=True)
    learner = QLearning(Linear(4), config, actions=2, streams=RandomStreams(0), mirrored_actions=(1, 0))
    left, right = np.array([[255, 0], [255, 0]], np.uint8), np.array([[0, 255], [0, 255]], np.uint8)
    learner.replay.begin(left)
    for step in range(20):
        learner.replay.append(step % 2, float(step % 2 == 0), left)
    for _ in range(300):
        learner.step()
    assert learner.greedy(np.stack([left, right])).tolist() == [0, 1]


def test_mirrored_pictures_are_never_valued_by_kept_target_values():
    learner = learner_of((6, 6, 3), mirror=True, target_every=100, reuse_target=True)
    passes = []
    learner.target.register_forward_hook(lambda *_: passes.append(1))
    for _ in range(30):
        learner.step()
    assert len(passes) == 30


def test_a_learner_that_moves_and_mirrors_pictures_goes_on_exactly():
    first, second = (learner_of((6, 6, 3), mirror=True, shift_pixels=1) for _ in range(2))
    for _ in range(5):
        first.step()
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    for _ in range(5):
        assert torch.equal(first.step(), second.step())


@pytest.mark.parametrize("actions", [None, (0,), (1, 1), (0, 1, 2)])
def test_a_mirror_needs_actions_in_pairs(actions):
    with pytest.raises(ConfigError, match="mirrored_actions"):
        QLearning(
            Linear(4), QConfig(mirror=True), actions=2, streams=RandomStreams(0), mirrored_actions=actions
        )


@pytest.mark.parametrize(
    ("option", "fields"), [("shift_pixels", {"shift_pixels": 1}), ("mirror", {"mirror": True})]
)
def test_vectors_are_refused_by_name_before_the_first_step(option, fields):
    learner = QLearning(
        Linear(8), QConfig(**fields), actions=2, streams=RandomStreams(0), mirrored_actions=(1, 0)
    )
    with pytest.raises(InputError, match=rf"^{option} .* got observations \(1, 8\); switch it off"):
        learner.begin(np.zeros((1, 8), np.float32))


def test_observations_that_are_no_pictures_have_no_mirror():
    with pytest.raises(InputError, match=r"turns pictures.* got observations \(2, 8\); switch it off"):
        learner_of((8,), mirror=True).step()


def test_step_size_falls_in_a_line_to_a_tenth_and_stays_there():
    learner = learner_of((4,), learning_rate=0.2, anneal_updates=4)
    sizes = []
    for _ in range(7):
        learner.step()
        sizes.append(learner.optimizer.param_groups[0]["lr"])
    assert sizes == pytest.approx([0.2, 0.155, 0.11, 0.065, 0.02, 0.02, 0.02])


def test_step_size_is_what_the_optimizer_moves_by():
    # Adam's first step is the step size in length, whatever the gradient.
    moves = []
    for updates_before in (0, 2, 9):
        learner = learner_of((4,), learning_rate=0.2, anneal_updates=4)
        learner.updates = updates_before
        before = learner.network.linear.bias.detach().clone()
        learner.step()
        moves.append((learner.network.linear.bias - before).abs().max().item())
    assert moves == pytest.approx([0.2, 0.11, 0.02], rel=1e-4)


def test_without_annealing_the_step_size_stays():
    learner = learner_of((4,), learning_rate=0.2)
    for _ in range(5):
        learner.step()
    assert learner.optimizer.param_groups[0]["lr"] == 0.2


def test_batches_are_larger_in_the_second_half_of_a_run_where_that_is_asked_for():
    sizes = []
    for total in (30, 20, 19, 10):  # ten steps are remembered
        learner = learner_of((4,), late_batch=7, total_steps=total)
        learner.network.register_forward_hook(
            lambda net, given, _: sizes.append(len(given[0])) if net.training else None
        )
        assert learner.step() is not None
    assert sizes == [2, 2, 7, 7]


def test_a_late_batch_larger_than_the_memory_is_refused():
    with pytest.raises(ConfigError, match=r"late_batch must be at most memory_size = 20, got 2147483648"):
        QConfig(batch_size=2, memory_size=20, late_batch=2**31)


def test_a_late_batch_needs_to_know_how_long_the_run_is():
    with pytest.raises(
        ConfigError, match="late_batch=7 is for the second half of a run and needs total_steps"
    ):
        learner_of((4,), late_batch=7)


class Preferring(Linear):
    """Prefers what is worth least, so that the test can tell preferences from values."""

    def preferences(self, observations: torch.Tensor) -> torch.Tensor:
        return -self(observations)


@pytest.mark.parametrize("act_with", ["network", "target"])
def test_the_one_that_acts_is_asked_for_its_preferences(act_with):
    config = QConfig(act_with=act_with, exploration_start=0.0, exploration_floor=0.0)
    learner = QLearning(Preferring(1), config, actions=2, streams=RandomStreams(0))
    with torch.no_grad():
        for network, bias in ((learner.network, [0.0, 1.0]), (learner.target, [1.0, 0.0])):
            network.linear.weight.zero_()
            network.linear.bias.copy_(torch.tensor(bias))
    assert learner.actor is getattr(learner, act_with)
    best = 0 if act_with == "network" else 1
    assert learner.greedy(np.zeros((3, 1), np.uint8)).tolist() == [best] * 3
    assert learner.explore(np.zeros(1, np.uint8)) == best


def test_an_acting_target_leaves_the_choice_inside_the_loss_to_the_network():
    learner = learner_of((4,), act_with="target", discount=1.0)
    with torch.no_grad():
        for network, bias in ((learner.network, [0.0, 1.0]), (learner.target, [7.0, 5.0])):
            network.linear.weight.zero_()
            network.linear.bias.copy_(torch.tensor(bias))
    batch = batch_of(torch.zeros(1, 4, dtype=torch.uint8))._replace(discounts=torch.ones(1))
    assert learner.targets(batch).tolist() == [5.0]


def test_an_acting_target_follows_the_network_as_it_moves():
    learner = learner_of((4,), act_with="target", target_every=1, target_rate=0.5)
    observation = np.full((1, 4), 255, np.uint8)
    learner.greedy(observation)
    with torch.no_grad():
        learner.network.linear.weight.zero_()
        learner.network.linear.bias.copy_(torch.tensor([100.0, -100.0]))
    learner.move_target()
    assert learner.greedy(observation).tolist() == [0]
    with torch.no_grad():
        learner.network.linear.bias.neg_()
    for _ in range(2):
        learner.move_target()
    assert learner.greedy(observation).tolist() == [1]


class SmallPictures(nn.Module):
    """Values from every seventh pixel, with dropout for the sake of random states."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.values = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(12 * 12 * 3, actions))

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = self.values(frames[:, ::7, ::7] / 255)
        return values


@pytest.mark.parametrize(("pause", "always_training"), [(13, False), (40, False), (13, True)])
def test_a_reloaded_run_with_all_options_goes_on_bit_for_bit(pause, always_training):
    config = QConfig(
        always_training=always_training,
        learning_rate=1e-2,
        batch_size=4,
        memory_size=30,
        n_step=2,
        target_every=1,
        target_rate=0.1,
        anneal_updates=50,
        act_with="target",
        shift_pixels=7,
        exploration_decay=0.97,
    )

    def started() -> Loop:
        return Loop(lambda: Catch(3), make_learner(SmallPictures, config, seed=3))

    def losses(loop: Loop, steps: int) -> list[float | None]:
        return [played.loss for played in loop.run(steps)]

    whole = started()
    losses(whole, pause)
    state = copy.deepcopy(whole.state_dict())
    expected = losses(whole, 40)
    assert any(loss is not None for loss in expected)
    resumed = started()
    losses(resumed, 5)  # whatever it did before
    resumed.load_state_dict(state)
    assert losses(resumed, 40) == expected
    for name in ("network", "target"):
        ends = [getattr(loop.learner, name).state_dict() for loop in (whole, resumed)]
        assert all(torch.equal(ends[0][key], ends[1][key]) for key in ends[0])
    rates = [loop.learner.optimizer.param_groups[0]["lr"] for loop in (whole, resumed)]
    assert rates[0] == rates[1] < config.learning_rate


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("late_batch", 0),
        ("late_batch", 2.5),
        ("anneal_updates", 0),
        ("anneal_updates", 2.5),
        ("anneal_updates", True),
        ("act_with", "other"),
        ("act_with", None),
        ("shift_pixels", -1),
        ("shift_pixels", 1.5),
        ("shift_pixels", None),
    ],
)
def test_a_bad_value_names_its_field(field, value):
    with pytest.raises(ConfigError, match=f"^{field} must be"):
        QConfig(**{field: value})


def test_a_near_miss_of_the_actor_gets_a_suggestion():
    with pytest.raises(ConfigError, match="did you mean 'target'"):
        QConfig(act_with="traget")
