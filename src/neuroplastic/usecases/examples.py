"""Tables to try things with, of those that scikit-learn brings along: nothing is fetched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import choose


@dataclass(frozen=True)
class ExampleTable:
    """A table that is at hand everywhere."""

    title: str
    question: str
    """what is to be learned from it"""
    loader: str
    """of sklearn.datasets"""
    target: str
    """what its last column is called"""


EXAMPLES = {
    "iris": ExampleTable("Iris", "which flower is it, by its leaves?", "load_iris", "species"),
    "wine": ExampleTable("Wine", "which grower, by a chemist's figures?", "load_wine", "grower"),
    "tumours": ExampleTable("Tumours", "benign or malignant?", "load_breast_cancer", "finding"),
    "diabetes": ExampleTable("Diabetes", "how far in a year? A number", "load_diabetes", "progression"),
}


def example_table(name: str) -> bytes:
    """An example as a CSV file, its target in the last column, classes by their names."""
    from sklearn import datasets

    example = EXAMPLES[choose("the example", name, tuple(EXAMPLES))]
    load: Callable[..., Any] = getattr(datasets, example.loader)
    raw = {"scaled": False} if name == "diabetes" else {}
    found = load(as_frame=True, **raw)
    frame = found.frame.drop(columns="target")
    names = getattr(found, "target_names", None)
    frame[example.target] = found.target if names is None else [str(names[k]) for k in found.target]
    text: str = frame.to_csv(index=False)
    return text.encode()
