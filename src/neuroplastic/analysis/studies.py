"""Studies read from where they are kept: an Optuna storage, a CSV or a JSON file. Nothing is written.

Optuna: objectives (mean, sd, slope); user attributes `task`, `agent`, `protocol` of the study, and `epochs` (a list
of {"epoch", "mean", "sd"}), `returns` (of the best epoch's episodes), `pruned` (whether it ended early) and `protocol`
of the trials.

CSV: one row per trial as `neuroplastic study export` writes it: columns `trial` (or `number`), `task`, `agent`, `mean`,
`sd`, `slope`, `episodes`, `protocol`, optionally `study`, `state` (finished unless it says otherwise), `pruned` (True
for one that ended early), `epochs` and `returns` (as JSON); every other column is a hyperparameter, an empty cell one
that does not apply. What an NFN takes over from a DNN was not searched and is left out. The space is taken from the
values.

JSON: {"name", "task", "agent", "protocol", "distributions": {name: Optuna's JSON}, "trials": [{"number", "state",
"parameters", "mean", "sd", "slope", "epochs", "returns", "pruned", "protocol"}]}, or a list of such.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import safe_json
from ..errors import in_short
from .errors import StudyError
from .gower import Value, value_of
from .study_table import Epoch, StudyTable, TrialRow, study_table

if TYPE_CHECKING:
    from optuna.study import Study

_DATABASES = (".db", ".sqlite", ".sqlite3")
_NOT_SEARCHED = ("best_epoch", "seed", "seconds")
# As in study.search_space, which cannot be imported without the game.
_INHERITED = ("frame_skip", "batch_size", "memory_size", "discount")


def load_study(source: str | Path, name: str | None = None) -> StudyTable:
    """The study called `name` at `source`, or the only one there."""
    found = load_studies(source)
    chosen = [table for table in found if name in (None, table.name)]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(repr(table.name) for table in found)
    if name is None:
        raise StudyError(f"{source} holds {len(found)} studies; name one of {names}")
    raise StudyError(f"{source} has no study {name!r}; it has {names}")


def load_studies(source: str | Path) -> tuple[StudyTable, ...]:
    """All studies at a storage's URL, in a database file, a CSV, a JSON, or a folder of those."""
    text = str(source)
    if "://" in text:
        return _from_storage(text)
    path = Path(source)
    if path.is_dir():
        inside = sorted(p for p in path.iterdir() if p.suffix.lower() in (*_DATABASES, ".csv", ".json"))
        if not inside:
            raise StudyError(f"the folder {path} holds no study (.db, .csv or .json)")
        return tuple(table for file in inside for table in load_studies(file))
    if not path.is_file():
        raise StudyError(
            f"there is no study at {path}: give a storage's URL, a .db, .csv or .json file, or a folder"
        )
    if path.suffix.lower() in _DATABASES:
        return _from_storage(f"sqlite:///{path}")
    try:
        if path.suffix.lower() == ".csv":
            return _from_csv(path)
        return _from_json(path)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, csv.Error) as error:
        if isinstance(error, StudyError):
            raise
        raise StudyError(f"{path} is not a study's CSV or JSON: {in_short(error)}") from error


def _from_storage(url: str) -> tuple[StudyTable, ...]:
    import optuna

    from ..search.storage import StorageError, open_storage, shown, understood
    from ..search.studies import learned_anew

    try:
        storage = open_storage(url, create=False)
        try:
            with understood(storage):
                names = optuna.get_all_study_names(storage)
                studies = [optuna.load_study(study_name=name, storage=storage) for name in names]
                tables = tuple(_of_optuna(study) for study in studies if not learned_anew(study))
        finally:
            storage.engine.dispose()
    except StorageError as error:
        raise StudyError(str(error)) from error
    if not tables:
        raise StudyError(f"the storage {shown(url)} holds no study")
    return tables


def _of_optuna(study: Study) -> StudyTable:
    from optuna.trial import TrialState

    attributes = study.user_attrs
    distributions: dict[str, Any] = {}
    rows = []
    for trial in study.get_trials(deepcopy=False):
        distributions.update(trial.distributions)
        done = trial.state == TrialState.COMPLETE and trial.values is not None
        rows.append(
            _row(
                trial.number,
                trial.state.name,
                trial.params,
                list(trial.values) if done else [],
                {"protocol": attributes.get("protocol", ""), **trial.user_attrs},
            )
        )
    return study_table(
        study.study_name,
        tuple(rows),
        task=str(attributes.get("task", "")),
        agent=str(attributes.get("agent", "")),
        protocol=_text(attributes.get("protocol", "")),
        distributions=distributions,
    )


