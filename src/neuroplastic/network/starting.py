"""What a network's sets and choices are at first."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..errors import ConfigError
from ..fuzzy.membership import any_width, raw_from_widths
from ..fuzzy.selection import Selection

Range = tuple[float, float] | tuple[Sequence[float], Sequence[float]]

# Neighbouring first sets cross at membership 0.5: width = spacing / (2 sqrt(2 ln 2)).
CROSSING = 2.3548200450309493
# Half the width of a set where membership is .5 or more, in widths.
HALF = CROSSING / 2
# What a choice that starts at data starts with, where `Selection.start` says nothing: clear beside the first logits.
CLEAR = 2.0


def check_room(terms: int, max_terms: int, selection: Selection) -> None:
    """Raise a ConfigError unless the first sets, and "any" where rules may choose it, fit into `max_terms`."""
    if terms > max_terms:
        raise ConfigError(f"terms must be at most max_terms, got terms={terms}, max_terms={max_terms}")
    if selection.any and terms == max_terms:
        raise ConfigError(
            f'with selection.any one of max_terms is "any", so terms must be below it, got terms={terms}, '
            f"max_terms={max_terms}; raise max_terms"
        )


def drawn(tensor: Tensor, deviation: float) -> nn.Parameter:
    """A parameter that starts normally distributed; on the meta device, where there is nothing to fill, as it is."""
    return nn.Parameter(tensor if tensor.is_meta else tensor.normal_(0, deviation))


@torch.no_grad()
def start_clearly(logits: Tensor, terms: int, selection: Selection) -> None:
    """Add `selection.start` to the logit of one first set of each premise, drawn from torch's generator.

    "Any", the last of the logits (T, D, U), is drawn like the others; with `start_premises`, by all attributes of a
    rule but so many, and by those never. On the meta device there is nothing to add to.
    """
    if selection.start == 0 or logits.is_meta:
        return
    shape, last = tuple(logits.shape[1:]), len(logits) - 1
    if selection.start_premises is None:
        chosen = torch.randint(terms + selection.any, shape)
        chosen[chosen == terms] = last  # without "any", none is
    else:
        asking = torch.rand(shape).argsort(dim=0).argsort(dim=0) < selection.start_premises
        chosen = torch.randint(terms, shape).where(asking, torch.tensor(last))
    extra = torch.full((1, *shape), selection.start, dtype=logits.dtype)
    logits.scatter_add_(0, chosen.unsqueeze(0).to(logits.device), extra.to(logits.device))


def first_sets(
    attributes: int, terms: int, max_terms: int, input_range: Range, like: Tensor, *, with_any: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Centres, raw widths and mask (D, T) of the first sets, of the type and device of `like`.

    Centres are spread evenly over the range, neighbours cross at 0.5; free slots lie at its middle. `with_any`, the
    last slot is of infinite width. On the meta device they have shapes alone.
    """
    try:
        low, high = (torch.as_tensor(end, dtype=torch.float64, device="cpu") for end in input_range)
        usable = bool((torch.isfinite(low) & torch.isfinite(high) & (low <= high)).all())
        low, high = (end.expand(attributes) for end in (low, high))
    except (TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"input_range must be (low, high): two numbers, or two sequences of {attributes} numbers"
        ) from error
    if not usable:
        raise ConfigError(f"input_range must be finite with low <= high, got {input_range!r}")
    if like.is_meta:
        shape = (
            attributes,
            max_terms,
        )  # by `new_empty` alone: any other operation there loads PyTorch's compiler
        return like.new_empty(shape), like.new_empty(shape), like.new_empty(shape, dtype=torch.bool)
    middle, extent = (low + high) / 2, high - low
    centers = middle.unsqueeze(1).repeat(1, max_terms)
    if terms > 1:
        steps = torch.linspace(0, 1, terms, dtype=torch.float64)
        centers[:, :terms] = low.unsqueeze(1) + extent.unsqueeze(1) * steps
    # A range of no extent (an attribute that never varies) still gets sets of a usable width.
    spacing = torch.where(extent > 0, extent / max(terms - 1, 1), torch.ones_like(extent))
    widths = (spacing / CROSSING).unsqueeze(1).repeat(1, max_terms)
    mask = (torch.arange(max_terms) < terms).repeat(attributes, 1)
    if with_any:
        widths[:, -1], mask[:, -1] = any_width(like.dtype), True
    return centers.to(like), raw_from_widths(widths).to(like), mask.to(like.device)
