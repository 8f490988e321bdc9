import asyncio
import json
import struct

import pytest

pytest.importorskip("starlette", reason="needs the extra 'studio'")

from neuroplastic.errors import InputError
from neuroplastic.studio.library import Library
from neuroplastic.studio.playing import FRAME, Shown
from neuroplastic.studio.serving import starting_place
from neuroplastic.studio.watch import Slot, command_of, packed
from neuroplastic.studio.worker import CRASHED


def taken(slot, ready=True):
    asked = asyncio.Event()
    if ready:
        asked.set()
    return slot.take(asked)


def test_only_the_newest_frame_waits_and_facts_that_were_not_sent_go_with_it():
    async def played():
        slot = Slot(asyncio.get_running_loop())
        slot._put(FRAME, Shown({"number": 1}, b"first", b"heat"))
        for k in range(100):
            slot._put(FRAME, Shown(None, b"%d" % k))
        return await taken(slot)

    message = asyncio.run(played())
    told, hot = struct.unpack(">II", message[:8])
    assert json.loads(message[8 : 8 + told]) == {"number": 1}
    assert message[8 + told :] == b"heat" + b"99"
    assert hot == 4


def test_a_page_that_is_not_ready_gets_answers_but_no_frames():
    async def played():
        slot = Slot(asyncio.get_running_loop())
        slot._put(FRAME, Shown(None, b"frame"))
        slot._put("answer", {"why": "because"})
        first = await taken(slot, ready=False)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(taken(slot, ready=False), 0.05)
        return first

    assert asyncio.run(played()) == {"kind": "answer", "why": "because"}


def test_a_crash_of_the_game_is_told_to_the_page_and_ends_the_watching():
    async def played():
        slot = Slot(asyncio.get_running_loop())
        slot._put(CRASHED, None)
        return await taken(slot), await taken(slot)

    told, end = asyncio.run(played())
    assert told["kind"] == "failed"
    assert end is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"do": "shout"}',
        '{"do": "speed", "value": "nan"}',
        '{"do": "speed"}',
        '{"do": "show", "value": -1}',
        '{"do": "show", "value": 1e99}',
        '{"do": "why-not", "value": [1]}',
        '{"do": "episode", "value": {"a": 1}}',
        '{"do": ["pause"]}',
        "[" * 100_000,
    ],
)
def test_a_malformed_command_is_dropped(text):
    assert command_of(text)[0] is None


def test_a_command_is_passed_on_with_its_content_within_bounds():
    assert command_of('{"do": "speed", "value": 1e9}') == ("speed", 8.0)
    assert command_of('{"do": "why-not", "value": [3, 2]}') == ("why-not", (3, 2))
    assert command_of('{"do": "heat", "value": true}') == ("heat", True)


def test_packed_frames_are_never_more_than_their_parts():
    assert packed(Shown(None, b"abc")) == struct.pack(">II", 4, 0) + b"null" + b"abc"


def test_what_is_named_on_the_command_line_decides_where_the_studio_opens(tmp_path):
    library = Library(tmp_path / "runs", tmp_path / "models")
    rows = tmp_path / "a b&c.csv"
    rows.write_text("a,b\n1,2\n", encoding="utf-8")
    assert starting_place(library, None) == "/watch/DTC?seed=7"
    assert starting_place(library, "GH") == "/watch/GH?seed=7"
    assert starting_place(library, str(rows)) == "/table?file=a%20b%26c.csv"
    assert library.given["a b&c.csv"] == rows
    assert starting_place(library, "CartPole-v1") == "/train?task=CartPole-v1"
    with pytest.raises(InputError, match="does not exist"):
        starting_place(library, "some/where")
    with pytest.raises(InputError, match=r"nope\.csv does not exist"):
        starting_place(library, "nope.csv")


def test_a_name_of_nothing_is_refused_before_a_page_is_served(tmp_path):
    library = Library(tmp_path / "runs", tmp_path / "models")
    with pytest.raises(InputError, match="no run, model or file 'Pendulm', and there is no task 'Pendulm'"):
        starting_place(library, "Pendulm")
    with pytest.raises(InputError, match="did you mean 'DTC-student', an agent in the box"):
        starting_place(library, "DTC-studnt")
