"""Rule text as tokens with line and column; which names are plain and which need quotes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import NamedTuple, NoReturn

from ...errors import NeuroplasticError

KEYWORDS = frozenset({"RULE", "IF", "IS", "AND", "OR", "NOT", "THEN", "WITH"})

# Far above any rule base that fits in memory, and a bound on what a mistaken file can cost.
MOST_CHARACTERS = 2**28
MOST_DIGITS = 100

# Quoting more of a wrong name, or comparing it with more names, helps nobody and takes time.
_SHOWN = 60
_COMPARED = 2000

_TOKEN = re.compile(
    r"""(?P<blank>\s+|\#[^\n]*)
    |(?P<name>'[^'\n\r]*')
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
    |(?P<word>[^\W\d]\w*(?:\.\w+)*)
    |(?P<symbol>[-+*:,])""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"[^\W\d]\w*(?:\.\w+)*(?: (?:[^\W\d]\w*(?:\.\w+)*|[0-9]+))*")
_RUN = re.compile(r"[\w.]+|.", re.DOTALL)


class RuleSyntaxError(NeuroplasticError, ValueError):
    """Rule text that cannot be read: at `line` and `column` (both from 1), something else was `expected`."""

    def __init__(self, message: str, line: int, column: int, expected: str) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.line, self.column, self.expected = line, column, expected

    def __reduce__(self) -> tuple[object, ...]:
        message = str(self).split(": ", 1)[1]
        return type(self), (message, self.line, self.column, self.expected)


class Token(NamedTuple):
    """One token: `kind` is 'keyword', 'word', 'name' (was in quotes), 'number', 'symbol' or 'end'."""

    kind: str
    text: str
    line: int
    column: int

    def __str__(self) -> str:
        return "the end of the text" if self.kind == "end" else shown(self.text)

    def fail(self, message: str, expected: str) -> NoReturn:
        """Raise a RuleSyntaxError at this token."""
        raise RuleSyntaxError(message, self.line, self.column, expected)


def is_keyword(word: str) -> bool:
    """Whether a word is one of the language's own, in any case."""
    return word.isascii() and word.upper() in KEYWORDS


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text one by one, ending with one of kind 'end'. Comments (`#` to the line's end) are left out."""
    if len(text) > MOST_CHARACTERS:
        raise RuleSyntaxError(
            f"rule text must have at most {MOST_CHARACTERS} characters, got {len(text)}", 1, 1, "less text"
        )
    line, line_start, place = 1, 0, 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            _refuse(text, place, line, place - line_start + 1)
        kind, content = str(found.lastgroup), found.group()
        if kind == "blank":
            breaks = content.count("\n")
            if breaks:
                line += breaks
                line_start = place + content.rindex("\n") + 1
        else:
            yield _token(kind, content, line, place - line_start + 1)
        place = found.end()
    yield Token("end", "", line, place - line_start + 1)


def _token(kind: str, content: str, line: int, column: int) -> Token:
    if kind == "word" and is_keyword(content):
        return Token("keyword", content.upper(), line, column)
    if kind == "name":
        return Token("name", content[1:-1], line, column)
    token = Token(kind, content, line, column)
    if kind == "number" and len(content) > MOST_DIGITS:
        token.fail(f"a number must have at most {MOST_DIGITS} characters", "a number")
    return token


def _refuse(text: str, place: int, line: int, column: int) -> NoReturn:
    run = _RUN.match(text, place)
    assert run is not None
    mark = text[place]
    if mark == "'":
        message, expected = "a name in quotes must end on the same line", "a closing '"
    elif mark in '"\u2018\u2019\u201c\u201d':
        message, expected = f"names are quoted by ', got {mark}", "a '"
    elif mark in "()[]{}":
        message = f"rules have no brackets, got {mark}; write plain sums, and put a name with brackets in ' '"
        expected = "a word"
    elif mark.isdigit():
        message, expected = f"{shown(run.group())} is not a number", "a number"
    else:
        message = f"unexpected {shown(mark)}; a name with such characters must stand in single quotes"
        expected = "a word, a number or a quoted name"
    raise RuleSyntaxError(message, line, column, expected)


def is_plain(name: str) -> bool:
    """Whether rule text can show the name without quotes: words and whole numbers, none of them a keyword."""
    return _PLAIN.fullmatch(name) is not None and not any(is_keyword(word) for word in name.split(" "))


def quoted(name: str) -> str:
    """The name as rule text shows it: plain names as they are, others in single quotes."""
    return name if is_plain(name) else f"'{name}'"


def shown(text: str) -> str:
    """A stretch of text for an error message: quoted, and cut where it is long."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


def suggestion(name: str, options: Collection[str]) -> str:
    """`; did you mean 'hot'?`, the options where they are few, or nothing."""
    if len(name) <= _SHOWN and len(options) <= _COMPARED:
        folded = {option.casefold(): option for option in options}
        close = get_close_matches(name.casefold(), folded, n=1)
        if close:
            return f"; did you mean {folded[close[0]]!r}?"
    if 0 < len(options) <= 8:
        return f"; there is {', '.join(shown(option) for option in options)}"
    return ""


def keyword_hint(name: str) -> str:
    """`; is 'THN' meant to be THEN?` where a word of a name nobody knows looks like a keyword, or nothing."""
    for word in name[:_SHOWN].split(" ")[1:]:
        close = get_close_matches(word.upper(), KEYWORDS, n=1, cutoff=0.75)
        if close:
            return f"; is {word!r} meant to be {close[0]}?"
    return ""
