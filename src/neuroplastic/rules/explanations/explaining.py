"""From a network and observations to an explanation whose parts add up to the network's own output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...errors import ConfigError, InputError
from ...network.hierarchy import Hierarchy
from ...network.inputs import check_input
from ...network.nfn import NeuroFuzzyNetwork
from ...network.settled import Settled
from ..estimators import FittedEstimator, is_estimator
from ..naming import Naming
from ..networks import evaluating, levels_of, numbers
from ..reading import read_levels
from ..rule_base import Numbers, RuleBase
from ..scaling import Scaling
from .explanation import Explanation
from .limits import Limits
from .scoring import Scoring
from .sharing import adding_up, shares_of


def explain(
    net: NeuroFuzzyNetwork | Hierarchy | FittedEstimator,
    x: Any,
    *,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    scaler: Any = None,
    output_scaler: Any = None,
    terms: Mapping[str, Sequence[str]] | None = None,
) -> Explanation:
    """Why the network answers as it does for x (B, D), or for one observation (D,), in evaluation mode.

    A fitted estimator explains itself: it has names and scales of its own, so none may be given.

    `scaler` makes the network's inputs of x, which is then in raw units, and `output_scaler` made its targets:
    fitted scikit-learn scalers or pairs (offset, scale). `terms` gives the sets names of your own, as in
    `npl.rule_bases`. A hierarchy is explained level by level; the result is the top level, and `below` leads down.
    """
    naming = Naming(feature_names, output_names, scaler, output_scaler, terms)
    if is_estimator(net):
        if not naming.is_empty:
            raise ConfigError(
                f"a fitted {type(net).__name__} has names and scales of its own: call explain(model, X) without "
                "them, or explain model.network_"
            )
        return net.explain(_rows(x))
    return Explainer.named(net, naming)(x)


class Explainer:
    """Explains one network again and again: its rules are read when this is made, and anew when it has changed."""

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
        self._begin(net, Naming(feature_names, output_names, scaler, output_scaler, terms), None)

    @classmethod
    def named(
        cls, net: NeuroFuzzyNetwork | Hierarchy, naming: Naming, limits: Limits | None = None
    ) -> Explainer:
        """One that is told all names and units in one, and how far the attributes of the first level may change."""
        made = cls.__new__(cls)
        made._begin(net, naming, limits)
        return made

    def _begin(self, net: NeuroFuzzyNetwork | Hierarchy, naming: Naming, limits: Limits | None) -> None:
        self.net, self.naming, self.limits = net, naming, limits
        self.networks = levels_of(net)
        first, last = self.networks[0], self.networks[-1]
        self.scaling = None if naming.scaler is None else Scaling.of(naming.scaler, first.in_features)
        self.output_scaling = Scaling.of(naming.output_scaler, last.out_features)
        self._settled: Settled[tuple[tuple[RuleBase, ...], tuple[Scoring, ...]]] = Settled()
        self._rules()

    @property
    def rule_bases(self) -> tuple[RuleBase, ...]:
        """The rules of the levels as they are now."""
        return self._rules()[0]

    def _rules(self) -> tuple[tuple[RuleBase, ...], tuple[Scoring, ...]]:
        """Rule bases and scorings of the levels, kept until a tensor of the network changes."""
        return self._settled.value([*self.net.parameters(), *self.net.buffers()], self._read)

    def _read(self) -> tuple[tuple[RuleBase, ...], tuple[Scoring, ...]]:
        bases = read_levels(self.net, self.naming)
        return bases, tuple(Scoring.of(rules) for rules in bases)

    def of_features(self, features: Tensor) -> Explanation:
        """The decisions on features (B, D) as the network sees them, told in the scaler's units."""
        return self(features if self.scaling is None else self.scaling.raw(numbers(features)))

    def __call__(self, x: Any) -> Explanation:
        """Explain x (B, D), or one observation (D,)."""
        bases, scorings = self._rules()
        raw, seen = self._inputs(x)
        below: Explanation | None = None
        with evaluating(self.net), torch.no_grad():
            for network, rules, scoring in zip(self.networks, bases, scorings, strict=True):
                answer = network(seen)
                output = numbers(answer)
                if rules is bases[-1]:
                    output = self.output_scaling.raw(output)
                firing = numbers(network.firing(seen))
                limits = self.limits if below is None else None
                below = _explanation(rules, scoring, raw, output, firing, below, limits)
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


def _rows(x: Any) -> Any:
    """Rows as an estimator takes them: a data frame as it is, for its names; one observation (D,) as one row."""
    if hasattr(x, "columns"):
        return x
    return np.atleast_2d(numbers(x) if isinstance(x, Tensor) else _array(x))


def _array(x: Any) -> Numbers:
    try:
        return np.array(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"x must be numbers of shape (B, D) or (D,): {error}") from error


def _explanation(
    rules: RuleBase,
    scoring: Scoring,
    x: Numbers,
    output: Numbers,
    firing: Numbers,
    below: Explanation | None,
    limits: Limits | None,
) -> Explanation:
    if not (np.isfinite(output).all() and (firing.sum(axis=1) > 0).all()):
        raise InputError(
            "what is not finite cannot be explained; x, or numbers of the network, are too great"
        )
    rows, fired = firing.nonzero()
    order = np.lexsort((fired, -firing[rows, fired], rows))
    rows, fired = rows[order], fired[order]
    starts = np.concatenate([[0], np.cumsum((firing > 0).sum(axis=1))])
    levels = firing[rows, fired]
    shares = adding_up(shares_of(rules, x, rows, fired, levels), levels, output, rows, starts)
    return Explanation(rules, x, output, starts, fired, levels, shares, scoring, below, limits)
