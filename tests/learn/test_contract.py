"""What every learner of the catalogue does, whatever it sees and whatever network it trains.

A learner that is added to the catalogue is tested here too. With defaults that are slow on a tiny game, give it some in
OPTIONS.
"""

import copy
import dataclasses
import inspect
import math
import typing

import numpy as np
import pytest
import torch
from torch import nn

from neuroplastic import Affine, Firing, NeuroFuzzyNetwork, Neurogenesis, Selection, catalog
from neuroplastic.errors import ConfigError, InputError
from neuroplastic.experiment.protocols import Learner
from neuroplastic.learn import CheckpointStore, RandomStreams
from neuroplastic.learn.experience import Setting
from tests.learn.corridor import ACTIONS, CELLS, MIRRORED, Corridor
from tests.learn.loop import Loop, equal_states

LEARNERS = catalog.names("learner")
OPTIONS = {
    "dqn": {"batch_size": 8, "memory_size": 40, "n_step": 2, "target_every": 7, "learning_rate": 3e-3},
    "parallel_q": {"training_games": 3, "rollout": 4, "batch_size": 6, "learning_rate": 3e-3},
}
TO_LEARN = {
    "dqn": {"memory_size": 500, "exploration_decay": 0.99},
    "parallel_q": {"training_games": 8, "rollout": 8, "batch_size": 16, "passes": 4},
}
DECISIONS_TO_LEARN = 4000
EPISODES = 40


class Values(nn.Module):
    """Action values by any head, from vectors or from small pictures laid flat."""

    def __init__(self, head: nn.Module) -> None:
        super().__init__()
        self.head = head

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        scale = 255 if observations.dtype == torch.uint8 else 1
        values: torch.Tensor = self.head(observations.flatten(1) / scale)
        return values


def plain(inputs: int) -> nn.Module:
    return Values(
        nn.Sequential(
            nn.Linear(inputs, 32), nn.LayerNorm(32), nn.ReLU(), nn.Dropout(0.05), nn.Linear(32, ACTIONS)
        )
    )


def neuro_fuzzy(inputs: int) -> nn.Module:
    return Values(
        NeuroFuzzyNetwork(
            inputs,
            ACTIONS,
            16,
            max_terms=6,
            selection=Selection("stge", temperature=0.5, noise_hold=4),
            firing=Firing("sum", alpha=1.0, layer_norm=True),
            consequent=Affine("zeros"),
            neurogenesis=Neurogenesis(epsilon=0.3, delay=3),
            input_range=(0.0, 1.0),
        )
    )


NETWORKS = {"plain": plain, "neuro_fuzzy": neuro_fuzzy}
everywhere = [
    pytest.mark.parametrize("learner_name", LEARNERS),
    pytest.mark.parametrize("pictures", [False, True], ids=["vectors", "pictures"]),
    pytest.mark.parametrize("network", NETWORKS),
]


def with_every_learner(test):
    for mark in everywhere:
        test = mark(test)
    return test


def config_of(name: str, **fields: object):
    return catalog.kind("learner", name)(**OPTIONS.get(name, {}) | fields)


def started(
    name: str, pictures: bool, network: str, *, seed: int = 3, total_steps: int = 200, **fields: object
) -> Loop:
    """A learner in its games, at its beginning."""
    streams = RandomStreams(seed)
    setting = Setting(ACTIONS, streams, total_steps, mirrored_actions=MIRRORED)
    net = NETWORKS[network](2 * CELLS if pictures else CELLS + 1)
    learner = config_of(name, **fields).build(net, setting)
    return Loop(lambda: Corridor(pictures=pictures), learner)


def has_option(name: str, option: str) -> bool:
    return option in {field.name for field in dataclasses.fields(catalog.kind("learner", name))}


# A learner need not know mirrors; one that does refuses those that it cannot use.
MIRRORING = [name for name in LEARNERS if has_option(name, "mirror")]


def played(loop: Loop, rounds: int) -> list:
    return list(loop.run(rounds))


@pytest.mark.parametrize("name", LEARNERS)
def test_it_has_all_that_the_protocol_asks_for(name):
    learner = started(name, False, "plain").learner
    for member in dir(Learner):
        if member.startswith("_"):
            continue
        assert hasattr(learner, member), member
        asked = getattr(Learner, member)
        if inspect.isfunction(asked):
            arguments = list(inspect.signature(asked).parameters)[1:]
            assert list(inspect.signature(getattr(learner, member)).parameters) == arguments, member
    assert learner.games >= 1
    assert isinstance(learner.network, nn.Module)
    assert isinstance(learner.actor, nn.Module)


