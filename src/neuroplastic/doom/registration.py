"""The ids by which `gymnasium.make` finds the scenarios: neuroplastic/BP-v0 and so on."""

from __future__ import annotations

from .scenarios import SCENARIOS


def register() -> None:
    """Tell Gymnasium the ids, where it is installed; doing it twice changes nothing.

    The entry point is a name that `neuroplastic.doom` looks up when it is asked for: where the engine is missing,
    `gymnasium.make` says what to install.
    """
    try:
        import gymnasium
    except ImportError:
        return
    for key in SCENARIOS:
        name = f"neuroplastic/{key}-v0"
        if name not in gymnasium.registry:
            gymnasium.register(name, "neuroplastic.doom:DoomEnv", kwargs={"scenario_name": key})
