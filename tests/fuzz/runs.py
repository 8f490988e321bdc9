"""Runs: what lies in a folder of `neuroplastic train`, its checkpoints, and presets."""

import json
import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from neuroplastic.experiment.agent import build_agent
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.experiment.saved_preset import preset_text
from neuroplastic.experiment.trial import Trial
from neuroplastic.learn import checkpoint
from tests.fuzz.kind import Change, Files, Kind, json_changes, replaced
from tests.fuzz.model_files import ModelFile
from tests.fuzz.mutations import changed_tensors
from tests.fuzz.using import command, outcome

TASK = "CartPole-v1"
# Whatever a preset asks for is done, however long it takes: but for these. Processes would run our code.
SHORT = (
    "--processes",
    "0",
    "--epochs",
    "1",
    "--steps-per-epoch",
    "12",
    "--episodes",
    "1",
    "--games",
    "1",
    "--updates-per-step",
    "1",
)
SMALL = (
    "--rules",
    "3",
    "--plain-value",
    "4",
    "--memory-size",
    "20",
    "--batch-size",
    "4",
    "--learning-starts",
    "8",
)
STATE, TENSORS, BEST = "state.json", "tensors.safetensors", "best.safetensors"
FIELDS = ("", "x", "-1", "1e999", "nan", "9" * 400, "[" * 200_000, '"', "a\x1b[31mb", "a\nb", "1," * 50, "\0")
PRESET = "preset.json"


@cache
def _run() -> dict[str, bytes]:
    """A run of a few steps."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("train", TASK, "--agent", "nfn", "--learner", "dqn", "--runs", folder, *SHORT, *SMALL)
        ended = command(*words)
        assert ended == "fine", ended
        (run,) = Path(folder).iterdir()
        files = {
            str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()
        }
    return {name: raw for name, raw in files.items() if not Path(name).name.startswith(("events", "lock"))}


def _checkpoint() -> str:
    return next(str(Path(name).parent) for name in _run() if name.endswith(STATE))


def _of_run() -> Files:
    return {name: raw for name, raw in _run().items() if "checkpoint" not in name}


def _tables(name: str) -> list[Change]:
    lines = _run()[name].decode().splitlines()
    found = list[Change]()
    for line, text in enumerate(lines[:2]):
        cells = text.split(",")
        for place in range(len(cells)):
            for value in FIELDS:
                changed = ",".join([*cells[:place], value, *cells[place + 1 :]])
                content = "\n".join([*lines[:line], changed, *lines[line + 1 :]])
                found.append((f"{name}: cell {place} of line {line} = {value!r:.20}", name, content.encode))
    return found


def tensor_changes(name: str, content: bytes) -> list[Change]:
    """Every change of a file of tensors without a header of ours."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        file = ModelFile.read_plain(path)
    return [(f"{name}: {label}", name, changed.raw) for label, changed in changed_tensors(file)]


def _changes_of_run() -> list[Change]:
    return [
        *json_changes("config.json", _run()["config.json"]),
        *_tables("metrics.csv"),
        *_tables("returns.csv"),
        *tensor_changes(BEST, _run()[BEST]),
        *replaced(_of_run()),
    ]


def _uses_of_run(folder: Path) -> list[str]:
    run = RunFolder(folder)
    return [
        outcome(run.metrics, str(folder)),
        outcome(lambda: run.returns(1), str(folder)),
        command("rules", str(folder)),
        command("runs", "--runs", str(folder.parent)),
    ]


def _with_digest(content: Any) -> Any:
    """The state with the checksum that it should have, as a forger would give it."""
    if not isinstance(content, dict):
        return content
    rest = {name: value for name, value in content.items() if name != "sha256"}
    return {**rest, "sha256": checkpoint._digest(rest)}


def _changes_of_checkpoint() -> list[Change]:
    name, tensors = (f"{_checkpoint()}/{part}" for part in (STATE, TENSORS))
    changes = json_changes(name, _run()[name], _with_digest)
    return [*changes, *replaced([name, tensors])]


def _changes_of_tensors() -> list[Change]:
    """Tensors of a checkpoint, each with the state whose checksum fits them: both files in one, apart by a mark."""
    state, tensors = (f"{_checkpoint()}/{part}" for part in (STATE, TENSORS))
    saved = json.loads(_run()[state])

    def both(make: Callable[[], bytes]) -> Callable[[], bytes]:
        def made() -> bytes:
            raw = make()
            return (
                json.dumps(_with_digest({**saved, "tensors_sha256": sha256(raw).hexdigest()})).encode()
                + MARK
                + raw
            )

        return made

    return [(label, "both", both(make)) for label, _, make in tensor_changes(tensors, _run()[tensors])]


MARK = b"\n---tensors---\n"


def _uses_of_checkpoint(folder: Path) -> list[str]:
    if (folder / "both").exists():
        state, _, tensors = (folder / "both").read_bytes().partition(MARK)
        (folder / _checkpoint() / STATE).write_bytes(state)
        (folder / _checkpoint() / TENSORS).write_bytes(tensors)
    run = RunFolder(folder)

    def last() -> None:
        run.load_into(build_agent(run.config()), "last")

    def resume() -> None:
        with Trial(run.config(), run) as trial:
            trial.resume()

    return [
        outcome(last, str(folder)),
        outcome(resume, ""),
    ]  # a game that cannot be played again names its episode


@cache
def _preset() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_bytes(_run()["config.json"])
        return preset_text(RunFolder(folder).config(), {"study": "s", "trial": 1}).encode()


def _uses_of_preset(folder: Path) -> list[str]:
    words = (
        "train",
        TASK,
        "--agent",
        "nfn",
        "--preset",
        str(folder / PRESET),
        "--runs",
        str(folder / "runs"),
    )
    return [command(*words, *SHORT)]


RUNS = {
    "run": Kind(_of_run, _changes_of_run, _uses_of_run),
    "checkpoint": Kind(
        _run, lambda: [*_changes_of_checkpoint(), *_changes_of_tensors()], _uses_of_checkpoint
    ),
    "preset": Kind(
        lambda: {PRESET: _preset()},
        lambda: [*json_changes(PRESET, _preset()), *replaced([PRESET])],
        _uses_of_preset,
    ),
}
