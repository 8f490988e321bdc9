"""The command line's parser: a mistake is one line with the nearest right word; nothing heavy is imported."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import importlib.util
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..errors import ConfigError, InputError, NeuroplasticError, suggestion

Run = Callable[[argparse.Namespace], int]


class UsageError(NeuroplasticError):
    """The command line asks for something that does not exist."""


class Arguments(argparse.ArgumentParser):
    """An argument parser whose mistakes are UsageErrors that suggest what was meant."""

    takes_fields = False
    """Whether options that are not known here are handed on as `--name=value`, as for `train`."""
    late_epilog: Callable[[], str] | None = None
    """Makes the end of the help where that takes time."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._words: Sequence[str] = ()
        self.set_defaults(parser=self)  # of a command within a command, the inner one's counts

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and remember the words for the sake of errors."""
        self._words = () if args is None else tuple(args)
        fields, own = self._parted() if self.takes_fields else ([], args)
        found, rest = super().parse_known_args(own, namespace)
        return found, [*fields, *rest]

    def _parted(self) -> tuple[list[str], list[str]]:
        """The unknown options, each with its value, which would pass for an argument if it stood alone; the rest."""
        fields: list[str] = []
        own: list[str] = []
        waiting = False
        for word in self._words:
            option = word.startswith("--")
            if option and word.partition("=")[0] not in (*self._option_string_actions, "--"):
                fields.append(word)
                waiting = "=" not in word
                continue
            if waiting and not option:
                fields[-1] += f"={word}"
            else:
                own.append(word)
            waiting = False
        return fields, own

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """As argparse does it, but whether the help could be written is known before the very end."""
        sys.stdout.flush()
        super().exit(status, message)

    def format_help(self) -> str:
        """The help, with the part that takes time."""
        if self.late_epilog is not None:
            self.epilog = self.late_epilog()
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Raise a UsageError. An option that does not exist is named first: it explains what else is amiss."""
        inner = self._subparsers is not None
        self.check_unknown([word for word in self._words[: 1 if inner else None] if self._unknown(word)])
        message = message.removeprefix("argument ").replace(": must be", " must be", 1)
        name = self.prog.rpartition(" ")[2]
        message = message.replace("the following arguments are required:", f"{name} needs")
        message = message.replace(": expected one argument", " needs a value")
        raise UsageError(f"{message}; see: {self.prog} --help")

    @property
    def option_names(self) -> list[str]:
        """The command's long options, without their dashes."""
        return [name[2:] for name in self._option_string_actions if name.startswith("--")]

    def check_unknown(self, words: Sequence[str]) -> None:
        """Raise a UsageError for the first of the words that this command does not take."""
        for word in words:
            name = word.partition("=")[0]
            if self._unknown(name):
                hint = suggestion(name, [f"--{known}" for known in self.option_names])
                raise UsageError(f"unknown option {name}{hint or f'; see: {self.prog} --help'}")
        if words:
            raise UsageError(f"{words[0]!r} is one word too many; see: {self.prog} --help")

    def _unknown(self, word: str) -> bool:
        """Whether a word looks like an option, and is none of this command's nor short for one."""
        name = word.partition("=")[0]
        looks = name.startswith("-") and name.strip("-") != "" and not is_number(name) and " " not in name
        known = self._option_string_actions
        short = name.startswith("--") and self.allow_abbrev and any(one.startswith(name) for one in known)
        return looks and name not in known and not short and not self.takes_fields

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As argparse does it, but a mistyped command or choice gets a suggestion."""
        if action.choices is not None and value not in action.choices:
            names = [str(choice) for choice in action.choices]
            what = "/".join(action.option_strings) or action.metavar or action.dest
            hint = suggestion(str(value), names)
            raise UsageError(f"{what} must be one of {', '.join(names)}, got {value!r}{hint}")


def is_number(text: str) -> bool:
    """Whether a word is a number, so that -1 is no option."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def whole(least: int | None = None) -> Callable[[str], int]:
    """The type of an option that is a whole number of at least so much."""

    def parsed(text: str) -> int:
        try:
            found = int(text)
        except ValueError:
            found = None
        if found is None or (least is not None and found < least):
            bound = "" if least is None else f" of at least {least}"
            raise argparse.ArgumentTypeError(f"must be a whole number{bound}, got {text!r}")
        return found

    return parsed


def positive(text: str) -> float:
    """The type of an option that is a number above 0."""
    if not is_number(text) or not 0 < float(text) < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return float(text)


def of_field(configuration: type, name: str) -> dict[str, Any]:
    """Default and help of an option that is a field of a configuration, as `add_argument` takes them."""
    found = next(field for field in dataclasses.fields(configuration) if field.name == name)
    shown: dict[str, Any] = {"help": found.metadata["help"]}
    if found.default is not dataclasses.MISSING:
        # An option that may be repeated is appended to a list.
        shown["default"] = list(found.default) if isinstance(found.default, tuple) else found.default
    return shown


def add_import(command: argparse.ArgumentParser) -> None:
    """Let a command know tasks and learners of the user's own; `main` imports the modules."""
    command.add_argument(
        "--import",
        dest="modules",
        action="append",
        default=[],
        metavar="MODULE",
        help="import a module of your own first, which registers tasks, learners or the like (repeatable)",
    )


def add_threads(command: argparse.ArgumentParser, *, default: str = "1") -> None:
    """Let a command be told with how many threads it computes; `main` sees to it."""
    command.add_argument(
        "--threads",
        dest="computing_threads",
        type=whole(0),
        default=0 if default != "1" else 1,
        help=f"threads that compute (default: {default})",
    )


FASTER = "one, or one for each core, whichever is faster now"


def need_file(path: str) -> None:
    """Raise an InputError unless there is a file to read: before anything heavy is imported."""
    if not Path(path).is_file():
        what = "is a folder" if Path(path).is_dir() else "does not exist"
        raise InputError(f"{path} {what}; give a CSV or Parquet file")


def new_file(option: str, path: str, *, replace: bool = False) -> Path:
    """The path of a file to write, if its folder is there and nothing is overwritten, else a ConfigError."""
    target = Path(path)
    if not target.parent.is_dir():
        raise ConfigError(f"{option} {path}: there is no folder {target.parent}; make it first")
    if target.is_dir():
        raise ConfigError(f"{path} is a folder; {option} needs the name of a file")
    if target.exists() and not replace:
        raise ConfigError(f"{path} exists and is not overwritten; choose another {option}")
    return target


def late(module: str, function: str) -> Run:
    """A command in a module of this package that is imported when the command runs."""

    def run(options: argparse.Namespace) -> int:
        code: int = getattr(importlib.import_module(f".{module}", __package__), function)(options)
        return code

    return run


def installed(*modules: str) -> bool:
    """Whether modules can be imported, without importing them."""
    try:
        return all(importlib.util.find_spec(module) is not None for module in modules)
    except ImportError:
        return False
