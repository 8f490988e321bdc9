"""Which imports it takes until `gymnasium.make` finds the scenarios, each tried in a Python of its own."""

import pytest

BY_ID = 'env = gymnasium.make("neuroplastic/BP-v0", picture="fast")'
WAYS = {
    "gymnasium first": f"import gymnasium\nimport neuroplastic\n{BY_ID}",
    "gymnasium last, with the module named": f"""
import neuroplastic
import gymnasium
gymnasium.register_envs(neuroplastic.doom)
{BY_ID}""",
    "gymnasium last": f"import neuroplastic\nimport gymnasium\n{BY_ID}",
    "gymnasium last, looked for before": f"""
import importlib.util
import neuroplastic
assert importlib.util.find_spec("gymnasium") is not None
import gymnasium.spaces
import gymnasium
{BY_ID}""",
    "doom before gymnasium": f"import neuroplastic.doom\nimport gymnasium\n{BY_ID}",
    "no import, the module in the id": """
import gymnasium
env = gymnasium.make("neuroplastic.doom:neuroplastic/BP-v0", picture="fast")""",
    "gymnasium last, the module in the id": """
import neuroplastic
import gymnasium
env = gymnasium.make("neuroplastic.doom:neuroplastic/BP-v0", picture="fast")""",
}
PLAYED = """
assert env.reset(seed=3)[0].shape == (84, 84, 3)
assert env.unwrapped.scenario.key == "BP"
env.close()
"""


@pytest.mark.parametrize("way", WAYS)
def test_gymnasium_finds_the_scenarios(way: str, fresh_python) -> None:
    fresh_python(WAYS[way] + PLAYED)
