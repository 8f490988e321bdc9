"""Damaged files by number: the same number is the same damage, in whichever process it is made."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import numpy as np

from tests.fuzz.boxed import BOXED
from tests.fuzz.kind import Change, Files, Kind
from tests.fuzz.models import MODELS
from tests.fuzz.mutations import flipped
from tests.fuzz.rule_files import RULES
from tests.fuzz.runs import RUNS
from tests.rules.mutation import damaged

KINDS: Mapping[str, Kind] = {**MODELS, **RUNS, **BOXED, **RULES}
with suppress(ImportError):  # where what they need is not installed, the others are still damaged
    from tests.fuzz.estimators import ESTIMATORS
    from tests.fuzz.studies import STUDIES
    from tests.fuzz.tables import TABLES

    KINDS = {**MODELS, **ESTIMATORS, **RUNS, **BOXED, **STUDIES, **RULES, **TABLES}
BYTES = 10**6
"""cases from this number on are damage by bytes"""


@dataclass(frozen=True)
class Case:
    """Damaged files: what was done to them, and they themselves by name."""

    label: str
    files: Files


@cache
def _structural(kind: str) -> tuple[Change, ...]:
    return tuple(KINDS[kind].changes())


def structural_count(kind: str) -> int:
    """How many changes by structure there are."""
    return len(_structural(kind))


def case(kind: str, number: int) -> Case:
    """Damaged files of a kind: below BYTES by structure, counted round and round, from there on by bytes."""
    files = dict(KINDS[kind].whole())
    if number < BYTES:
        label, name, make = _structural(kind)[number % structural_count(kind)]
        return Case(label, {**files, name: make()})
    generator = np.random.default_rng(number)
    name = list(files)[int(generator.integers(len(files)))]
    raw = files[name]
    if generator.random() < 0.7:
        raw = KINDS[kind].bare().get(name, raw)
    if generator.random() < 0.6:
        return Case("flipped bits", {**files, name: flipped(raw, generator)})
    for _ in range(1 + int(generator.geometric(0.5))):
        raw = damaged(raw, [raw], generator)
    return Case("damaged bytes", {**files, name: raw})
