"""The neuro-fuzzy network: an ordinary PyTorch module whose rules are learned and whose fuzzy sets are born."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from ..errors import ConfigError, at_least
from ..fuzzy.balance import balanced
from ..fuzzy.firing import Firing, RuleWeights, firing_levels, gain_from_log, reduced
from ..fuzzy.fitting import fitting
from ..fuzzy.membership import log_membership
from ..fuzzy.selection import Selection
from . import state_hooks
from .antecedent import Antecedent
from .configuration import check_parts, config_of, read_config
from .consequents import ConsequentConfig, MamdaniConsequent, consequent_config
from .frozen import Frozen, Wish, checked_wish
from .growth import Birth
from .inputs import bounded, check_input, check_real
from .keeping import keeping
from .limits import Sets
from .neurogenesis import Neurogenesis, Statistics
from .prunings import Pruning
from .renewal import Renewal, Renewals
from .renewal_state import Rebirth
from .size import check_size, parameters_of
from .starting import Range, check_room
from .untraced import untraced
from .vocabulary import Vocabulary

# A learned alpha stays away from 1, where its gradient is a difference of equal numbers.
LEAST_ALPHA = 1.001

_SELECTION, _FIRING, _NEUROGENESIS = Selection(), Firing(), Neurogenesis()


class NeuroFuzzyNetwork(nn.Module):
    """A Takagi-Sugeno-Kang (or Mamdani) network of `rules` IF-THEN rules, (B, in_features) to (B, out_features).

    Each rule reads "IF x_1 is A AND x_2 is B AND ... THEN ...": one fuzzy set per attribute, chosen by gradient
    (`selection`), combined and normalised (`firing`), decided (`consequent`). Sets are shared by the rules and
    are born where inputs are not covered (`neurogenesis`). Half-precision networks and inputs are computed in
    single precision; the output then has the input's type.
    """

    @keeping()
    def __init__(
        self,
        in_features: int,
        out_features: int,
        rules: int,
        *,
        terms: int = 3,
        max_terms: int = 8,
        selection: Selection = _SELECTION,
        firing: Firing = _FIRING,
        consequent: str | ConsequentConfig = "affine",
        neurogenesis: Neurogenesis | None = _NEUROGENESIS,
        input_range: Range = (0.0, 1.0),
        sets: Sets | None = None,
        renewal: Renewal | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features = at_least("in_features", in_features, 1)
        self.out_features = at_least("out_features", out_features, 1)
        self.rules = at_least("rules", rules, 1)
        self.terms, self.max_terms = at_least("terms", terms, 1), at_least("max_terms", max_terms, 1)
        check_parts(selection, firing, neurogenesis, sets, renewal)
        check_room(terms, max_terms, selection)
        self.selection, self.firing_config, self.neurogenesis = selection, firing, neurogenesis
        self.sets, self.renewal = sets, renewal
        self.input_range = input_range
        self.vocabulary: Vocabulary | None = None
        like = torch.empty(0, device=device, dtype=dtype)
        if like.dtype not in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            raise ConfigError(f"dtype must be a real floating type, got {like.dtype}")
        check_size(
            f"rules={rules} x in_features={in_features} x max_terms={max_terms}, out_features={out_features}",
            parameters_of(in_features, out_features, rules, max_terms, consequent),
            like,
        )
        self.antecedent = Antecedent(
            in_features,
            rules,
            terms=terms,
            max_terms=max_terms,
            selection=selection,
            neurogenesis=neurogenesis,
            input_range=input_range,
            firing=firing,
            sets=sets,
            device=device,
            dtype=dtype,
        )
        self.consequent_config = consequent_config(consequent)
        self.consequent = self.consequent_config.build(selection, in_features, out_features, rules, like)
        for name, value, wanted in (
            ("kappa", like.new_ones(rules), firing.layer_norm),
            ("beta", like.new_zeros(rules), firing.layer_norm),
            ("certainty", like.new_ones(rules), firing.certainty is not None),
        ):
            self.register_parameter(name, nn.Parameter(value) if wanted else None)
        self.raw_alpha = nn.Parameter(like.new_zeros(())) if firing.alpha == "learn" else None
        log_gain = nn.Parameter(like.new_full((), math.log(firing.gain))) if firing.has_gain else None
        self.register_parameter("log_gain", log_gain)
        computed = self.antecedent.statistics.mean
        self.renewing = None if renewal is None else Renewals(renewal, in_features, rules, computed)
        state_hooks.register(self)

    def forward(self, x: Tensor) -> Tensor:
        """The output (Eq. 1), (B, out_features). In training mode this counts as one training batch.

        Computed again by gradient checkpointing it does not count, and sees the noise and sets of the first time.
        """
        check_input(x, self.in_features)
        check_real(self.antecedent.centers)
        frozen = self.antecedent.frozen
        if frozen is not None and self.training:
            self._restore()
        with torch.autocast(x.device.type, enabled=False):
            watching = self.renewing if self.training else None
            if watching is not None and len(x):
                watching.begin(self)
            begun = self.antecedent.begin(x, counts=True)
            together = self.antecedent.log_firing(x, begun)
            firing = self._firing_levels(together)
            if self.training and self.firing_config.fitting:
                firing = fitting(firing, together, self.firing_config.fitting)
            if self.training and self.firing_config.balance:
                firing = balanced(firing, self.firing_config.balance)
            decided = x.to(firing.dtype), firing, 0 if begun is None else begun.draw
            if frozen is None:
                y: Tensor = self.consequent(*decided)
            else:
                held = frozen.held_parameters("consequent", self.consequent)
                y = functional_call(self.consequent, held, decided)
            if watching is not None:
                y = watching.watch(x, firing, y)
        return y.to(x.dtype) if x.dtype in (torch.float16, torch.bfloat16) else y

    def log_firing(self, x: Tensor) -> Tensor:
        """Log-firing of each rule, (B, U): the sum (Eq. 6) or mean (Eq. 12) over attributes, or by a gain, as
        `npl.Firing` says. Changes nothing."""
        check_input(x, self.in_features)
        with torch.autocast(x.device.type, enabled=False):
            sums = self.antecedent.log_firing(x)
            return reduced(sums, self.in_features, self.firing_config, self.gain)

    def firing(self, x: Tensor) -> Tensor:
        """Firing level of each rule, (B, U), non-negative with rows that sum to 1. Changes nothing."""
        check_input(x, self.in_features)
        with torch.autocast(x.device.type, enabled=False):
            return self._firing_levels(self.antecedent.log_firing(x))

    def _firing_levels(self, sums: Tensor) -> Tensor:
        return firing_levels(sums, self.in_features, self.firing_config, self._rule_weights(), self.alpha)

    def _rule_weights(self) -> RuleWeights:
        """Gain, shift and certainty as they count: with frozen entries as kept."""
        gain, shift, certainty = (self._held(name) for name in ("kappa", "beta", "certainty"))
        return RuleWeights(gain, shift, certainty, scale=self.gain)

    def _held(self, name: str) -> Tensor | None:
        frozen, parameter = self.antecedent.frozen, self._parameters[name]
        return parameter if frozen is None or parameter is None else frozen.held(name, parameter)

    def freeze(
        self, *, rules: Iterable[int] | None = None, sets: Iterable[tuple[int, int]] | None = None
    ) -> None:
        """Keep rules (numbers from 0) and sets (attribute, term) exactly as they are; without arguments, all.

        A frozen rule keeps its premises, in training mode too, its consequent, certainty, gain and shift; a frozen
        set its centre and width. Whatever the optimizer does, the rest learns and sets are born. Adds to what is
        frozen already, and travels with `state_dict`, `npl.save` and copies. With low-rank consequents the shared
        projection is frozen along; with Mamdani rules, the output sets that they conclude. The gain that all rules
        share learns on until every rule is frozen.
        """
        wish = checked_wish(self, rules, sets, self.antecedent.wish)
        self._restore()
        self.antecedent.wish = wish
        self._refreeze()

    def unfreeze(self) -> None:
        """Let everything learn again, from where it is."""
        self._restore()
        self.antecedent.wish = Wish()
        self._refreeze()

    @property
    def frozen(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Numbers of the frozen rules, and the frozen sets as (attribute, term)."""
        return list(self.antecedent.wish.rules), list(self.antecedent.wish.sets)

    @keeping()
    def _refreeze(self) -> None:
        wish = self.antecedent.wish
        self.antecedent.frozen = Frozen(self, wish) if any(wish) else None
        self.antecedent.settled.forget()

    @untraced
    def _restore(self) -> None:
        """Undo what an optimizer did to frozen entries."""
        if self.antecedent.frozen is not None:
            self.antecedent.frozen.restore(self)

    def _apply(self, fn: Any, recurse: bool = True) -> NeuroFuzzyNetwork:
        self.antecedent.settled.forget()  # it would hold on to memory that is given up
        with keeping():
            super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    @property
    def alpha(self) -> float | Tensor:
        """The alpha of entmax: fixed, or, when learned, a tensor within (1, 2) that starts at 1.5 (within 0.001)."""
        if self.raw_alpha is not None:
            return LEAST_ALPHA + (2 - LEAST_ALPHA) * torch.sigmoid(self.raw_alpha)
        assert not isinstance(self.firing_config.alpha, str)
        return float(self.firing_config.alpha)

    @property
    def gain(self) -> Tensor | None:
        """The learned gain of 'scaled' and 'worst', a scalar above 0 (within 1e-8 and 1e8); None for sum and mean."""
        stored = self._held("log_gain")
        return (
            None
            if stored is None
            else gain_from_log(stored.to(torch.promote_types(stored.dtype, torch.float32)))
        )

    @property
    def log_gain(self) -> nn.Parameter | None:
        """The logarithm of `gain` as it is learned, a scalar, or None."""
        return self._own("log_gain")

    @property
    def kappa(self) -> nn.Parameter | None:
        """Gain of the layer norm per rule, (U,), or None without layer norm."""
        return self._own("kappa")

    @property
    def beta(self) -> nn.Parameter | None:
        """Shift of the layer norm per rule, (U,), or None without layer norm."""
        return self._own("beta")

    @property
    def certainty(self) -> nn.Parameter | None:
        """Certainty per rule, (U,), before its sigmoid or tanh, or None without certainty factors."""
        return self._own("certainty")

    def _own(self, name: str) -> nn.Parameter | None:
        if name not in self._parameters:  # torch asks before it registers a parameter of this name
            raise AttributeError(name)
        self._restore()
        return self._parameters[name]

    @property
    def centers(self) -> nn.Parameter:
        """Centres of the fuzzy sets, (D, T); `term_mask` says which exist."""
        self._restore()
        return self.antecedent.centers

    @property
    def widths(self) -> Tensor:
        """Widths of the fuzzy sets, (D, T), always above 0."""
        return self.antecedent.widths

    @property
    def term_mask(self) -> Tensor:
        """Which of the (D, T) fuzzy sets exist."""
        return self.antecedent.term_mask

    @property
    def logits(self) -> nn.Parameter:
        """The relaxed choice of premises, (T, D, U)."""
        self._restore()
        self.antecedent.settled.doubt()  # whoever asks may write
        return self.antecedent.logits

    @property
    def statistics(self) -> Statistics:
        """Running count, mean and squared deviations of the values that no set covered."""
        return self.antecedent.statistics

    @property
    def births(self) -> list[Birth]:
        """The fuzzy sets that were born: when, where, and how many observations asked for each."""
        return list(self.antecedent.growth.births)

    @property
    def prunings(self) -> list[Pruning]:
        """Premises that rules dropped for "any" or took up again, looked for every 64 passes: the last 10,000."""
        return list(self.antecedent.prunings.latest)

    @property
    def renewals(self) -> list[Rebirth]:
        """Rules that were retired and reborn where errors are large: the last 10,000."""
        return [] if self.renewing is None else list(self.renewing.state.latest)

    @property
    def weight(self) -> nn.Parameter:
        """Weights of the consequents: (U, O, D), or (U, O, R) in the low-rank form."""
        return self._part("weight")

    @property
    def bias(self) -> nn.Parameter:
        """Biases of the consequents, (U, O)."""
        return self._part("bias")

    @property
    def projection(self) -> nn.Parameter:
        """The projection that low-rank consequents share, (D, R)."""
        return self._part("projection")

    @property
    def output_centers(self) -> nn.Parameter:
        """Centres of the Mamdani output sets, (O, V)."""
        return self._part("output_centers")

    @property
    def output_widths(self) -> Tensor:
        """Widths of the Mamdani output sets, (O, V)."""
        return self._mamdani().output_widths

    @property
    def conclusion_logits(self) -> nn.Parameter:
        """The relaxed choice of Mamdani conclusions, (V, O, U)."""
        return self._part("conclusion_logits")

    def _part(self, name: str) -> nn.Parameter:
        self._restore()
        part: nn.Parameter = getattr(self.consequent, name)
        return part

    def _mamdani(self) -> MamdaniConsequent:
        if not isinstance(self.consequent, MamdaniConsequent):
            raise AttributeError(f"a {type(self.consequent_config).__name__} consequent has no output sets")
        self._restore()
        return self.consequent

    def premises(self) -> Tensor:
        """The term each rule uses of each attribute, (U, D) integers, as in evaluation."""
        return self.antecedent.premises()

    def rules_using(self, attribute: int, term: int) -> list[int]:
        """The rules whose premise on `attribute` is `term` (as in evaluation): of a birth, who moved to it."""
        users: list[int] = (self.premises()[:, attribute] == term).nonzero().squeeze(1).tolist()
        return users

    def conclusions(self) -> Tensor:
        """The Mamdani output set each rule concludes, (U, O) integers, as in evaluation."""
        return self._mamdani().conclusions()

    def noise(self) -> Tensor:
        """The Gumbel noise in force, (T, D, U); zeros in evaluation mode and with STE."""
        noise = self.antecedent.noise()
        return torch.zeros_like(self.logits) if noise is None else noise

    def conclusion_noise(self) -> Tensor:
        """The Gumbel noise on the Mamdani conclusions, (V, O, U); zeros in evaluation mode and with STE."""
        noise = self._mamdani().conclusion_noise(self.antecedent.draw)
        return torch.zeros_like(self.conclusion_logits) if noise is None else noise

    def place_sets(self, centers: Tensor, widths: Tensor, term_mask: Tensor | None = None) -> None:
        """Set centres and widths, (D, T) each, in place; `term_mask` says which exist (default: all).

        An infinite width makes a set "any": rules that choose it ignore the attribute, and it covers no input.
        """
        self.antecedent.place_sets(centers, widths, term_mask)

    def covered(self, x: Tensor, epsilon: float | None = None) -> Tensor:
        """Whether each value of x (B, D) reaches membership `epsilon` in some set; default: neurogenesis's."""
        check_input(x, self.in_features)
        if epsilon is None:
            epsilon = (self.neurogenesis or _NEUROGENESIS).epsilon
        x, precisions = bounded(x.detach(), self.antecedent), self.antecedent.precisions().detach()
        centers, mask = self.centers.detach().to(x.dtype), self.antecedent.covering_mask
        reached = torch.zeros_like(x, dtype=torch.bool)
        for term in range(self.max_terms):
            reached |= (log_membership(x, centers, precisions, term).exp() >= epsilon) & mask[:, term]
        return reached

    def config(self) -> dict[str, Any]:
        """The constructor's arguments in a form that JSON can hold; `from_config` builds the same network."""
        return config_of(self)

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], *, device: torch.device | str | None = None
    ) -> NeuroFuzzyNetwork:
        """A new network from what `config` gave; a ConfigError names what no network can be made of."""
        saved = read_config(config)
        net = cls(
            saved.in_features,
            saved.out_features,
            saved.rules,
            terms=saved.terms,
            max_terms=saved.max_terms,
            selection=saved.selection,
            firing=saved.firing,
            consequent=saved.decisions,
            neurogenesis=saved.neurogenesis,
            input_range=saved.input_range,
            sets=saved.sets,
            renewal=saved.renewal,
            device=device,
            dtype=saved.type,
        )
        net.vocabulary = saved.vocabulary
        return net

    def extra_repr(self) -> str:
        """One line on the shape of the network."""
        sets = int(self.term_mask.sum())
        return (
            f"{self.in_features} attributes, {self.rules} rules, {self.out_features} outputs, "
            f"{sets} fuzzy sets (room for {self.term_mask.numel()}), {len(self.antecedent.growth.births)} born"
        )
