"""Rules taken home as a file of any standard: a download, or why the standard cannot hold them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from starlette.responses import Response

from ..errors import choose
from ..usecases.requests import rule_files
from .desk import Desk
from .requests import named


def attachment(name: str, content: bytes) -> Response:
    """A download; the name is one of ours, or stripped of what could end the header."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    headers = {"content-disposition": f'attachment; filename="{plain}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


async def exported(desk: Desk, path: str, given: dict[str, Any]) -> Response:
    """The rules of what lies at a path after the edits that a page sent, by the ending that it chose."""
    ending = choose("ending", named(given, "ending", str), rule_files())
    edits = named(given, "edits", list, [])
    return attachment(
        Path(path).name + ending,
        await desk.ask("edited_rules_as", path=path, edits=edits, ending=ending, seconds=120.0),
    )
