"""What became of the slots and trials of workers that died."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState

from ..experiment.run_folder import run_folders
from .liveness import Watch, surely_dead
from .slots import Lease, Slots


def trials_of_slot(study: optuna.Study, slot: int) -> list[FrozenTrial]:
    """All trials that were made for a slot, in the order of its attempts."""
    found = [trial for trial in study.get_trials(deepcopy=False) if trial.user_attrs.get("slot") == slot]
    return sorted(found, key=lambda trial: int(trial.user_attrs["attempt"]))


def fail(storage: optuna.storages.RDBStorage, trial: FrozenTrial, reason: str) -> None:
    """Mark a trial as failed, with the reason; one that is finished stays as it is."""
    with suppress(UpdateFinishedTrialError):
        storage.set_trial_user_attr(trial._trial_id, "failure", reason)
        storage.set_trial_state_values(trial._trial_id, TrialState.FAIL)


def drop_checkpoints(folder: Path) -> None:
    """Remove the checkpoints of all runs of a filled slot, also of parameters that were given up.

    A checkpoint holds the replay memory: hundreds of megabytes that a finished trial does not need.
    """
    for run in run_folders(folder):
        shutil.rmtree(run.checkpoints.folder, ignore_errors=True)


class Recovery:
    """Finds dead workers, marks their trials as failed and opens their slots again."""

    def __init__(
        self, storage: optuna.storages.RDBStorage, study: optuna.Study, slots: Slots, grace: float
    ) -> None:
        self.storage, self.study, self.slots = storage, study, slots
        self._watch = Watch(grace)

    def look(self, dead: tuple[str, ...] = ()) -> None:
        """One round. `dead` are tokens of workers that the caller knows to have ended."""
        leases = self.slots.held()
        late = self._watch.silent(leases)
        for lease in leases:
            token = lease.worker.rpartition("/")[2]
            if token in dead or lease in late or surely_dead(lease.worker):
                self._recover(lease)
        self._sweep()

    def _recover(self, lease: Lease) -> None:
        """The worker died. Its trial may be complete all the same: the kill came after that, or comes still."""
        made = [t for t in trials_of_slot(self.study, lease.slot) if t.user_attrs["attempt"] == lease.attempt]
        for trial in made:
            fail(self.storage, trial, f"the worker {lease.worker} died")
            if self.storage.get_trial(trial._trial_id).state == TrialState.COMPLETE:
                self.slots.finish(lease)
                return
        self.slots.reopen(lease, tries=lease.tries + 1)

    def _sweep(self) -> None:
        """Fail trials whose lease is over: of a worker that was taken for dead and began its trial only then."""
        running = self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        ours = [trial for trial in running if "slot" in trial.user_attrs]
        if not ours:
            return
        held = {(lease.slot, lease.attempt) for lease in self.slots.held()}
        for trial in ours:
            if (trial.user_attrs["slot"], trial.user_attrs["attempt"]) not in held:
                fail(self.storage, trial, "its worker lost the slot")
