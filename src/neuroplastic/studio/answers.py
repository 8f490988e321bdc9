"""What the desk can be asked: use cases, and their dataclasses as JSON can hold them. Paths come from the library."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..usecases.opening import Opened, OpenedRun, OpenedTable, open_anything
from .edits import edits_of

KEPT = 4
"""Opened models that are kept at hand."""
_opened: OrderedDict[tuple[str, int], Opened] = OrderedDict()


def _open(path: str) -> Opened:
    """What lies at a path, opened once as long as it does not change."""
    place = Path(path)
    marks = [place / name for name in ("columns.json", "best.safetensors")] if place.is_dir() else [place]
    key = path, max([mark.stat().st_mtime_ns for mark in marks if mark.is_file()], default=0)
    if key not in _opened:
        _opened[key] = open_anything(path)
        while len(_opened) > KEPT:
            _opened.popitem(last=False)
    _opened.move_to_end(key)
    return _opened[key]


def _table(path: str) -> OpenedTable:
    opened = _open(path)
    if not isinstance(opened, OpenedTable):
        raise InputError(f"{Path(path).name} is no model of a table")
    return opened


def _run(path: str) -> OpenedRun:
    opened = _open(path)
    if not isinstance(opened, OpenedRun):
        raise InputError(f"{Path(path).name} is no run")
    return opened


def look(path: str) -> dict[str, Any]:
    """A first look at a file of rows."""
    from ..usecases.looking import look_at_table

    return asdict(look_at_table(path))


def example(name: str) -> bytes:
    """A table to try things with."""
    from ..usecases.examples import example_table

    return example_table(name)


def model(path: str) -> dict[str, Any]:
    """What can be tried of a model, and what its fit told where that is known."""
    from ..usecases.trying import model_to_try
    from .outcomes import kept_outcome

    found, outcome = asdict(model_to_try(_table(path))), kept_outcome(Path(path))
    if found["sliders"] is None and outcome is not None:
        found["sliders"] = outcome.pop("sliders", None)
    return {**found, "outcome": outcome}


def explain(path: str, data: str, row: int) -> dict[str, Any]:
    """Why a model answers a row of a file as it does."""
    from ..usecases.told_rows import tell_row

    return asdict(tell_row(_table(path), data, row=row))


def predictions(path: str, data: str) -> bytes:
    """The predictions of a file's rows as CSV."""
    from ..usecases.tables import predictions_beside

    text: str = predictions_beside(_table(path).model, data).to_csv(index=False)
    return text.encode()


def archive(path: str) -> bytes:
    """The model as a zip."""
    from ..usecases.trying import model_archive

    return model_archive(_table(path))


def page(path: str) -> bytes:
    """The model's page."""
    from ..usecases.trying import page_of

    return page_of(_table(path))


def rules_as(path: str, ending: str) -> bytes:
    """The rules as a file."""
    from ..usecases.rules import rules_file, rules_of

    return rules_file(rules_of(_open(path)), ending)


def turned(path: str, edits: list[Any], data: str | None) -> dict[str, Any]:
    """The rules of a model after edits, and what these change on a file's rows."""
    from ..usecases.turning import drawn_rules
    from .outcomes import held_out, kept_outcome

    outcome = kept_outcome(Path(path)) or {}
    told = {name: outcome.get(name, "") for name in ("table", "from", "edits", "learned_on")}
    drawn = asdict(drawn_rules(_table(path), edits_of(edits), data))
    return {**drawn, "origin": {**told, "held_out": held_out(outcome)}}


def save_turned(path: str, edits: list[Any], out: str) -> dict[str, Any]:
    """Write an edited model."""
    from ..usecases.editing import save_edited
    from .outcomes import keep_turned

    opened = _table(path)
    made = save_edited(opened, edits_of(edits), out)
    keep_turned(opened, made, len(edits))
    return {"model": made.name}


def turned_agent(path: str, edits: list[Any]) -> dict[str, Any]:
    """The rules by which an agent decides, after edits."""
    from ..usecases.agent_turning import drawn_agent_rules

    return asdict(drawn_agent_rules(_run(path), edits_of(edits)))


def save_turned_agent(path: str, edits: list[Any], out: str) -> dict[str, Any]:
    """Write an edited agent as a run."""
    from ..usecases.agent_editing import save_edited_agent

    return {"model": save_edited_agent(_run(path), edits_of(edits), out).name}


def edited_rules_as(path: str, edits: list[Any], ending: str) -> bytes:
    """The rules of a model or an agent after edits, as a file."""
    from ..usecases.rules import rules_file, rules_of

    opened, made = _open(path), edits_of(edits)
    if isinstance(opened, OpenedRun):
        from ..usecases.agent_editing import edited_agent

        return rules_file(rules_of(edited_agent(opened, made)), ending)
    if isinstance(opened, OpenedTable):
        from ..usecases.editing import edited_model

        return rules_file(rules_of(OpenedTable(opened.path, edited_model(opened, made))), ending)
    return rules_file(rules_of(opened), ending)


def titles(runs: list[tuple[str, str]]) -> dict[str, str]:
    """What the agents of runs play, by name; those that cannot be read are left out."""
    from ..experiment.run_folder import RunError, RunFolder

    found = {}
    for name, path in runs:
        with contextlib.suppress(RunError, OSError):
            found[name] = RunFolder(path).config().task.title
    return found


def followed(runs: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Curves of runs by name and path."""
    from ..usecases.following import follow_runs

    return [asdict(run) for run in follow_runs(runs)]


def studies(source: str) -> list[dict[str, Any]]:
    """All studies at a source."""
    from ..usecases.study_views import view_studies

    return [asdict(view) for view in view_studies(source)]


def study_report(source: str | None) -> bytes:
    """The report of all studies at a source, or of the paper's own tables."""
    from ..report.folder import render
    from ..usecases.reports import paper_page, study_page

    return render(paper_page() if source is None else study_page([source])).encode()


QUESTIONS: dict[str, Callable[..., Any]] = {
    question.__name__: question
    for question in (
        look,
        example,
        model,
        explain,
        predictions,
        archive,
        page,
        rules_as,
        turned,
        save_turned,
        turned_agent,
        save_turned_agent,
        edited_rules_as,
        titles,
        followed,
        studies,
        study_report,
    )
}
