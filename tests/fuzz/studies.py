"""Studies: a database that is looked at, and the tables and JSON that reports are made of."""

import json
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path

from tests.fuzz.kind import Change, Files, Kind, json_changes, replaced
from tests.fuzz.using import command

KEPT = Path(__file__).parents[1] / "kept" / "v0_1" / "studies"
DATABASE, CSV, JSON = "studies.db", "study.csv", "study.json"
NAME = "BP-dnn"
# What a cell may hold instead.
WORDS = ("", "x", "NaN", "null", "[]", "{}", '"x"', "1", "2020-13-45", "a\x1b[2Jb")
CELLS = (None, 0, -1, 7, 2**62, 1e300, float("inf"), b"\xff\x00", *WORDS)
NESTED = "[" * 100_000
TABLES = (
    *("studies", "study_directions", "study_user_attributes", "trials", "trial_values", "trial_params"),
    *("trial_user_attributes", "trial_intermediate_values", "trial_heartbeats"),
    *("version_info", "alembic_version", "neuroplastic_slots"),
)
# What a field of the CSV may hold instead.
FIELDS = ("", "x", "-1", "1e999", "nan", "9" * 400, "[" * 100_000, '"', "a\x1b[31mb", "a\nb", "1," * 50)


@cache
def _database() -> bytes:
    """The kept one in a single file, without the journal of writing ahead."""
    return _changed((KEPT / DATABASE).read_bytes(), "PRAGMA journal_mode=DELETE")


def _changed(raw: bytes, *statements: str, values: tuple[object, ...] = ()) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / DATABASE
        path.write_bytes(raw)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA ignore_check_constraints=ON")
            for statement in statements:
                connection.execute(statement, values)
            connection.commit()
        return path.read_bytes()


def _changes_of_database() -> list[Change]:
    raw, found = _database(), list[Change]()

    def change(label: str, statement: str, *values: object) -> None:
        def made() -> bytes:
            try:
                return _changed(raw, statement, values=values)
            except sqlite3.Error:  # its own rules forbid that: the whole one then
                return raw

        found.append((label, DATABASE, made))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / DATABASE
        path.write_bytes(raw)
        with closing(sqlite3.connect(path)) as connection:
            for table in TABLES:
                columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
                change(f"without {table}", f"DROP TABLE {table}")
                change(f"{table} is empty", f"DELETE FROM {table}")
                change(f"half of {table}", f"DELETE FROM {table} WHERE rowid % 2 = 0")
                for column in columns:
                    change(
                        f"{table} without {column}", f'ALTER TABLE {table} RENAME COLUMN "{column}" TO other'
                    )
                    for value in (*CELLS, NESTED):
                        some = f'UPDATE OR REPLACE {table} SET "{column}" = ? WHERE rowid % 3 = 1'
                        change(f"{table}.{column} = {value!r:.30}", some, value)
            for (key,) in connection.execute("SELECT DISTINCT key FROM trial_user_attributes").fetchall():
                for value in ("null", "-1", '"x"', "[]", "{}", "[null]", "1e999", "true", NESTED):
                    statement = "UPDATE trial_user_attributes SET value_json = ? WHERE key = ?"
                    change(f"{key} of every trial = {value:.20}", statement, value, key)
            for rowid, text in connection.execute(
                "SELECT rowid, value_json FROM study_user_attributes WHERE key = 'settings'"
            ).fetchall()[:1]:
                for label, _, make in json_changes("settings", text.encode()):
                    found.append((label, DATABASE, _with_settings(raw, rowid, make)))
    return [*found, *replaced([DATABASE])]


def _with_settings(raw: bytes, rowid: int, make: Callable[[], bytes]) -> Callable[[], bytes]:
    statement = "UPDATE study_user_attributes SET value_json = ? WHERE rowid = ?"
    return lambda: _changed(raw, statement, values=(make().decode("utf-8", "replace"), rowid))


def _uses_of_database(folder: Path) -> list[str]:
    path = folder / DATABASE
    before, storage = path.read_bytes(), ("--storage", f"sqlite:///{path}")
    for name in ("p.json", "t.csv"):
        (folder / name).unlink(missing_ok=True)
    ended = [
        command("study", "status", *storage),
        command("study", "best", NAME, *storage),
        command(
            "study",
            "export",
            NAME,
            "--preset",
            str(folder / "p.json"),
            "--csv",
            str(folder / "t.csv"),
            *storage,
        ),
    ]
    return ended if path.read_bytes() == before else [*ended, "looking changed the database"]


@cache
def _json() -> bytes:
    """The kept study as JSON, trials as few as every field can be seen in."""
    from neuroplastic.analysis.studies import load_studies

    table = next(table for table in load_studies(KEPT / "BP-dnn.csv"))
    trials = [
        {
            "number": trial.number,
            "state": trial.state,
            "parameters": dict(trial.parameters),
            "mean": trial.mean,
            "sd": trial.sd,
            "slope": trial.slope,
            "epochs": [{"epoch": 1, "mean": trial.mean, "sd": trial.sd}],
            "returns": [trial.mean] * 3,
            "protocol": trial.protocol,
        }
        for trial in table.trials[:4]
    ]
    content = {"name": table.name, "task": table.task, "agent": table.agent, "trials": trials}
    return json.dumps(content).encode()


def _changes_of_csv() -> list[Change]:
    lines = (KEPT / "BP-dnn.csv").read_text().splitlines()
    found = list[Change]()
    for line, text in enumerate(lines[:3]):
        cells = text.split(",")
        for place in range(len(cells)):
            for value in FIELDS:
                changed = ",".join([*cells[:place], value, *cells[place + 1 :]])
                content = "\n".join([*lines[:line], changed, *lines[line + 1 :]])
                found.append((f"cell {place} of line {line} = {value!r:.20}", CSV, content.encode))
    return [*found, *replaced([CSV])]


def _uses_of_report(name: str) -> Callable[[Path], list[str]]:
    """A report's pictures take seconds: only what is read is used, as the studio does."""

    def uses(folder: Path) -> list[str]:
        from neuroplastic.usecases.study_views import view_studies
        from tests.fuzz.using import outcome

        return [outcome(lambda: view_studies(folder / name), "")]

    return uses


def _files(name: str, raw: Callable[[], bytes]) -> Callable[[], Files]:
    return lambda: {name: raw()}


STUDIES = {
    "study": Kind(_files(DATABASE, _database), _changes_of_database, _uses_of_database),
    "study_csv": Kind(_files(CSV, (KEPT / "BP-dnn.csv").read_bytes), _changes_of_csv, _uses_of_report(CSV)),
    "study_json": Kind(
        _files(JSON, _json),
        lambda: [*json_changes(JSON, _json()), *replaced([JSON])],
        _uses_of_report(JSON),
    ),
}
