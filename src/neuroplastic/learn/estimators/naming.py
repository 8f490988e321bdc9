"""Column and class names as a rule base takes them: one line, no quotes, none twice; what explanations need besides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...errors import ConfigError, suggestion
from ...network.nfn import NeuroFuzzyNetwork
from ...rules.explanations.limits import Choice, Limits
from ...rules.names import ANY
from ...rules.naming import Naming
from ...rules.reading import read_rules
from ...rules.true_names import NamedSet, category_names
from .encoding import MISSING, Encoder
from .rows import Numbers


def readable(names: Iterable[object]) -> list[str]:
    """The names as text on one line without blanks around; empty ones numbered, repeated ones too.

    Rule text quotes names by ', so one in a name becomes the apostrophe of print: O’Neil.
    """
    found: dict[str, None] = {}  # in order; of many names a list would be searched for each
    counts: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        word = " ".join(str(name).replace("'", "\u2019").split()) or f"unnamed {number}"
        unique = word
        while unique in found:
            counts[word] = counts.get(word, 1) + 1
            unique = f"{word} ({counts[word]})"
        found[unique] = None
    return list(found)


def naming_of(
    net: NeuroFuzzyNetwork,
    encoder: Encoder,
    outputs: list[str],
    scaler: tuple[Numbers, Numbers],
    output_scaler: tuple[Numbers, Numbers] | None,
    *,
    classes: bool,
    words: Mapping[str, Sequence[str]] | None,
    quantiles: Numbers | None,
    kept: Mapping[str, Sequence[NamedSet]] | None,
) -> Naming:
    """The names of an estimator's inputs, outputs and crisp sets, its units, and what true names are made of."""
    names = readable(encoder.names)
    terms = {}
    for column, categories in encoder.crisp.items():
        there = net.antecedent.covering_mask[column].cpu().numpy()
        centers, widths = (
            scaler[1][column] * values[column].detach().double().cpu().numpy()[there]
            for values in (net.centers, net.widths)
        )
        order = np.argsort(centers, kind="stable")
        known = readable(word if word != ANY else f"{ANY} of them" for word in categories)
        missing = categories.index(MISSING) if MISSING in categories else None
        terms[names[column]] = category_names(
            scaler[0][column] + centers[order], widths[order], known, missing
        )
    mine = _usable(words, names, encoder)
    return Naming(names, outputs, scaler, output_scaler, terms or None, classes, mine, quantiles, kept)


def _usable(
    words: Mapping[str, Sequence[str]] | None, names: list[str], encoder: Encoder
) -> dict[str, Sequence[str]] | None:
    """The words for columns that rules can ask for; those of others are not needed."""
    check_words(words, encoder)
    return {name: given for name, given in (words or {}).items() if name in names} or None


def check_words(words: Mapping[str, Sequence[str]] | None, encoder: Encoder) -> None:
    """Raise a ConfigError that names what has words and is no column."""
    columns = (name for column in encoder.columns for name in (column.name, column.title))
    known = {*readable(encoder.names), *columns}
    for name in words or {}:
        if name not in known:
            raise ConfigError(f"words has {name!r}, which is no column{suggestion(str(name), known)}")


def named_sets(net: NeuroFuzzyNetwork, naming: Naming) -> dict[str, list[NamedSet]]:
    """The sets of a network by input, with their names as they are without words of one's own, which may change.

    Names of values and categories are left out: they do not depend on what other sets there are.
    """
    crisp = naming.terms or {}
    return {
        variable.name: [
            NamedSet(term.name, term.center, term.width)
            for term in variable.terms
            if not _is_number(term.name)
        ]
        for variable in read_rules(net, replace(naming, words=None)).inputs
        if variable.terms and variable.name not in crisp
    }


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def limits_of(encoder: Encoder, ends: Numbers | None) -> Limits:
    """Where counterfactuals may lead: numbers to between the ends (2, D) in training, categories to one another."""
    choices = []
    for column, places in encoder.groups.items():
        values: Numbers = np.eye(len(column.categories))
        if encoder.form != "one_hot":
            values = np.column_stack([np.arange(float(len(values))), values])[:, : len(places)]
        (name,) = readable([column.name])
        choices.append(Choice(name, places, column.categories, values))
    low, high = (np.full(encoder.width, end) for end in (-np.inf, np.inf)) if ends is None else ends
    return Limits(low, high, tuple(choices))
