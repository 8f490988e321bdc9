"""What is known of an agent in the box: how it was trained, what it scores, whether its rules decide.

A card is `card.json` in a run's folder. It also holds the digests of the files that the agent is made of, so that a
damaged one is refused before it plays.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import safe_json
from ..decoding import decoded, shown
from ..errors import ConfigError, InputError, choose
from ..whole_files import write_whole

CARD = "card.json"
DIGESTED = ("config.json", "best.safetensors")
TOLD = ("rows", "rules", "leading_rules", "carry", "fit")
"""figures of a diagnosis that a card tells"""


class CardError(InputError):
    """A card cannot be read, or the files beside it are not those that it was made of."""


@dataclass(frozen=True)
class Card:
    """An agent in short."""

    task: str
    agent: str
    command: str
    """that trains its like; on a GPU equal seeds do not give equal runs"""
    decisions: int
    """of training, over all games"""
    seed: int
    chosen: str
    """how this run was chosen among others"""
    epoch: int
    """whose network it is: the best by the evaluations in training"""
    episodes: int
    """that were played for the score, which no choice was made on"""
    episode_seed: int
    mean: float
    sd: float
    least: float
    most: float
    random_play: float | None
    diagnosis: Mapping[str, float] = field(default_factory=dict)
    """figures of its rules; empty for a plain agent"""
    verdict: str = ""
    """what they mean, in a sentence"""
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the agent's files"""

    def __post_init__(self) -> None:
        for name in ("task", "agent", "command", "chosen", "verdict"):
            # A line more could pass for one of ours, or for a rule.
            if len(getattr(self, name).splitlines()) > 1:
                raise ConfigError(f"{name} must be one line, got {shown(getattr(self, name))}")
        missing = [name for name in TOLD if self.diagnosis and name not in self.diagnosis]
        if missing:
            raise ConfigError(f"diagnosis must have {', '.join(TOLD)}, got none of {', '.join(missing)}")
        for name in self.digests:
            choose("a name in digests", name, DIGESTED)

    def lines(self) -> list[str]:
        """The card in words."""
        against = "" if self.random_play is None else f"; random play: {self.random_play:g}"
        told = [
            f"{self.task} {self.agent}: {self.mean:.4g} +- {self.sd:.3g} over {self.episodes} new episodes "
            f"(seed {self.episode_seed}), {self.least:.4g} to {self.most:.4g}{against}",
            f"trained: {self.decisions:,} decisions, seed {self.seed}, network of epoch {self.epoch}; {self.chosen}",
            f"by: {self.command}",
        ]
        if self.diagnosis:
            d = self.diagnosis
            told.append(
                f"rules: {d['leading_rules']:.1f} of {d['rules']:.0f} lead, carry {d['carry']:.2f}, fit {d['fit']:.2f} "
                f"on {d['rows']:.0f} observations of play. {self.verdict}"
            )
        return told


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(2**20):  # however long it is
            found.update(part)
    return found.hexdigest()


def write_card(folder: Path, card: Card) -> None:
    """Replace a folder's card."""
    write_whole(folder / CARD, (json.dumps(asdict(card), indent=1) + "\n").encode())


def card_of(folder: Path) -> Card | None:
    """The card in a run's folder, None where there is none; a CardError says what is wrong with it."""
    path = folder / CARD
    if not path.is_file():
        return None
    try:
        saved: Any = safe_json.read(path)
        card: Card = decoded(Card, saved, "")
    except (ConfigError, safe_json.JsonError, TypeError, ValueError) as error:
        raise CardError(f"{path} is damaged ({str(error)[:200]}); install the package anew") from error
    return card


def check_card(folder: Path) -> Card | None:
    """The card, once the files beside it are found to be those that it was made of."""
    card = card_of(folder)
    for name, expected in {} if card is None else card.digests.items():
        path = folder / name
        if not path.is_file() or digest(path) != expected:
            raise CardError(
                f"{path} is damaged: it is missing, or not the file that {CARD} was made of; install the package "
                "anew, or make the card anew with `neuroplastic box`"
            )
    return card
