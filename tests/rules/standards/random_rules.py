"""Random rule bases of all kinds that the standards can express, and what they compute."""

import numpy as np
import torch

import neuroplastic as npl
from neuroplastic.rules.building import network_of
from neuroplastic.rules.names import term_names
from neuroplastic.rules.rule_base import IGNORED, Conclusions, Linear, RuleBase, Term, Variable

KINDS = ("constant", "affine", "height", "area")


def random_rules(
    seed,
    *,
    kind="affine",
    certain=False,
    inputs=3,
    outputs=2,
    rules=6,
    terms=3,
    ignore=0.25,
    reduce="sum",
):
    """A rule base with random sets, premises (some ignored) and consequents; area has one output."""
    rng = np.random.default_rng(seed)
    if kind == "area":
        outputs = 1
    variables = tuple(Variable(f"x{d + 1}", _terms(rng, rng.integers(1, terms + 1))) for d in range(inputs))
    premises = np.stack([rng.integers(len(v.terms), size=rules) for v in variables], axis=1)
    premises[rng.random(premises.shape) < ignore] = IGNORED
    if kind in ("constant", "affine"):
        results = tuple(Variable(f"y{o + 1}") for o in range(outputs))
        weight = rng.normal(size=(rules, outputs, inputs if kind == "affine" else 0))
        consequents = Linear(weight, rng.normal(size=(rules, outputs)))
    else:
        results = tuple(Variable(f"y{o + 1}", _terms(rng, 4)) for o in range(outputs))
        consequents = Conclusions(rng.integers(4, size=(rules, outputs)), kind)
    return RuleBase(
        variables,
        results,
        premises,
        consequents,
        npl.Firing(reduce, alpha=1.0, layer_norm=False, certainty="log" if certain else None),
        rng.normal(size=rules) if certain else None,
    )


def _terms(rng, count):
    centers = np.sort(rng.uniform(-2, 2, size=count))
    return tuple(
        Term(name, float(center), float(width))
        for name, center, width in zip(term_names(count), centers, rng.uniform(0.4, 1.5, count), strict=True)
    )


def outputs_of(rules, x):
    """What the network with these rules computes, in float64."""
    with torch.no_grad():
        return network_of(rules, dtype=torch.float64).eval()(torch.from_numpy(x)).numpy()


def grid(inputs, points=5):
    """A grid over the inputs' range."""
    axes = np.meshgrid(*[np.linspace(-2.5, 2.5, points)] * inputs)
    return np.stack([axis.ravel() for axis in axes], axis=1)
