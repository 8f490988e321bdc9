"""Makes the files of this folder anew. Runs only with version 0.1.0 (commit 63ee650), whose modules it names.

    PYTHONPATH=OLD/src python tests/kept/v0_1/make.py FOLDER [runs] [models] [table] [studies]

OLD is a checkout of that commit. The parts named, or all, are made in FOLDER, where they must not lie yet.
"""

import csv
import hashlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path.append(str(HERE.parents[1]))
from plain import PLAIN, arithmetic  # noqa: E402

SHORT = (
    "--epochs 2 --steps-per-epoch 12 --episodes 1 --games 1 --frame-skip 12 --picture fast --batch-size 4 "
    "--memory-size 8"
)
RUNS = {
    "BP-nfn-tuned-seed3": "BP --agent nfn --preset tuned --seed 3 --rules 2 --terms 2 --max-terms 3 --epsilon 0.05 "
    "--reduce mean --alpha 1 --layer-norm no --consequent affine --consequent-init normal --target-every 5",
    "BP-dnn-paper-seed6": "BP --agent dnn --preset paper --seed 6 --hidden 2 --target-every 5",
    "DTC-nfn-paper-seed7": "DTC --agent nfn --preset paper --seed 7 --dropout 0 --rules 3 --terms 1 --max-terms 2 "
    "--epsilon 0.05 --levels 2 --consequent low_rank --rank 2 --certainty log --layer-norm yes --alpha learn "
    "--act-with target --target-every 2 --target-rate 0.3 --learning-rate 0.005",
}
STOP_AT = 18
STORAGE = "--workers 1 --storage studies/studies.db --runs trials"
CHEAP = f"{STORAGE} --objective neuroplastic.study.cheap:bowl --epochs 20 --episodes 3"
GAME = f"{STORAGE} --epochs 1 --steps-per-epoch 4 --episodes 2 --picture fast"


def command(words: str, *, code: int = 0, stop_at: int = 0) -> str:
    """What `neuroplastic WORDS` prints, in plain arithmetic; it must end with this code."""
    program = [sys.executable, str(HERE), "--stop-at", str(stop_at), *words.split()]
    ended = subprocess.run(program, env={**os.environ, **PLAIN}, stdout=subprocess.PIPE, text=True)
    assert ended.returncode == code, (words, ended.returncode)
    return ended.stdout


def obey(stop_at: int, words: list[str]) -> int:
    """Be `neuroplastic WORDS`, which gets a Ctrl-C after so many training steps."""
    from neuroplastic.learn.trainer import Trainer

    from neuroplastic.cli.main import main

    step = Trainer.step

    def watched(self):
        report = step(self)
        if self.steps == stop_at:
            signal.raise_signal(signal.SIGINT)
        return report

    Trainer.step = watched
    return main(words)


def make_runs() -> None:
    """Each run stopped in its second epoch, and the same run at its end."""
    from safetensors.numpy import load_file

    Path("runs").mkdir()
    ends = {"arithmetic": arithmetic_in_plain()}
    for name, words in RUNS.items():
        command(f"train {words} {SHORT} --runs runs/unfinished", code=130, stop_at=STOP_AT)
        command(f"train {words} {SHORT} --runs runs/straight")
        stopped, ended = Path("runs/unfinished") / name, Path("runs/finished") / name
        shutil.copytree(stopped, ended)
        command(f"train --resume {ended}")
        last = load_file(ended / "checkpoints" / "checkpoint-000000024" / "tensors.safetensors")
        straight = load_file(
            Path("runs/straight") / name / "checkpoints" / "checkpoint-000000024" / "tensors.safetensors"
        )
        learner = "trainer.learner."
        ends[name] = {
            key.removeprefix(learner): hashlib.sha256(value.tobytes()).hexdigest()
            for key, value in sorted(last.items())
            if key.startswith((f"{learner}network.", f"{learner}target."))
            and not key.endswith("_extra_state")
        }
        assert all((straight[key] == last[key]).all() for key in last), "the old version resumes exactly"
        for folder in (stopped, ended):
            for events in folder.glob("events*"):
                events.unlink()
        shutil.rmtree(stopped / "checkpoints" / "checkpoint-000000012")
        shutil.rmtree(ended / "checkpoints" / ("checkpoint-000000018" if "dnn" in name else ""))
    shutil.rmtree("runs/straight")
    Path("runs/ends.json").write_text(json.dumps(ends, indent=1) + "\n")


