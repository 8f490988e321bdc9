"""A small training run that saves often and takes itself up again: the program that the resume tests kill.

Usage: python -m tests.learn.resumable_run FOLDER STEPS EVERY
Prints the step after each step. Everything random takes part: dropout, random activations, exploration, replay.
"""

import sys

import torch

from neuroplastic.learn import CheckpointStore, QConfig
from neuroplastic.network.dueling import DuelingNetwork, dnn_head
from neuroplastic.network.encoder import PictureEncoder
from tests.learn.agents import make_learner
from tests.learn.catch import Catch
from tests.learn.loop import Loop

CONFIG = QConfig(
    learning_rate=1e-3,
    batch_size=4,
    memory_size=60,  # the ring goes round several times
    n_step=3,
    target_every=15,
    exploration_decay=0.99,
)


def noisy_network(actions: int) -> DuelingNetwork:
    return DuelingNetwork(
        PictureEncoder(dropout=0.2), dnn_head(1600, 1, 8, "RReLU"), dnn_head(1600, actions, 8, "PReLU")
    )


def main(folder: str, steps: int, every: int) -> None:
    torch.set_num_threads(1)
    loop = Loop(lambda: Catch(7, cells=6), make_learner(noisy_network, CONFIG, seed=7))
    losses: list[float | None] = []
    store = CheckpointStore(folder)
    saved = store.load()
    if saved is not None:
        loop.load_state_dict(saved.state["loop"])
        losses = saved.state["losses"]
    for played in loop.run(steps - loop.steps):
        losses.append(played.loss)
        if loop.steps % every == 0 or loop.steps == steps:
            store.save(loop.steps, {"loop": loop.state_dict(), "losses": losses})
        print(loop.steps, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
