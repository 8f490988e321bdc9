"""Updates and decisions of the picture agents on a GPU, computed step by step and replayed as CUDA graphs.

An update samples a batch from a memory on the GPU, makes three forward passes, one backward pass and an Adam step;
sizes are those of the preset (`paper`: the paper's best trial). Times are per call, with one wait at the end of many
calls for updates and one per call for decisions. Parts that need the game, or take
minutes, run when they are asked for. Run it with `python -m benchmarks.gpu_agents`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import replace

import numpy as np
import torch

from benchmarks.table import Reached
from benchmarks.timing import gpu_milliseconds
from neuroplastic.doom.presets import preset
from neuroplastic.experiment.agent import build_agent
from neuroplastic.learn import RandomStreams
from neuroplastic.learn.dqn.learner import QLearning
from neuroplastic.learn.experience import Setting

SCENARIO = "BP"
FRAMES = 2000
RUNS = 3
CALLS, EAGER_CALLS = 300, 40


def make_learner(agent: str, *, name: str = "paper", capture: bool = True, seed: int = 0) -> QLearning:
    """The preset's learner on the GPU, with random pictures in its memory."""
    config = preset(name, SCENARIO, agent)
    task = config.task
    streams = RandomStreams(seed)
    setting = Setting(len(task.actions), streams, 10**6, torch.device("cuda"), task.mirrored_actions)
    assert hasattr(config.learner, "capture")
    learner = replace(config.learner, capture=capture).build(build_agent(config), setting)
    assert isinstance(learner, QLearning)
    generator = np.random.default_rng(0)
    pictures = generator.integers(0, 256, (FRAMES, *task.observation.shape), dtype=np.uint8)
    learner.replay.begin(pictures[0])
    for number, picture in enumerate(pictures[1:]):
        learner.replay.append(number % len(task.actions), float(number % 3 - 1), picture)
    return learner


def updates_and_decisions(name: str) -> list[Reached]:
    """A row per agent: update and decision, eager and captured; what was asked for, and what is reached."""
    print(f"\n{SCENARIO}, preset {name}: milliseconds, least to greatest of {RUNS} runs of {CALLS} calls")
    print("| agent | update, eager | update, captured | decision, eager | decision, captured |")
    print("|---|---|---|---|---|")
    captured: dict[tuple[str, str], list[float]] = {}
    for agent in ("dnn", "nfn"):
        cells = []
        for what in ("update", "decision"):
            for capture in (False, True):
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    times = call_times(agent, name, what, capture=capture)
                plain = {str(one.message) for one in said if "not captured" in str(one.message)}
                for message in plain:
                    print(f"  {agent} {what}: {message}")
                cells.append(f"{min(times):.3f} to {max(times):.3f}" + (" plain" if plain else ""))
                captured[agent, what] = times
        print(f"| {agent} | {' | '.join(cells)} |", flush=True)
    if name != "paper":
        return []
    ratios = [a / b for a, b in zip(captured["nfn", "update"], captured["dnn", "update"], strict=True)]
    return [
        Reached("NFN update, ms", 1.5, captured["nfn", "update"]),
        Reached("NFN update / DNN update", 2.5, ratios),
        Reached("DNN update, ms", 0.6, captured["dnn", "update"]),
        Reached("one decision, NFN, ms", 0.3, captured["nfn", "decision"]),
    ]


def call_times(agent: str, name: str, what: str, *, capture: bool) -> list[float]:
    """Milliseconds of an update or a decision, by run."""
    learner = make_learner(agent, name=name, capture=capture)
    shape = learner.replay.current_frame.shape
    picture = np.random.default_rng(1).integers(0, 256, (1, *shape), dtype=np.uint8)
    calls = CALLS if capture else EAGER_CALLS
    return gpu_milliseconds(
        learner.step if what == "update" else lambda: learner.greedy(picture), calls, RUNS
    )


