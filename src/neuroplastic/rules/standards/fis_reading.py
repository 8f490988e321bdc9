"""Reading MATLAB `.fis` files line by line: Sugeno systems with Gaussian sets; the rest is refused by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from ..rule_base import IGNORED, RuleBase, Variable
from .assembly import Assembly, term_of, variable_of
from .errors import FileFormatError, NotExpressibleError
from .system import Decision, Output, rule_base_of
from .text import check_length, number, shown

_SECTION = re.compile(r"\[\s*([A-Za-z]+)\s*(\d{0,6})\s*\]", re.ASCII)
_QUOTES = "'\""
Made = TypeVar("Made")

# MATLAB's defaults for Sugeno systems, where [System] lacks the key.
_DEFAULTS = {"andmethod": "prod", "defuzzmethod": "wtaver"}


@dataclass
class _Section:
    """A section's entries, key in lower case to (value, line), or, of [Rules], plain lines."""

    line: int
    entries: dict[str, tuple[str, int]] = field(default_factory=dict)
    lines: list[tuple[str, int]] = field(default_factory=list)

    def value(self, key: str) -> tuple[str, int]:
        """The value of a required key, and its line."""
        if key not in self.entries:
            raise FileFormatError(f"the section must have {key!r}", self.line)
        return self.entries[key]


def from_fis(text: str) -> RuleBase:
    """The rule base of a Sugeno `.fis` file: AND by product or minimum, weighted average, `gaussmf` inputs.

    Sections and keys may come in any order and case; lines that start with % or # are comments. The numbers of
    inputs, sets and rules that a file states are checked against what it has.
    """
    check_length(text)
    sections = _sections(text)
    system = sections.get(("system", 0))
    if system is None:
        raise FileFormatError("a .fis file must have a section [System]")
    _check_system(system)
    inputs = [_input(section) for section in _numbered(sections, "input")]
    outputs = [_output(section, len(inputs)) for section in _numbered(sections, "output")]
    assembly = Assembly(inputs, outputs)
    rules = sections.get(("rules", 0))
    conjunction, _ = _setting(system, "andmethod")
    for line, place in rules.lines if rules else []:
        _rule(line, place, assembly, conjunction)
    _check_counts(system, inputs, outputs, 0 if rules is None else len(rules.lines))
    return rule_base_of(assembly.system())


def _sections(text: str) -> dict[tuple[str, int], _Section]:
    sections: dict[tuple[str, int], _Section] = {}
    current: _Section | None = None
    in_rules = False
    for place, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "%#":
            continue
        if line[0] == "[":
            found = _SECTION.fullmatch(line)
            if not found:
                raise FileFormatError(f"a section must read like [Input1], got {shown(line)}", place)
            name, index = found[1].lower(), int(found[2] or 0)
            if name not in ("system", "input", "output", "rules"):
                raise FileFormatError(
                    f"there is no section [{found[1][:40]}]; those read are [System], [Input1], "
                    "[Output1], [Rules]",
                    place,
                )
            if (name, index) in sections:
                raise FileFormatError(f"the section {shown(line)} comes twice", place)
            current = sections[name, index] = _Section(place)
            in_rules = name == "rules"
        elif current is None:
            raise FileFormatError(f"a line before the first section, {shown(line)}", place)
        elif in_rules:
            current.lines.append((line, place))
        else:
            key, equals, value = line.partition("=")
            key = key.strip().lower()
            if not equals or not key:
                raise FileFormatError(f"a line must read like Name=value, got {shown(line)}", place)
            if key in current.entries:
                raise FileFormatError(f"{shown(key)} comes twice in the section", place)
            current.entries[key] = (value.strip(), place)
    return sections


def _numbered(sections: dict[tuple[str, int], _Section], kind: str) -> list[_Section]:
    """Sections [Input1], [Input2], ... in order; none may be missing."""
    found = sorted(index for name, index in sections if name == kind)
    for wanted, index in enumerate(found, 1):
        if index != wanted:
            raise FileFormatError(
                f"sections [{kind}] must be numbered from 1 without gaps, got {index}",
                sections[kind, index].line,
            )
    return [sections[kind, index] for index in found]


