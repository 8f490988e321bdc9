"""Trials without a game that leave a line in `computed`, beside the study's run folders, once they have figures."""

import os
import time
from dataclasses import replace

from neuroplastic.search.cheap import bowl
from neuroplastic.search.objective import Assignment, Outcome, TrialFailed, TrialStopped
from neuroplastic.search.worker import add_line


def _witnessed(assignment: Assignment, seconds: float) -> Outcome:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if assignment.stop.wait(0.02):
            raise TrialStopped
    outcome = bowl(assignment)
    assignment.folder.parent.mkdir(parents=True, exist_ok=True)
    add_line(
        str(assignment.folder.parent / "computed"), f"{assignment.slot} {assignment.attempt} {os.getpid()}"
    )
    return outcome


def quick(assignment: Assignment) -> Outcome:
    return _witnessed(assignment, 0.0)


def fifth_of_a_second(assignment: Assignment) -> Outcome:
    return _witnessed(assignment, 0.2)


def second(assignment: Assignment) -> Outcome:
    return _witnessed(assignment, 1.0)


def failing(assignment: Assignment) -> Outcome:
    raise TrialFailed("the game does not start")


def failing_three_times(assignment: Assignment) -> Outcome:
    if assignment.attempt <= 3:
        raise TrialFailed("these parameters are bad")
    return _witnessed(assignment, 0.0)


def diverging(assignment: Assignment) -> Outcome:
    outcome = bowl(assignment)
    return Outcome([{"epoch": 1, "mean": float("nan"), "sd": 0.0}], outcome.returns)


def killed_before_its_first_sign_of_life(assignment: Assignment) -> Outcome:
    """The first attempt of slot 1 ends its own process at once."""
    if assignment.slot == 1 and assignment.attempt == 1:
        os.kill(os.getpid(), 9)
    return _witnessed(assignment, 0.0)


def busy(assignment: Assignment) -> Outcome:
    """Fifty reports one after another."""
    for count in range(50):
        assignment.report([{"epoch": epoch, "mean": 0.0, "sd": 0.0} for epoch in range(1 + count % 3)])
    return _witnessed(assignment, 0.0)


def forgetful(assignment: Assignment) -> Outcome:
    """Plays no new episodes, whoever asks for them."""
    return replace(bowl(assignment), new_returns=())
