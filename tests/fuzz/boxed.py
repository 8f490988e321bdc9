"""A readable student in a box: a run of DOOM with named attributes, and its card."""

import json
from functools import cache
from pathlib import Path

from neuroplastic.usecases.cards import CARD
from neuroplastic.usecases.opening import BOX
from tests.fuzz.kind import Change, Files, Kind, json_changes, replaced
from tests.fuzz.runs import BEST, tensor_changes
from tests.fuzz.using import command

STUDENT = BOX / "GH-student"


@cache
def _whole() -> Files:
    """The card without digests, as a forger would give it: damage beside it gets further."""
    files = {path.name: path.read_bytes() for path in sorted(STUDENT.iterdir())}
    card = json.loads(files[CARD])
    return {**files, CARD: json.dumps({**card, "digests": {}}).encode()}


def _changes() -> list[Change]:
    digested = json.loads((STUDENT / CARD).read_bytes())
    return [
        *json_changes(CARD, json.dumps(digested).encode()),
        *json_changes("config.json", _whole()["config.json"]),
        *tensor_changes(BEST, _whole()[BEST]),
        *replaced(_whole()),
    ]


def _uses(folder: Path) -> list[str]:
    return [
        command("box", str(folder)),
        command("rules", str(folder), "--exact"),  # without it, episodes are played
        command("runs", "--runs", str(folder.parent)),
    ]


BOXED = {"boxed": Kind(_whole, _changes, _uses)}
