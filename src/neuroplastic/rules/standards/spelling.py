"""Names of variables and terms as the identifiers that formats allow."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace

from ..rule_base import Variable
from .system import System

# Letters with which a name may start in XML, beyond ASCII.
_XML_LETTERS = "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u3001-\ud7ff\uf900-\ufdcf"
_NOT_XML = re.compile(f"[^A-Za-z0-9_{_XML_LETTERS}]+")
_NOT_ASCII = re.compile("[^A-Za-z0-9_]+")


class Identifiers:
    """Names as identifiers, each given out once whatever its case.

    Runs of other characters become one underscore ("very low" is written very_low); a name that loses everything
    is numbered; one that is taken or reserved gets a number behind it.
    """

    def __init__(self, *, xml: bool = False, reserved: Iterable[str] = ()) -> None:
        self._xml = xml
        self._taken = set(reserved)
        self._counts: dict[str, int] = {}

    def give(self, name: str, fallback: str) -> str:
        """An identifier like `name` that was not given before."""
        if self._xml:
            found = _NOT_XML.sub("_", name).strip("_")
        else:
            plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
            found = _NOT_ASCII.sub("_", plain).strip("_")
        found = found or fallback
        if found[0].isdigit():
            found = f"n{found}"
        unique = found
        while unique.casefold() in self._taken:
            count = self._counts[found.casefold()] = self._counts.get(found.casefold(), 1) + 1
            unique = f"{found}_{count}"
        self._taken.add(unique.casefold())
        return unique


def spelled(system: System, *, xml: bool = False, reserved: Iterable[str] = ()) -> System:
    """The system with identifiers for names.

    In XML all names share one space (they are of type ID), so a term is written variable_term; elsewhere terms
    only have to differ within their variable.
    """
    reserved = tuple(reserved)
    names = Identifiers(xml=xml, reserved=reserved)
    inputs = [names.give(variable.name, f"x{d}") for d, variable in enumerate(system.inputs, 1)]
    outputs = [names.give(output.name, f"y{o}") for o, output in enumerate(system.outputs, 1)]

    def terms(variable: str, old: Iterable[str]) -> list[str]:
        if xml:
            return [names.give(f"{variable}_{name}", f"{variable}_{t}") for t, name in enumerate(old, 1)]
        own = Identifiers(reserved=reserved)
        return [own.give(name, f"term{t}") for t, name in enumerate(old, 1)]

    return replace(
        system,
        inputs=tuple(
            Variable(
                name,
                tuple(
                    replace(term, name=new)
                    for term, new in zip(old.terms, terms(name, (t.name for t in old.terms)), strict=True)
                ),
            )
            for name, old in zip(inputs, system.inputs, strict=True)
        ),
        outputs=tuple(
            replace(
                old,
                name=name,
                decisions=tuple(
                    replace(decision, name=new)
                    for decision, new in zip(
                        old.decisions, terms(name, (d.name for d in old.decisions)), strict=True
                    )
                ),
            )
            for name, old in zip(outputs, system.outputs, strict=True)
        ),
    )
