"""Rules in every standard, as text and as JSON."""

import re
from collections.abc import Callable
from pathlib import Path

import neuroplastic as npl
from tests.fuzz.kind import Change, Kind, json_changes, replaced
from tests.fuzz.using import outcome

KEPT = Path(__file__).parents[1] / "kept" / "v0_1" / "rules"
WORDS = (
    *(
        "",
        "0",
        "-1",
        "1e999",
        "nan",
        "99999999999999999999",
        "x",
        "a b",
        "'",
        '"',
        "(" * 5000,
        "[" * 5000,
        "<a>" * 1000,
    ),
    *(
        "&lt;",
        "&x;",
        "\0",
        "\x1b[31m",
        "é" * 3000,
        "IF",
        "THEN",
        "RULE",
        "any",
        "END_RULEBLOCK",
        "]]>",
        "<!--",
        "\n" * 99,
    ),
)
HOSTILE = {
    "an entity from a file": b'<!DOCTYPE f [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    b'<fuzzySystem name="a">&x;</fuzzySystem>',
    "entities that grow": b'<!DOCTYPE f [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + k, b"&%c;" % (97 + k) * 10) for k in range(20))
    + b"]><fuzzySystem>&u;</fuzzySystem>",
    "an included file": b'<fuzzySystem xmlns:xi="http://www.w3.org/2001/XInclude">'
    b'<xi:include href="/etc/passwd"/></fuzzySystem>',
}


def _changes(name: str) -> Callable[[], list[Change]]:
    """Every word and number replaced, left out or doubled; every line left out or doubled."""

    def changes() -> list[Change]:
        text = (KEPT / name).read_text(encoding="utf-8")
        found = list[Change]()
        for number, match in enumerate(re.finditer(r"[\w.+-]+|[^\w\s]", text)):
            before, after = text[: match.start()], text[match.end() :]
            for word in (*WORDS, match.group() * 2, match.group() + " " + match.group()):
                found.append(
                    (
                        f"word {number} = {word!r:.20}",
                        name,
                        lambda a=before, w=word, b=after: (a + w + b).encode(),
                    )
                )
        lines = text.splitlines(keepends=True)
        for number in range(len(lines)):
            for label, part in (("without", []), ("twice", lines[number : number + 1] * 2)):
                content = "".join([*lines[:number], *part, *lines[number + 1 :]])
                found.append((f"line {number} {label}", name, content.encode))
        found += [(label, name, lambda raw=raw: raw) for label, raw in HOSTILE.items()]
        return [*found, *replaced([name])]

    return changes


def _used(rules: npl.RuleBase) -> None:
    str(rules)
    rules.json()
    npl.network_of(rules)


def _uses_of_standard(name: str) -> Callable[[Path], list[str]]:
    return lambda folder: [outcome(lambda: _used(npl.import_rules(folder / name)), "")]


def _uses_of_json(folder: Path) -> list[str]:
    text = (folder / "fan.json").read_bytes().decode("utf-8", "replace")
    return [outcome(lambda: _used(npl.RuleBase.from_json(text)), "")]


def _uses_of_text(folder: Path) -> list[str]:
    text = (folder / "fan.txt").read_bytes().decode("utf-8", "replace")
    base = npl.RuleBase.from_json((KEPT / "fan.json").read_text(encoding="utf-8"))
    return [
        outcome(lambda: _used(npl.RuleBase.from_text(text, base.inputs, outputs=base.outputs)), ""),
        outcome(lambda: npl.from_rules(text, base.inputs, outputs=base.outputs), ""),
    ]


def _whole(name: str) -> Callable[[], dict[str, bytes]]:
    return lambda: {name: (KEPT / name).read_bytes()}


RULES = {
    **{
        f"rules_{name}": Kind(
            _whole(f"fan.{name}"), _changes(f"fan.{name}"), _uses_of_standard(f"fan.{name}")
        )
        for name in ("fml", "fcl", "fis")
    },
    "rules_text": Kind(_whole("fan.txt"), _changes("fan.txt"), _uses_of_text),
    "rules_json": Kind(
        _whole("fan.json"),
        lambda: [*json_changes("fan.json", (KEPT / "fan.json").read_bytes()), *replaced(["fan.json"])],
        _uses_of_json,
    ),
}
