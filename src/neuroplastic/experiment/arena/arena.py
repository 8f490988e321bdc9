"""Many training games at once, stepped together, and brought back from the actions taken in them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import warnings
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import ConfigError, at_least
from ...learn.experience import Observations, Step
from ..game import checked_actions
from ..protocols import Task
from .board import Board
from .forking import AVAILABLE, Forking
from .hands import Hand, LostError, OwnHand, WorkerHand
from .players import Advance, Answer, Resume, Start, group_of
from .reports import (
    ArenaError,
    Episode,
    ReplayedEpisodeWarning,
    Unrepeated,
    WorkerLostError,
    WorkerReplacedWarning,
)

LOSSES_WITHOUT_A_STEP = 3
_NAMED = 3  # games that a warning names before it only counts


@dataclass
class _Record:
    """What an episode under way can be played again from."""

    episode: int
    actions: list[int] = field(default_factory=list)
    reward: float = 0.0


class Arena:
    """G games of a task that are stepped together; whoever's episode ends begins another in the same step.

    Game g plays episodes g, g + G, g + 2 G, ... of stream "training" of run seed `seed`, so that what is played does
    not depend on timing nor on how many processes play it. `processes` is 0 for games in this process, or how many
    workers share them (never more than there are games); None is for `default_processes` to decide. With `spares`,
    workers have a second environment for every game, in which its next episode begins while this one is played: all
    games wait for the one that begins an episode, and an engine takes many times as long for it as for a step.

    A worker that dies is replaced: another plays the episodes that were under way again, from their actions. With
    deterministic games nothing but a WorkerReplacedWarning tells.

    >>> with Arena(task, games=8) as arena:
    ...     observations = arena.begin()
    ...     step = arena.step(np.zeros(8, int))
    """

    def __init__(
        self,
        task: Task,
        *,
        games: int,
        seed: int = 0,
        processes: int | None = None,
        spares: bool = False,
    ) -> None:
        self.task = task
        self.games = at_least("games", games, 1)
        self.seed = at_least("seed", seed, 0)
        wanted = default_processes(task, games) if processes is None else at_least("processes", processes, 0)
        self.processes = min(wanted, games)
        self.steps = 0
        """decisions so far, over all games"""
        self.episodes_ended: tuple[Episode, ...] = ()
        """the episodes that ended with the latest step, in the order of their games"""
        self._records: list[_Record] = []
        self._rounds = [0, 0]  # steps of each group
        self._flying: list[int | None] = []  # groups whose step was sent, and not received
        self._early: set[int] = set()  # games whose episode was over before the step that is flying
        self._torn = self._closed = False
        forking: Forking | None = None
        self._hands: list[Hand]
        if self.processes:
            if not AVAILABLE:
                raise ConfigError("this system cannot fork worker processes; play with processes=0")
            forking = Forking(task, games=games, seed=seed, spares=spares)
            self._board = forking.board
            self._hands = [WorkerHand(forking, part) for part in _shares(games, self.processes)]
        else:
            self._board = Board(games, task.observation)
            self._hands = [OwnHand(task, self._board, seed=seed)]
        self._shown: list[Observations] = list(
            self._board.observations.copy()
        )  # by game, when last looked at
        half = sum(len(group_of(hand.games, 0)) for hand in self._hands)
        apart = self.processes and half < games
        self.groups = (slice(0, half), slice(half, games)) if apart else ()
        """The games of two groups that can be stepped in turns, half of each worker's; none where that is of no use."""
        self._arrived = False  # whether the step that was sent first is done in all games
        # Runs on close(), when this object is collected, and when Python exits: whichever comes first.
        self._end = weakref.finalize(self, _end, self._hands, forking, os.getpid())

    def __enter__(self) -> Arena:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def worker_pids(self) -> tuple[int, ...]:
        """The process ids of the workers that are running."""
        workers = [hand for hand in self._hands if isinstance(hand, WorkerHand)]
        return tuple(worker.pid for worker in workers if worker.pid is not None)

    @property
    def observations(self) -> Observations:
        """What is acted upon next, (games, *shape): an array of its own, which may be kept."""
        observations: Observations = np.stack(self._shown)  # type: ignore[assignment]
        return observations

    def begin(self) -> Observations:
        """Begin the first episode of every game; their first observations, (games, *shape)."""
        self.steps, self.episodes_ended = 0, ()
        self._rounds = [0, 0]
        self._records = [_Record(game) for game in range(self.games)]
        self._resume()
        return self.observations

    def step(self, actions: npt.ArrayLike) -> Step:
        """Take an action in every game; `episodes_ended` are those that it ended."""
        if not self._records:
            raise ArenaError("no episode was begun; call begin() or load_state_dict() before step()")
        self._send(None, actions)
        return self._receive(None)

    def send(self, group: int, actions: npt.ArrayLike) -> None:
        """Have an action taken in every game of one of the `groups`, and do not wait for what comes of it.

        While one group is stepped, actions for the other can be found: workers that have both to do go on with the
        second. Each step that is sent is to be received, in the order of sending, before the state is looked at.
        """
        self._send(group, actions)

    @property
    def shown_in(self) -> Observations:
        """The memory that games show themselves in, (games, *shape), which their steps write to."""
        shown: Observations = self._board.observations
        return shown

    def wait(self, group: int) -> None:
        """Wait for the step that was sent to a group, which is to be received next."""
        self._wait(group)

    def receive(self, group: int, shown: Observations | None = None) -> Step:
        """What came of the actions sent to a group, of its games in their order; `episodes_ended` are of these.

        What they show is copied, unless somebody has it, who must keep it until the group has been received again.
        """
        return self._receive(group, shown)

    def _send(self, group: int | None, actions: npt.ArrayLike) -> None:
        if not self._records:
            raise ArenaError("no episode was begun; call begin() or load_state_dict() before step()")
        games = self._games_of(group)
        chosen = checked_actions(actions, games.stop - games.start, self.task)
        if not self._flying:
            self._check_whole()
        self._torn = True
        self._flying.append(group)
        self._board.actions[games] = chosen
        command = Advance(group=group)
        for hand in self._hands:
            hand.send(command)

    def _wait(self, group: int | None) -> None:
        if self._flying[:1] != [group]:
            raise ArenaError(f"steps are received in the order of sending, {self._flying}, not {group}")
        if self._arrived:
            return
        try:
            for hand in self._hands:
                self._finish_step(hand, group)
        except BaseException:
            self._flying = []  # torn: nothing more is to be received
            raise
        self._arrived = True

    def _receive(self, group: int | None, shown: Observations | None = None) -> Step:
        self._wait(group)
        self._arrived = False
        del self._flying[0]
        self._torn = bool(self._flying)
        return self._note_step(group, shown)

    def _games_of(self, group: int | None) -> slice:
        return slice(0, self.games) if group is None else self.groups[group]

    def state_dict(self) -> dict[str, Any]:
        """Where every game stands: its episode, the actions and the reward so far, the digest of what it shows."""
        if self._flying:
            raise ArenaError("a step was sent and not received; receive it before the state is looked at")
        games = [
            {
                "episode": record.episode,
                "actions": list(record.actions),
                "reward": record.reward,
                "observation_sha256": _digest(self._shown[game]),
            }
            for game, record in enumerate(self._records)
        ]
        return {"steps": self.steps, "games": games}

    def load_state_dict(self, state: Mapping[str, Any]) -> list[Unrepeated]:
        """Go on where `state_dict` was taken; which games do not, because their environment does not repeat itself.

        A game cannot be saved in the middle of an episode: those under way are played again from their actions, by
        all workers at once. If one then shows something else, a ReplayedEpisodeWarning says so.
        """
        games = state["games"]
        if len(games) not in (0, self.games):
            raise ConfigError(f"the state is that of {len(games)} games, and this arena has {self.games}")
        self.steps, self.episodes_ended = state["steps"], ()
        self._rounds = [self.steps // self.games] * 2
        self._records = [_Record(game["episode"], list(game["actions"]), game["reward"]) for game in games]
        if not games:
            return []
        early = self._resume()
        shown_before = {number: game["observation_sha256"] for number, game in enumerate(games)}
        unrepeated = self._unrepeated(shown_before, early)
        self._warn_of(unrepeated)
        self.episodes_ended = tuple(self._finish_episode(game, self.steps) for game in early)
        return unrepeated

    def close(self) -> None:
        """Close all games and end the workers. Closing twice does nothing."""
        self._closed = True
        self._end()

    def _check_whole(self) -> None:
        """Raise unless all games can be stepped, and stand where they are known to stand."""
        if self._closed:
            raise ArenaError(f"this arena of {self.task.key} is closed; make another with Arena()")
        if self._torn:
            raise ArenaError(
                "the last step was interrupted in the middle; go back to before it with "
                "load_state_dict(state_dict())"
            )

    @contextlib.contextmanager
    def _undivided(self) -> Iterator[None]:
        """What is interrupted inside leaves some games further than others."""
        self._check_whole()
        self._torn = True
        yield
        self._torn = False

    def _resume(self) -> Answer:
        """Bring every game to where its record stands; the games whose episode ended before."""
        early: list[int] = []
        if self._torn:  # of what was asked last, some was done: new games do as they are told
            for hand in self._hands:
                hand.close()
            self._torn, self._flying, self._arrived = False, [], False
            self._early.clear()
        with self._undivided():
            for hand in self._hands:
                hand.send(self._resuming(hand))
            for hand in self._hands:
                try:
                    early += hand.receive()
                except LostError as lost:
                    early += self._bring_back(hand, lost)
        self._shown = list(self._board.observations.copy())
        return tuple(early)

    def _resuming(self, hand: Hand) -> Resume:
        records = [(game, self._records[game]) for game in hand.games]
        return Resume(tuple(Start(game, record.episode, tuple(record.actions)) for game, record in records))

    def _bring_back(self, hand: Hand, lost: LostError) -> Answer:
        """Have somebody new play the episodes of a hand that was lost; the games whose episode ended early."""
        while True:
            hand.losses += 1
            if hand.losses > LOSSES_WITHOUT_A_STEP:
                raise WorkerLostError(
                    f"{lost}, and so it went {hand.losses} times without a step between; look for the system's "
                    "out-of-memory killer, or play with processes=0 to see what happens"
                ) from lost
            actions = sum(len(self._records[game].actions) for game in hand.games)
            warnings.warn(
                f"{lost}; what it played ({_named(hand.games)}) is played again over {actions} actions",
                WorkerReplacedWarning,
                stacklevel=5,
            )
            try:
                hand.send(self._resuming(hand))
                return hand.receive()
            except LostError as again:
                lost = again

    def _finish_step(self, hand: Hand, group: int | None) -> None:
        while True:
            try:
                hand.receive()
                break
            except LostError as lost:
                skipped = self._bring_back(hand, lost)
                self._early = self._early - set(hand.games) | set(skipped)
                shown_before = {game: _digest(self._shown[game]) for game in hand.games}
                self._warn_of(self._unrepeated(shown_before, skipped))
                for flying in self._flying:
                    hand.send(Advance(skipped, flying))
        hand.losses = 0
        if not self._early:  # nearly always; there are some ten thousand steps a second
            return
        for game in self._early & set(group_of(hand.games, group)):
            self._early.remove(game)  # its episode is over without the action: it was cut short
            self._board.rewards[game] = 0.0
            self._board.terminated[game], self._board.truncated[game] = False, True

    def _note_step(self, group: int | None, shown: Observations | None) -> Step:
        board, games = self._board, self._games_of(group)
        for one in (0, 1) if group is None else (group,):
            self._rounds[one] += 1
        self.steps = min(self._rounds) * self.games
        actions, rewards = board.actions[games].tolist(), board.rewards[games].tolist()
        for record, action, reward in zip(self._records[games], actions, rewards, strict=True):
            record.actions.append(action)
            record.reward += reward
        terminated, truncated = board.terminated[games].copy(), board.truncated[games].copy()
        ended = [(int(place), games.start + int(place)) for place in np.flatnonzero(terminated | truncated)]
        self.episodes_ended = tuple(
            self._finish_episode(game, self._rounds[group or 0] * self.games) for _, game in ended
        )
        observations = board.observations[games].copy() if shown is None else shown
        self._shown[games] = observations
        return Step(
            rewards=board.rewards[games].astype(np.float32),
            terminated=terminated,
            truncated=truncated,
            observations=observations,
            last={place: board.last[game].copy() for place, game in ended},
            advice=board.advice[games].copy(),
        )

    def _finish_episode(self, game: int, steps: int) -> Episode:
        record = self._records[game]
        self._records[game] = _Record(record.episode + self.games)
        return Episode(record.episode, game, steps, len(record.actions), record.reward)

    def _unrepeated(self, shown_before: Mapping[int, str | None], early: Answer) -> list[Unrepeated]:
        """Of the games just played again, those that do not show what they showed before, told by its digest."""
        found = []
        for game, before in shown_before.items():
            record, now = self._records[game], self._board.observations[game].copy()
            if game in early or (before is not None and _digest(now) != before):
                found.append(Unrepeated(game, record.episode, len(record.actions), now, game in early))
        return found

    def _warn_of(self, unrepeated: list[Unrepeated]) -> None:
        if not unrepeated:
            return
        told = [str(one) for one in unrepeated[:_NAMED]]
        if len(unrepeated) > _NAMED:
            told.append(f"and {len(unrepeated) - _NAMED} more did not repeat")
        warnings.warn(
            f"{'; '.join(told)}: the environment is not deterministic. Training goes on, but not exactly as it would "
            "have",
            ReplayedEpisodeWarning,
            stacklevel=3,
        )


def default_processes(task: Task, games: int) -> int:
    """How many worker processes pay: none for vectors, which are cheap, one per core for pictures.

    None either where workers have nothing to share or cannot be had: one game, one core, no fork, or a task that is
    defined in the program's main script, which workers do not run.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    useful = task.observation.is_picture and min(games, cores) > 1
    return min(games, cores) if useful and AVAILABLE and type(task).__module__ != "__main__" else 0


def _shares(games: int, hands: int) -> list[tuple[int, ...]]:
    """The games, dealt out one by one: the first halves of all hands are the first games, and lie side by side."""
    return [tuple(range(hand, games, hands)) for hand in range(hands)]


def _digest(observation: Observations) -> str:
    return hashlib.sha256(observation.tobytes()).hexdigest()


def _named(games: tuple[int, ...]) -> str:
    if len(games) == 1:
        return f"game {games[0]}"
    if len(games) == games[-1] - games[0] + 1:
        return f"games {games[0]} to {games[-1]}"
    return f"games {', '.join(map(str, games))}"


def _end(hands: list[Hand], forking: Forking | None, owner: int) -> None:
    if os.getpid() != owner:  # a forked copy of the program: the workers are not its own
        return
    for hand in hands:
        if isinstance(hand, WorkerHand):
            hand.leave()  # all at once, then wait for each
    for hand in hands:
        hand.close()
    if forking is not None:
        forking.close()
