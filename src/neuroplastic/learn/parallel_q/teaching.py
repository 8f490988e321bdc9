"""What games advise as a second thing to learn from: the advised action is to be worth more than any other."""

from __future__ import annotations

import torch
from torch import Tensor


def margin_loss(values: Tensor, advice: Tensor, margin: float) -> Tensor:
    """By how much action values (B, A) fall short of preferring the advised actions (B,) by the margin, on average.

    With the advised action e and the margin m, max(Q(s, e), max_{a != e} Q(s, a) + m) - Q(s, e), as in deep
    Q-learning from demonstrations (Hester et al. 2018, Eq. 2); 0 where there is no advice (below 0).
    """
    advised = advice.clamp(min=0)[:, None]
    worth = values.gather(1, advised)
    others = (values + margin).scatter(1, advised, worth)
    short = others.max(dim=1).values - worth.squeeze(1)
    return torch.where(advice >= 0, short, 0.0).mean()
