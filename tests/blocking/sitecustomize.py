"""Python imports this file first of all where its folder is on the path: packages named by a variable are not there.

So a command and all processes that it starts run as they would where those packages were never installed.
"""

import os
import sys
from collections.abc import Iterable

VARIABLE = "NEUROPLASTIC_TESTS_WITHOUT"


class Without:
    """A finder of modules that does not find some packages."""

    def __init__(self, finder, packages: frozenset[str]) -> None:
        self._finder, self._packages = finder, packages

    def find_spec(self, name, path=None, target=None):
        return (
            None if name.partition(".")[0] in self._packages else self._finder.find_spec(name, path, target)
        )

    def __getattr__(self, name: str):
        return getattr(self._finder, name)


def block(packages: Iterable[str]) -> None:
    """Let this process and those that it starts be without the packages."""
    names = frozenset(packages)
    there = sorted(names & set(sys.modules))
    assert not there, f"{there} have been imported already"
    os.environ[VARIABLE] = " ".join(sorted(names))
    sys.meta_path[:] = [Without(finder, names) for finder in sys.meta_path]


if os.environ.get(VARIABLE):
    block(os.environ[VARIABLE].split())
