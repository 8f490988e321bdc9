"""The IF side of a neuro-fuzzy network: fuzzy sets, the rules' choice among them, and log-firing."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..errors import ConfigError
from ..fuzzy.backends import Draw, backend_for
from ..fuzzy.firing import Firing
from ..fuzzy.log_firing import Chosen, choose_terms, log_firing, settled_log_firing
from ..fuzzy.membership import (
    any_width,
    asks_nothing,
    precisions_from_widths,
    raw_from_widths,
    widths_from_raw,
)
from ..fuzzy.noise import gumbel, gumbel_of, mix
from ..fuzzy.price import priced
from ..fuzzy.selection import Selection, frequent_terms, hard_choice
from ..fuzzy.tracing import may_look, recorded
from . import extra_state
from .frozen import Frozen, Wish
from .growth import Growth
from .inputs import bounded, computing
from .keeping import keeping
from .limits import Limits, Sets
from .neurogenesis import Neurogenesis, Statistics, observe
from .passes import Pass, PassBook, mark_of, recomputing, repeatable
from .placing import begin_on
from .prunings import EVERY, Prunings, ignored
from .replicas import refuse_sharding
from .settled import Settled
from .starting import Range, drawn, first_sets, start_clearly
from .untraced import untraced


class Antecedent(nn.Module):
    """Sets with room for `max_terms` per attribute, and logits that say which one each rule uses.

    Parameters have their full size from the start; a birth fills a masked slot in place. So optimizers,
    data-parallel training, compilation and `state_dict` need nothing special.
    """

    term_mask: Tensor
    noise_seed: Tensor
    ignored: Tensor
    frozen: Frozen | None
    limits: Limits | None

    def __init__(
        self,
        attributes: int,
        rules: int,
        *,
        terms: int,
        max_terms: int,
        selection: Selection,
        neurogenesis: Neurogenesis | None,
        input_range: Range,
        firing: Firing,
        sets: Sets | None,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__()
        self.rules, self.terms, self.max_terms = rules, terms, max_terms
        self.selection, self.neurogenesis, self.firing = selection, neurogenesis, firing
        like = torch.empty(0, device=device, dtype=dtype)
        # Xavier normal, for a layer with the attributes coming in and the rules going out.
        self.logit_deviation = (2 / (attributes + rules)) ** 0.5
        self.logits = drawn(like.new_empty(max_terms, attributes, rules), self.logit_deviation)
        start_clearly(self.logits, terms, selection)
        centers, raw_widths, mask = first_sets(
            attributes, terms, max_terms, input_range, like, with_any=selection.any
        )
        self.centers, self.raw_widths = nn.Parameter(centers), nn.Parameter(raw_widths)
        self.register_buffer("term_mask", mask)
        # Drawn once from torch's generator; all later randomness is a function of it and of counters.
        seed = torch.randint(2**62, (1,)).to(like.device)
        self.register_buffer("noise_seed", seed)
        computed = torch.empty(0, device=device, dtype=computing(like.dtype))
        self.statistics = Statistics(attributes, computed)
        self.limits = None if sets is None else Limits(sets, attributes, input_range, computed)
        self.started = False
        self.growth = Growth(attributes, max_terms, computed)
        self.prunings = Prunings()
        if selection.any:  # which premises were "any" at the last look, (U, D)
            self.register_buffer("ignored", like.new_zeros(rules, attributes, dtype=torch.bool))
        self.register_module("frozen", None)
        self.wish = Wish()
        self._book = PassBook()
        self._seed: tuple[object, int] | None = None
        self._noise: tuple[object, Tensor] | None = None
        self.settled: Settled[Chosen] = Settled()

    @property
    def widths(self) -> Tensor:
        """Widths of the sets, (D, T), positive by construction."""
        return widths_from_raw(self._held("raw_widths"))

    def _held(self, name: str) -> Tensor:
        """A parameter as it counts: with its frozen entries as kept."""
        parameter: Tensor = getattr(self, name)
        return parameter if self.frozen is None else self.frozen.held(f"antecedent.{name}", parameter)

    @property
    def any_mask(self) -> Tensor:
        """Which of the sets (D, T) mean "any": a premise on one asks nothing of its attribute."""
        return self.term_mask & asks_nothing(self.widths.detach())

    @property
    def covering_mask(self) -> Tensor:
        """Which of the sets (D, T) can cover an input: those that exist and ask something."""
        return self.term_mask & ~asks_nothing(self.widths.detach())

    def precisions(self) -> Tensor:
        """`1 / (2 widths**2)`, (D, T), in the precision that is computed in."""
        raw = self._held("raw_widths")
        return precisions_from_widths(widths_from_raw(raw.to(computing(raw.dtype))))

    def forward(self, x: Tensor) -> Tensor:
        """Log-firing as a sum (Eq. 6), after advancing noise and growth by one pass in training mode."""
        return self.log_firing(x, self.begin(x, counts=True))

    def begin(self, x: Tensor, *, counts: bool) -> Pass | None:
        """What a pass on x sees of noise and sets; in training mode one that `counts` first advances both.

        A pass that is computed again (gradient checkpointing) sees what it saw before, and never counts. None in
        evaluation mode, which knows neither noise nor births.
        """
        if not self.training:
            return None
        x, counts = x.detach(), counts and len(x) > 0
        if self.neurogenesis is not None and not recorded():
            refuse_sharding(self)
        return self._begin(x, counts) if self._may_look(x) else self._begin_unseen(x, counts)

    def _may_look(self, x: Tensor) -> bool:
        """Whether a pass on x is counted by the host, which looks at values and, on a GPU, waits for them."""
        return may_look(x) or bool(self.waits())

    def waits(self) -> list[str]:
        """What of this configuration needs the host in a training pass; most need nothing."""
        reasons = []
        if self.selection.any:
            reasons.append('selection.any: premises that become "any" are recorded by the host')
        if self.limits is not None and self.limits.config.start == "data" and not self.started:
            reasons.append(
                "sets.start='data': the first training pass places sets and rules; run it beforehand"
            )
        return reasons

    @torch.no_grad()
    def _begin_unseen(self, x: Tensor, counts: bool) -> Pass:
        """`_begin` without a look at any value."""
        repeats = not recorded() and self._varies
        if repeats and recomputing():
            return self._book.find(mark_of(x))
        draw = None
        if counts and not recomputing():
            growth, hold = self.growth, self.selection.noise_hold
            draw = backend_for(x).count_pass(x, growth.pass_count, growth.spoilt, hold)
            if self.limits is not None:
                self.limits.enforce(self)
            if self.neurogenesis is not None:
                observe(self, self.neurogenesis, x, seen=False)
        begun = Pass(self._draw_unseen() if draw is None else draw, self.term_mask.clone())
        if repeats and repeatable():
            self._book.enter(mark_of(x), begun)
        return begun

    @property
    def _varies(self) -> bool:
        """Whether passes see different noise or sets."""
        return self.selection.noise_scale(0) > 0 or self.neurogenesis is not None

    @untraced
    @keeping()
    def _begin(self, x: Tensor, counts: bool) -> Pass:
        if recomputing():
            return self._book.find(mark_of(x)) if self._varies else Pass(self.draw, self.term_mask.clone())
        if counts:
            self.growth.pass_count += 1
            if self.selection.any:  # which weight decay wears down
                self.raw_widths.data.masked_fill_(self.any_mask, any_width(self.raw_widths.dtype))
            if self.limits is not None:
                self._tend_sets(self.limits, x)
            if self.neurogenesis is not None:
                observe(self, self.neurogenesis, x, seen=True)
            if self.selection.any:
                self._look_at_premises(self.passes)
        # Copied: a birth after this pass must not reach into its backward pass.
        begun = Pass(self.draw, self.term_mask.clone())
        if self._varies and repeatable():
            self._book.enter(mark_of(x), begun)
        return begun

    def _tend_sets(self, limits: Limits, x: Tensor) -> None:
        """Start on the first batch of two rows or more, where that is asked for, and keep sets within their limits."""
        if limits.config.start == "data" and not self.started and len(x) > 1:
            begin_on(self, limits, bounded(x, self))
            self.started = True
            if self.selection.any:
                self.ignored.copy_(ignored(self))
        limits.enforce(self)

    def _look_at_premises(self, passes: int) -> None:
        if passes > 1 and passes % EVERY:
            return
        now = ignored(self)
        if passes > 1:
            self.prunings.note(passes, self.ignored, now)
        self.ignored.copy_(now)

    def log_firing(self, x: Tensor, begun: Pass | None = None) -> Tensor:
        """Log-firing of the rules (Eq. 6) in the pass that `begin` gave, by default one that changes nothing.

        Where rules are compared by their worst premise, its log-membership instead: soft in training mode. Only a pass
        that was given pays the price of its premises.
        """
        price = self.selection.price if begun is not None and len(x) else 0.0
        if begun is None:
            begun = self.begin(x, counts=False)
        power = self.firing.norm(training=self.training)
        if power is None and not self.selection.any and not self._constrained and not x.is_cpu:
            fired = self._fused_log_firing(x, begun)
            if fired is not None:
                return fired
        x = bounded(x, self)
        if not self.training and not torch.is_grad_enabled():
            return settled_log_firing(x, self._settled(len(x)), power)
        centers, precisions, logits = self._tables()
        if begun is not None:
            mask, noise = begun.mask, self.noise(begun.draw)
            if self._constrained and len(x):
                percentile = self.selection.constraint
                mask = frequent_terms(x.detach(), centers.detach(), precisions.detach(), mask, percentile)
                if self.frozen is not None:
                    mask = mask | self.frozen.spared
            if self.selection.any and (price > 0 or self.selection.rate == 0):
                logits = priced(logits, begun.mask, self.any_mask, price, self.selection.rate)
            chosen = choose_terms(logits, noise, mask, centers, precisions)
        else:
            mask, noise, chosen = self.term_mask, None, self._settled(len(x))
        if may_look(x):
            self.settled.doubt()  # an optimizer may follow, and fused ones are not counted
        rate = self.selection.rate
        return log_firing(x, centers, precisions, logits, noise, mask, chosen, rate=rate, power=power)

    @property
    def _constrained(self) -> bool:
        """Whether rare sets are taken out of a batch (Appendix A)."""
        return self.selection.constraint > 0 and self.selection.estimator == "stge"

    def _fused_log_firing(self, x: Tensor, begun: Pass | None) -> Tensor | None:
        """`log_firing` in one step, where a backend has it."""
        dtype, selection, draw = computing(self.centers.dtype), self.selection, None
        if begun is not None and selection.noise_scale(0) > 0:
            if isinstance(begun.draw, int):
                return None
            draw = Draw(self.noise_seed, begun.draw, selection.noise, selection.noise_fall)
        centers, raw_widths, logits = (
            self._held(name).to(dtype) for name in ("centers", "raw_widths", "logits")
        )
        mask = self.term_mask if begun is None else begun.mask
        return backend_for(x, self.max_terms).fire(
            x.to(dtype), centers, raw_widths, logits, mask, draw, selection.rate
        )

    def _tables(self) -> tuple[Tensor, Tensor, Tensor]:
        """Centres, precisions and logits in the precision that is computed in."""
        dtype = computing(self.centers.dtype)
        return self._held("centers").to(dtype), self.precisions().to(dtype), self._held("logits").to(dtype)

    def premises(self) -> Tensor:
        """The term each rule uses of each attribute, (U, D), as in evaluation."""
        return (
            hard_choice(self._held("logits").detach(), None, self.term_mask.t().unsqueeze(-1))
            .t()
            .contiguous()
        )

    @property
    def passes(self) -> int:
        """Training passes so far; on a GPU, reading them is a wait."""
        return self.growth.passes

    @passes.setter
    def passes(self, value: int) -> None:
        self.growth.passes = value

    @property
    def draw(self) -> int:
        """Number of the noise draw in force: one draw serves `noise_hold` passes."""
        return max(self.passes - 1, 0) // self.selection.noise_hold

    def _draw_unseen(self) -> Tensor:
        """`draw` as a tensor that nobody looks at."""
        return (self.growth.pass_count - 1).clamp_min(0) // self.selection.noise_hold

    def noise(self, draw: int | Tensor | None = None) -> Tensor | None:
        """Gumbel noise, (T, D, U), by default the draw in force; None in evaluation, with STE, and at scale 0."""
        if not self.training or self.selection.noise_scale(0) == 0:
            return None
        if draw is None:
            draw = self.draw if may_look(self.logits) else self._draw_unseen()
        return self._kept_noise(draw) if isinstance(draw, int) else self._noise_unseen(draw)

    @torch.no_grad()
    def _noise_unseen(self, draw: Tensor) -> Tensor:
        """Made anew in every pass: cheaper on a GPU than to ask whether it is time."""
        dtype = computing(self.centers.dtype)
        return gumbel_of(self.noise_seed, draw, self.selection, tuple(self.logits.shape), dtype)

    @untraced
    def _kept_noise(self, draw: int) -> Tensor | None:
        logits = self.logits
        scale = self.selection.noise_scale(draw)
        if scale == 0:
            return None
        dtype = computing(self.centers.dtype)
        key = (self.seed, draw, logits.device, dtype)
        if self._noise is None or self._noise[0] != key:
            self._noise = None  # free the old draw before making the new one
            with keeping():
                noise = gumbel(mix(self.seed, draw), tuple(logits.shape), logits.device, dtype)
                if scale != 1:
                    noise.mul_(scale)
            self._noise = key, noise
        return self._noise[1]

    @property
    def seed(self) -> int:
        """The seed of all randomness; on a GPU, where reading is a wait, read only when a write to it was counted."""
        if self.noise_seed.device.type == "cpu":
            return int(self.noise_seed)
        written = (self.noise_seed._version, self.noise_seed.data_ptr())
        if self._seed is None or self._seed[0] != written:
            self._seed = written, int(self.noise_seed)
        return self._seed[1]

    def _settled(self, observations: int) -> Chosen:
        """The choice of evaluation, kept until sets or logits change (see `settled.py`); not kept on a GPU, where to
        look for changes is a wait, and costs more than to choose."""
        return self._kept_choice(observations) if may_look(self.logits) else self._choice()

    @untraced
    def _kept_choice(self, observations: int) -> Chosen:
        tensors = (self.logits, self.centers, self.raw_widths, self.term_mask)
        return self.settled.value(tensors, self._choice, observations=observations)

    def _choice(self) -> Chosen:
        centers, precisions, logits = self._tables()
        return choose_terms(logits, None, self.term_mask, centers, precisions)

    def train(self, mode: bool = True) -> Antecedent:
        """Set training or evaluation mode, and look anew at what is kept for evaluation."""
        self.settled.doubt()
        return super().train(mode)

    @torch.no_grad()
    def place_sets(self, centers: Tensor, widths: Tensor, term_mask: Tensor | None = None) -> None:
        """Set centres and widths, (D, T) each, in place; without a mask, all of them exist.

        An infinite width makes the set "any": rules that choose it ignore the attribute.
        """
        if self.frozen is not None:
            raise ConfigError(
                "sets cannot be placed while rules or sets are frozen; call net.unfreeze() first"
            )
        shape = tuple(self.centers.shape)
        mask = torch.ones(shape, dtype=torch.bool) if term_mask is None else torch.as_tensor(term_mask)
        for name, tensor in (("centers", centers), ("widths", widths), ("term_mask", mask)):
            if tuple(tensor.shape) != shape:
                raise ConfigError(
                    f"{name} must have shape {shape} (attributes, max_terms), got {tuple(tensor.shape)}"
                )
        if not bool(mask.any(dim=1).all()):
            raise ConfigError("term_mask must leave every attribute at least one term")
        if not bool((widths[mask] > 0).all()):
            raise ConfigError("widths must be above 0 wherever a term exists")
        mask = mask.to(self.term_mask)
        self.growth.look()  # before a slot is free for another birth
        self.centers.copy_(torch.where(mask, centers.to(self.centers), self.centers))
        widths = widths.to(self.statistics.mean).clamp_max(any_width(self.raw_widths.dtype))
        raw = raw_from_widths(widths).to(self.raw_widths)
        self.raw_widths.copy_(torch.where(mask, raw, self.raw_widths))
        self.term_mask.copy_(mask)

    def get_extra_state(self) -> Tensor:
        """Counters and birth records as JSON in a byte tensor, which every tensor format can hold."""
        saved = {"passes": self.passes, **self.growth.as_dict()}
        if any(self.wish):
            saved["frozen"] = self.wish
        if self.started:
            saved["started"] = True
        if self.prunings.total:
            saved["prunings"] = self.prunings.as_dict()
        return extra_state.written(saved)

    def set_extra_state(self, state: Tensor) -> None:
        """Take over what `get_extra_state` gave; a ConfigError names what does not fit this network."""
        saved = extra_state.read(state, len(self.centers), self.max_terms, self.rules)
        self.passes, self.wish, self.started = saved.passes, saved.wish, saved.started
        self.growth.restore(saved.batches, saved.births, at_capacity=saved.at_capacity)
        self.prunings.restore(saved.prunings)

    def take_records(self, other: Antecedent) -> None:
        """Remember what another of this form does, whose tensors were copied: what the host knows so far."""
        self.wish, self.started = other.wish, other.started
        self.growth.take_records(other.growth)
        self.prunings.take_records(other.prunings)
        self.settled.doubt()
