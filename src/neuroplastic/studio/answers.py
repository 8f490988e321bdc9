"""What the desk can be asked: use cases, and their dataclasses as JSON can hold them. Paths come from the library."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..usecases.opening import Opened, OpenedTable, open_anything

KEPT = 4
"""Opened models that are kept at hand."""
_opened: OrderedDict[tuple[str, int], Opened] = OrderedDict()


def _open(path: str) -> Opened:
    """What lies at a path, opened once as long as it does not change."""
    place = Path(path)
    mark = place / "columns.json" if place.is_dir() else place
    key = path, mark.stat().st_mtime_ns if mark.is_file() else 0
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


def look(path: str) -> dict[str, Any]:
    """A first look at a file of rows."""
    from ..usecases.looking import look_at_table

    return asdict(look_at_table(path))


def model(path: str) -> dict[str, Any]:
    """What can be tried of a model."""
    from ..usecases.trying import model_to_try

    return asdict(model_to_try(_table(path)))


def explain(path: str, data: str, row: int) -> dict[str, Any]:
    """Why a model answers a row of a file as it does."""
    from ..usecases.explaining import explain_row

    return {"text": explain_row(_table(path), data, number=row).text}


def predictions(path: str, data: str) -> bytes:
    """The predictions of a file's rows as CSV."""
    from ..usecases.tables import predict_table

    return predict_table(_table(path).model, data).csv().encode()


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


QUESTIONS: dict[str, Callable[..., Any]] = {
    question.__name__: question for question in (look, model, explain, predictions, archive, page, rules_as)
}
