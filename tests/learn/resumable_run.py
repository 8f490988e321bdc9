"""A small training run that saves often and takes itself up again: the program that the resume tests kill.

Usage: python -m tests.learn.resumable_run LEARNER FOLDER ROUNDS EVERY
Prints the round after each round. Everything random takes part: dropout, random activations, exploration, replay.
"""

import sys

import torch

from neuroplastic.learn import CheckpointStore, ParallelQConfig, QConfig, RandomStreams
from neuroplastic.learn.experience import Setting
from neuroplastic.network.dueling import DuelingNetwork, dnn_head
from neuroplastic.network.encoder import PictureEncoder
from tests.learn.catch import Catch
from tests.learn.loop import Loop

CONFIGS = {
    "dqn": QConfig(
        learning_rate=1e-3,
        batch_size=4,
        memory_size=60,  # the ring goes round several times
        n_step=3,
        target_every=15,
        exploration_decay=0.99,
    ),
    "parallel_q": ParallelQConfig(training_games=3, rollout=6, batch_size=6),
}


def noisy_network(actions: int) -> DuelingNetwork:
    return DuelingNetwork(
        PictureEncoder(dropout=0.2), dnn_head(1600, 1, 8, "RReLU"), dnn_head(1600, actions, 8, "PReLU")
    )


def main(learner: str, folder: str, rounds: int, every: int) -> None:
    torch.set_num_threads(1)
    streams = RandomStreams(7)
    setting = Setting(actions=3, streams=streams, total_steps=3 * rounds)
    loop = Loop(lambda: Catch(7, cells=6), CONFIGS[learner].build(noisy_network(3), setting))
    losses: list[float | None] = []
    store = CheckpointStore(folder)
    saved = store.load()
    if saved is not None:
        loop.load_state_dict(saved.state["loop"])
        losses = saved.state["losses"]
    games = loop.learner.games
    for played in loop.run(rounds - loop.steps // games):
        losses.append(played.loss)
        done = loop.steps // games
        if done % every == 0 or done == rounds:
            store.save(done, {"loop": loop.state_dict(), "losses": losses})
        print(done, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
