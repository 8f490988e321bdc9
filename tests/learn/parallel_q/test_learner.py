"""What the parallel learner learns from: which returns, how often, by which network; and what it keeps."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from neuroplastic.errors import ConfigError, InputError
from neuroplastic.learn import RandomStreams
from neuroplastic.learn.experience import Setting
from neuroplastic.learn.parallel_q.config import ParallelQConfig
from neuroplastic.learn.parallel_q.learner import ParallelQLearning
from tests.learn.corridor import ACTIONS, CELLS, MIRRORED, Corridor
from tests.learn.loop import Loop
from tests.learn.parallel_q.test_returns import by_definition
from tests.learn.parallel_q.value_table import Table, learner_of, numbers, outcome


@pytest.mark.parametrize("bootstrap", [True, False])
def test_targets_are_the_lambda_returns_of_what_was_played(bootstrap):
    """Written down decision by decision, with ends of both kinds, and averaged by definition in double precision."""
    rng = np.random.default_rng(4)
    table = rng.normal(size=(256, 3)).tolist()
    learner = learner_of(
        table,
        training_games=5,
        rollout=12,
        batch_size=10,
        reward_scale=0.5,
        bootstrap_truncated=bootstrap,
        discount=0.9,
    )
    best = np.max(table, axis=1)
    seen = rng.integers(0, 256, (5, 1), np.uint8)
    learner.begin(seen)
    rewards, following, ended = (np.zeros((12, 5), kind) for kind in (float, float, bool))
    for t in range(12):
        learner.act()
        rewards[t] = rng.normal(size=5).astype(np.float32)
        terminated, truncated = rng.random((2, 5)) < 0.2  # sometimes both: then no reward would have followed
        ended[t] = terminated | truncated
        reached, first = rng.integers(0, 256, (2, 5, 1), np.uint8)
        following[t] = best[reached[:, 0]]
        following[t, terminated if bootstrap else ended[t]] = 0
        seen = np.where(ended[t][:, None], first, reached)
        last = {game: reached[game] for game in range(5) if ended[t, game]}
        learner.observe(outcome(seen, rewards[t], terminated, truncated, last))
    got = learner._targets(learner._begun())
    for game in range(5):
        expected = by_definition(0.5 * rewards[:, game], following[:, game], ended[:, game], 0.9, 0.65)
        np.testing.assert_allclose(got[:, game], expected, rtol=1e-5, atol=1e-5)


def test_every_decision_is_learned_from_once_a_pass_and_values_are_asked_once_a_decision():
    learner = learner_of([[0.0, 1.0]] * 10, training_games=4, rollout=5, batch_size=8, passes=3)
    learner.begin(numbers(0, 1, 2, 3))
    for t in range(5):
        learner.act()
        cut = {0: numbers(9)[0]} if t == 2 else {}
        loss = None
        learner.observe(outcome(numbers(4, 5, 6, 7), truncated=[t == 2, False, False, False], last=cut))
        loss = learner.update()
        assert (loss is None) == (t < 4)
    # Five rounds of acting, then what lies behind: four games at hand and one last observation.
    assert learner.network.rows[False] == [4] * 5 + [5]
    # 20 decisions, batches of about 8: two of 10 in each of three passes.
    assert learner.network.rows[True] == [10] * 6
    assert learner.updates == 6
    assert not learner.network.training


def test_loss_is_taken_between_the_action_done_and_the_return():
    learner = learner_of(
        [[5.0, 5.0]], training_games=1, rollout=1, batch_size=1, passes=1, reward_scale=2.0, learning_rate=0.1
    )
    learner.begin(numbers(0))
    action = int(learner.act()[0])
    learner.observe(outcome(numbers(0), [4.0], [True], last={0: numbers(0)[0]}))
    assert learner.update().item() == pytest.approx((5.0 - 2.0 * 4.0) ** 2)
    moved = learner.network.values[0] - 5.0
    assert moved[action] > 0
    assert moved[1 - action] == 0


@pytest.mark.parametrize("resident", [False, True])
def test_with_overlap_a_rollout_is_played_by_the_network_before_the_last_was_learned_from(resident):
    config = ParallelQConfig(training_games=2, rollout=3, batch_size=3, overlap=True, learning_rate=0.1)
    network = Table([[1.0], [2.0]])
    learner = ParallelQLearning(network, config, Setting(1, RandomStreams(0), 1000), resident=resident)
    learner.begin(numbers(0, 1))
    played, learned = [], [network.values.detach().clone()]
    for _ in range(4):
        for turn in range(config.rollout):
            learner.act()
            played.append(learner._rollout.values[learner._rollout.filled].tolist())
            learner.meanwhile(config.rollout - turn)
            learner.observe(outcome(numbers(0, 1)))
        learner.update()
        learned.append(learner.actor.values.detach().clone())
    before = [learned[0], *learned[:3]]
    assert played == [values.flatten().tolist() for values in before for _ in range(3)]
    assert not torch.equal(learned[3], learned[2])


def test_when_updates_are_made_changes_nothing_of_what_is_learned():
    def ran(*, meanwhile: bool) -> tuple[list[float], ParallelQLearning]:
        config = ParallelQConfig(training_games=2, rollout=4, batch_size=3, passes=3, overlap=True)
        setting = Setting(2, RandomStreams(0), 1000)
        learner = ParallelQLearning(Table([[1.0, 0.5], [2.0, 0.0]]), config, setting, resident=True)
        learner.begin(numbers(0, 1))
        losses = []
        for turn in range(17):
            learner.act()
            if meanwhile:
                learner.meanwhile(4 - turn % 4)
            learner.observe(outcome(numbers(turn % 2, 1), rewards=[turn % 3, 1]))
            losses.append(learner.update())
        assert losses[15].isnan()
        learner.state_dict()
        return [loss.item() for loss in losses if loss is not None], learner

    (losses, learner), (late, other) = ran(meanwhile=True), ran(meanwhile=False)
    assert losses == late
    assert all(np.isfinite(losses))
    assert torch.equal(learner.network.values, other.network.values)


def test_gradient_is_clipped_to_the_norm():
    learner = learner_of([[1000.0, 0.0]], clip_norm=0.5, training_games=1, rollout=1, batch_size=1, passes=1)
    learner.begin(numbers(0))
    learner.act()
    learner.observe(outcome(numbers(0), terminated=[True], last={0: numbers(0)[0]}))
    learner._rollout.actions[:] = 0
    learner.update()
    assert learner.network.values.grad.norm().item() == pytest.approx(0.5, rel=1e-4)


@pytest.mark.parametrize(("bootstrap", "value"), [(True, 8.0), (False, 0.0)])
def test_an_abandoned_episode_counts_as_cut_short_where_it_stood(bootstrap, value):
    learner = learner_of([[0.0], [8.0], [50.0]], bootstrap_truncated=bootstrap, discount=0.5, q_lambda=1.0)
    learner.begin(numbers(0, 0))
    learner.act()
    learner.observe(outcome(numbers(1, 1), [1.0, 1.0]))
    learner.abandon_episode(0, numbers(2)[0])
    for _ in range(2):
        learner.act()
        learner.observe(outcome(numbers(2, 2)))
    returns = learner._targets(learner._begun())
    assert returns[:, 0].tolist() == pytest.approx([1 + 0.5 * value, 0.25 * 50, 0.5 * 50])
    assert returns[:, 1].tolist() == pytest.approx([1 + 0.125 * 50, 0.25 * 50, 0.5 * 50])


def test_an_episode_without_a_decision_is_abandoned_without_a_trace():
    learner = learner_of([[0.0], [8.0]])
    learner.begin(numbers(0, 0))
    learner.abandon_episode(0, numbers(1)[0])
    learner.act()
    learner.observe(outcome(numbers(1, 1), truncated=[True, True], last={0: numbers(1)[0], 1: numbers(0)[0]}))
    before = copy.deepcopy(learner.state_dict()["rollout"]["cut_short"])
    learner.abandon_episode(0, numbers(0)[0])
    after = learner.state_dict()["rollout"]["cut_short"]
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert learner._begun().current.tolist() == [[0], [1]]


def test_pictures_stay_in_eight_bits_and_are_kept_once():
    learner = learner_of([[0.0, 1.0]] * 256, training_games=2, rollout=3)
    learner.begin(numbers(1, 2))
    for _ in range(2):
        learner.act()
        learner.observe(outcome(numbers(3, 4)))
    saved = learner.state_dict()["rollout"]["observations"]
    assert saved.dtype == torch.uint8
    assert saved.flatten().tolist() == [1, 2, 3, 4, 3, 4]
    assert learner.sample_observations(100).flatten().tolist() == [1, 2, 3, 4, 3, 4]
    assert learner.sample_observations(3).flatten().tolist() == [1, 3, 4]


def test_observations_are_copied_at_once():
    learner = learner_of([[0.0, 1.0]] * 10)
    shared = numbers(0, 1)
    learner.begin(shared)
    learner.act()
    shared[:] = 7  # as workers do, in shared memory
    learner.observe(outcome(shared, truncated=[True, False], last={0: shared[0]}))
    shared[:] = 9
    assert learner._begun().observations[:2].flatten().tolist() == [0, 1, 7, 7]
    assert learner._begun().last[0, 0].tolist() == [7]


class Linear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.values = nn.Linear(2 * CELLS, ACTIONS)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = self.values(pictures.flatten(1) / 255)
        return values


def test_a_mirror_turns_half_of_the_pictures_with_their_actions():
    updates = learner_of([[0.0, 1.0]], mirror=True, mirrored=MIRRORED)._updates
    updates.network = nn.Identity()
    seen = []
    updates.network.forward = lambda pictures: (
        seen.append(pictures) or torch.zeros(len(pictures), 2, requires_grad=True)
    )
    pictures = torch.arange(400 * 6, dtype=torch.int32).reshape(400, 2, 3, 1)
    none = torch.full((400,), -1)
    updates.once(pictures, torch.zeros(400, dtype=torch.long), torch.zeros(400), none)
    turned = torch.tensor([not torch.equal(a, b) for a, b in zip(pictures, seen[0], strict=True)])
    assert 160 < turned.sum() < 240
    assert torch.equal(seen[0][turned], pictures[turned].flip(2))


def test_a_learner_with_a_mirror_comes_to_value_both_sides_alike():
    """Only the right end ever pays in training; walking left to a left end that pays is seen in the mirror alone."""

    class RightPays(Corridor):
        def reset(self, *, seed=None, options=None):
            super().reset(options=options)
            self.goal = CELLS - 1
            return self._seen(), {}

    config = ParallelQConfig(
        training_games=4, rollout=8, batch_size=16, passes=4, learning_rate=1e-2, mirror=True
    )
    setting = Setting(ACTIONS, RandomStreams(0), 4000, mirrored_actions=MIRRORED)
    learner = config.build(Linear(), setting)
    for _ in Loop(lambda: RightPays(pictures=True), learner).run(1000):
        pass
    game = Corridor(pictures=True)
    game.walker, game.goal = 2, 0
    assert learner.greedy(game._seen()[None]).tolist() == [0]
    game.goal = CELLS - 1
    assert learner.greedy(game._seen()[None]).tolist() == [1]


def test_mistakes_are_named():
    with pytest.raises(ConfigError, match=r"batch_size must be at most training_games x rollout = 6, got 7"):
        ParallelQConfig(training_games=2, rollout=3, batch_size=7)
    with pytest.raises(ConfigError, match="total_steps must be a whole number of at least 1"):
        learner_of([[0.0]], total_steps=0)
    learner = learner_of([[0.0, 1.0]])
    with pytest.raises(InputError, match="must be uint8 or float32, got float64"):
        learner.begin(np.zeros((2, 1)))
    learner.begin(numbers(0, 0))
    learner.act()
    with pytest.raises(InputError, match="must be uint8 like the first, got float32"):
        learner.observe(outcome(np.zeros((2, 1), np.float32)))
    with pytest.raises(InputError, match=r"must have shape \(2, 1\) like the first, got \(3, 1\)"):
        learner.observe(outcome(numbers(0, 0, 0)))
    with pytest.raises(InputError, match=r"must have shape \(1,\) like the first, got \(2, 1\)"):
        learner.replace_observation(0, numbers(0, 0))
    longer = learner_of([[0.0, 1.0]], rollout=5)
    longer.begin(numbers(0, 0))
    for _ in range(4):
        longer.act()
        longer.observe(outcome(numbers(0, 0)))
    with pytest.raises(InputError, match="4 decisions were saved, which does not fit a rollout of 3"):
        learner.load_state_dict(longer.state_dict())
