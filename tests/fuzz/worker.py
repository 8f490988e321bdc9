"""Opens damaged models one after the other, with limits on memory and time; prints a line of JSON about each.

    python -m tests.fuzz.worker KIND:NUMBER KIND:NUMBER ...

A model that is loaded is also used: it computes, learns a step, and the commands of the command line are run on it.
Damage that takes too long ends the process, and the case whose line is missing is the one that did.
"""

import io
import json
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import torch

import neuroplastic as npl
from neuroplastic.cli.main import main
from neuroplastic.learn.table_model import COLUMNS
from tests.fuzz.cases import MODEL, case

SECONDS, MEMORY = 10.0, 2 * 2**30
TABLE = "a,b,c\n0.5,1,0\n-1,2,0.25\n"
TEXT_TABLE = "a,b,c\n0.5,1,red\n-1,2,blue\n"


def limit_memory() -> None:
    """As much as there is in use now, and so much more."""
    used = int(re.search(r"VmSize:\s+(\d+) kB", Path("/proc/self/status").read_text()).group(1)) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def outcome(action: Callable[[], Any], file: str) -> str:
    """'fine', 'refused', or what is wrong: an error that is not ours, or one that does not name the file."""
    try:
        action()
    except npl.NeuroplasticError as error:
        text = str(error)
        if "\n" in text or len(text) > 1000:
            return f"an error of more than a line: {text[:300]!r}"
        return "refused" if file in text else f"an error that names no file: {text[:300]}"
    except Exception as error:
        trace = "".join(traceback.format_exception(error)[-4:])
        return f"raw {type(error).__name__}: {str(error)[:300]}\n{trace}"
    return "fine"


def use(model: Any) -> None:
    """What a program does with a model: predict, learn on, save, copy."""
    if isinstance(model, torch.nn.Module):
        x = torch.rand(4, 3)
        first = model.levels[0] if isinstance(model, npl.Hierarchy) else model
        x = x.to(first.centers.dtype)
        model.eval()(x)
        model.train()(x).sum().backward()
        repr(model)
    elif isinstance(model, (npl.NeuroFuzzyClassifier, npl.NeuroFuzzyRegressor)):
        x = torch.rand(4, 3).numpy()
        y = model.predict(x)
        if isinstance(model, npl.NeuroFuzzyClassifier):
            y = model.classes_[[0, 1, 0, 1]] if len(model.classes_) > 1 else y
        model.partial_fit(x, y)


def command(*words: str) -> str:
    """'fine', 'refused', or what is wrong with how a command ends."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(words)
    except BaseException as error:
        trace = "".join(traceback.format_exception(error)[-4:])
        return f"raw {type(error).__name__} of {words[0]}: {str(error)[:300]}\n{trace}"
    said = err.getvalue()
    if code == 0:
        return "fine"
    if code != 2 or not said.startswith("neuroplastic: ") or len(said) > 1200:
        return f"{words[0]} ended with {code}: {said[:300]!r}"
    return "refused"


def judged(kind: str, number: int, folder: Path) -> tuple[str, list[str]]:
    """What was done to a model, and how each use of it ended."""
    damage = case(kind, number)
    for name, content in damage.files.items():
        (folder / name).write_bytes(content)
    if COLUMNS in damage.files:
        commands = [
            ("predict", str(folder), str(folder / "text.csv")),
            ("rules", str(folder)),
            ("explain", str(folder), str(folder / "text.csv")),
        ]
        return damage.label, [command(*words) for words in commands]
    path, found = folder / MODEL, []

    def load_and_use() -> None:
        found.append(npl.load(path))

    ended = [outcome(load_and_use, str(path))]
    if found:
        ended.append(outcome(lambda: use(found[0]), ""))
    ended.append(command("rules", str(path)))
    ended.append(command("explain", str(path), str(folder / "numbers.csv")))
    return damage.label, ended


def run(names: list[str]) -> None:
    """Judge cases and print a line about each."""
    warnings.simplefilter("ignore")
    limit_memory()
    with tempfile.TemporaryDirectory() as place:
        tables = {"numbers.csv": TABLE, "text.csv": TEXT_TABLE}
        for name in names:
            kind, number = name.split(":")
            folder = Path(place) / kind
            folder.mkdir(exist_ok=True)
            for table, content in tables.items():
                (folder / table).write_text(content)
            case(kind, 0)  # what is made once for all cases is not this one's time
            signal.setitimer(signal.ITIMER_REAL, 2 * SECONDS)
            start = time.monotonic()
            label, ended = judged(kind, int(number), folder)
            taken = time.monotonic() - start
            signal.setitimer(signal.ITIMER_REAL, 0)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            print(json.dumps({"name": name, "label": label, "ended": ended, "seconds": taken, "peak": peak}))
            sys.stdout.flush()


if __name__ == "__main__":
    run(sys.argv[1:])
