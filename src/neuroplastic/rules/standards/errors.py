"""What reading and writing fuzzy standards raises: a standard lacks words for something, or a file is malformed."""

from __future__ import annotations

from ...errors import NeuroplasticError, in_short

# Of a message: whatever of a file it quotes, it stays a line that a person reads.
_LONGEST = 900


class StandardError(NeuroplasticError, ValueError):
    """Root of what FML, FCL, .fis and ONNX files and their writers raise."""

    def __init__(self, message: str) -> None:
        super().__init__(in_short(message, _LONGEST))


class NotExpressibleError(StandardError):
    """One side has no words for what the other says; the message names the option and the fix."""


class FileFormatError(StandardError):
    """A file is not what its format asks for; the message names the line."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        place = (
            "" if line is None else f"line {line}: " if column is None else f"line {line}, column {column}: "
        )
        super().__init__(place + message)
        self.line, self.column = line, column
