"""Named attributes: what a player sees, nothing that he could not see, and the same game as with pictures."""

from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from neuroplastic import doom
from neuroplastic.doom.objects import ATTRIBUTES, UNSEEN_DEGREES, Look, attributes_of, observation_of
from neuroplastic.doom.scripted import scripted_player
from neuroplastic.doom.sight import Sight, Thing, read_sight
from neuroplastic.doom.task import DoomTask
from neuroplastic.errors import ConfigError

KEYS = list(doom.SCENARIOS)


def played(key: str, observe: str, decisions: int = 25) -> tuple[list[np.ndarray], list[float]]:
    rng = np.random.default_rng(3)
    env = doom.make(key, observe=observe, picture="fast", seed=8)
    seen, rewards = [env.reset(options={"episode": 2})[0]], []
    for _ in range(decisions):
        observation, reward, terminated, truncated, _ = env.step(int(rng.integers(env.action_space.n)))
        seen.append(observation)
        rewards.append(reward)
        if terminated or truncated:
            break
    env.close()
    return seen, rewards


@pytest.mark.parametrize("key", KEYS)
def test_the_same_game_is_played_whatever_is_observed_and_both_shows_both(key: str) -> None:
    (pictures, of_pictures), (objects, of_objects), (both, of_both) = (
        played(key, observe) for observe in doom.OBSERVE
    )
    assert of_pictures == of_objects == of_both
    for picture, vector, pair in zip(pictures, objects, both, strict=True):
        np.testing.assert_array_equal(picture, pair["picture"])
        np.testing.assert_array_equal(vector, pair["objects"])
    low, high = (np.array(ends) for ends in zip(*(each.ends for each in ATTRIBUTES[key]), strict=True))
    assert ((np.stack(objects) >= low) & (np.stack(objects) <= high)).all()


@pytest.mark.parametrize("observe", ["objects", "both"])
def test_gymnasiums_checker_finds_nothing(observe: doom.Observe) -> None:
    env = doom.make("TC", observe=observe, picture="fast")
    check_env(env, skip_render_check=True)
    env.close()


def a_state(*labels: SimpleNamespace, hidden: tuple[SimpleNamespace, ...] = ()) -> SimpleNamespace:
    return SimpleNamespace(
        labels=list(labels),
        objects=list(hidden),
        game_variables=[90.0, 20.0, 0.0, 0.0, 0.0],
        depth_buffer=None,
    )


def a_monster(x: int = 70, distance: float = 300.0) -> SimpleNamespace:
    return SimpleNamespace(
        object_category="Monster",
        object_id=7,
        x=x,
        width=20,
        object_position_x=distance,
        object_position_y=0.0,
    )


def test_what_is_not_drawn_changes_nothing() -> None:
    """Behind a wall or outside the picture the engine still knows a monster; the player, and the vector, do not."""
    known = read_sight(a_state(hidden=(a_monster(),)), width=160)
    assert known == read_sight(a_state(), width=160)
    assert known.things == ()
    seen = read_sight(a_state(a_monster()), width=160).things
    assert seen == (Thing("monster", 7, 0.0, 300.0),)


def test_the_engine_is_not_even_asked_for_what_is_hidden_and_a_monster_out_of_view_is_not_seen() -> None:
    env = doom.make("BP", observe="objects", picture="fast")
    assert env._engine._game.is_objects_info_enabled() is False
    env.reset()
    state = env._engine._game.get_state()
    drawn = {label.object_name for label in state.labels if (state.labels_buffer == label.value).any()}
    assert "Cacodemon" in drawn
    env.close()
    env = doom.make("DTC", observe="objects", picture="fast")
    vector, _ = env.reset()
    unseen = 0
    for _ in range(60):
        state = env._engine._game.get_state()
        values = [label.value for label in state.labels if label.object_category == "Monster"]
        assert (vector[0] == UNSEEN_DEGREES) == (not np.isin(state.labels_buffer, values).any())
        unseen += vector[0] == UNSEEN_DEGREES
        vector, *_ = env.step(1)
    env.close()
    assert 0 < unseen < 60


def test_not_seen_is_a_value_that_nothing_seen_can_have() -> None:
    nothing = Look(Sight((), 100, 10, 450, 450, 450), None, pressed=False, tics=4)
    for key, attributes in ATTRIBUTES.items():
        vector = attributes_of(key, nothing)
        for attribute, value in zip(attributes, vector, strict=True):
            if attribute.scale.unseen is not None:
                assert value == attribute.scale.unseen > attribute.scale.high
                assert attribute.scale.name(value - 1, value + 1) == "not seen"


