"""What there is, by name: tasks, learners, encoders, heads, consequents, standards, and where each is defined.

A table of addresses, so that a name can be checked and listed where what it stands for cannot be imported, and so that
the floors below know nothing of those above. To add a kind is to add a line here; who cannot, calls `register` in a
module of their own and has it imported. Only a person names such a module, never a file: what a stranger's run or study
says does not decide what code is executed.
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
        "places": "network.encoders.places:PlacesEncoderConfig",
        "attributes": "network.encoders.attributes:AttributeEncoderConfig",
    },
    "head": {"dnn": "network.heads:DnnConfig", "nfn": "network.heads:NfnConfig"},
    "consequent": {
        "affine": "network.consequents:Affine",
        "constant": "network.consequents:Constant",
        "low_rank": "network.consequents:LowRank",
        "mamdani": "network.consequents:Mamdani",
    },
    "standard": {
        ".fml": "rules.standards.fml:Fml",
        ".xml": "rules.standards.fml:Fml",
        ".fcl": "rules.standards.fcl:Fcl",
        ".fis": "rules.standards.fis:Fis",
        ".onnx": "rules.standards.onnx_export:Onnx",
    },
}
"""By group and name. An address is `module:class` inside this package."""

_ELSEWHERE: dict[str, dict[str, str]] = {
    "learner": {
        "imitation": "learn.imitation.config:ImitationConfig",
        "offline": "learn.offline.config:OfflineConfig",
    },
}
"""Kinds that a run may be of, but that `train` cannot begin: other commands make them. Not listed by `names`."""

_OWN: list[str] = []


class UnknownKindError(ConfigError):
    """A name that no kind of its group has: mistyped, or of a module that was not imported."""


def names(group: str) -> tuple[str, ...]:
    """The names of a group's kinds."""
    return tuple(KINDS[group])


def kind(group: str, name: object) -> type[Any]:
    """The class of that name; an unknown one is an UnknownKindError that suggests the nearest."""
    known = _all(group)
    try:
        found = known[choose(group, name, known)]
    except ConfigError as error:
        raise UnknownKindError(str(error)) from None
    if isinstance(found, str):
        module, _, attribute = found.partition(":")
        found = getattr(import_module(f".{module}", __package__), attribute)
        assert isinstance(found, type)
    return found


def name_of(group: str, value: object) -> str:
    """The name of the kind that an object is of."""
    cls = type(value)
    for name, entry in _all(group).items():
        here = entry if isinstance(entry, str) else f"{entry.__module__}:{entry.__qualname__}"
        if f"{cls.__module__}:{cls.__qualname__}".removeprefix(f"{__package__}.") == here.removeprefix(
            f"{__package__}."
        ):
            return name
    raise ConfigError(
        f"{cls.__qualname__} is no {group} that is known here; register it: "
        f"neuroplastic.catalog.register({group!r}, NAME, {cls.__qualname__})"
    )


def _all(group: str) -> dict[str, str | type]:
    return {**KINDS[group], **_ELSEWHERE.get(group, {})}


def register(group: str, name: str, cls: type[Any]) -> None:
    """Let configurations name a class of your own: a frozen dataclass that does what others of its group do."""
    choose("group", group, KINDS)
    if KINDS[group].get(name, cls) is not cls:
        raise ConfigError(f"there is a {group} of the name {name!r} already; choose another name")
    KINDS[group][name] = cls


def import_own(module: str) -> None:
    """Import a module that registers kinds, or environments of Gymnasium; worker processes will import it, too."""
    try:
        import_module(module)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"the module {module!r:.80} cannot be imported: {error}") from error
    if module not in _OWN:
        _OWN.append(module)


def own_modules() -> tuple[str, ...]:
    """The modules that `import_own` was called for."""
    return tuple(_OWN)
