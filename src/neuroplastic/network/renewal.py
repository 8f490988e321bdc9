"""Rules that hardly fire are retired, and reborn where errors are large."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from ..errors import ConfigError, at_least, within
from ..fuzzy.once import once_differentiable
from .keeping import keeping
from .passes import recomputing, repeatable
from .placing import choose_nearest, generator_of
from .renewal_state import MOST, Rebirth, RenewalState, read, written
from .replicas import data_parallel_group
from .untraced import untraced

if TYPE_CHECKING:
    from .nfn import NeuroFuzzyNetwork


@dataclass(frozen=True)
class Renewal:
    """When rules that hardly fire are reborn where errors are large."""

    every: int = field(default=500, metadata={"help": "training passes between two looks at how rules fire"})
    least: float = field(
        default=0.01,
        metadata={
            "help": "a rule is retired whose mean firing is below this part of an equal share, 1 / rules"
        },
    )

    def __post_init__(self) -> None:
        at_least("renewal.every", self.every, 1)
        if not 0 < within("renewal.least", self.least, 0) < 1:
            raise ConfigError(
                f"renewal.least must lie between 0 and 1, so that some rule always stays, got {self.least!r}"
            )


class Renewals(nn.Module):
    """What a network saw of its rules and errors since the last look: firing of each rule, (U,), and rows of input with
    a great gradient at the output, at most one for each rule, (U, D) and (U,)."""

    fired: Tensor
    rows: Tensor
    errors: Tensor

    def __init__(self, config: Renewal, attributes: int, rules: int, like: Tensor) -> None:
        super().__init__()
        self.config, self.state = config, RenewalState()
        for name, shape in (("fired", (rules,)), ("rows", (rules, attributes)), ("errors", (rules,))):
            self.register_buffer(name, like.new_zeros(shape))
        # The latest pass that expects a backward pass, and whether that came: in between, nothing may change.
        self._latest, self._answered = 0, True

    @untraced
    def begin(self, net: NeuroFuzzyNetwork) -> None:
        """Count a training pass; when it is time, and no graph waits for its backward pass, renew rules first."""
        if recomputing():
            return
        if self.state.since >= self.config.every and self._answered:
            renew(net, self)
        self.state.since += 1

    @untraced
    def watch(self, x: Tensor, firing: Tensor, y: Tensor) -> Tensor:
        """The output as it is; firing is counted, and backwards, the rows of the greatest gradient are kept.

        A pass that is computed again counts for nothing, and its gradient is seen once.
        """
        if not recomputing():
            with keeping():
                self.fired += firing.detach().sum(dim=0).to(self.fired)
            if y.requires_grad or (not torch.is_grad_enabled() and repeatable()):
                self._latest, self._answered = self._latest + 1, False
        if not (torch.is_grad_enabled() and y.requires_grad):
            return y
        witnessed: Tensor = _Witnessed.apply(y, x.detach(), self, self._latest)  # type: ignore[no-untyped-call]
        return witnessed

    @torch.no_grad()
    def witness(self, x: Tensor, gradient: Tensor, number: int) -> None:
        """Keep rows of x (B, D) whose gradient (B, O) is greater than that of the row kept in their place.

        Equal rows have the same place, so a row that is met in every epoch is kept once.
        """
        self._answered = self._answered or number == self._latest
        sizes = gradient.to(self.errors).norm(dim=1)
        at_home = _places(x, len(self.errors)).unsqueeze(1) == torch.arange(len(self.errors), device=x.device)
        greatest, row = sizes.unsqueeze(1).where(at_home, 0.0).max(dim=0)
        better = greatest > self.errors
        self.rows.copy_(x.to(self.rows)[row].where(better.unsqueeze(1), self.rows))
        self.errors.copy_(greatest.where(better, self.errors))

    def restart(self) -> None:
        """Forget what was seen since the last look."""
        for tensor in (self.fired, self.rows, self.errors):
            tensor.zero_()
        self.state.since = 0

    def get_extra_state(self) -> Tensor:
        """Counters and records as JSON in a byte tensor."""
        return written(self.state)

    def set_extra_state(self, state: Tensor) -> None:
        """Take over what `get_extra_state` gave; a ConfigError names what does not fit."""
        self.state = read(state, len(self.fired))
        self._latest, self._answered = 0, True


def _places(x: Tensor, count: int) -> Tensor:
    """A place from 0 to `count` - 1 for each row of x (B, D): the same for equal rows, else as if drawn."""
    bits = x.float().contiguous().view(torch.int32).long()
    factors = torch.arange(x.shape[1], device=x.device).mul_(0x9E3779B1).add_(0x85EBCA6B).bitwise_or_(1)
    mixed = (bits * factors).sum(dim=1)
    return (mixed ^ (mixed >> 29)).mul_(0x27D4EB2F).bitwise_right_shift_(15) % count


class _Witnessed(torch.autograd.Function):
    """Identity; backwards, the gradient is looked at."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, x: Tensor, renewals: Renewals, number: int) -> Tensor:
        ctx.renewals, ctx.number = renewals, number
        ctx.save_for_backward(x)
        return y.view_as(y)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        ctx.renewals.witness(*ctx.saved_tensors, grad, ctx.number)
        return grad, None, None, None