def _unquoted(text: str, line: int) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] in _QUOTES and text[-1] == text[0]:
        return text[1:-1].strip()
    raise FileFormatError(f"a name must stand in quotes, got {shown(text)}", line)


def _setting(system: _Section, key: str) -> tuple[str, int]:
    """A word of [System] in small letters, and its line."""
    if key not in system.entries and key in _DEFAULTS:
        return _DEFAULTS[key], system.line
    text, line = system.value(key)
    return _unquoted(text, line).lower(), line


def _check_system(system: _Section) -> None:
    kind, line = _setting(system, "type")
    if kind != "sugeno":
        raise NotExpressibleError(
            f"line {line}: Type={shown(kind)} is not read: only 'sugeno' systems compute what our rules do; MATLAB's "
            "Mamdani defuzzifiers integrate over a grid"
        )
    method, line = _setting(system, "defuzzmethod")
    if method != "wtaver":
        raise NotExpressibleError(
            f"line {line}: DefuzzMethod={shown(method)} is not read: our rules compute 'wtaver', the weighted average"
        )


def _whole(text: str, what: str, line: int) -> int:
    value = number(text, what, line)
    if value != int(value):
        raise FileFormatError(f"{what} must be a whole number, got {shown(text.strip())}", line)
    return int(value)


def _check_counts(system: _Section, inputs: list[Variable], outputs: list[Output], rules: int) -> None:
    for key, count in (("numinputs", len(inputs)), ("numoutputs", len(outputs)), ("numrules", rules)):
        if key in system.entries:
            text, line = system.entries[key]
            if _whole(text, key, line) != count:
                raise FileFormatError(f"{key} says {shown(text)}, but the file has {count}", line)


def _check_switches(section: _Section) -> None:
    """Keys that one tool adds: a variable can be switched off, an output clipped to its range."""
    for key, refused, reason in (
        ("enabled", 0, "leave the variable out"),
        ("lockrange", 1, "our outputs are not clipped"),
    ):
        if key in section.entries:
            text, line = section.entries[key]
            if _whole(text, key, line) == refused:
                raise NotExpressibleError(f"line {line}: {key}={refused} is not read: {reason}")


def _input(section: _Section) -> Variable:
    _check_switches(section)
    terms = _functions(
        section, lambda name, kind, values, line: term_of(name, values[1], values[0], line), {"gaussmf": 2}
    )
    return variable_of(_unquoted(*section.value("name")), terms, section.line)


def _output(section: _Section, inputs: int) -> Output:
    def decision(name: str, kind: str, values: list[float], line: int) -> Decision:
        return Decision(name, values[-1], tuple(values[:-1]) if kind == "linear" else None)

    _check_switches(section)
    decisions = _functions(section, decision, {"constant": 1, "linear": inputs + 1})
    return Output(_unquoted(*section.value("name")), tuple(decisions))


def _functions(
    section: _Section, make: Callable[[str, str, list[float], int], Made], kinds: dict[str, int]
) -> list[Made]:
    """The membership functions MF1, MF2, ... of a section, made from name, kind and parameters."""
    found: dict[int, Made] = {}
    for key, (value, line) in section.entries.items():
        if key.startswith("mf"):
            found[_whole(key[2:], "the number of a membership function", line)] = _function(
                value, line, make, kinds
            )
    if sorted(found) != list(range(1, len(found) + 1)):
        raise FileFormatError("membership functions must be numbered from 1 without gaps", section.line)
    if "nummfs" in section.entries:
        text, line = section.entries["nummfs"]
        if _whole(text, "NumMFs", line) != len(found):
            raise FileFormatError(f"NumMFs says {shown(text)}, but there are {len(found)}", line)
    return [found[index] for index in range(1, len(found) + 1)]


