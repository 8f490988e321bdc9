"""The THEN side of a neuro-fuzzy network: what each rule decides, and how decisions make the output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from .. import catalog
from ..errors import ConfigError, at_least, choose
from ..fuzzy import consequents as decide
from ..fuzzy.membership import raw_from_widths, widths_from_raw
from ..fuzzy.noise import gumbel, gumbel_of, mix
from ..fuzzy.selection import Selection, hard_choice, straight_through
from .starting import CLEAR, CROSSING, drawn
from .untraced import untraced

_STARTS = ("normal", "zeros")


@dataclass(frozen=True)
class Affine:
    """First order: every rule has a linear function of the inputs; U * O * D weights."""

    init: str = field(default="normal", metadata={"help": "start of the weights: 'normal' or 'zeros'"})

    def __post_init__(self) -> None:
        choose("consequent.init", self.init, _STARTS)

    def parameters(self, attributes: int, outputs: int, rules: int) -> int:
        """Numbers that the module learns."""
        return rules * outputs * (attributes + 1)

    def build(
        self, selection: Selection, attributes: int, outputs: int, rules: int, like: Tensor
    ) -> AffineConsequent:
        """The module, of the type and on the device of `like`."""
        return AffineConsequent(self, attributes, outputs, rules, like)


@dataclass(frozen=True)
class Constant:
    """Zero order: every rule has one number per output."""

    init: str = field(default="normal", metadata={"help": "start of the numbers: 'normal' or 'zeros'"})

    def __post_init__(self) -> None:
        choose("consequent.init", self.init, _STARTS)

    def parameters(self, attributes: int, outputs: int, rules: int) -> int:
        """Numbers that the module learns."""
        return rules * outputs

    def build(
        self, selection: Selection, attributes: int, outputs: int, rules: int, like: Tensor
    ) -> ConstantConsequent:
        """The module, of the type and on the device of `like`."""
        return ConstantConsequent(self, outputs, rules, like)


@dataclass(frozen=True)
class LowRank:
    """First order through a projection that all rules share: D * rank + U * O * rank weights."""

    rank: int = field(default=8, metadata={"help": "columns of the shared projection"})
    init: str = field(default="normal", metadata={"help": "start of the weights: 'normal' or 'zeros'"})

    def __post_init__(self) -> None:
        at_least("consequent.rank", self.rank, 1)
        choose("consequent.init", self.init, _STARTS)

    def parameters(self, attributes: int, outputs: int, rules: int) -> int:
        """Numbers that the module learns."""
        return attributes * self.rank + rules * outputs * (self.rank + 1)

    def build(
        self, selection: Selection, attributes: int, outputs: int, rules: int, like: Tensor
    ) -> LowRankConsequent:
        """The module, of the type and on the device of `like`."""
        return LowRankConsequent(self, attributes, outputs, rules, like)


@dataclass(frozen=True)
class Mamdani:
    """Fuzzy output sets, of which every rule chooses one per output, learned like its premises."""

    terms: int = field(default=5, metadata={"help": "fuzzy sets of each output"})
    defuzzifier: str = field(default="height", metadata={"help": "'height' method or centre of 'area'"})
    output_range: tuple[float, float] = field(
        default=(-1.0, 1.0), metadata={"help": "where the centres of the output sets lie at first"}
    )

    def __post_init__(self) -> None:
        at_least("consequent.terms", self.terms, 1)
        choose("consequent.defuzzifier", self.defuzzifier, ("height", "area"))
        low, high = self.output_range
        if not -float("inf") < low < high < float("inf"):
            raise ConfigError(
                f"consequent.output_range must be finite with low < high, got {self.output_range!r}"
            )

    def parameters(self, attributes: int, outputs: int, rules: int) -> int:
        """Numbers that the module learns."""
        return self.terms * outputs * (rules + 2)

    def build(
        self, selection: Selection, attributes: int, outputs: int, rules: int, like: Tensor
    ) -> MamdaniConsequent:
        """The module, of the type and on the device of `like`."""
        return MamdaniConsequent(self, selection, outputs, rules, like)


class LinearForm(NamedTuple):
    """Decisions that are linear functions of the inputs, as the parameters that make them: `W_u P^T x + b_u`."""

    bias: Tensor
    """b, (U, O)"""
    weight: Tensor | None = None
    """W, (U, O, D), or (U, O, R) behind a projection; None: decisions are constants"""
    projection: Tensor | None = None
    """P, (D, R), that all rules share; None: the inputs themselves"""


class Consequent(nn.Module, ABC):
    """Decisions of the rules.

    `forward(x, firing, draw)` gives the output (B, O) from x (B, D), firing (B, U) and the number of the noise
    draw in force, which matters only to consequents that choose. One whose decisions are linear functions of the
    inputs says so by `linear`, and is then read, explained, simplified and exported like any other.
    """

    @abstractmethod
    def forward(self, x: Tensor, firing: Tensor, draw: int | Tensor) -> Tensor:
        """Firing-weighted sum of the rules' decisions."""

    def linear(self) -> LinearForm:
        """The parameters of decisions that are linear in the inputs; simplification writes into those of a copy."""
        raise ConfigError(
            f"rules can be read where each concludes a linear function of the inputs or a fuzzy set; a "
            f"{type(self).__name__} is neither, and can be trained, saved and called, but not read"
        )

    @torch.no_grad()
    def conclude(self, rules: Tensor, y: Tensor) -> None:
        """Let rules, (n,) numbers, begin anew with the conclusions y (n, O) whatever the input, in place.

        By `bias` (U, O) and `weight` (U, ...), where there are such parameters; what has neither stays as it is.
        """
        for name, parameter in self.named_parameters():
            if name == "weight":
                parameter.data[rules] = 0
            elif name == "bias":
                parameter.data[rules] = y.to(parameter)


