"""FCL text as a row of words, numbers and marks, with comments left out and places kept for errors."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from .errors import FileFormatError
from .text import check_length, number, shown

_TOKEN = re.compile(
    r"(?P<number>[-+]?(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][-+]?\d+)?)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark>:=|\.\.|[-+*/^%:;,()|])",
    re.ASCII,
)
_COMMENTS = {"(*": "*)", "/*": "*/", "//": "\n"}


class Token(NamedTuple):
    """A word, a number or a mark, and where it starts in the text."""

    kind: str
    text: str
    position: int
    key: str = ""
    """the text in small letters: FCL does not tell them from capitals"""


class Tokens:
    """The tokens of a text, taken one after the other."""

    def __init__(self, text: str) -> None:
        check_length(text)
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._tokens = _tokens(self, text)
        self._tokens.append(Token("end", "", len(text)))
        self._at = 0

    @property
    def next(self) -> Token:
        """The token that comes next; of kind 'end' after the last."""
        return self._tokens[self._at]

    def place(self, position: int) -> tuple[int, int]:
        """Line and column, both from 1."""
        line = bisect_right(self._line_starts, position)
        return line, position - self._line_starts[line - 1] + 1

    def line(self) -> int:
        """The line of the next token."""
        return self.place(self.next.position)[0]

    def error(self, message: str, token: Token | None = None) -> FileFormatError:
        """An error at a token, by default at the next."""
        return FileFormatError(message, *self.place((token or self.next).position))

    def take(self) -> Token:
        """The next token, and step on."""
        token = self._tokens[self._at]
        if token.kind != "end":
            self._at += 1
        return token

    def accept(self, *keys: str) -> bool:
        """Step over the next token if it is one of `keys`."""
        if self._tokens[self._at].key in keys:  # the end has no key
            self._at += 1
            return True
        return False

    def expect(self, *keys: str) -> Token:
        """The next token, which must be one of `keys`."""
        if self.next.key not in keys:
            raise self.error(f"expected {' or '.join(key.upper() for key in keys)}, got {self._seen()}")
        return self.take()

    def word(self, what: str) -> Token:
        """The next token, which must be a word."""
        if self.next.kind != "word":
            raise self.error(f"expected {what}, got {self._seen()}")
        return self.take()

    def number(self, what: str) -> float:
        """The next token, which must be a number."""
        token = self.take()
        return (
            number(token.text, what, *self.place(token.position))
            if token.kind == "number"
            else self._no(token, what)
        )

    def _no(self, token: Token, what: str) -> float:
        raise self.error(f"{what} must be a number, got {shown(token.text)}", token)

    def _seen(self) -> str:
        return "the end of the file" if self.next.kind == "end" else shown(self.next.text)


def _tokens(tokens: Tokens, text: str) -> list[Token]:
    found: list[Token] = []
    position, length = 0, len(text)
    while position < length:
        if text[position].isspace():
            position += 1
            continue
        closing = _COMMENTS.get(text[position : position + 2])
        if closing is not None:
            end = text.find(closing, position + 2)
            if end < 0 and closing != "\n":
                raise tokens.error("a comment is not closed", Token("mark", "", position))
            position = length if end < 0 else end + len(closing)
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            raise tokens.error(f"{shown(text[position])} has no place in FCL", Token("mark", "", position))
        word = match.group()
        found.append(Token(str(match.lastgroup), word, position, word.lower()))
        position = match.end()
    return found
