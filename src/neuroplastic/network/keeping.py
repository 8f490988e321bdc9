"""Tensors that a module keeps can be used by any later pass, whatever mode they are made in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def keeping() -> Iterator[None]:
    """Make tensors to keep: without a graph, and never inference tensors, which no later pass with gradients can use.

    Also a decorator.
    """
    if torch.is_inference_mode_enabled():
        with torch.inference_mode(False), torch.no_grad():  # leaving inference mode switches gradients on
            yield
    else:
        with torch.no_grad():
            yield
