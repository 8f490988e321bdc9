"""From a network and observations to an explanation whose parts add up to the network's own output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..errors import ConfigError, InputError
from ..network.antecedent import check_input
from ..network.hierarchy import Hierarchy
from ..network.nfn import NeuroFuzzyNetwork
from .explanation import Explanation
from .reading import rule_base, rule_bases
from .rule_base import Indices, Linear, Numbers, RuleBase
from .scaling import Scaling
from .scoring import Scoring

# Decisions of all rules are made for so many numbers at once; a large batch goes through in parts.
NUMBERS_AT_ONCE = 1 << 22


def explain(
    net: NeuroFuzzyNetwork | Hierarchy,
    x: Any,
    *,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    scaler: Any = None,
    output_scaler: Any = None,
    terms: Mapping[str, Sequence[str]] | None = None,
) -> Explanation:
    """Why the network answers as it does for x (B, D), or for one observation (D,), in evaluation mode.

    `scaler` makes the network's inputs of x, which is then in raw units, and `output_scaler` made its targets:
    fitted scikit-learn scalers or pairs (offset, scale). `terms` gives the sets names of your own, as in
    `npl.rule_base`. A hierarchy is explained level by level; the result is the top level, and `below` leads down.
    """
    explainer = Explainer(
        net,
        feature_names=feature_names,
        output_names=output_names,
        scaler=scaler,
        output_scaler=output_scaler,
        terms=terms,
    )
    return explainer(x)


class Explainer:
    """Explains one network again and again: its rules are read once, when this is made.

    Make a new one after the network has learned on; this one would still tell of the rules it read.
    """

    def __init__(
        self,
        net: NeuroFuzzyNetwork | Hierarchy,
        *,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        scaler: Any = None,
        output_scaler: Any = None,
        terms: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        if not isinstance(net, (NeuroFuzzyNetwork, Hierarchy)):
            raise ConfigError(f"net must be a NeuroFuzzyNetwork or a Hierarchy, got {type(net).__name__}")
        self.net = net
        self.networks = tuple(net.levels) if isinstance(net, Hierarchy) else (net,)
        first, last = self.networks[0], self.networks[-1]
        self.scaling = None if scaler is None else Scaling.of(scaler, first.in_features)
        self.output_scaling = Scaling.of(output_scaler, last.out_features)
        names: dict[str, Any] = {
            "feature_names": feature_names,
            "output_names": output_names,
            "scaler": scaler,
            "output_scaler": output_scaler,
        }
        self.rule_bases: tuple[RuleBase, ...]
        if len(self.networks) == 1:
            self.rule_bases = (rule_base(first, terms=terms, **names),)
        elif terms is None and isinstance(net, Hierarchy):
            self.rule_bases = rule_bases(net, **names)
        else:
            raise ConfigError("terms cannot be given for a hierarchy of several levels, got " + repr(terms))
        self.scorings = tuple(Scoring.of(rules) for rules in self.rule_bases)

    def __call__(self, x: Any) -> Explanation:
        """Explain x (B, D), or one observation (D,)."""
        raw, seen = self._inputs(x)
        below: Explanation | None = None
        with evaluating(self.net), torch.no_grad():
            for network, rules, scoring in zip(self.networks, self.rule_bases, self.scorings, strict=True):
                answer = network(seen)
                output = numbers(answer)
                if rules is self.rule_bases[-1]:
                    output = self.output_scaling.raw(output)
                firing = numbers(network.firing(seen))
                below = _explanation(rules, scoring, raw, output, firing, below)
                raw, seen = below.output, answer
        assert below is not None
        return below

    def _inputs(self, x: Any) -> tuple[Numbers, Tensor]:
        """Observations (B, D) in raw units, and as the network sees them."""
        first = self.networks[0]
        like = first.centers.detach()
        tensor = x if isinstance(x, Tensor) else torch.as_tensor(_array(x))
        tensor = tensor.detach().to(like.device)
        tensor = tensor.unsqueeze(0) if tensor.dim() == 1 else tensor
        if not tensor.is_floating_point():
            tensor = tensor.to(torch.float64)
        check_input(tensor, first.in_features)
        raw = numbers(tensor)
        if self.scaling is not None or not isinstance(x, Tensor):
            seen = raw if self.scaling is None else self.scaling.seen(raw)
            tensor = torch.from_numpy(seen).to(like)
            check_input(tensor, first.in_features)
        return raw, tensor


def _array(x: Any) -> Numbers:
    try:
        return np.array(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"x must be numbers of shape (B, D) or (D,): {error}") from error


def numbers(tensor: Tensor) -> Numbers:
    """A tensor's values in double precision, apart from it."""
    values: Numbers = tensor.detach().to("cpu", torch.float64).numpy().copy()
    return values