def arithmetic_in_plain() -> str:
    """How this machine computes."""
    program = [sys.executable, str(HERE), "--arithmetic"]
    return subprocess.run(
        program, env={**os.environ, **PLAIN}, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()


def make_models() -> None:
    """Networks and estimators by npl.save, each with inputs and what it makes of them; rules in every form."""
    import pandas as pd
    import torch
    from sklearn.datasets import load_diabetes, load_iris

    import neuroplastic as npl

    torch.manual_seed(0)
    net = npl.from_rules(
        """
        IF temperature is hot AND humidity is high THEN fan is 1
        IF temperature is hot AND humidity is low THEN fan is 0.6
        IF temperature is cold THEN fan is 0.1 + 0.002 * humidity WITH certainty 0.8
        """,
        {"temperature": {"cold": 10, "hot": 30}, "humidity": (0, 100)},
        frozen=[1, 3],
        extra_rules=2,
        spare_terms=2,
        neurogenesis=npl.Neurogenesis(delay=2),
        generator=torch.Generator().manual_seed(0),
    )
    x = torch.rand(64, 2) * torch.tensor([60.0, 100.0])
    train(net, x, (x[:, :1] / 60 + (x[:, 1:] - 50).abs() / 100))
    assert net.births
    about = {
        "births": [vars(birth) for birth in net.births],
        "frozen": net.frozen,
        "vocabulary": net.vocabulary.as_dict(),
    }
    keep("network", net, x[::8], **about)
    hierarchy = npl.Hierarchy(
        [4, 3, 2],
        [5, 4],
        consequent=npl.LowRank(2),
        firing=npl.Firing(reduce="mean", alpha=2.0, certainty="tanh"),
        dtype=torch.float64,
    )
    x = torch.rand(64, 4, dtype=torch.float64) * 2
    train(hierarchy, x, torch.stack([x.sum(dim=1), x.prod(dim=1)], dim=1))
    keep("hierarchy", hierarchy, x[:8])
    mamdani = npl.NeuroFuzzyNetwork(
        3,
        2,
        5,
        consequent=npl.Mamdani(4, "area", (-2.0, 3.0)),
        firing=npl.Firing(alpha="learn", certainty="log"),
        selection=npl.Selection("ste"),
        dtype=torch.float64,
    )
    x = torch.rand(64, 3, dtype=torch.float64) * 2
    train(mamdani, x, torch.stack([x.sum(dim=1) - 2, x.prod(dim=1)], dim=1))
    keep("mamdani", mamdani, x[:8])

    flowers = load_iris(as_frame=True)
    model = npl.NeuroFuzzyClassifier(rules=4, random_state=0)
    model.fit(flowers.data, flowers.target_names[flowers.target])
    keep_estimator("classifier", model, flowers.data[::15])
    people = load_diabetes(as_frame=True)
    targets = pd.DataFrame({"progression": people.target, "pressure": people.data["bp"]})
    regressor = npl.NeuroFuzzyRegressor(rules=4, random_state=0)
    regressor.fit(people.data[["age", "bmi", "s5"]], targets)
    keep_estimator("regressor", regressor, people.data[["age", "bmi", "s5"]][::45])

    Path("rules").mkdir()
    command("rules models/network.safetensors --exact --out rules/fan.txt")
    for ending in ("json", "csv", "fml", "fcl", "fis"):
        command(f"rules models/network.safetensors --out rules/fan.{ending}")


def train(net, x, y) -> None:
    """A few updates, in which sets are born."""
    import torch

    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(30):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    net.eval()


def keep(name: str, net, x, **about) -> None:
    """A network with inputs and outputs."""
    import torch

    import neuroplastic as npl

    with torch.no_grad():
        write(name, net, inputs=x.tolist(), outputs=net(x).tolist(), **about)
    assert npl.load(f"models/{name}.safetensors").eval()(x).tolist() == net(x).tolist()


def keep_estimator(name: str, model, rows) -> None:
    """An estimator with rows and predictions."""
    made = {"outputs": model.predict(rows).tolist()}
    if hasattr(model, "predict_proba"):
        made["probabilities"] = model.predict_proba(rows).tolist()
    write(name, model, columns=list(rows.columns), inputs=rows.to_numpy().tolist(), **made)


def write(name: str, model, **about) -> None:
    """models/NAME.safetensors and NAME.json."""
    import neuroplastic as npl

    Path("models").mkdir(exist_ok=True)
    npl.save(model, f"models/{name}.safetensors")
    Path(f"models/{name}.json").write_text(json.dumps(about, indent=1) + "\n")


def make_table() -> None:
    """A folder by `neuroplastic fit`, of a file with categories and missing values; its page is left out."""
    import numpy as np

    random = np.random.default_rng(0)
    Path("table").mkdir()
    with open("table/data.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["size", "colour", "ripe", "weight", "kind"])
        for row in range(60):
            kind = row % 3
            size = round(float(random.normal(3 + 2 * kind, 1)), 2)
            colour = ("green", "yellow", "red")[kind if random.random() < 0.7 else int(random.integers(3))]
            ripe = bool(random.random() < 0.5)
            weight = round(float(random.normal(100 - 10 * kind, 15)), 1)
            values = [size, colour, ripe, weight, ("lime", "lemon", "apple")[kind]]
            if row % 7 == 3:
                values[(row // 7) % 2 and 3] = ""
            if row % 11 == 5:
                values[1] = ""
            if row == 59:
                values[4] = ""
            writer.writerow(values)
    command("fit table/data.csv --target kind --rules 4 --folds 2 --seed 0 --out table/model")
    for path in Path("table/model").iterdir():
        if path.name not in ("estimator.safetensors", "columns.json"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    command("predict table/model table/data.csv --out table/predictions.csv")


def make_studies() -> None:
    """Studies in one storage: finished, unfinished (and its end), and one of the real game; presets of the first."""
    for folder in ("studies", "presets"):
        Path(folder).mkdir()
    command(f"study run --task BP --agent dnn --trials 6 {CHEAP}")
    shutil.copy("studies/studies.db", "studies/straight.db")
    interrupted(f"study run --task BP --agent nfn --trials 6 {CHEAP}", complete=3)
    command(f"study run --task PP --agent dnn --trials 1 {GAME}")
    with_names_removed("studies/studies.db")
    shutil.copy("studies/studies.db", "studies/ended.db")
    for name in ("straight", "ended"):
        command(f"study run --task BP --agent nfn --trials 6 {CHEAP}".replace("studies.db", f"{name}.db"))
        command(f"study export BP-nfn --csv studies/{name}.csv --storage studies/{name}.db")
    command(f"study run --task PP --agent dnn --trials 2 {GAME}".replace("studies.db", "ended.db"))
    command("study export PP-dnn --csv studies/PP-dnn-ended.csv --storage studies/ended.db")
    straight, ended = (figures(f"studies/{name}.csv") for name in ("straight", "ended"))
    assert straight == ended
    Path("studies/ended.csv").rename("studies/BP-nfn-ended.csv")
    for name in ("straight.db", "straight.csv", "ended.db"):
        Path("studies", name).unlink()
    shutil.rmtree("trials")
    for study in ("BP-dnn", "BP-nfn"):
        words = f"--csv studies/{study}.csv --preset presets/{study}.json --storage studies/studies.db"
        command(f"study export {study} {words}")


def interrupted(words: str, *, complete: int) -> None:
    """Run a command of a study, and have it stopped by Ctrl-C once so many of its trials are complete."""
    program = [sys.executable, str(HERE), "--stop-at", "0", *words.split()]
    process = subprocess.Popen(program, env={**os.environ, **PLAIN})
    count = (
        "SELECT count(*) FROM trials JOIN studies USING (study_id) "
        "WHERE study_name = 'BP-nfn' AND state = 'COMPLETE'"
    )
    storage = sqlite3.connect("studies/studies.db")
    while storage.execute(count).fetchone()[0] < complete:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert storage.execute(count).fetchone()[0] < 6, "it came to its end before it was stopped: try again"
    storage.close()


def with_names_removed(path: str) -> None:
    """Take the machine's name out of a storage, and make one file of it."""
    storage = sqlite3.connect(path)
    with storage:
        for table, column in (("trial_user_attributes", "value_json"), ("neuroplastic_slots", "worker")):
            storage.execute(
                f"UPDATE {table} SET {column} = replace({column}, ?, 'machine')", (socket.gethostname(),)
            )
    storage.execute("VACUUM")
    storage.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    storage.close()


def figures(path: str) -> list[dict[str, str]]:
    """The rows of an exported table but for what a clock or the order of attempts decides."""
    with open(path) as file:
        return [
            {k: v for k, v in row.items() if k not in ("seconds", "trial")} for row in csv.DictReader(file)
        ]


if __name__ == "__main__":
    if sys.argv[1] == "--arithmetic":
        print(arithmetic())
    elif sys.argv[1] == "--stop-at":
        sys.exit(obey(int(sys.argv[2]), sys.argv[3:]))
    else:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        os.chdir(folder)
        parts = {"runs": make_runs, "models": make_models, "table": make_table, "studies": make_studies}
        for part in sys.argv[2:] or parts:
            parts[part]()