class ConsequentConfig(Protocol):
    """A frozen dataclass that makes a consequent; its name is in the catalogue, its fields are options."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def parameters(self, attributes: int, outputs: int, rules: int) -> int:
        """Numbers that the module learns."""
        ...

    def build(
        self, selection: Selection, attributes: int, outputs: int, rules: int, like: Tensor
    ) -> Consequent:
        """The module, of the type and on the device of `like`."""
        ...


def consequent_config(given: str | ConsequentConfig) -> ConsequentConfig:
    """The configuration in full, of a name or of itself; what the catalogue does not know is a ConfigError."""
    if isinstance(given, str):
        named: ConsequentConfig = catalog.kind("consequent", given)()
        return named
    try:
        catalog.name_of("consequent", given)
    except ConfigError:
        names = ", ".join(map(repr, catalog.names("consequent")))
        raise ConfigError(
            f"consequent must be one of {names} or a configuration, got {given!r}; one of your own is made "
            "known by neuroplastic.catalog.register('consequent', NAME, CLASS)"
        ) from None
    return given


def _started(tensor: Tensor, init: str, deviation: float) -> nn.Parameter:
    return nn.Parameter(tensor.zero_()) if init == "zeros" else drawn(tensor, deviation)


class AffineConsequent(Consequent):
    """`W_u x + b_u` with weight (U, O, D) and bias (U, O)."""

    def __init__(self, config: Affine, attributes: int, outputs: int, rules: int, like: Tensor) -> None:
        super().__init__()
        self.weight = _started(like.new_empty(rules, outputs, attributes), config.init, attributes**-0.5)
        self.bias = _started(like.new_empty(rules, outputs), config.init, 0.1)

    def forward(self, x: Tensor, firing: Tensor, draw: int | Tensor) -> Tensor:
        """See `Consequent`."""
        return decide.affine(x, firing, self.weight.to(x.dtype), self.bias.to(x.dtype))

    def linear(self) -> LinearForm:
        """See `Consequent`."""
        return LinearForm(self.bias, self.weight)


class ConstantConsequent(Consequent):
    """`b_u` with bias (U, O)."""

    def __init__(self, config: Constant, outputs: int, rules: int, like: Tensor) -> None:
        super().__init__()
        self.bias = _started(like.new_empty(rules, outputs), config.init, 1.0)

    def forward(self, x: Tensor, firing: Tensor, draw: int | Tensor) -> Tensor:
        """See `Consequent`."""
        return decide.constant(firing, self.bias.to(x.dtype))

    def linear(self) -> LinearForm:
        """See `Consequent`."""
        return LinearForm(self.bias)


class LowRankConsequent(Consequent):
    """`W_u P^T x + b_u` with projection P (D, R), weight (U, O, R) and bias (U, O)."""

    def __init__(self, config: LowRank, attributes: int, outputs: int, rules: int, like: Tensor) -> None:
        super().__init__()
        self.projection = _started(like.new_empty(attributes, config.rank), "normal", attributes**-0.5)
        self.weight = _started(like.new_empty(rules, outputs, config.rank), config.init, config.rank**-0.5)
        self.bias = _started(like.new_empty(rules, outputs), config.init, 0.1)

    def forward(self, x: Tensor, firing: Tensor, draw: int | Tensor) -> Tensor:
        """See `Consequent`."""
        projected = x @ self.projection.to(x.dtype)
        return decide.affine(projected, firing, self.weight.to(x.dtype), self.bias.to(x.dtype))

    def linear(self) -> LinearForm:
        """See `Consequent`."""
        return LinearForm(self.bias, self.weight, self.projection)


class MamdaniConsequent(Consequent):
    """Output sets (O, V) and, per output and rule, logits (V, O, U) that choose among them."""

    noise_seed: Tensor

    def __init__(self, config: Mamdani, selection: Selection, outputs: int, rules: int, like: Tensor) -> None:
        super().__init__()
        self.config, self.selection = config, selection
        centers, raw_widths = _output_sets(config, outputs, like)
        self.output_centers, self.raw_output_widths = nn.Parameter(centers), nn.Parameter(raw_widths)
        deviation = (2 / (outputs + rules)) ** 0.5
        self.conclusion_logits = drawn(like.new_empty(config.terms, outputs, rules), deviation)
        self.register_buffer("noise_seed", torch.randint(2**62, (1,)).to(like.device))

    @property
    def output_widths(self) -> Tensor:
        """Widths of the output sets, (O, V)."""
        return widths_from_raw(self.raw_output_widths)

    def conclusions(self) -> Tensor:
        """The output set each rule concludes, (U, O), as in evaluation."""
        return hard_choice(self.conclusion_logits.detach(), None, None).t().contiguous()

    def conclusion_noise(self, draw: int | Tensor) -> Tensor | None:
        """The Gumbel noise in force, (V, O, U), or None where there is none (evaluation, STE, scale 0)."""
        if not self.training or self.selection.noise_scale(0) == 0:
            return None
        if isinstance(draw, int):
            return self._drawn_noise(draw)
        logits = self.conclusion_logits
        return gumbel_of(self.noise_seed, draw, self.selection, tuple(logits.shape), logits.dtype)

    @untraced
    def _drawn_noise(self, draw: int) -> Tensor | None:
        scale = self.selection.noise_scale(draw)
        if scale == 0:
            return None
        logits = self.conclusion_logits
        noise = gumbel(mix(int(self.noise_seed), draw), tuple(logits.shape), logits.device, logits.dtype)
        return noise if scale == 1 else noise.mul_(scale)

    @torch.no_grad()
    def conclude(self, rules: Tensor, y: Tensor) -> None:
        """See `Consequent`: the output sets nearest to y, clear of the rest."""
        nearest = (self.output_centers - y.to(self.output_centers).unsqueeze(-1)).abs().argmin(dim=-1)
        logits = self.conclusion_logits.data
        fresh = logits.new_zeros(len(rules), *logits.shape[:2]).scatter_(1, nearest.unsqueeze(1), CLEAR)
        logits[:, :, rules] = fresh.permute(1, 2, 0)

    def forward(self, x: Tensor, firing: Tensor, draw: int | Tensor) -> Tensor:
        """See `Consequent`."""
        noise = self.conclusion_noise(draw)
        chosen = straight_through(self.conclusion_logits, noise, self.selection.rate).to(x.dtype)
        centers, widths = self.output_centers.to(x.dtype), self.output_widths.to(x.dtype)
        if self.config.defuzzifier == "height":
            return decide.defuzzified(firing, torch.einsum("vou,ov->uo", chosen, centers), None)
        moment = torch.einsum("vou,ov->uo", chosen, widths * centers)
        return decide.defuzzified(firing, moment, torch.einsum("vou,ov->uo", chosen, widths))


def _output_sets(config: Mamdani, outputs: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Centres and raw widths (O, V), spread evenly over the range; on the meta device shapes alone."""
    if like.is_meta:
        return like.new_empty(outputs, config.terms), like.new_empty(outputs, config.terms)
    low, high = config.output_range
    centers = (
        torch.linspace(low, high, config.terms) if config.terms > 1 else torch.tensor([(low + high) / 2])
    )
    widths = torch.full((outputs, config.terms), (high - low) / max(config.terms - 1, 1) / CROSSING)
    return centers.repeat(outputs, 1).to(like), raw_from_widths(widths).to(like)