@contextmanager
def evaluating(net: nn.Module) -> Iterator[None]:
    """Evaluation mode for a while; every part then has its own mode again."""
    modes = [(part, part.training) for part in net.modules()]
    net.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


def _explanation(
    rules: RuleBase,
    scoring: Scoring,
    x: Numbers,
    output: Numbers,
    firing: Numbers,
    below: Explanation | None,
) -> Explanation:
    rows, fired = firing.nonzero()
    order = np.lexsort((fired, -firing[rows, fired], rows))
    rows, fired = rows[order], fired[order]
    starts = np.concatenate([[0], np.cumsum((firing > 0).sum(axis=1))])
    levels = firing[rows, fired]
    shares = _shares(rules, x, rows, fired, levels)
    shares = _adding_up(shares, levels, output, rows, starts)
    return Explanation(rules, x, output, starts, fired, levels, shares, scoring, below)


def _shares(rules: RuleBase, x: Numbers, rows: Indices, fired: Indices, firing: Numbers) -> Numbers:
    """What each fired rule adds to each output, (F, O): firing times decision.

    Centre of area: `firing * width * center / sum(firing * width)`, whose weights add up to 1 as well.
    """
    consequents = rules.consequents
    if isinstance(consequents, Linear):
        return firing[:, None] * _decisions(consequents, x, rows, fired)
    tables = [(o, [(t.center, t.width) for t in variable.terms]) for o, variable in enumerate(rules.outputs)]
    chosen = np.stack([np.array(sets)[consequents.terms[:, o]] for o, sets in tables], axis=1)[fired]
    weight: Numbers = np.repeat(firing[:, None], len(tables), axis=1)
    if consequents.defuzzifier == "area":
        weight = weight * chosen[..., 1]
        total = np.zeros((len(x), len(tables)))
        np.add.at(total, rows, weight)
        weight = weight / total[rows]
    shares: Numbers = weight * chosen[..., 0]
    return shares


def _decisions(consequents: Linear, x: Numbers, rows: Indices, fired: Indices) -> Numbers:
    """What each fired rule decides, (F, O)."""
    decided: Numbers = consequents.bias[fired]
    if consequents.is_constant:
        return decided
    count, outputs, attributes = consequents.weight.shape
    weight = consequents.weight.reshape(count * outputs, attributes).T
    size = max(1, NUMBERS_AT_ONCE // (count * outputs))
    places = np.searchsorted(rows, np.arange(0, len(x) + size, size))
    for block, (start, end) in enumerate(pairwise(places.tolist())):
        first = block * size
        linear = (x[first : first + size] @ weight).reshape(-1, count, outputs)
        decided[start:end] += linear[rows[start:end] - first, fired[start:end]]
    return decided


def _adding_up(shares: Numbers, firing: Numbers, output: Numbers, rows: Indices, starts: Indices) -> Numbers:
    """The shares with the network's own rounding spread over them by their magnitude, so that they add up.

    A single-precision network's output is its exact sum only to some 1e-7; each share moves by as little.
    """
    total = np.add.reduceat(shares, starts[:-1], axis=0) if len(output) else np.zeros_like(output)
    size = np.abs(shares)
    reach = np.add.reduceat(size, starts[:-1], axis=0) if len(output) else np.zeros_like(output)
    # With no magnitudes to go by (all shares 0), by firing, which adds up to 1.
    part = np.where(reach[rows] > 0, size / np.where(reach > 0, reach, 1)[rows], firing[:, None])
    return shares + (output - total)[rows] * part