@untraced
@keeping()
def renew(net: NeuroFuzzyNetwork, renewals: Renewals) -> None:
    """Retire the rules that fired least and let each begin anew at a row, greatest error first.

    Its premises are the sets nearest to the row, it concludes what the network says there, and gain, shift and
    certainty are as at first: at the row nothing jumps. Frozen rules stay.
    """
    antecedent, state = net.antecedent, renewals.state
    fired, rows, errors = _over_replicas(renewals)
    share = fired / fired.sum().clamp_min(torch.finfo(fired.dtype).tiny)
    dead = share < renewals.config.least / net.rules
    if antecedent.wish.rules:
        dead[list(antecedent.wish.rules)] = False
    count = min(int(dead.sum()), int((errors > 0).sum()))
    if count:
        rules = share.masked_fill(~dead, torch.inf).argsort(stable=True)[:count]
        order = errors.argsort(descending=True, stable=True)[:count]
        conclusions = _evaluated(net, rows[order])
        choose_nearest(antecedent, rules, rows[order], generator_of(antecedent, 2))
        net.consequent.conclude(rules, conclusions)
        for name, value in (("kappa", 1.0), ("beta", 0.0), ("certainty", 1.0)):
            parameter = net._parameters[name]
            if parameter is not None:
                parameter.data[rules] = value
        figures = zip(rules.tolist(), share[rules].tolist(), errors[order].tolist(), strict=True)
        state.total += count
        state.latest = [*state.latest, *(Rebirth(antecedent.passes, *each) for each in figures)][-MOST:]
        antecedent.settled.doubt()
    renewals.restart()


def _evaluated(net: NeuroFuzzyNetwork, rows: Tensor) -> Tensor:
    """What the network says at rows, as in evaluation; each part's mode is left as it was."""
    modes = [(part, part.training) for part in net.modules()]
    net.eval()
    y = net.forward(rows.to(net.antecedent.centers.dtype))
    for part, mode in modes:
        part.training = mode
    return y


def _over_replicas(renewals: Renewals) -> tuple[Tensor, Tensor, Tensor]:
    """Firing, rows and errors, of all replicas of a data-parallel network, so that they renew the same rules."""
    own = renewals.fired, renewals.rows, renewals.errors
    group = data_parallel_group(renewals)
    if group is None:
        return own
    size = torch.distributed.get_world_size(group)
    gathered = []
    for tensor in own:
        everywhere = [torch.empty_like(tensor) for _ in range(size)]
        torch.distributed.all_gather(everywhere, tensor.contiguous(), group=group)
        gathered.append(torch.stack(everywhere))
    fired, rows, errors = gathered
    greatest, replica = errors.max(dim=0)
    return fired.sum(dim=0), rows[replica, torch.arange(len(replica), device=replica.device)], greatest
