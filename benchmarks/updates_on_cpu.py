"""CPU time of an update of BP's `tuned` neuro-fuzzy agent over random pictures: `python -m benchmarks.updates_on_cpu`.

`--given-back` leaves it to the C library what becomes of freed memory; training tells it to keep it.
"""

from __future__ import annotations

import argparse
import resource
import warnings

import cv2
import numpy as np
import torch

from neuroplastic.doom.presets import preset
from neuroplastic.experiment.agent import build_agent
from neuroplastic.learn.experience import Setting, Step
from neuroplastic.learn.seeding import RandomStreams
from neuroplastic.memory import keep_freed_memory

WARM_UP = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=50)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--given-back", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of sets that find no room
    torch.set_num_threads(options.threads)
    if not options.given_back:
        keep_freed_memory()
    config = preset("tuned", "BP", "nfn")
    torch.manual_seed(0)
    task = config.task
    setting = Setting(len(task.actions), RandomStreams(0), 5000, torch.device("cpu"), task.mirrored_actions)
    learner = config.learner.build(build_agent(config), setting)
    generator = np.random.default_rng(0)

    def pictures() -> np.ndarray:
        noise = generator.integers(0, 256, (84, 84, 3), dtype=np.uint8)
        return cv2.GaussianBlur(noise, (9, 9), 3)[None]

    def step() -> float | None:
        learner.act()
        ended, reward = generator.random() < 0.03, np.array([5 * generator.normal()], np.float32)
        last = {0: pictures()[0]} if ended else {}
        learner.observe(Step(reward, np.array([ended]), np.array([False]), pictures(), last))
        loss = learner.update()
        return None if loss is None else float(loss)

    learner.begin(pictures())
    for _ in range(WARM_UP):
        step()
    before = resource.getrusage(resource.RUSAGE_SELF)
    losses = [step() for _ in range(options.updates)]
    after = resource.getrusage(resource.RUSAGE_SELF)
    user, system, faults = (
        (getattr(after, name) - getattr(before, name)) / options.updates
        for name in ("ru_utime", "ru_stime", "ru_minflt")
    )
    print(
        f"an update: {1e3 * user:.1f} ms of the program and {1e3 * system:.1f} ms of the system, "
        f"{faults:.0f} page faults; last loss {losses[-1]}"
    )


if __name__ == "__main__":
    main()
