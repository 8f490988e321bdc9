"""Learning from a recording of a corridor in which the recorded player mostly walks at random."""

import copy

import numpy as np
import pytest
import torch

from neuroplastic.errors import ConfigError, InputError
from neuroplastic.fuzzy.selection import Selection
from neuroplastic.learn.offline import Episode, OfflineConfig, OfflineLearning, Recording
from neuroplastic.learn.seeding import RandomStreams
from neuroplastic.network.consequents import Constant
from neuroplastic.network.dueling import DuelingNetwork, dnn_head
from neuroplastic.network.encoders.attributes import AttributeEncoderConfig
from neuroplastic.network.heads import NfnConfig
from neuroplastic.network.observation import Observation

CELLS, LEFT, RIGHT = 5, 0, 1


def walk(rng: np.random.Generator, *, to_the_right: float) -> Episode:
    """From the middle of a corridor to one of its ends; only the right one pays."""
    place, seen, actions, rewards = CELLS // 2, [], [], []
    seen.append([place])
    while 0 < place < CELLS - 1:
        action = int(rng.random() < to_the_right)
        place += 1 if action == RIGHT else -1
        actions.append(action)
        rewards.append(float(place == CELLS - 1))
        seen.append([place])
    return Episode(
        np.array(seen, np.float32), np.array(actions), np.array(rewards, np.float32), terminated=True
    )


def recording(*, to_the_right: float = 0.4) -> Recording:
    rng = np.random.default_rng(0)
    return Recording(tuple(walk(rng, to_the_right=to_the_right) for _ in range(100)), 2)


def agent(kind: str) -> DuelingNetwork:
    encoder = AttributeEncoderConfig().build(Observation((1,), ("place",), (0.0,), (CELLS - 1.0,)))
    if kind == "dnn":
        return DuelingNetwork(encoder, dnn_head(1, 1, 16, "ReLU"), dnn_head(1, 2, 16, "ReLU"))
    rules = NfnConfig(
        rules=6,
        consequent=Constant("zeros"),
        input_low=-1.0,
        input_high=1.0,
        grow=False,
        plain_value=8,
        selection=Selection("ste"),
    )
    return DuelingNetwork(encoder, rules.build_value(1), rules.build(1, 2))


def learner(kind: str = "dnn", **fields: object) -> OfflineLearning:
    config = OfflineConfig(batch_size=32, learning_rate=1e-2, target_rate=0.05, **fields)  # type: ignore[arg-type]
    streams = RandomStreams(0)
    return OfflineLearning(agent(kind), config, recording(), streams)


INSIDE = np.arange(1, CELLS - 1, dtype=np.float32)[:, None]


@pytest.mark.parametrize(
    ("kind", "method", "better"),
    [("dnn", "cql", True), ("nfn", "cql", True), ("nfn", "iql", True), ("dnn", "cloning", False)],
)
def test_what_learns_values_does_better_than_what_was_done_and_cloning_as_that(
    kind: str, method: str, better: bool
) -> None:
    made = learner(kind, method=method, conservatism=0.1, sharpness=10.0)
    losses = [made.update() for _ in range(150)]
    assert np.isfinite(losses).all()
    expected = RIGHT if better else LEFT  # the player walked left in 60 % of its decisions
    assert (made.greedy(INSIDE) == expected).all()


def test_restraint_keeps_what_is_cloned_from_being_certain_and_changes_no_choice() -> None:
    free, restrained = (learner(method="cloning", restraint=restraint) for restraint in (0.0, 1.0))
    for made in (free, restrained):
        for _ in range(150):
            made.update()
    sizes = [made.network.preferences(torch.from_numpy(INSIDE)).abs().mean() for made in (free, restrained)]
    assert sizes[1] < 0.5 * sizes[0]
    np.testing.assert_array_equal(free.greedy(INSIDE), restrained.greedy(INSIDE))


def test_features_vary_alike_over_a_recording_whatever_a_task_allows() -> None:
    encoder = AttributeEncoderConfig().build(Observation((2,), ("a", "still"), (-1000.0, 0.0), (1000.0, 1.0)))
    seen = np.stack([np.linspace(3, 5, 50), np.ones(50)], axis=1).astype(np.float32)
    encoder.spread_over(seen)
    features = encoder(torch.from_numpy(seen))
    torch.testing.assert_close(features.mean(dim=0), torch.zeros(2), atol=1e-3, rtol=0)
    assert features[:, 0].std(correction=0) == pytest.approx(0.5, rel=1e-4)
    assert torch.isfinite(features).all()
    encoder.spread_over(seen, deviations=0.5)
    assert encoder(torch.from_numpy(seen))[:, 0].std(correction=0) == pytest.approx(2.0, rel=1e-4)


@pytest.mark.parametrize("method", ["cql", "iql", "cloning"])
def test_learning_goes_on_from_a_state_to_the_bit(method: str) -> None:
    first = learner(method=method)
    for _ in range(5):
        first.update()
    state = copy.deepcopy(first.state_dict())
    went_on = [first.update() for _ in range(5)]
    second = learner(method=method)
    second.load_state_dict(state)
    assert [second.update() for _ in range(5)] == went_on


def test_transitions_know_ends_from_cuts() -> None:
    seen = np.arange(3, dtype=np.float32)[:, None]
    ended = Episode(seen, np.array([0, 1]), np.ones(2, np.float32), terminated=True)
    cut = Episode(seen, np.array([0, 1]), np.ones(2, np.float32), terminated=False)
    made = Recording((ended, cut), 2).transitions()
    assert made.terminated.tolist() == [False, True, False, False]
    assert made.following[:, 0].tolist() == [1, 2, 1, 2]


def test_what_is_no_recording_is_refused() -> None:
    seen = np.zeros((3, 1), np.float32)
    with pytest.raises(InputError, match="one observation more, got 2 rewards and 2 observations"):
        Episode(seen[:2], np.array([0, 1]), np.ones(2, np.float32), terminated=True)
    episode = Episode(seen, np.array([0, 2]), np.ones(2, np.float32), terminated=True)
    with pytest.raises(InputError, match="at least 0 and below 2, got 0 to 2"):
        Recording((episode,), 2)
    with pytest.raises(ConfigError, match="offline --resume RUN"):
        OfflineConfig().build(torch.nn.Linear(1, 1), None)  # type: ignore[arg-type]
