"""What the attributes and actions of well-known environments are called; Gymnasium's documentation says so in prose."""

from __future__ import annotations

ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "CartPole": ("cart position", "cart velocity", "pole angle", "pole velocity"),
    "Acrobot": (
        "cos of joint 1",
        "sin of joint 1",
        "cos of joint 2",
        "sin of joint 2",
        "velocity of joint 1",
        "velocity of joint 2",
    ),
    "MountainCar": ("position", "velocity"),
    "LunarLander": (
        "x",
        "y",
        "velocity in x",
        "velocity in y",
        "angle",
        "angular velocity",
        "left leg down",
        "right leg down",
    ),
}
"""By the name of the environment without its version."""

ACTIONS: dict[str, tuple[str, ...]] = {
    "CartPole": ("push left", "push right"),
    "Acrobot": ("torque -1", "no torque", "torque +1"),
    "MountainCar": ("push left", "do nothing", "push right"),
    "LunarLander": ("do nothing", "fire left engine", "fire main engine", "fire right engine"),
}


def family(environment: str) -> str:
    """The name without namespace and version: `CartPole` of `CartPole-v1`."""
    return environment.rpartition(":")[2].rpartition("/")[2].rpartition("-v")[0] or environment


def fitting(names: dict[str, tuple[str, ...]], environment: str, count: int) -> tuple[str, ...]:
    """The known names of an environment if there are as many as asked for, else none."""
    known = names.get(family(environment), ())
    return known if len(known) == count else ()
