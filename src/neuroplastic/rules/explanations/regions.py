"""Which regions of a picture carry a decision of rules behind an encoder, by captum's attributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...errors import ConfigError, InputError, MissingPackageError, choose
from ...network.dueling import DuelingNetwork
from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from ..networks import evaluating, levels_of, numbers
from ..rule_base import Numbers
from .explaining import Explainer
from .explanation import Explanation
from .hiding import Hidden, hide

METHODS = ("usual", "cells", "grad_cam", "integrated_gradients", "occlusion")
ABOUT = ("action", "rule")
# Occlusion: side and step, in pixels, of the square that hides a part of the picture.
PATCH, STRIDE = 12, 6
# Integrated gradients: points on the way from the dark picture.
STEPS = 32


@dataclass(frozen=True, eq=False)
class PictureExplanation:
    """One decision on a picture: the values, the rules of the heads, and where in the picture it comes from.

    `values[a] = value.output + advantage.output[a] - mean advantage`; `parts` says the same rule by rule.
    """

    picture: NDArray[np.uint8]
    """(H, W, C): as the network saw it"""
    values: Numbers
    """(A,): of the actions, as the network gives them"""
    action: int
    """the action that is explained"""
    value: Explanation | None
    """rules of the value head; None for a head without rules"""
    advantage: Explanation
    """rules of the advantage head"""
    heat: Numbers | None
    """(H, W): how much each place spoke for the target; above 0 for, below 0 against"""
    target: str
    """what the heat is about, in words"""
    method: str | None
    hidden: Hidden | None = None
    """of the method 'usual', what hiding the hottest square changes"""
    things: Numbers | None = None
    """(K, 3): column and row in pixels of each thing that the encoder looks for, and its strength, where it does so"""

    def __post_init__(self) -> None:
        for array in (self.picture, self.values, self.heat, self.things):
            if array is not None:
                array.setflags(write=False)

    @property
    def shown(self) -> NDArray[np.uint8]:
        """The picture as people see it, (H, W, 3): of stacked frames the newest; a single channel becomes grey."""
        channels = self.picture.shape[2]
        newest = self.picture[..., -3:] if channels % 3 == 0 else np.repeat(self.picture[..., -1:], 3, axis=2)
        return np.clip(newest, 0, 255).astype(np.uint8)

    @property
    def action_name(self) -> str:
        """The name of the action that is explained."""
        return self.advantage.rules.outputs[self.action].name

    def parts(self) -> list[tuple[str, int, float]]:
        """(head, rule, part) of every fired rule; with a value head of rules they add up to the action's value.

        A rule of the advantage head counts with what it gives the action over what it gives the mean action.
        """
        found = []
        if self.value is not None:
            case = self.value[0]
            found += [("value", int(r), float(s[0])) for r, s in zip(case.fired, case.shares, strict=True)]
        case = self.advantage[0]
        over_mean = case.shares[:, self.action] - case.shares.mean(axis=1)
        found += [("advantage", int(r), float(s)) for r, s in zip(case.fired, over_mean, strict=True)]
        return found

    def region(self) -> tuple[int, int, int, int] | None:
        """Top, left, bottom and right (exclusive) of the hottest square, an eighth of the picture high.

        The middle one of equally hot squares; None where no place speaks for the target.
        """
        if self.heat is None:
            raise InputError("this picture was explained without a heat map; give a method")
        if self.hidden is not None:
            return self.hidden.hottest
        height, width = self.heat.shape
        side = max(1, min(height, width) // 8)
        padded = np.pad(np.maximum(self.heat, 0).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
        sums = padded[side:, side:] - padded[:-side, side:] - padded[side:, :-side] + padded[:-side, :-side]
        if sums.max() <= 0:
            return None
        hottest = np.argwhere(sums >= sums.max() * (1 - 1e-9))
        middle = ((hottest - hottest.mean(axis=0)) ** 2).sum(axis=1).argmin()
        top, left = (int(i) for i in hottest[middle])
        return top, left, top + side, left + side


def explain_picture(
    network: DuelingNetwork,
    picture: NDArray[np.uint8] | Tensor,
    *,
    about: str = "action",
    action: int | None = None,
    rule: int | None = None,
    method: str | None = "cells",
    feature_names: Sequence[str] | None = None,
    action_names: Sequence[str] | None = None,
    usual: NDArray[np.uint8] | None = None,
) -> PictureExplanation:
    """Explain the network's decision on one picture (H, W, C): by rules, and by where in it the reasons lie.

    The heat map tells what speaks for `about='action'` (default: the chosen one), its value over the mean of the
    actions, or for `about='rule'` (default: the strongest of the advantage head's first level), its lead over the
    other rules in log-firing. `method` is 'cells' (gradient times activation of each cell of the last convolution:
    fast, coarse), 'grad_cam' (the same with each plane's mean gradient), 'integrated_gradients' (by the pixel; adds
    up to the target's change from the dark picture), 'occlusion' (what hiding a patch by one colour changes) or 'usual'
    (how much the values of all actions change where the picture shows what is `usual`, see `usual_picture`: of all
    these it points at what matters best, and needs no captum; not for `about='rule'`).
    A rule that fires alone and decides a constant leaves the value no gradient: ask about the rule. Needs captum;
    `method=None` gives no heat map and needs nothing.
    """
    if method is not None:
        choose("method", method, METHODS)
    choose("about", about, ABOUT)
    head = network.advantage
    if not isinstance(head, (Hierarchy, NeuroFuzzyNetwork)):
        raise ConfigError(
            f"the advantage head must be neuro-fuzzy to be explained, got {type(head).__name__}"
        )
    pixels = _pixels(picture)
    device = next(network.parameters()).device
    with evaluating(network), torch.no_grad():
        features = network.encoder(pixels.to(device))
        values = numbers(network(pixels.to(device)))[0]
        points = getattr(network.encoder, "points", None)
        things = None if points is None else numbers(points(features))[0]
    scaler = getattr(network.encoder, "scaling", lambda: None)()

    def explained(part: Hierarchy | NeuroFuzzyNetwork, names: Sequence[str] | None) -> Explanation:
        return Explainer(part, feature_names=feature_names, output_names=names, scaler=scaler).of_features(
            features
        )

    advantage, value = explained(head, action_names), None
    if isinstance(network.value, (Hierarchy, NeuroFuzzyNetwork)):
        value = explained(network.value, ["value"])
    action = _index("action", action, len(values), int(values.argmax()))
    told = partial(
        PictureExplanation, pixels[0].numpy().copy(), values, action, value, advantage, things=things
    )
    if method == "usual":
        hidden = _hidden(network, pixels[0].numpy(), usual, about)
        words = "all values of actions: how much they change if what is usual stands there"
        return told(hidden.heat, words, method, hidden)
    first = levels_of(head)[0]
    rule = _index("rule", rule, first.rules, int(advantage.levels[0].strongest[0]))
    name = advantage.rules.outputs[action].name
    target: Callable[[Tensor], Tensor]
    if about == "action":
        target, words = _over_the_mean(head, action), f"the value of {name} over the mean action"
    else:
        target, words = (
            _over_the_mean(first.log_firing, rule),
            f"the log-firing of rule {rule + 1} over the mean",
        )
    heat = None if method is None else _heat(network.encoder, target, pixels.to(device), method)
    return told(heat, words, method)


def _hidden(
    network: DuelingNetwork, picture: NDArray[np.uint8], usual: NDArray[np.uint8] | None, about: str
) -> Hidden:
    if usual is None or about != "action":
        raise ConfigError(
            "the method 'usual' is about the action, and needs the usual picture: usual=usual_picture(pictures, around)"
        )
    device = next(network.parameters()).device
    # Of the values, not of their differences: where one rule fires alone the differences stay as they are, whatever the
    # picture shows beside, and in DTC the hottest square touched a monster in .59 of 200 states instead of .79.
    with evaluating(network):
        return hide(lambda shown: network(shown.to(device)), picture, usual)


def _pixels(picture: NDArray[np.uint8] | Tensor) -> Tensor:
    tensor = torch.as_tensor(np.array(picture) if isinstance(picture, np.ndarray) else picture).detach().cpu()
    if tensor.dim() != 3:
        raise InputError(f"picture must be one picture of shape (H, W, C), got {tuple(tensor.shape)}")
    return tensor.unsqueeze(0)


def _index(kind: str, given: int | None, count: int, default: int) -> int:
    if given is None:
        return default
    if isinstance(given, bool) or not 0 <= given < count:
        raise InputError(f"{kind} must be one of the {count} there are, counted from 0, got {given!r}")
    return int(given)


def _over_the_mean(numbers_of: Callable[[Tensor], Tensor], index: int) -> Callable[[Tensor], Tensor]:
    """One column of what features (B, D) give, over the mean of all columns, (B,)."""

    def target(features: Tensor) -> Tensor:
        columns = numbers_of(features)
        return columns[:, index] - columns.mean(dim=1)

    return target


def _heat(encoder: nn.Module, target: Callable[[Tensor], Tensor], pixels: Tensor, method: str) -> Numbers:
    """Attribution of the target to every pixel, (H, W); colours, and stacked frames, are added up."""
    attr = _captum()

    def forward(pictures: Tensor) -> Tensor:
        return target(encoder(pictures))

    with evaluating(encoder), torch.enable_grad():
        x = pixels.float()
        if method in ("cells", "grad_cam"):
            kind = attr.LayerGradientXActivation if method == "cells" else attr.LayerGradCam
            planes = numbers(kind(forward, _last_planes(encoder)).attribute(x))[0]
            return _on_pixels(planes.sum(axis=0), encoder, tuple(pixels.shape[1:3]))
        if method == "integrated_gradients":
            found = attr.IntegratedGradients(forward).attribute(x, n_steps=STEPS, internal_batch_size=8)
        else:
            shown = x.mean(dim=(1, 2), keepdim=True).expand_as(x)  # the hidden part takes the mean colour
            side, channels = min(PATCH, *x.shape[1:3]), x.shape[3]
            found = attr.Occlusion(forward).attribute(
                x,
                sliding_window_shapes=(side, side, channels),
                strides=(STRIDE, STRIDE, channels),
                baselines=shown,
            )
        heat: Numbers = numbers(found)[0].sum(axis=2)
        return heat


def _last_planes(encoder: nn.Module) -> nn.Module:
    """The last module of the encoder that gives planes: what it names so, or its last batch norm or convolution."""
    named = getattr(encoder, "last_planes", None)
    if isinstance(named, nn.Module):
        return named
    layers = [part for part in encoder.modules() if isinstance(part, (nn.BatchNorm2d, nn.Conv2d))]
    if not layers:
        raise ConfigError(
            "methods 'cells' and 'grad_cam' need an encoder with convolutions; use 'integrated_gradients'"
        )
    return layers[-1]


def _on_pixels(cells: Numbers, encoder: nn.Module, size: tuple[int, ...]) -> Numbers:
    """Cells of the last convolution laid over the picture: each where the middle of what it sees is, linear between.

    Stretching the cells over the whole picture would misplace them: convolutions without padding never look at its
    rim with their middle. Beyond the outermost middles their values go on.
    """
    heat = cells
    for axis in (0, 1):
        middle, stride = 0.0, 1.0
        for part in encoder.modules():
            if isinstance(part, nn.Conv2d):
                reach, padding = part.dilation[axis] * (part.kernel_size[axis] - 1), part.padding[axis]
                middle += stride * (reach / 2 - (padding if isinstance(padding, int) else reach / 2))
                stride *= part.stride[axis]
        middles = middle + stride * np.arange(cells.shape[axis])
        heat = np.apply_along_axis(
            lambda line, at=middles, n=size[axis]: np.interp(np.arange(n), at, line), axis, heat
        )
    return heat


def _captum() -> Any:
    try:
        from captum import attr
    except ImportError as error:
        raise MissingPackageError(
            "explaining pictures needs captum: pip install 'neuroplastic[rules]'"
        ) from error
    return attr
