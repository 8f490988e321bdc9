import os

import pytest
import vizdoom

from neuroplastic import doom
from neuroplastic.doom import SCENARIOS, Scenario, UnknownScenario, scenario


def test_there_are_the_seven_of_the_paper() -> None:
    papers = {key: found for key, found in SCENARIOS.items() if found.paper_nfn is not None}
    assert list(papers) == ["BP", "BR", "PP", "HTL", "DTC", "TC", "GH"]
    assert [found.action_count for found in papers.values()] == [8, 8, 8, 8, 8, 4, 8]


@pytest.mark.parametrize("key", SCENARIOS)
def test_table_agrees_with_the_shipped_file(key: str) -> None:
    expected = SCENARIOS[key]
    game = vizdoom.DoomGame()
    game.load_config(os.path.join(vizdoom.scenarios_path, f"{expected.config}.cfg"))
    assert tuple(button.name for button in game.get_available_buttons()) == expected.buttons
    assert game.get_episode_timeout() == (expected.timeout or 0)
    assert game.get_episode_start_time() == expected.start_time
    assert game.get_living_reward() == expected.living_reward
    assert game.get_death_penalty() == expected.death_penalty
    assert game.get_doom_skill() == expected.skill
    assert game.get_game_args() == expected.engine_arguments
    assert game.get_doom_map() == "map01"
    assert game.get_mode() == vizdoom.Mode.PLAYER


@pytest.mark.parametrize("name", ["BP", "bp", "Bp", "basic", "BASIC", "basic.cfg", SCENARIOS["BP"]])
def test_scenario_is_found_by_key_in_any_case_and_by_file(name: str) -> None:
    assert scenario(name) is SCENARIOS["BP"]


@pytest.mark.parametrize(
    ("typo", "meant"),
    [("basik", "'BP'"), ("HLT", "'HTL'"), ("healthgathering", "'GH'"), ("take-cover", "'TC'")],
)
def test_misspelt_scenario_gets_a_suggestion(typo: str, meant: str) -> None:
    with pytest.raises(UnknownScenario, match=f"did you mean {meant}"):
        scenario(typo)


def test_strange_scenario_gets_the_list() -> None:
    with pytest.raises(UnknownScenario, match=f"one of {', '.join(SCENARIOS)}, got 'zzzzzz'$"):
        doom.make("zzzzzz")


def test_bit_i_of_an_action_is_button_i() -> None:
    bp = SCENARIOS["BP"]
    assert bp.pressed(0) == ()
    assert bp.pressed(0b101) == ("MOVE_LEFT", "ATTACK")
    assert bp.pressed(0b111) == bp.buttons


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda scenario: scenario.key)
def test_a_mirror_swaps_left_and_right_and_nothing_else(scenario: Scenario) -> None:
    def names(action: int) -> set[str]:
        return set(scenario.pressed(action))

    swap = {"LEFT": "RIGHT", "RIGHT": "LEFT"}
    for action, twin in enumerate(scenario.mirrored_actions):
        assert names(twin) == {
            f"{verb}_{swap[side]}" if side in swap else name
            for name in names(action)
            for verb, _, side in [name.partition("_")]
        }
