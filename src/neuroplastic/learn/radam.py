"""RAdam as a program that asks the host nothing: one step counter for all parameters, a few kernels for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class DeviceRAdam(torch.optim.RAdam):
    """PyTorch's RAdam, state for state, for parameters that all have a gradient and all began together.

    Its own capturable form corrects every parameter apart, which takes some hundred small kernels. Here the
    corrections are read off a table, computed in double precision: with t steps, b1, b2 and r = 2 / (1 - b2) - 1,

        r_t = r - 2 t b2**t / (1 - b2**t),
        p <- p - rate m / (1 - b1**t) (rect sqrt(1 - b2**t) / (sqrt(v) + eps)  if r_t > 5 else  1),
        rect = sqrt((r_t - 4) (r_t - 2) r / ((r - 4) (r - 2) r_t)).
    """

    def __init__(self, params: Iterable[Any], lr: float) -> None:
        super().__init__(params, lr=lr)
        for group in self.param_groups:
            # So that a state that is loaded has its counters on the device.
            group["capturable"] = next(iter(group["params"])).device.type == "cuda"
        self._tables = [
            _factors(group["betas"]).to(next(iter(group["params"]))) for group in self.param_groups
        ]

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One step down the gradients at hand; a closure is not called."""
        assert closure is None
        for group, table in zip(self.param_groups, self._tables, strict=True):
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            if parameters:
                self._step(group, table, parameters)

    def _step(self, group: dict[str, Any], table: Tensor, parameters: list[Tensor]) -> None:
        for parameter in parameters:
            if not self.state[parameter]:
                self.state[parameter] = {
                    "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
                    "exp_avg": torch.zeros_like(parameter),
                    "exp_avg_sq": torch.zeros_like(parameter),
                }
        steps, means, squares = (
            [self.state[parameter][name] for parameter in parameters]
            for name in ("step", "exp_avg", "exp_avg_sq")
        )
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        beta1, beta2 = group["betas"]
        torch._foreach_add_(steps, 1)
        torch._foreach_lerp_(means, gradients, 1 - beta1)
        torch._foreach_mul_(squares, beta2)
        torch._foreach_addcmul_(squares, gradients, gradients, 1 - beta2)
        place = steps[0].clamp_max(len(table) - 1).long().view(1)
        adapted, plain = (table.index_select(0, place)[0] * group["lr"]).unbind()
        change = torch._foreach_sqrt(squares)
        torch._foreach_add_(change, group["eps"])
        torch._foreach_reciprocal_(change)
        torch._foreach_mul_(change, adapted)
        torch._foreach_addcmul_(parameters, means, change, -1)
        # Not added to `change`: of a tensor to add to all, torch would ask the value.
        torch._foreach_sub_(parameters, torch._foreach_mul(means, plain))


def _factors(betas: tuple[float, float]) -> Tensor:
    """What the mean is multiplied by after t steps, but for the rate, (t, 2): divided by the root of the mean square,
    and as it is; one of both is 0."""
    beta1, beta2 = betas
    # Until b2**t is lost beside 1 in single precision, even times the greatest t and half of r.
    step = torch.arange(1 + math.ceil(math.log(1e-12) / math.log(beta2)), dtype=torch.float64).clamp_min_(1)
    longest = 2 / (1 - beta2) - 1
    decayed = beta2**step
    unbiased = 1 / (1 - beta1**step)
    length = longest - 2 * step * decayed / (1 - decayed)
    square = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    rectified = length > 5
    adapted = torch.where(rectified, (square * (1 - decayed)).clamp_min(0).sqrt() * unbiased, 0.0)
    return torch.stack((adapted, torch.where(rectified, 0.0, unbiased)), dim=1)