def trial(agent: str, *, epochs: int) -> list[Reached]:
    """Seconds of a tuned trial with its evaluations, alone."""
    from neuroplastic.usecases.training import TrainRequest, begin_run, configuration

    with tempfile.TemporaryDirectory() as folder:
        config = configuration(TrainRequest(SCENARIO, agent, "tuned", "dqn", {"epochs": str(epochs)}))
        began = time.perf_counter()
        with begin_run(config, runs=folder, device="cuda") as run:
            summary = run.run()
        seconds = time.perf_counter() - began
    print(
        f"  {SCENARIO} tuned {agent}, {epochs} epochs with evaluations: {seconds:.1f} s, best {summary.best.mean:.1f}; "
        f"{torch.cuda.max_memory_reserved() / 1e9:.2f} GB of the device taken by torch",
        flush=True,
    )
    whole = agent == "nfn" and epochs == config.protocol.epochs == 10
    return [Reached("BP tuned trial, NFN, alone, s", 45.0, [seconds])] if whole else []


def trials_at_once(count: int, agent: str, *, epochs: int) -> list[Reached]:
    """Trials a minute, so many at once, each in a process with one thread, as a study's workers."""
    command = [sys.executable, "-m", "benchmarks.gpu_agents", "--presets", "--agreement", "0"]
    command += ["--trial", str(epochs), "--agents", agent]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    began = time.perf_counter()
    processes = [
        subprocess.Popen(command, env=one_thread, stdout=subprocess.PIPE, text=True) for _ in range(count)
    ]
    outputs = [process.communicate()[0] for process in processes]
    seconds = time.perf_counter() - began
    free, total = torch.cuda.mem_get_info()
    done = sum("with evaluations" in output for output in outputs)
    print(
        f"  {count} at once, {agent}, {epochs} epochs: {done} done in {seconds:.1f} s with their starts, "
        f"{60 * done / seconds:.1f} a minute; e.g. {outputs[0].strip().splitlines()[-1]}; "
        f"{(total - free) / 1e9:.1f} GB of the device in use afterwards",
        flush=True,
    )
    whole = agent == "nfn" and count == 16 and epochs == 10
    return (
        [Reached("16 NFN trials at once, a minute", 8.0, [60 * done / seconds], more=True)] if whole else []
    )


def many_games(agent: str, workers: int) -> list[Reached]:
    """Decisions a second of playing and learning in many games, by run."""
    from benchmarks.parallel_games import learning_speeds

    asked = []
    for overlap in (False, True):
        speeds = learning_speeds(workers, agent, "cuda", runs=RUNS, overlap=overlap)
        how = ", overlap" if overlap else ""
        print(
            f"  parallel Q{how}, {agent}, {workers} workers: {min(speeds):.0f} to {max(speeds):.0f} decisions/s of "
            f"{RUNS} runs",
            flush=True,
        )
        name = f"parallel Q{how}, NFN, DTC, 16 cores, decisions/s"
        asked.append(Reached(name, 12_000.0, speeds, more=True))
    return asked if agent == "nfn" and workers == 16 else []


def main(arguments: list[str] | None = None) -> list[Reached]:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--presets", nargs="*", default=["paper", "tuned"])
    parser.add_argument("--agreement", type=int, default=300, metavar="UPDATES", help="0: leave out")
    parser.add_argument(
        "--trial", type=int, default=0, metavar="EPOCHS", help="also a trial of so many epochs"
    )
    parser.add_argument(
        "--parallel", type=int, default=0, metavar="WORKERS", help="also decisions/s of many games"
    )
    parser.add_argument(
        "--at-once", type=int, default=1, metavar="TRIALS", help="so many of these trials at once"
    )
    parser.add_argument("--eager", type=int, default=1000, metavar="UPDATES", help="at most so many eagerly")
    parser.add_argument("--agents", nargs="+", default=["dnn", "nfn"])
    options = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print("no CUDA device: nothing to measure")
        return []
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    reached = [row for name in options.presets for row in updates_and_decisions(name)]
    if options.agreement:
        from benchmarks.gpu_agreement import agreement  # which needs what is above

        for agent in options.agents:
            agreement(agent, options.agreement, options.eager)
    if options.parallel:
        for agent in options.agents:
            reached += many_games(agent, options.parallel)
    if options.trial:
        for agent in options.agents:
            if options.at_once > 1:
                reached += trials_at_once(options.at_once, agent, epochs=options.trial)
            else:
                reached += trial(agent, epochs=options.trial)
    return reached


if __name__ == "__main__":
    main()
