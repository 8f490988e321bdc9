"""Contestants must compute the same thing before their times are worth comparing.

Small networks; raises AssertionError with the difference where one does not.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close

import neuroplastic as npl
from benchmarks.peers import FuzzyTheoryAntecedent, StraightforwardGumbel, installed, pytsk_antecedent
from neuroplastic.fuzzy import backends

B, D, U, T = 7, 5, 6, 3


def network(*, plain: bool, reduce: str = "sum", dtype: torch.dtype = torch.float64) -> npl.NeuroFuzzyNetwork:
    """A small network; `plain`: softmax and no layer norm."""
    firing = npl.Firing(reduce=reduce, alpha=1.0, layer_norm=False) if plain else npl.Firing(reduce=reduce)
    return npl.NeuroFuzzyNetwork(
        D, 1, U, terms=T, max_terms=T, firing=firing, consequent="constant", neurogenesis=None, dtype=dtype
    )


def gradients(firing: Tensor, upstream: Tensor, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Gradients by name."""
    return dict(zip(inputs, torch.autograd.grad(firing, list(inputs.values()), upstream), strict=True))


def of_ours(net: npl.NeuroFuzzyNetwork, x: Tensor, upstream: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """Firing, and its gradients in the form that the straightforward version has them in."""
    raw = net.antecedent.raw_widths
    inputs = {"x": x, "logits": net.logits, "centers": net.centers, "widths": raw}
    firing = net.firing(x)
    found = gradients(firing, upstream, inputs)
    found["logits"] = found["logits"].movedim(0, 1)
    found["widths"] = found["widths"] / torch.sigmoid(raw)  # widths = floor + softplus(raw)
    return firing, found


def check_straightforward() -> None:
    """(a) equals ours under the same noise, in value and gradient, with and without the compiled kernel."""
    net, x = network(plain=False), torch.rand(B, D, dtype=torch.float64, requires_grad=True)
    upstream = torch.randn(B, U, dtype=torch.float64)
    net.antecedent.passes += 1
    peer = StraightforwardGumbel(net, hold=64)
    peer.noise = net.noise().movedim(0, 1)
    expected = peer(x)
    inputs = {"x": x, "logits": peer.logits, "centers": peer.centers, "widths": peer.widths}
    slopes = gradients(expected, upstream, inputs)
    for reached in (of_ours(net, x, upstream), _without_kernel(net, x, upstream)):
        assert_close(reached, (expected, slopes), rtol=1e-10, atol=1e-10)


def _without_kernel(
    net: npl.NeuroFuzzyNetwork, x: Tensor, upstream: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    with backends.eager_only():
        return of_ours(net, x, upstream)


def check_fresh_noise() -> None:
    """Both forms of (a) are one: held noise that is drawn at this pass gives what `F.gumbel_softmax` gives."""
    net = network(plain=False)
    fresh, held = StraightforwardGumbel(net, hold=1), StraightforwardGumbel(net, hold=64)
    torch.manual_seed(1)
    expected = fresh.premises()
    torch.manual_seed(1)
    held.draw()
    assert_close(held.premises(), expected, rtol=0, atol=1e-12)
    soft = F.softmax((held.logits + held.noise) / held.tau, dim=1)
    assert_close(held.premises().argmax(1), soft.argmax(1), rtol=0, atol=0)


def check_peers() -> None:
    """(b) equals ours with the mean, (c) ours with the sum, both with softmax and the rules of evaluation."""
    peers: dict[str, tuple[Callable[[npl.NeuroFuzzyNetwork], nn.Module], str]] = {
        "pytsk": (pytsk_antecedent, "mean"),
        "fuzzy": (FuzzyTheoryAntecedent, "sum"),
    }
    for package, (build, reduce) in peers.items():
        if not installed(package):
            continue
        net, x = network(plain=True, reduce=reduce, dtype=torch.float32).eval(), torch.rand(B, D)
        # Wide sets: fuzzy-theory cuts log-memberships at -10.
        net.place_sets(net.centers.detach(), torch.full((D, T), 0.4))
        assert_close(build(net)(x), net.firing(x), rtol=1e-4, atol=1e-6)


def check() -> None:
    """All of it."""
    torch.manual_seed(0)
    check_straightforward()
    check_fresh_noise()
    check_peers()


if __name__ == "__main__":
    check()
    print("all contestants agree")
