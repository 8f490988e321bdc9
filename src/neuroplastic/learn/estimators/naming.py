"""Column and class names as a rule base takes them: one line, no quotes, none twice; what explanations need besides."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...network.nfn import NeuroFuzzyNetwork
from ...rules.explanations.limits import Choice, Limits
from ...rules.names import ANY
from ...rules.naming import Naming
from .encoding import Encoder
from .rows import Numbers


def readable(names: Iterable[object]) -> list[str]:
    """The names as text without quotes, line breaks and blanks around; empty ones numbered, repeated ones too."""
    found: dict[str, None] = {}  # in order; of many names a list would be searched for each
    counts: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        word = " ".join(str(name).replace("'", " ").split()) or f"unnamed {number}"
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
) -> Naming:
    """The names of an estimator's inputs, outputs and crisp sets, and its units."""
    names = readable(encoder.names)
    terms = {}
    for column, categories in encoder.crisp.items():
        there = net.antecedent.covering_mask[column].cpu().numpy()
        centers = net.centers[column].detach().double().cpu().numpy()[there]
        places = np.rint(np.sort(scaler[0][column] + scaler[1][column] * centers)).astype(np.int64)
        words = readable(word if word != ANY else f"{ANY} of them" for word in categories)
        terms[names[column]] = [words[place] for place in places]
    return Naming(names, outputs, scaler, output_scaler, terms or None, classes)


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
