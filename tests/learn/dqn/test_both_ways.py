"""Transitions seen as they are and in a mirror: what is asked of their values, by hand and in a learner."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from neuroplastic.errors import ConfigError
from neuroplastic.learn import Batch, QConfig, QLearning, RandomStreams
from neuroplastic.learn.dqn.both_ways import BothWays

LEFT = np.array([[255, 0], [255, 0]], np.uint8)
RIGHT = LEFT[:, ::-1].copy()
SWAPPED = torch.tensor([0, 2, 1])


class Linear(nn.Module):
    """Values of three actions from pictures of four pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = self.linear(observations.flatten(1) / 255)
        return values


def learner_of(**fields: object) -> QLearning:
    torch.manual_seed(0)
    config = QConfig(**{"batch_size": 16, "memory_size": 40, "learning_rate": 0.05, "mirror": True, **fields})  # type: ignore[arg-type]
    return QLearning(Linear(), config, actions=3, streams=RandomStreams(0), mirrored_actions=SWAPPED.tolist())


def batch_of(states: torch.Tensor, actions: list[int]) -> Batch:
    count = len(actions)
    numbers = torch.arange(count).float()
    steps = torch.arange(count)
    return Batch(states, torch.tensor(actions), numbers, numbers + 1, states.flip(0), steps, steps - 1)


def test_the_second_half_of_a_batch_is_the_first_in_a_mirror():
    states = torch.randint(
        0, 256, (3, 2, 4, 1), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    batch = batch_of(states, [0, 1, 2])
    seen = BothWays(SWAPPED).seen(batch)
    assert torch.equal(seen.states, torch.cat((states, states.flip(2))))
    assert torch.equal(seen.next_states, torch.cat((states.flip(0), states.flip(0).flip(2))))
    assert seen.actions.tolist() == [0, 1, 2, 0, 2, 1]
    assert seen.advice.tolist() == [-1, 0, 1, -1, 0, 2]
    for name in ("returns", "discounts", "next_steps"):
        assert torch.equal(getattr(seen, name), getattr(batch, name).repeat(2))


def test_values_of_both_halves_are_drawn_to_their_mean_by_hand():
    values = torch.tensor([[1.0, 2.0, 3.0], [5.0, 7.0, 6.0]])  # a picture, and its mirror image
    both = BothWays(SWAPPED)
    together = [[3.0, 4.0, 5.0], [3.0, 5.0, 4.0]]  # (1 + 5) / 2, (2 + 6) / 2, (3 + 7) / 2
    assert both.together(values).tolist() == together
    assert both.apart(values) == 16.0
    assert both.apart(torch.tensor(together)) == 0.0


@pytest.mark.parametrize("always_training", [False, True])
def test_targets_are_of_the_mean_of_both_sides(always_training):
    learner = learner_of(
        mirror_agreement=1.0, discount=0.5, target_every=1000, always_training=always_training
    )
    learner.replay.begin(LEFT)
    for step in range(6):
        learner.replay.append(step % 3, float(step), LEFT if step % 2 else RIGHT)
    learner.step()  # now the network is another than its target
    batch = learner._batch()
    ours, theirs = (
        (net(batch.next_states) + net(batch.next_states.flip(2))[:, SWAPPED]) / 2
        for net in (learner.network, learner.target)
    )
    following = theirs.gather(1, ours.argmax(dim=1, keepdim=True)).squeeze(1)
    torch.testing.assert_close(learner.targets(batch), batch.returns + batch.discounts * following)


@pytest.mark.parametrize("always_training", [False, True])
@pytest.mark.parametrize("agreement", [0.0, 1.0])
def test_actions_that_nobody_took_come_to_be_valued_alike_on_both_sides(agreement, always_training):
    # The memory only ever shows a light on the left, and the first action: nothing else is learned of the others.
    learner = learner_of(mirror_agreement=agreement, discount=0.0, always_training=always_training)
    learner.replay.begin(LEFT)
    for _ in range(20):
        learner.replay.append(0, 1.0, LEFT)
    for _ in range(300):
        learner.step()
    left, right = learner.network(torch.from_numpy(np.stack([LEFT, RIGHT]))).detach()
    assert left[0].item() == pytest.approx(1, abs=0.1)
    assert right[0].item() == pytest.approx(1, abs=0.1)
    apart = (left - right[SWAPPED]).abs().max()
    assert apart < 0.02 if agreement else apart > 0.1


def test_agreement_without_a_mirror_is_refused():
    with pytest.raises(
        ConfigError, match=r"mirror_agreement=1 is about what is seen in a mirror; set mirror"
    ):
        QConfig(mirror_agreement=1.0)
    with pytest.raises(ConfigError, match=r"mirror_agreement must be .*got -1"):
        QConfig(mirror=True, mirror_agreement=-1.0)
    with pytest.raises(ConfigError, match=r"mirror_agreement must be .*got 1e\+30"):
        QConfig(mirror=True, mirror_agreement=1e30)


def test_a_learner_that_sees_both_ways_is_taken_up_again_to_the_last_bit():
    one, other = (learner_of(mirror_agreement=1.0, n_step=2) for _ in range(2))
    one.replay.begin(LEFT)
    for step in range(20):
        one.replay.append(step % 3, float(step % 2), LEFT if step % 2 else RIGHT)
    for _ in range(4):
        one.step()
    other.load_state_dict(copy.deepcopy(one.state_dict()))
    for _ in range(4):
        assert torch.equal(one.step(), other.step())
    assert torch.equal(one.network.linear.weight, other.network.linear.weight)
