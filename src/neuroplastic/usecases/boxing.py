"""A run put into a box: what its agent is made of, and a card that says what it scores and whether its rules decide."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from safetensors.torch import save as as_bytes

from .. import catalog
from ..errors import ConfigError, InputError
from ..experiment.agent import diagnosis_of, greedy
from ..experiment.configuration import RunConfig
from ..experiment.options import options
from ..experiment.play import EpisodeResult, Games, watch_evaluation
from ..experiment.run_folder import RunFolder
from ..experiment.tasks import preset_of
from ..experiment.trial import summarise
from ..learn.experience import Observations
from ..whole_files import write_whole
from .cards import DIGESTED, Card, card_of, digest, write_card
from .opening import BOX, OpenedRun, box_names, open_run

KEPT = ("config.json", "best.safetensors", "metrics.csv", "returns.csv", "births.csv")
MOST_BYTES = 3_000_000
LARGE = 4096
"""numbers from which on a tensor is stored in half precision, where that is asked for"""
# Observations of play on which the rules of a card are diagnosed, and the most episodes that are played for them.
OBSERVATIONS, MOST_EPISODES = 1000, 25


@dataclass(frozen=True)
class BoxRequest:
    """A run that is to be put into a box."""

    run: str
    out: Path
    """the new folder"""
    episodes: int = 100
    seed: int = 9001
    """of the episodes: one that no choice was made on"""
    chosen: str | None = None
    """None: as the card of an agent in the box says"""
    command: str | None = None
    """None: told from the configuration"""
    half: bool = False
    """whether large tensors are stored in half precision: half the size; the card is of what is stored"""


def make_card(
    opened: OpenedRun,
    request: BoxRequest,
    *,
    on_episode: Callable[[int, EpisodeResult], None] | None = None,
) -> Card:
    """Play new episodes, diagnose the rules on what is seen, and say so on a card."""
    config, folder = opened.config, RunFolder(opened.path)
    policy = partial(greedy, opened.agent)
    with Games(config.task, games=config.protocol.games) as games:
        played = games.play(policy, request.episodes, seed=request.seed, on_episode=on_episode)
    returns = np.array([result.return_ for result in played])
    seen = watch_evaluation(
        config.task, policy, observations=OBSERVATIONS, episodes=MOST_EPISODES, seed=request.seed
    )
    observations: Observations = np.stack(seen[:OBSERVATIONS])  # type: ignore[assignment]
    found = diagnosis_of(opened.agent, observations)
    names = ("rows", "rules", "leading_rules", "dead_rules", "carry", "fit", "premises", "rules_per_decision")
    random = config.task.scores.get("random play")
    best, steps = summarise(folder.metrics()).best, folder.metrics()[-1].steps
    return Card(
        config.task.key,
        config.agent,
        request.command or train_command(config),
        steps,
        config.seed,
        request.chosen or "",
        best.epoch,
        request.episodes,
        request.seed,
        round(float(returns.mean()), 4),
        round(float(returns.std(ddof=1)) if len(returns) > 1 else 0.0, 4),
        float(returns.min()),
        float(returns.max()),
        None if random is None else random.mean,
        {} if found is None else {name: round(float(getattr(found, name)), 4) for name in names},
        "" if found is None else found.verdict,
        {name: digest(opened.path / name) for name in DIGESTED},
    )


def put_in_box(
    request: BoxRequest, *, on_episode: Callable[[int, EpisodeResult], None] | None = None
) -> Card:
    """Copy what an agent is made of into a new folder, with its card; refused where it is too large for the box."""
    opened = open_run(request.run)
    known = "not told how it was chosen" if opened.card is None else opened.card.chosen
    # Now, for a command that cannot be told would only be found out once all was played, and a copy has no card.
    request = replace(
        request,
        command=request.command or train_command(opened.config),
        chosen=request.chosen or known,
    )
    if request.out.exists():
        if request.out.resolve() != opened.path.resolve():
            raise ConfigError(f"{request.out} exists and is not overwritten; choose another folder")
        _need_small(opened.path)
        card = make_card(opened, request, on_episode=on_episode)  # the run itself, that gets its card
        write_card(request.out, card)
        return card
    part = request.out.parent / f".{request.out.name}-new-{secrets.token_hex(4)}"
    try:
        part.mkdir(parents=True)
        for name in KEPT:
            if (opened.path / name).is_file():
                write_whole(part / name, (opened.path / name).read_bytes())
        if request.half:
            _halve(part / "best.safetensors")
        _need_small(part)
        card = make_card(open_run(part), request, on_episode=on_episode)
        write_card(part, card)
        part.rename(request.out)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return card


def _need_small(folder: Path) -> None:
    size = sum((folder / name).stat().st_size for name in KEPT if (folder / name).is_file())
    if size > MOST_BYTES:
        raise InputError(
            f"{folder} has {size / 1e6:.1f} MB, an agent in the box at most {MOST_BYTES / 1e6:.0f}; train one "
            "with fewer --features, or store it in half precision (--half)"
        )


def _halve(path: Path) -> None:
    """Store large tensors of single precision in half precision; a network that loads them widens them again."""
    state = load_file(path)
    for name, tensor in state.items():
        if tensor.dtype == torch.float32 and tensor.numel() >= LARGE:
            state[name] = tensor.half()
            if not state[name].isfinite().all():
                raise InputError(
                    f"{name} has numbers beyond half precision; put the run into the box without --half"
                )
    write_whole(path, as_bytes(state))


def train_command(config: RunConfig) -> str:
    """The command that trains with this configuration: the preset, and the fields that differ from it.

    Into how many processes games were put is left out: another machine has other cores.
    """
    learner = catalog.name_of("learner", config.learner)
    words = ["neuroplastic train", config.task.key, f"--agent {config.agent} --preset {config.preset}"]
    try:
        base = preset_of(config.task, config.preset, config.agent)
        if catalog.name_of("learner", base.learner) != learner:
            base = preset_of(config.task, config.preset, config.agent, learner)
            words.append(f"--learner {learner}")
    except ConfigError as error:
        raise ConfigError(
            f"which command trained it is not known ({error}); say so with --command"
        ) from error
    usual = {option.name: option.value for option in options(replace(base, seed=config.seed))}
    for option in options(config):
        if option.name not in ("seed", "processes") and usual.get(option.name, option) != option.value:
            words.append(f"--{option.name.replace('_', '-')} {_word(option.value)}")
    return " ".join([*words, f"--seed {config.seed}"])


def _word(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def boxed_cards() -> list[tuple[str, Card | None]]:
    """The agents in the box by name, with their cards."""
    return [(name, card_of(BOX / name)) for name in box_names()]
