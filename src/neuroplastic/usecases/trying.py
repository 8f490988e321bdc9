"""A fitted table as a page can play with it: sliders, sentences, scores beside plain models, its files."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..learn.table_model import FILES
from ..report.folder import PAGE
from ..rules.rule_base import RuleBase
from ..rules.text.plain import plain_sentences
from .opening import OpenedTable
from .tables import FittedTable

_CONTENT = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True)
class Contest:
    """Scores of the folds, ours and those of plain models, the best first."""

    measure: str
    ranked: tuple[tuple[str, bool, float, tuple[float, ...]], ...]
    """name, whether it is our rules, mean, and the score of each fold"""
    verdict: str


@dataclass(frozen=True)
class FitOutcome:
    """What a fit gave, to be told on a page."""

    summary: tuple[str, ...]
    notes: tuple[str, ...]
    contest: Contest | None
    diagnosis: str


def outcome_of(fitted: FittedTable, summary: tuple[str, ...]) -> FitOutcome:
    """A fit in short; `summary` is that of its page."""
    contest = None
    if fitted.comparison is not None:
        found = fitted.comparison
        ranked = tuple((one.name, one is found.rules, one.mean, one.folds) for one in found.ranked)
        contest = Contest(found.measure, ranked, found.verdict)
    return FitOutcome(summary, fitted.notes, contest, str(fitted.diagnosis))


@dataclass(frozen=True)
class ModelToTry:
    """A saved model of a table."""

    target: str
    classes: bool
    inputs: tuple[str, ...]
    sentences: tuple[tuple[int, str], ...]
    """the rules' numbers, from 1, and what they say; those with most cases first"""
    sliders: dict[str, Any] | None
    """what the page's script takes; None where the model has no page of its own, or too many numbers for one"""
    has_page: bool


def model_to_try(opened: OpenedTable) -> ModelToTry:
    """What can be tried of a model that was opened; its sliders are those of the page that was written with it."""
    columns, page = opened.model.columns, opened.path / PAGE
    sentences = tuple(plain_sentences(opened.model.estimator.rules_))
    return ModelToTry(
        columns.target, columns.classes, columns.inputs, sentences, sliders_of(opened), page.is_file()
    )


def sliders_of(opened: OpenedTable) -> dict[str, Any] | None:
    """What the script of a model's page takes; None where it has no page, or its page no sliders."""
    page = opened.path / PAGE
    found = _CONTENT.search(page.read_text(encoding="utf-8")) if page.is_file() else None
    content: dict[str, Any] | None = None if found is None else json.loads(found[1])
    return content


def turned_sliders(sliders: dict[str, Any], rules: RuleBase) -> dict[str, Any]:
    """Sliders of a model for one that was turned by hand from it: the same columns, with the rules as they are now."""
    told = dict(plain_sentences(rules))
    sentences = [told[number] for number in range(1, len(rules) + 1)]
    return {**sliders, "rules": json.loads(rules.json()), "sentences": sentences}


def model_archive(opened: OpenedTable) -> bytes:
    """The model's folder as a zip, as it loads elsewhere; its page is in it, too."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in (*FILES, PAGE):
            if (opened.path / name).is_file():
                archive.write(opened.path / name, f"{opened.path.name}/{name}")
    return packed.getvalue()


def page_of(opened: OpenedTable) -> bytes:
    """The page that was written with a model."""
    page = opened.path / PAGE
    if not page.is_file():
        raise InputError(f"{opened.path.name} was saved without a page; fit it again to have one")
    return page.read_bytes()
