"""What there is, by name: tasks, learners, encoders, heads and consequents, and where each is defined.

A table of addresses, so that a name can be checked and listed where what it stands for cannot be imported, and so that
the floors below know nothing of those above. To add a kind is to add a line here; who cannot, calls `register`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import ConfigError, choose

KINDS: dict[str, dict[str, str | type]] = {
    "task": {"doom": "doom.task:DoomTask", "gym": "gym.task:GymTask"},
    "learner": {"dqn": "learn.dqn.config:QConfig", "parallel_q": "learn.parallel_q.config:ParallelQConfig"},
    "encoder": {
        "paper": "network.encoders.paper:PaperEncoderConfig",
        "pictures": "network.encoders.pictures:PictureEncoderConfig",
        "attributes": "network.encoders.attributes:AttributeEncoderConfig",
    },
    "head": {"dnn": "network.heads:DnnConfig", "nfn": "network.heads:NfnConfig"},
    "consequent": {
        "affine": "network.consequents:Affine",
        "constant": "network.consequents:Constant",
        "low_rank": "network.consequents:LowRank",
        "mamdani": "network.consequents:Mamdani",
    },
}
"""By group and name. An address is `module:class` inside this package."""


def names(group: str) -> tuple[str, ...]:
    """The names of a group's kinds."""
    return tuple(KINDS[group])


def kind(group: str, name: object) -> type[Any]:
    """The class of that name; an unknown one is a ConfigError that suggests the nearest."""
    found = KINDS[group][choose(group, name, KINDS[group])]
    if isinstance(found, str):
        module, _, attribute = found.partition(":")
        found = getattr(import_module(f".{module}", __package__), attribute)
        assert isinstance(found, type)
    return found


def name_of(group: str, value: object) -> str:
    """The name of the kind that an object is of."""
    cls = type(value)
    for name, entry in KINDS[group].items():
        here = entry if isinstance(entry, str) else f"{entry.__module__}:{entry.__qualname__}"
        if f"{cls.__module__}:{cls.__qualname__}".removeprefix(f"{__package__}.") == here.removeprefix(
            f"{__package__}."
        ):
            return name
    raise ConfigError(
        f"{cls.__qualname__} is no {group} that is known here; register it: "
        f"neuroplastic.catalog.register({group!r}, NAME, {cls.__qualname__})"
    )


def register(group: str, name: str, cls: type[Any]) -> None:
    """Let configurations name a class of your own: a frozen dataclass that does what others of its group do."""
    choose("group", group, KINDS)
    if KINDS[group].get(name, cls) is not cls:
        raise ConfigError(f"there is a {group} of the name {name!r} already; choose another name")
    KINDS[group][name] = cls
