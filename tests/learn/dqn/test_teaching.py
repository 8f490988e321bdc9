"""The replay learner in games that advise: what it explores, remembers and learns of it."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from neuroplastic.errors import ConfigError
from neuroplastic.learn import QConfig, QLearning, RandomStreams
from neuroplastic.learn.dqn.augmentation import mirrored
from neuroplastic.learn.dqn.draws import HostDraws
from neuroplastic.learn.teaching import NoAdviceWarning
from tests.learn.dqn.test_learner import Table, frame, outcome
from tests.learn.dqn.test_options import batch_of, pictures
from tests.learn.loop import equal_states
from tests.learn.test_teaching import by_definition

ADVISED = 2  # in frame 0; in frame 1 the game says nothing


def taught(*, resident: bool = False, total_steps: int = 100, **fields: object) -> QLearning:
    """A learner of three actions, two frames in turn; no reward tells the actions apart."""
    small = {"batch_size": 8, "memory_size": 40, "learning_rate": 0.05, "discount": 0.0, "taught": 1.0}
    config = QConfig(**{**small, **fields})  # type: ignore[arg-type]
    table = Table([[0.3, 0.2, 0.1], [0.3, 0.2, 0.1]])
    learner = QLearning(
        table, config, actions=3, streams=RandomStreams(0), resident=resident, total_steps=total_steps
    )
    learner.begin(frame(1)[None])
    return learner


def play(learner: QLearning, steps: int, advised: int = ADVISED) -> list[int]:
    """Frames 1, 0, 1, ...; the actions taken."""
    done = []
    for _ in range(steps):
        number = 1 - int(learner.replay.current_frame[0])
        done.append(int(learner.act()[0]))
        learner.observe(replace(outcome(number), advice=np.array([-1 if number else advised])))
        learner.update()
    return done


@pytest.mark.parametrize("resident", [False, True])
def test_a_taught_learner_comes_to_prefer_what_is_advised(resident):
    learner = taught(resident=resident, taught_share=1.0)
    play(learner, 80)
    values = learner.network.values.detach()
    assert values[0, 2] - values[0, :2].max() > 0.2
    assert values[1].max() - values[1].min() < 0.2, "where nothing is advised, rewards alone tell"


@pytest.mark.parametrize("resident", [False, True])
def test_advice_is_remembered_with_the_frame_that_it_was_given_upon(resident):
    learner = taught(resident=resident, learning_starts=40, exploration_advised=0.5)
    play(learner, 30)
    batch = learner.replay.gather(np.arange(30))
    assert batch.states.flatten().tolist() == [1, 0] * 15
    assert batch.advice.tolist() == [-1, ADVISED] * 15


def test_the_gradient_is_that_of_both_losses_by_their_definitions():
    learner = taught(batch_size=4, learning_starts=4, taught=2.0, taught_margin=0.7, clip_norm=1e9)
    values = np.array([[0.3, 0.2, 0.1], [0.3, 0.2, 0.1]])
    play(learner, 3)
    batch = learner.replay.gather(np.array([0, 1, 2, 2]))
    learner._batch = lambda: batch
    learner._taught.fill_(2.0)
    got = learner._updated().item()
    states, actions, advice = (np.array(part.flatten().tolist()) for part in batch[:2] + batch[-1:])

    def loss(table: np.ndarray) -> float:
        rows = table[states]
        return float(np.mean(rows[np.arange(4), actions] ** 2)) + 2 * by_definition(rows, advice, 0.7)

    assert got == pytest.approx(loss(values), rel=1e-6)
    gradient = np.zeros_like(values)
    for place in np.ndindex(*values.shape):
        moved = [values.copy(), values.copy()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        gradient[place] = (loss(moved[0]) - loss(moved[1])) / 2e-6
    np.testing.assert_allclose(learner.network.values.grad.numpy(), gradient, atol=1e-5)


def test_the_weight_of_advice_falls_in_a_line_to_nothing():
    learner = taught(taught=2.0, taught_share=0.5, batch_size=2)
    weights = []
    for _ in range(70):
        play(learner, 1)
        weights.append(learner._taught.item())
    np.testing.assert_allclose(weights[1:50], 2 * (1 - np.arange(1, 50) / 50), rtol=1e-6)
    assert weights[50:] == [0.0] * 20


def test_all_that_is_explored_is_advised_where_there_is_advice_and_else_the_best():
    learner = taught(
        exploration_start=1.0, exploration_floor=1.0, exploration_advised=1.0, learning_starts=40
    )
    assert play(learner, 20) == [0, ADVISED] * 10


def test_a_learner_that_follows_no_advice_explores_as_it_did_without():
    plain, advised = (taught(taught=0.0, exploration_decay=0.95) for _ in range(2))
    assert play(plain, 40, advised=-1) == play(advised, 40)
    assert torch.equal(plain.network.values, advised.network.values)


@pytest.mark.parametrize("resident", [False, True])
def test_a_taught_learner_goes_on_to_the_last_bit(resident):
    first, second = (taught(resident=resident, exploration_advised=0.5) for _ in range(2))
    play(first, 61)  # advice is at hand, and the memory has gone round
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    assert play(first, 20) == play(second, 20)
    assert equal_states(first.state_dict(), second.state_dict())


def test_a_state_of_before_there_was_advice_is_taken_too():
    learner, other = taught(), taught()
    play(learner, 21)
    state = learner.state_dict()
    del state["replay"]["advice"], state["advice"]
    other.load_state_dict(state)
    assert (other.replay.advice == -1).all()
    play(other, 5)
    assert other.replay.gather(np.arange(21, 26)).advice.tolist() == [-1, -1, ADVISED, -1, ADVISED]


def test_a_mirror_turns_advice_with_the_pictures_that_it_was_given_upon():
    batch = batch_of(pictures(200))._replace(advice=torch.arange(200) % 4 - 1)
    swapped = torch.tensor([1, 0, 2])
    result = mirrored(batch, swapped, HostDraws(np.random.default_rng(0)))
    turned = torch.tensor([not torch.equal(a, b) for a, b in zip(batch.states, result.states, strict=True)])
    wanted = [int(swapped[a]) if t and a >= 0 else int(a) for a, t in zip(batch.advice, turned, strict=True)]
    assert result.advice.tolist() == wanted


@pytest.mark.parametrize("tell", [QLearning.replace_observation, QLearning.abandon_episode])
def test_advice_upon_an_observation_that_is_another_now_is_forgotten(tell):
    learner = taught(
        exploration_start=1.0, exploration_floor=1.0, exploration_advised=1.0, learning_starts=40
    )
    play(learner, 1)
    tell(learner, 0, frame(0))
    assert play(learner, 1) == [0]
    assert learner.replay.gather(np.array([1])).advice.tolist() == [-1]


def test_who_is_to_be_taught_by_a_game_that_advises_nothing_is_told_so_once():
    learner = taught(exploration_advised=0.5)
    said = r"taught=1 and exploration_advised=0.5, but none of the games advised anything in the steps before"
    with pytest.warns(NoAdviceWarning, match=said) as told:
        play(learner, 20, advised=-1)
    assert len(told) == 1


@pytest.mark.parametrize("given", [{"taught": -1.0}, {"taught_margin": 1e7}, {"exploration_advised": 1.5}])
def test_weights_and_shares_that_make_no_sense_are_refused(given):
    with pytest.raises(ConfigError, match=next(iter(given))):
        QConfig(**given)


def test_teaching_falls_over_a_run_and_so_needs_its_length():
    with pytest.raises(ConfigError, match=r"taught=1 falls over the run and needs total_steps, got None"):
        QLearning(Table([[0.0]]), QConfig(taught=1.0), actions=1, streams=RandomStreams(0))


def test_a_run_that_is_extended_is_not_taught_again():
    first = taught()  # for half of 100 steps
    play(first, 60)
    assert float(first._taught) == 0
    extended = taught(total_steps=10_000)
    extended.load_state_dict(copy.deepcopy(first.state_dict()))
    play(extended, 1)
    assert float(extended._taught) == 0
