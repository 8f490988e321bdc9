"""Captured updates beside plain ones: losses and networks from one state, scores of whole runs, memory over many.

`python -m benchmarks.gpu_agreement [--updates 10000] [--seeds 3]`. An agent of BP, preset `tuned`, sets being born, is
updated from random pictures, captured and plainly, from one state. Then CartPole-v1 is learned by replay with
neuro-fuzzy heads, captured and plainly, by all seeds at once in processes of one thread.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import torch

from benchmarks.gpu_agents import make_learner
from neuroplastic.experiment.agent import neuro_fuzzy_parts

GAME = "CartPole-v1"
DEVICE = "cuda"
LOOKS = 10


def updated(agent: str, updates: int, *, capture: bool) -> dict[str, Any]:
    """Losses, the network in the end, its births, and megabytes of the device taken at ten points."""
    torch.cuda.empty_cache()
    learner = make_learner(agent, capture=capture, name="tuned")
    before = torch.cuda.memory_allocated()
    losses = torch.zeros(updates, device="cuda")
    memory = []
    began = time.perf_counter()
    for number in range(updates):
        loss = learner.step()
        assert loss is not None
        losses[number] = loss
        if number % max(1, updates // LOOKS) == max(1, updates // LOOKS) - 1:
            memory.append(round(torch.cuda.memory_allocated() / 1e6, 1))
    torch.cuda.synchronize()
    return {
        "losses": losses.tolist(),
        "network": {name: tensor.cpu() for name, tensor in learner.network.named_parameters()},
        "births": sum(len(part.births) for part in neuro_fuzzy_parts(learner.network).values()),
        "memory": memory,
        "before": round(before / 1e6, 1),
        "seconds": time.perf_counter() - began,
    }


def agreement(agent: str, updates: int, eager_updates: int) -> None:
    """Print where captured and plain updates from one state part, if they do, and whether memory grows."""
    captured = updated(agent, updates, capture=True)
    plain = updated(agent, min(updates, eager_updates), capture=False)
    pairs = list(zip(captured["losses"], plain["losses"], strict=False))
    apart = max(abs(a - b) / max(abs(b), 1e-12) for a, b in pairs[:100])
    parted = next((number for number, (a, b) in enumerate(pairs, 1) if a != b), None)
    same = all(torch.equal(tensor, plain["network"][name]) for name, tensor in captured["network"].items())
    print(
        f"{agent}: largest relative difference of the first 100 losses {apart:.1e}; "
        + (
            f"of {len(pairs)}, the first that differs is {parted}"
            if parted
            else f"all {len(pairs)} are equal"
        )
        + (f"; networks in the end {'equal' if same else 'differ'}" if updates <= eager_updates else "")
    )
    for name, made in (("captured", captured), ("plain", plain)):
        print(
            f"  {name}: {len(made['losses'])} updates in {made['seconds']:.0f} s, {made['births']} births; "
            f"MB taken before {made['before']}, then {made['memory']}",
            flush=True,
        )


def score(seed: int, updates: int, *, capture: bool) -> None:
    """Learn a small game with so many updates, and print what is reached."""
    from neuroplastic.usecases.training import TrainRequest, begin_run, configuration

    steps = updates + 1_000  # decisions before the first update
    fields = {"capture": str(capture).lower(), "epochs": "2", "steps_per_epoch": str(steps // 2)}
    fields |= {"seed": str(seed), "episodes": "20"}
    with tempfile.TemporaryDirectory() as folder:
        config = configuration(TrainRequest(GAME, "nfn", None, "dqn", fields))
        began = time.perf_counter()
        with begin_run(config, runs=folder, device=DEVICE) as run:
            reached = run.run()
            network = run.network.state_dict()
    weights = b"".join(
        tensor.cpu().numpy().tobytes() for tensor in network.values() if torch.is_tensor(tensor)
    )
    told: dict[str, Any] = {"network": hashlib.sha256(weights).hexdigest()[:12]}
    told |= {"means": [reached.best.mean, reached.last.mean], "loss": reached.last.loss}
    print("reached", json.dumps({**told, "seconds": round(time.perf_counter() - began, 1)}), flush=True)


def scores(seeds: int, updates: int) -> None:
    """Print what each seed reaches, captured and plainly."""
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    processes = {}
    for seed in range(seeds):
        for how in ("captured", "plain"):
            command = [sys.executable, "-m", "benchmarks.gpu_agreement", "--updates", str(updates)]
            command += ["--score", str(seed), how]
            processes[seed, how] = subprocess.Popen(
                command, env=one_thread, stdout=subprocess.PIPE, text=True
            )
    print(f"{GAME}, neuro-fuzzy heads, replay, {updates} updates: means of 20 episodes after the last epoch")
    for (seed, how), process in processes.items():
        said = process.communicate()[0].splitlines()
        found = [json.loads(line.partition(" ")[2]) for line in said if line.startswith("reached ")]
        for told in found:
            best, last = told["means"]
            print(
                f"  seed {seed}, {how}: {last:.1f} (best {best:.1f}), last loss {told['loss']:.9g}, "
                f"network {told['network']}, {told['seconds']} s",
                flush=True,
            )
        if not found:
            print(f"  seed {seed}, {how}: failed", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--updates", type=int, default=10_000)
    parser.add_argument(
        "--plain", type=int, default=10_000, metavar="UPDATES", help="at most so many plainly"
    )
    parser.add_argument("--seeds", type=int, default=3, help="0: no scores")
    parser.add_argument("--agents", nargs="*", default=["nfn"])
    parser.add_argument("--score", nargs=2, metavar=("SEED", "HOW"), help="one run of a score alone")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("no CUDA device: nothing to measure")
        return
    if options.score:
        seed, how = options.score
        score(int(seed), options.updates, capture=how == "captured")
        return
    print(torch.cuda.get_device_name(), "torch", torch.__version__, flush=True)
    if options.seeds:
        scores(options.seeds, options.updates)
    for agent in options.agents:
        agreement(agent, options.updates, options.plain)


if __name__ == "__main__":
    main()
