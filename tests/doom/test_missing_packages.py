"""What DOOM is can be told where it cannot be played; who asks for what plays it is told what to install."""

import pytest

GAME = ("vizdoom", "gymnasium", "cv2")


@pytest.fixture
def run_without(fresh_python):
    def run(packages: tuple[str, ...], code: str) -> None:
        fresh_python(f"import sys\nsys.modules.update(dict.fromkeys({packages!r}))\n{code}")

    return run


@pytest.mark.parametrize("module", ["scenarios", "pictures", "registration", "task", "presets"])
def test_what_the_scenarios_are_needs_no_game(module: str, run_without) -> None:
    run_without(GAME, f"import neuroplastic.doom.{module}, neuroplastic.doom as doom; doom.scenario('BP')")


@pytest.mark.parametrize("package", GAME)
def test_what_plays_names_the_missing_package_and_the_extra(package: str, run_without) -> None:
    code = """
from neuroplastic import MissingPackageError, doom
for ask in ("make", "DoomEnv", "Games", "play", "random_play"):
    try:
        getattr(doom, ask)
    except MissingPackageError as error:
        assert PACKAGE in str(error) and "pip install 'neuroplastic[doom]'" in str(error), error
    else:
        raise AssertionError(ask)
"""
    run_without((package,), code.replace("PACKAGE", repr(package)))


def test_gymnasium_says_what_to_install_where_the_engine_is_missing(run_without) -> None:
    code = """
import gymnasium
import neuroplastic
try:
    gymnasium.make("neuroplastic/BP-v0")
except ImportError as error:
    assert "pip install 'neuroplastic[doom]'" in str(error), error
else:
    raise AssertionError("made without an engine")
"""
    run_without(("vizdoom",), code)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    from neuroplastic import doom

    with pytest.raises(AttributeError, match="has no attribute 'mke'"):
        doom.mke  # noqa: B018
    assert set(doom.__all__) <= set(dir(doom))
