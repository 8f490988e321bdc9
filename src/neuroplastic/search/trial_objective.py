"""A trial of the paper's protocol as a study's workers make it: in a run folder, resumable."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ..experiment.agent import build_agent, greedy
from ..experiment.configuration import RunConfig
from ..experiment.run_folder import RunError, RunFolder, run_folders
from ..experiment.trial import Progress, Stopped, Trial, summarise
from .objective import Assignment, Outcome, TrialStopped
from .recovery import drop_checkpoints

NEW_EPISODES = 9001
"""The seed of episodes that no choice is made on."""


def run_trial(assignment: Assignment) -> Outcome:
    """Train and evaluate; go on from the newest checkpoint where the same run was begun before."""
    folder = _folder(assignment.folder, assignment.config)
    with Trial(assignment.config, folder, device=assignment.device) as trial:
        resumed_at = trial.resume()
        reported, lags = 0, False

        def on_progress(_: Progress) -> None:
            nonlocal reported, lags
            if len(trial.metrics) > reported:
                reported = len(trial.metrics)
                lags = not assignment.report(_epochs(trial))
            trial.stop_requested = lags or assignment.stop.is_set()

        try:
            trial.run(on_progress)
        except Stopped:
            if not lags:
                raise TrialStopped from None
        best = summarise(trial.metrics).best
        clean_up = partial(drop_checkpoints, assignment.folder)
        new = _new_returns(trial, assignment) if assignment.new_episodes else []
        return Outcome(_epochs(trial), folder.returns(best.epoch), clean_up, resumed_at, lags, new)


def _new_returns(trial: Trial, assignment: Assignment) -> list[float]:
    """Of episodes that no choice was made on, with the best epoch's network."""
    agent = build_agent(trial.config)
    trial.folder.load_into(agent, "best")

    def on_episode(*_: object) -> None:
        if assignment.stop.is_set():
            raise TrialStopped

    policy = partial(greedy, agent.eval().to(assignment.device))
    played = trial.games.play(policy, assignment.new_episodes, seed=NEW_EPISODES, on_episode=on_episode)
    return [result.return_ for result in played]


def _epochs(trial: Trial) -> list[dict[str, float]]:
    return [{"epoch": m.epoch, "mean": m.mean, "sd": m.sd} for m in trial.metrics]


def _folder(parent: Path, config: RunConfig) -> RunFolder:
    """The run that was begun with this configuration, or a new one."""
    for folder in run_folders(parent):
        try:
            # One whose worker was taken for dead and still writes is left to it.
            if folder.config() == config and not folder.is_locked:
                return folder
        except RunError:  # cut short while it was made
            continue
    return RunFolder.create(parent, config)
