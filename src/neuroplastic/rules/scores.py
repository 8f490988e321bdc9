"""From log-firings to the scores that entmax gets, in NumPy: what `fuzzy.firing.scores` does to tensors.

Layer norm and certainty are one line per rule, `score = slope (w - mean_u w) / S + level` with the layer norm's
deviation S, or `slope w + level` without it. Explanations take it apart, and ONNX graphs are written in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..fuzzy.firing import LAYER_NORM_EPS, Firing
from .rule_base import Numbers


class ScoreLine(NamedTuple):
    """Slope and level of every rule's score, (U,) each."""

    slope: Numbers
    level: Numbers

    @classmethod
    def of(
        cls,
        firing: Firing,
        rules: int,
        *,
        gain: Numbers | None,
        shift: Numbers | None,
        certainty: Numbers | None,
    ) -> ScoreLine:
        """From gain and shift of the layer norm and the certainty as stored; None where there is none."""
        slope = np.ones(rules) if gain is None else gain.copy()
        level = np.zeros(rules) if shift is None else shift.copy()
        if certainty is not None and firing.certainty == "tanh":
            slope, level = slope * np.tanh(certainty), level * np.tanh(certainty)
        elif certainty is not None:
            level = level + log_certainty(certainty)
        return cls(slope, level)

    def scores(self, w: Numbers, *, layer_norm: bool) -> Numbers:
        """Scores (B, U) of log-firings (B, U): after layer norm and certainty, before entmax."""
        if layer_norm:
            w = (w - w.mean(axis=1, keepdims=True)) / np.sqrt(norm_variance(w))[:, None]
        scores: Numbers = self.slope * w + self.level
        return scores


def norm_variance(w: Numbers) -> Numbers:
    """What the layer norm divides log-firings (..., U) by the root of: their variance over the rules, plus 1e-5."""
    variance: Numbers = w.var(axis=-1) + LAYER_NORM_EPS
    return variance


def log_certainty(certainty: Numbers) -> Numbers:
    """`log sigmoid(certainty)`, what a certainty of the form 'log' adds."""
    logs: Numbers = -np.logaddexp(0, -certainty)
    return logs