def _function(
    value: str, line: int, make: Callable[[str, str, list[float], int], Made], kinds: dict[str, int]
) -> Made:
    """One membership function, as in `'low':'gaussmf',[1.5 0]`."""
    end = value.find(value[0], 1) if value and value[0] in _QUOTES else -1
    colon = value[end + 1 :].lstrip()
    kind, comma, parameters = colon[1:].partition(",")
    if end < 0 or colon[:1] != ":" or not comma:
        raise FileFormatError(
            f"a membership function must read like 'low':'gaussmf',[1.5 0], got {shown(value)}", line
        )
    name, kind, parameters = value[1:end].strip(), _unquoted(kind, line).lower(), parameters.strip()
    if kind not in kinds:
        raise NotExpressibleError(
            f"line {line}: {shown(kind)} of {shown(name)} is not read here: those read are {', '.join(kinds)}; a "
            "silent approximation would change the outputs"
        )
    if not (parameters.startswith("[") and parameters.endswith("]")):
        raise FileFormatError(f"parameters must stand in brackets, got {shown(parameters)}", line)
    words = parameters[1:-1].replace(",", " ").split()
    if len(words) != kinds[kind]:
        raise FileFormatError(f"{kind!r} must have {kinds[kind]} parameters here, got {len(words)}", line)
    return make(name, kind, [number(word, f"a parameter of {shown(name)}", line) for word in words], line)


def _rule(text: str, line: int, assembly: Assembly, conjunction: str) -> None:
    """One rule, as in `1 0 2, 1 (0.5) : 1`: sets of the inputs, of the outputs, weight, connection."""
    before, comma, rest = text.partition(",")
    after, opening, rest = rest.partition("(")
    weight, closing, rest = rest.partition(")")
    connection = rest.strip().removeprefix(":").strip()
    if not (comma and opening and closing):
        raise FileFormatError(f"a rule must read like '1 0 2, 1 (0.5) : 1', got {shown(text)}", line)
    sets, decisions = before.split(), after.split()
    if len(sets) != len(assembly.inputs) or len(decisions) != len(assembly.outputs):
        raise FileFormatError(
            f"a rule must have {len(assembly.inputs)} inputs and {len(assembly.outputs)} outputs, got {len(sets)} "
            f"and {len(decisions)}",
            line,
        )
    premises = assembly.premises(line)
    for index, (variable, word) in enumerate(zip(assembly.inputs, sets, strict=True)):
        term = _index(word, len(variable.terms), line)
        if term != IGNORED:
            premises[index] = term
    if connection not in ("1", "2"):
        raise FileFormatError(
            f"the connection of a rule must be 1 (AND) or 2 (OR), got {shown(connection)}", line
        )
    if connection == "2" and len(premises) > 1:
        raise NotExpressibleError(
            f"line {line}: a rule with OR is not read: our rules only join premises by AND"
        )
    if len(premises) > 1:
        assembly.join(conjunction, f"AndMethod={shown(conjunction)}", line)
    conclusions = [
        _index(word, len(output.decisions), line)
        for output, word in zip(assembly.outputs, decisions, strict=True)
    ]
    assembly.add(premises, conclusions, number(weight, "the weight of a rule", line), line)


def _index(word: str, count: int, line: int) -> int:
    if len(word) < 7 and word.isascii() and word.isdecimal() and int(word) <= count:
        return int(word) - 1  # 0 is IGNORED; this is all that happens in a good file, so it is quick
    value = number(word, "the set of a rule", line)
    if value < 0:
        raise NotExpressibleError(
            f"line {line}: {word} in a rule (NOT) is not read: our rules have no negation"
        )
    if value != int(value):
        raise NotExpressibleError(
            f"line {line}: {word} in a rule (a hedge) is not read: our rules have no hedges"
        )
    if value > count:
        raise FileFormatError(f"a rule names set {word} of a variable that has {count}", line)
    return int(value) - 1
