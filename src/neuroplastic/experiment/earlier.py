"""What earlier versions wrote, in the form that this version reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ConfigError

_OF_TASK = ("picture", "frame_skip")


def upgraded(saved: Mapping[str, Any]) -> Mapping[str, Any]:
    """What version 0.1 wrote, of a DOOM scenario and replay learning alone, with a kind beside each part."""
    if "scenario" not in saved:
        return saved
    try:
        protocol, head, agent = dict(saved["protocol"]), dict(saved["head"]), saved["agent"]
        task = {"kind": "doom", "scenario": saved["scenario"]}
        task |= {name: protocol.pop(name) for name in _OF_TASK if name in protocol}
        if agent == "nfn":
            head["consequent"] = _consequent(head)
        return {
            "task": task,
            "preset": saved["preset"],
            "seed": saved["seed"],
            "protocol": protocol,
            "learner": {"kind": "dqn", **saved["learner"]},
            "encoder": {"kind": "paper", **saved["encoder"]},
            "head": {"kind": agent, **head},
        }
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"this is no configuration of a run: {error!r}") from error


def _consequent(head: dict[str, Any]) -> dict[str, Any]:
    """The consequent with its own fields, which once stood beside its name."""
    kind, init, rank = head["consequent"], head.pop("consequent_init", None), head.pop("rank", None)
    fields: dict[str, Any] = {"kind": kind}
    if init is not None and kind != "mamdani":
        fields["init"] = init
    if rank is not None and kind == "low_rank":
        fields["rank"] = rank
    return fields


def upgraded_training(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state of training as version 0.1 saved it, of one game: its episode under way lay beside the learner's state.

    Between two episodes there was none; now a game begins its next one at once.
    """
    if "arena" in state:
        return state
    begun = state["steps"] > 0 or bool(state["actions"])
    game = {
        "episode": state["episode"],
        "actions": state["actions"],
        "reward": state["reward"],
        "observation_sha256": state["frame_sha256"],
    }
    return {
        "steps": state["steps"],
        "episodes": [{"game": 0, **episode} for episode in state["episodes"]],
        "arena": {"steps": state["steps"], "games": [game]} if begun else None,
        "learner": state["learner"],
    }