def _row(
    number: int, state: str, parameters: Mapping[str, Value], values: list[Any], extra: Mapping[str, Any]
) -> TrialRow:
    if values and len(values) != 3:
        raise StudyError(
            f"trial {number} has {len(values)} objectives; a study needs three: mean, SD and slope"
        )
    try:
        epochs = tuple(
            Epoch(int(e["epoch"]), float(e["mean"]), float(e["sd"])) for e in extra.get("epochs") or ()
        )
        returns = tuple(float(value) for value in extra.get("returns") or ())
        episodes = int(extra["episodes"]) if extra.get("episodes") else None
        mean, sd, slope = (None if value is None else float(value) for value in values or [None] * 3)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise StudyError(
            f"trial {number}: epochs, returns or objectives are not numbers ({in_short(error, 200)})"
        ) from error
    return TrialRow(
        number,
        state,
        dict(parameters),
        mean,
        sd,
        slope,
        epochs,
        returns,
        _text(extra.get("protocol", "")),
        episodes,
        pruned=extra.get("pruned") in (True, "True"),  # a CSV has text
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _from_json(path: Path) -> tuple[StudyTable, ...]:
    from optuna.distributions import json_to_distribution

    content = safe_json.read(path, finite=False)
    studies = content if isinstance(content, list) else [content]
    tables = []
    for study in studies:
        if not isinstance(study, dict) or "trials" not in study:
            raise StudyError(f"{path} is no study: it has no 'trials'")
        spaces = {
            name: json_to_distribution(
                json.dumps(safe_json.parse(text, finite=False) if isinstance(text, str) else text)
            )
            for name, text in (study.get("distributions") or {}).items()
        }
        rows = tuple(
            _row(
                int(trial["number"]),
                str(trial["state"]),
                trial["parameters"],
                [trial.get(name) for name in ("mean", "sd", "slope")],
                trial,
            )
            for trial in study["trials"]
        )
        tables.append(
            study_table(
                str(study.get("name", path.stem)),
                rows,
                task=str(study.get("task", "")),
                agent=str(study.get("agent", "")),
                protocol=_text(study.get("protocol", "")),
                distributions=spaces,
            )
        )
    return tuple(tables)


_NEEDED = ("mean", "sd", "slope", "task", "agent")
_KNOWN = (
    *_NEEDED,
    "trial",
    "number",
    "state",
    "protocol",
    "study",
    "epochs",
    "returns",
    "episodes",
    "pruned",
    *_NOT_SEARCHED,
)


def _from_csv(path: Path) -> tuple[StudyTable, ...]:
    with path.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        records = list(reader)
    columns = [name for name in reader.fieldnames or () if name]
    missing = [name for name in _NEEDED if name not in columns]
    if not {"trial", "number"} & set(columns):
        missing.append("trial")
    if missing:
        raise StudyError(f"{path} has no column {', '.join(missing)}")
    if not records:
        raise StudyError(f"{path} holds no trials")
    groups: dict[str, list[dict[str, str]]] = {}
    for record in records:
        groups.setdefault(record.get("study") or f"{record['task']}-{record['agent']}", []).append(record)
    return tuple(_of_records(name, group, columns) for name, group in groups.items())


def _of_records(name: str, records: list[dict[str, str]], columns: Iterable[str]) -> StudyTable:
    inherited = _INHERITED if records[0]["agent"].lower() == "nfn" else ()
    parameters = [c for c in columns if c not in _KNOWN and c not in inherited]
    rows = tuple(
        _row(
            int(record["trial"] if "trial" in record else record["number"]),
            record.get("state") or "COMPLETE",
            {c: _value(record[c]) for c in parameters if record[c] != ""},
            [record[c] or None for c in ("mean", "sd", "slope")],
            {
                **record,
                **{
                    c: safe_json.parse(record[c], finite=False)
                    for c in ("epochs", "returns")
                    if record.get(c)
                },
            },
        )
        for record in records
    )
    first = records[0]
    return study_table(
        name, rows, task=first["task"], agent=first["agent"], protocol=first.get("protocol") or ""
    )


def _value(text: str) -> Value:
    return text == "True" if text in ("True", "False") else value_of(text)
