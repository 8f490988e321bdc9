"""The page of the mathematics leads from every equation of the paper to a function that says it is the one."""

import re
from importlib import import_module
from typing import Any

import pytest

from tests.pages import DOCS

PAGE = (DOCS / "concepts" / "mathematics.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (\d+|Appendix \w) \|(.*)$", PAGE, re.MULTILINE))


def found(address: str) -> tuple[Any, Any]:
    """The object of a dotted address, and the module that it is defined in."""
    parts = address.split(".")
    for count in range(len(parts), 0, -1):
        try:
            thing: Any = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            thing = getattr(thing, name)
        return thing, import_module(thing.__module__)
    raise ModuleNotFoundError(address)


def cited(text: str) -> set[str]:
    """Equations and appendices that a text names: `Eq. 6`, `Eqs. 13-15`, `Appendix A`."""
    names = set(re.findall(r"Appendix \w", text))
    for first, last in re.findall(r"Eqs?\. (\d+)(?:-(\d+))?", text):
        names |= {str(number) for number in range(int(first), int(last or first) + 1)}
    return names


def test_the_table_has_every_equation_and_appendix_of_the_paper():
    assert list(ROWS) == [*map(str, range(1, 16)), "Appendix A", "Appendix B"]


@pytest.mark.parametrize("equation", ROWS)
def test_the_functions_of_an_equation_cite_it(equation):
    addresses = re.findall(r"\]\[([\w.]+)\]", ROWS[equation])
    assert addresses
    for address in addresses:
        thing, module = found(address)
        assert equation in cited(f"{thing.__doc__} {module.__doc__}"), address