@with_every_learner
def test_actions_are_whole_numbers_one_for_each_observation(learner_name, pictures, network):
    loop = started(learner_name, pictures, network)
    played(loop, 5)
    actions = loop.learner.act()
    assert (actions.dtype, actions.shape) == (np.int64, (loop.learner.games,))
    assert set(actions.tolist()) <= set(range(ACTIONS))
    game = Corridor(pictures=pictures)
    for count in (1, 2, 7):
        seen = np.stack([game.reset(options={"episode": k})[0] for k in range(count)])
        best = loop.learner.greedy(seen)
        assert (best.dtype, best.shape) == (np.int64, (count,))
        assert set(best.tolist()) <= set(range(ACTIONS))


@with_every_learner
def test_looking_changes_nothing(learner_name, pictures, network):
    loop = started(learner_name, pictures, network)
    played(loop, 30)
    learner = loop.learner
    before = copy.deepcopy(learner.state_dict())
    seen = Corridor(pictures=pictures).reset(options={"episode": 0})[0]
    learner.greedy(np.stack([seen] * 3))
    learner.figures()
    looked_at = learner.sample_observations(5)
    learner.state_dict()
    assert equal_states(learner.state_dict(), before)
    assert 1 <= len(looked_at) <= 5
    assert looked_at.shape[1:] == seen.shape
    assert looked_at.numpy().dtype == seen.dtype
    assert torch.equal(learner.sample_observations(5), looked_at)


@with_every_learner
def test_a_learner_that_loads_a_state_goes_on_bit_for_bit(learner_name, pictures, network, tmp_path):
    """From before the first round, and from after any of the first ones: with and without updates and ends."""
    reference = started(learner_name, pictures, network, total_steps=60)
    store, states = CheckpointStore(tmp_path, keep=100), []
    for rounds in range(16):
        store.save(rounds, {"loop": reference.state_dict()})
        states.append(store.load().state["loop"])
        played(reference, 1)
    later = played(reference, 24)
    end = copy.deepcopy(reference.state_dict())
    assert any(one.loss is not None for one in later)
    for pause in (0, 1, 2, 3, 4, 5, 7, 11, 15):
        resumed = started(
            learner_name, pictures, network, seed=99, total_steps=9999
        )  # whatever it was before
        played(resumed, 13)
        resumed.load_state_dict(states[pause])
        assert played(resumed, 40 - pause)[-24:] == later, pause
        assert equal_states(resumed.state_dict(), end), pause


@with_every_learner
def test_a_state_that_was_loaded_is_not_changed_by_what_follows(learner_name, pictures, network):
    loop = started(learner_name, pictures, network)
    played(loop, 14)
    state = copy.deepcopy(loop.state_dict())
    kept = copy.deepcopy(state)
    resumed = started(learner_name, pictures, network)
    resumed.load_state_dict(state)
    played(resumed, 20)
    assert equal_states(state, kept)


@with_every_learner
def test_figures_are_finite_numbers_from_the_start(learner_name, pictures, network):
    loop = started(learner_name, pictures, network)
    for _ in range(20):
        figures = loop.learner.figures()
        assert "exploration" in figures
        for name, figure in figures.items():
            assert isinstance(figure, float), name
            assert math.isfinite(figure), name
        played(loop, 1)


def greedy_score(learner: Learner, pictures: bool) -> float:
    """Return of greedy play, summed over episodes that training never saw, all played at once."""
    games = [Corridor(pictures=pictures, seed=1_000_000) for _ in range(EPISODES)]
    seen = np.stack([game.reset(options={"episode": k})[0] for k, game in enumerate(games)])
    score, under_way = 0.0, np.ones(EPISODES, bool)
    while under_way.any():
        actions = learner.greedy(seen)
        for k in under_way.nonzero()[0]:
            seen[k], reward, ended, cut_short, _ = games[k].step(actions[k])
            score += reward
            under_way[k] = not (ended or cut_short)
    return score


