"""A game played for one viewer, in a process of its own: paced, paused, stepped, and looked back upon."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import MissingPackageError
from .worker import END, Channel

KEPT = 300
"""Decisions that can be gone back through."""
MOST_FRAMES = 60.0
"""Frames a second that are worth sending."""
QUALITY = 80

READY, FRAME, ANSWER = "ready", "frame", "answer"


@dataclass(frozen=True)
class Shown:
    """What a viewer gets to see: a picture, what is to be told of it, and where the agent looks."""

    facts: dict[str, Any] | None
    """None for a frame between two decisions"""
    jpeg: bytes
    heat: bytes = b""
    """side x side numbers, 0 (against) to 255 (for), 128 where nothing speaks"""


def play(channel: Channel, source: str, seed: int, episode: int) -> None:
    """Play until told to end."""
    import torch

    from ..usecases.opening import open_run
    from ..usecases.watching import Watching

    torch.set_num_threads(1)  # the engine, the encoder and the server want cores, too
    with Watching(open_run(source), seed=seed) as watching:
        _Player(channel, watching, seed, episode).run()


class _Player:
    """The loop, and what the viewer has set."""

    def __init__(self, channel: Channel, watching: Any, seed: int, episode: int) -> None:
        self.channel, self.watching, self.seed, self.episode = channel, watching, seed, episode
        self.paused, self.resting, self.speed, self.with_heat = False, False, 1.0, False
        self.steps = 0
        """decisions that are still to be made while paused"""
        self.made = 0
        """decisions so far, by which a viewer names one: of how long ago it is, the game goes on meanwhile"""
        self.past: deque[tuple[dict[str, Any], bytes, Any]] = deque(maxlen=KEPT)
        """of each decision what is told of it, its picture, and what agent and student saw"""
        self.looked = 0
        """how far back the viewer looks while the game is paused"""
        self._due = self._sent = 0.0

    def run(self) -> None:
        from ..usecases.commenting import agreement_of

        watching = self.watching
        watching.begin(self.episode)
        task = watching.config.task
        rules = watching.config.agent == "nfn"
        facts = {"actions": watching.actions, "title": task.title, "seed": self.seed, "episode": self.episode}
        facts |= {"rules": rules, "picture": watching.is_picture and rules, "kept": KEPT}
        facts["plain"] = watching.plainest
        student = watching.student
        if student is not None:
            facts["student"] = {"name": student.path.name, "agreement": agreement_of(student)}
        self.channel.send(READY, facts)
        while self._obey():
            self._decision()

    def _decision(self) -> None:
        watching = self.watching
        moment = watching.look()
        facts = {
            "episode": moment.episode,
            "number": moment.number,
            "score": moment.score,
            "values": moment.values,
            "action": moment.action,
            "fired": [[r.number, r.share, r.sentence, r.action] for r in moment.fired],
            "count": moment.fired_count,
            "rules": moment.rules,
        }
        if moment.words is not None:
            facts["words"] = [moment.words.sentence, moment.words.action, moment.words_agree]
        if moment.reason is not None:
            facts["reason"] = [moment.reason.rule, moment.reason.sentence, moment.reason.note]
        jpeg = _jpeg(moment.frame)
        self.made += 1
        self._note_gain(facts)
        self.past.append((facts, jpeg, (moment.observation, moment.attributes)))
        self._show_past(0)
        self._pace()
        frames = watching.act(moment.action)
        for frame in frames[:-1]:
            self._pace(frame)
        if watching.over:
            facts["gain"] = float(np.sign(watching.score - facts["score"]))
            self.channel.send(FRAME, Shown({**facts, "over": True, "score": watching.score}, jpeg))
            self.episode += 1
            watching.begin(self.episode)

    def _note_gain(self, facts: dict[str, Any]) -> None:
        """What the decision before has won or lost, now that it is known; nothing across episodes."""
        before = self.past[-1][0] if self.past else None
        if before is not None and before["episode"] == facts["episode"]:
            before["gain"] = float(np.sign(facts["score"] - before["score"]))

    def _show_past(self, back: int) -> None:
        """The decision so many before the last one."""
        back = self.looked = min(back, len(self.past) - 1)
        facts, jpeg, (observation, _) = self.past[-1 - back]
        heat = self._heat(observation) if self.with_heat else b""
        told = {**facts, "back": back, "held": len(self.past), "paused": self.paused}
        told["made"] = self.made
        told["trail"] = [[one["action"], one.get("gain", 0)] for one, _, _ in self.past]
        self.channel.send(FRAME, Shown(told, jpeg, heat))
        self._sent = time.monotonic()

    def _pace(self, frame: Any = None) -> None:
        """Wait until the next frame is due, and show it if a screen could."""
        period = 1 / (self.watching.frames_per_second * self.speed)
        now = time.monotonic()
        self._due = max(self._due + period, now - period)  # what was late is not caught up with
        if self._due > now and not self.steps:
            time.sleep(self._due - now)
        if frame is not None and time.monotonic() - self._sent >= 1 / MOST_FRAMES:
            self.channel.send(FRAME, Shown(None, _jpeg(frame)))
            self._sent = time.monotonic()

    def _obey(self) -> bool:
        """Do what the viewer asks for; returns when a decision is to be made: False when it is the end."""
        self.steps = max(0, self.steps - 1)
        while True:
            waits = (self.paused and not self.steps) or self.resting
            given = self.channel.command(None if waits else 0.0)
            if given is None:
                return True
            kind, content = given
            if kind == END:
                return False
            self._do(kind, content)

    def _do(self, kind: str, content: Any) -> None:
        if kind == "pause":
            self.paused, self.steps = True, 0
            if self.past:  # the picture of the decision that is told of, and not one that came of it
                self._show_past(0)
        elif kind == "go":
            self.paused = False
        elif kind == "step":
            self.paused, self.steps = True, self.steps + 1
        elif kind == "rest":
            self.resting = content
        elif kind == "speed":
            self.speed = content
        elif kind == "heat":
            self.with_heat = content
            if self.paused and self.past:
                self._show_past(self.looked)
        elif kind == "show" and self.past:
            self.paused, self.steps = True, 0
            self._show_past(max(self.made - content, 0))
        elif kind == "episode":
            self.episode = content
            self.watching.begin(content)
            self.past.clear()
            self.steps += self.paused
        elif kind == "why-not" and self.past:
            back, action = content
            facts, _, (observation, attributes) = self.past[-1 - min(back, len(self.past) - 1)]
            found = self.watching.why_not(observation, action, attributes)
            told = {"why": found.text, "details": found.details, "action": action}
            self.channel.send(ANSWER, {**told, "episode": facts["episode"], "number": facts["number"]})

    def _heat(self, observation: Any) -> bytes:
        try:
            heat = self.watching.heat(observation)
        except MissingPackageError as error:
            self.with_heat = False
            self.channel.send(ANSWER, {"note": str(error)})
            return b""
        return b"" if heat is None else np.round(127.5 + 127.5 * heat).astype(np.uint8).tobytes()


def _jpeg(frame: Any) -> bytes:
    import cv2

    made, data = cv2.imencode(
        ".jpg", np.ascontiguousarray(frame[..., ::-1]), [cv2.IMWRITE_JPEG_QUALITY, QUALITY]
    )
    assert made
    encoded: bytes = data.tobytes()
    return encoded
