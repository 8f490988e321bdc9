"""Fitting what is left of a network to what the whole one said: gains, certainty, consequents, sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from ...fuzzy.log_firing import Chosen, log_firing
from ...fuzzy.membership import WIDTH_FLOOR, precisions_from_widths
from .draft import Draft

# L-BFGS goes in bursts of this many iterations; between them the change is measured, to stop as soon as it is small.
BURST = 10
# Where the largest change counts, this power of the change bears down on it.
POWER = 6
# The price of a set that moves by its width or widens e-fold; a change as large as the scale everywhere costs 1.
# At 0.1 sets stay near their place and as many rules and premises go as with free sets.
MOVING = 0.1


class _DivergedError(Exception):
    """The loss is no longer a number; torch's line search cannot go on from there."""


def refitted(
    draft: Draft,
    x: Tensor,
    head: Callable[[Tensor], Tensor],
    reference: Tensor,
    unit: Tensor,
    *,
    enough: Callable[[Draft], bool],
    bursts: int,
    scale: float,
    largest: bool,
) -> Draft:
    """The draft with all its numbers fitted so that `head(outputs)` comes near `reference`, (B, O).

    By L-BFGS from the draft as it is, least squares of the changes d over `unit` (O,) and `scale`: `mean d**2`,
    with `largest` also `mean d**6`, which bears down on the largest ones, and a price on moving sets. After every
    burst of iterations `enough` may end it. The premises stay, and frozen parts do.
    """
    own = {
        name: values.clone().requires_grad_()
        for name, values in draft.own.items()
        if values.is_floating_point()
    }
    shared = {name: values.clone().requires_grad_() for name, values in draft.shared.items()}
    centers, log_widths = draft.centers.clone().requires_grad_(), draft.widths.log().requires_grad_()
    leaves = [*own.values(), *shared.values(), centers, log_widths]
    used = draft.used()

    def current() -> Draft:
        return replace(
            draft,
            own={**draft.own, **{name: draft.held_rules(draft.own[name], own[name]) for name in own}},
            shared=draft.shared if draft.frozen_rules else shared,
            centers=torch.where(draft.frozen_sets, draft.centers, centers),
            widths=torch.where(draft.frozen_sets, draft.widths, log_widths.exp()),
        )

    def loss() -> Tensor:
        optimizer.zero_grad()
        now = current()
        change = (head(now.decided(x, now.levels(_log_firing(now, x)))) - reference) / (unit * scale)
        value = change.square().mean()
        if largest:
            value = value + change.pow(POWER).mean()
        moved = ((now.centers - draft.centers) / draft.widths).square()
        moved = moved + (now.widths / draft.widths).log().square()
        value = value + MOVING * moved[used].sum() / max(1, int(used.sum()))
        if not bool(torch.isfinite(value)):
            raise _DivergedError
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer = torch.optim.LBFGS(
        leaves, max_iter=BURST, history_size=20, line_search_fn="strong_wolfe", tolerance_change=1e-12
    )
    best = draft
    for _ in range(bursts):
        try:
            with torch.enable_grad():
                optimizer.step(loss)  # type: ignore[no-untyped-call]
        except _DivergedError:
            break
        if not all(bool(torch.isfinite(leaf).all()) for leaf in leaves):
            break
        best = _settled(current())
        if enough(best):
            break
    return best


def _settled(draft: Draft) -> Draft:
    """The draft cut off from the fit, with widths that a network can hold."""
    widths = draft.widths.detach().clone()
    return replace(
        draft,
        own={name: values.detach().clone() for name, values in draft.own.items()},
        shared={name: values.detach().clone() for name, values in draft.shared.items()},
        centers=draft.centers.detach().clone(),
        widths=torch.where(draft.frozen_sets, widths, widths.clamp(2 * WIDTH_FLOOR, 1e12)),
    )


def _log_firing(draft: Draft, x: Tensor) -> Tensor:
    """Log-firing with gradients to the sets: the expanded square, measured from each attribute's mean, or the worst."""
    chosen = draft.chosen()
    power = draft.firing.norm(training=False)
    if power is not None:
        # The choice stays: logits are there for their shape, and no gradient of them is used.
        logits = torch.zeros(draft.centers.shape[1], *chosen.center.shape, dtype=x.dtype)
        precisions = precisions_from_widths(draft.widths)
        kept = Chosen(*(part.detach() for part in chosen))
        return log_firing(
            x, draft.centers, precisions, logits, None, draft.exists, kept, rate=0.0, power=power
        )
    _, center, precision = chosen
    origin = x.mean(dim=0)
    x, center = x - origin, center - origin.unsqueeze(1)
    weighted = precision * center
    return 2 * (x @ weighted) - x.square() @ precision - (weighted * center).sum(dim=0)