@with_every_learner
def test_it_learns_to_walk_to_the_end_that_pays(learner_name, pictures, network):
    options = TO_LEARN.get(learner_name, {})
    loop = started(learner_name, pictures, network, seed=0, total_steps=DECISIONS_TO_LEARN, **options)
    scores = [greedy_score(loop.learner, pictures)]
    while scores[-1] < EPISODES and loop.steps < DECISIONS_TO_LEARN:
        played(loop, 256 // loop.learner.games)
        scores.append(greedy_score(loop.learner, pictures))
    assert scores[0] < EPISODES / 2  # not before learning
    assert scores[-1] == EPISODES


@with_every_learner
@pytest.mark.parametrize("rounds", [1, 4, 6, 13])
def test_training_goes_on_after_a_game_did_not_repeat_an_episode(learner_name, pictures, network, rounds):
    loop = started(learner_name, pictures, network)
    played(loop, rounds)
    for game in range(loop.learner.games):
        loop.episodes[game] += 1000
        tell = loop.learner.abandon_episode if game % 2 else loop.learner.replace_observation
        tell(game, loop._start(game))
    state = copy.deepcopy(loop.state_dict())
    went_on = played(loop, 30)
    losses = [one.loss for one in went_on if one.loss is not None]
    assert losses
    assert np.isfinite(losses).all()
    loop.load_state_dict(state)
    assert played(loop, 30) == went_on


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("told", ["replace_observation", "abandon_episode"])
def test_what_is_at_hand_after_a_change_is_acted_upon(name, told):
    """Seen by the network: the last game's observation, and no other, is the one that was given."""
    rates = ("exploration", "exploration_start", "exploration_floor")
    loop = started(name, True, "plain", **{rate: 0.0 for rate in rates if has_option(name, rate)})
    played(loop, 6)
    given = np.full((2, CELLS, 1), 77, np.uint8)
    getattr(loop.learner, told)(loop.learner.games - 1, given)
    seen = []
    loop.learner.network.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0].clone()))
    loop.learner.act()
    assert torch.equal(seen[-1][-1], torch.from_numpy(given))
    assert all(not torch.equal(other, torch.from_numpy(given)) for other in seen[-1][:-1])


@pytest.mark.parametrize("name", LEARNERS)
def test_acting_before_the_first_observations_is_refused(name):
    with pytest.raises(InputError, match=r"begin\(\)"):
        started(name, False, "plain").learner.act()


@pytest.mark.parametrize("name", LEARNERS)
def test_observations_of_another_number_of_games_are_refused(name):
    learner = started(name, False, "plain").learner
    with pytest.raises(InputError, match=f"got observations of {learner.games + 1}"):
        learner.begin(np.zeros((learner.games + 1, CELLS + 1), np.float32))


@pytest.mark.parametrize("name", MIRRORING)
def test_a_mirror_for_vectors_is_refused_by_name(name):
    learner = started(name, False, "plain", mirror=True).learner
    with pytest.raises(InputError, match=r"^mirror turns pictures.*switch it off"):
        learner.begin(np.zeros((learner.games, CELLS + 1), np.float32))


@pytest.mark.parametrize("name", MIRRORING)
@pytest.mark.parametrize("actions", [None, (0,), (1, 1), (0, 1, 2)])
def test_a_mirror_needs_actions_in_pairs(name, actions):
    setting = Setting(2, RandomStreams(0), 100, mirrored_actions=actions)
    with pytest.raises(ConfigError, match="mirrored_actions"):
        config_of(name, mirror=True).build(plain(6), setting)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_network_of_the_wrong_width_is_named(name):
    learner = config_of(name).build(plain(6), Setting(3, RandomStreams(0), 100))
    with pytest.raises(InputError, match=r"\(2, 3\) values, got \(2, 2\)"):
        learner.greedy(np.zeros((2, 6), np.float32))


@pytest.mark.parametrize("name", LEARNERS)
def test_a_bad_value_of_any_option_is_refused_by_its_name(name):
    cls = catalog.kind("learner", name)
    bad = {int: (-1, 2.5, True), float: (math.nan, -1.0, "fast", True), str: ("no such word", None)}
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        kinds = typing.get_args(hints[field.name]) or (hints[field.name],)
        for value in (value for kind in kinds for value in bad.get(kind, ())):
            with pytest.raises(ConfigError, match=f"^{field.name} must be"):
                cls(**{field.name: value})


@pytest.mark.parametrize("name", LEARNERS)
def test_a_configuration_is_frozen_and_every_option_has_one_line_of_help(name):
    config = config_of(name)
    for field in dataclasses.fields(config):
        assert 5 < len(field.metadata["help"]) < 80, field.name
        assert "\n" not in field.metadata["help"]
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(config, field.name, getattr(config, field.name))