def test_a_walk_is_the_monsters_own_and_not_the_players_turning() -> None:
    def sight(degrees: float, facing: float) -> Sight:
        return Sight((Thing("monster", 1, degrees, 500.0),), 100, 1, 450, 450, 450, facing)

    names = observation_of("PP").names
    turned = Look(sight(-10.0, 10.0), sight(0.0, 0.0), pressed=False, tics=35)
    walked = Look(sight(8.0, 0.0), sight(0.0, 0.0), pressed=False, tics=35)
    walk = names.index("walk of the monster")
    assert attributes_of("PP", turned)[walk] == 0
    assert attributes_of("PP", walked)[walk] == 8


def test_a_turn_is_told_since_the_decision_before_and_room_on_both_sides() -> None:
    def sight(facing: float) -> Sight:
        return Sight((), 100, 1, ahead=300, left=80, right=450, facing=facing)

    def vector(key: str, look: Look) -> dict[str, float]:
        return dict(zip(observation_of(key).names, attributes_of(key, look), strict=True))

    turned = Look(sight(-177.0), sight(178.0), pressed=False, tics=2)
    assert vector("HTL", turned)["last turn"] == 5
    assert vector("HTL", Look(sight(9.0), None, pressed=False, tics=2))["last turn"] == 0
    for key in ("BP", "TC"):
        assert (vector(key, turned)["room to the left"], vector(key, turned)["room to the right"]) == (
            80,
            450,
        )


def test_plain_actions_do_the_same() -> None:
    taken = [7, 7, 5, 3, 7, 6, 3, 1, 7, 7, 2, 7]
    plain = doom.scenario("BP").plain_actions
    assert plain == (0, 1, 2, 0, 4, 5, 6, 4)
    assert doom.scenario("DTC").plain_actions == tuple(range(8))
    seen = []
    for actions in (taken, [plain[action] for action in taken]):
        env = doom.make("BP", picture="fast")
        env.reset()
        seen.append([env.step(action)[0] for action in actions if not env._engine.finished])
        env.close()
    np.testing.assert_array_equal(*seen)


@pytest.mark.parametrize("key", KEYS)
def test_a_scripted_player_answers_every_vector_with_an_action(key: str) -> None:
    task = DoomTask(key, observe="objects")
    seen = task.observation
    rng = np.random.default_rng(0)
    vectors = rng.uniform(seen.low, seen.high, (200, seen.shape[0])).astype(np.float32)
    actions = scripted_player(key)(vectors)
    assert set(actions.tolist()) <= set(range(len(task.actions)))
    assert len(set(actions.tolist())) > 1


def test_a_task_shows_one_thing_at_a_time() -> None:
    with pytest.raises(ConfigError, match="observe must be one of 'pictures', 'objects'"):
        DoomTask("DTC", observe="both")  # type: ignore[arg-type]
    assert DoomTask("DTC", observe="objects").mirrored_actions is None


@pytest.mark.parametrize(
    ("seen", "pressed"),
    [
        ({"monster": 0.0, "walk of the monster": 20.0}, "turn right"),
        ({"monster": 0.0, "walk of the monster": -20.0}, "turn left"),
        ({"monster": -28.0, "walk of the monster": 20.0}, "nothing"),
        ({"monster": -20.0, "walk of the monster": 20.0}, "attack"),
        ({"monster": 20.0, "walk of the monster": -20.0}, "attack"),
        ({"monster": -20.0, "walk of the monster": 20.0, "distance of the monster": 900.0}, "nothing"),
        ({"monster": -12.0, "walk of the monster": 20.0, "trigger": 1.0}, "attack"),
        ({"monster": 0.0, "walk of the monster": 20.0, "trigger": 1.0}, "turn right"),
        ({"monster": -20.0, "walk of the monster": 20.0, "ammunition": 0.0}, "nothing"),
    ],
)
def test_the_script_of_pp_aims_ahead_waits_and_holds_a_trigger_only_while_it_may_fire(seen, pressed) -> None:
    task = DoomTask("PP", observe="objects")
    usual = {"distance of the monster": 600.0, "ammunition": 1.0}
    vector = np.array([{**usual, **seen}.get(name, 0.0) for name in task.observation.names], np.float32)
    assert task.actions[scripted_player("PP")(vector[None])[0]] == pressed
