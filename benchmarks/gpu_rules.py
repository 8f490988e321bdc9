"""The rule part on a GPU: forward and backward pass, launched step by step and captured as a CUDA graph.

Sizes of the paper (B 64, D 1600, U 256), STGE with held noise, layer norm and 1.5-entmax, beside what one would write
from the paper and `nn.Linear(2 D, U)`, the least that a layer of this size costs. Each cell is the least and the
greatest of three runs, milliseconds per pass with one wait at the end of many.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

import neuroplastic as npl
from benchmarks.peers import StraightforwardGumbel
from benchmarks.rule_part import HOLD, PAPER, Size, network
from benchmarks.table import Reached, table
from benchmarks.timing import gpu_milliseconds
from neuroplastic.fuzzy import backends
from neuroplastic.fuzzy.backends import choice

RUNS = 3
EAGER_PASSES, CAPTURED_PASSES = 50, 300
LINEAR = "nn.Linear(2 D, U)"
FIXED, GROWING = "ours, fixed sets", "ours, growing"
PLAIN = "ours, fixed sets, without Triton"
GUMBEL = "one-hot product, noise held"


def ours(size: Size, *, growing: bool) -> Callable[[Tensor], Tensor]:
    """Firing levels of a training pass that counts: noise advances, uncovered inputs are counted, sets are born."""
    net = network(size)
    if growing:
        net = npl.NeuroFuzzyNetwork.from_config(
            {**net.config(), "neurogenesis": npl.NeuroFuzzyNetwork(1, 1, 1).config()["neurogenesis"]}
        )
    net = net.cuda()

    def levels(x: Tensor) -> Tensor:
        begun = net.antecedent.begin(x, counts=True)
        return net._firing_levels(net.antecedent.log_firing(x, begun))

    levels.module = net  # type: ignore[attr-defined]
    return levels


def contestants(size: Size) -> dict[str, tuple[nn.Module, Callable[[Tensor], Tensor], int]]:
    """By name: the module that learns, what computes firing, and how many columns its input has."""
    linear = nn.Linear(2 * size.D, size.U).cuda()
    gumbel = StraightforwardGumbel(network(size), HOLD).cuda()
    gumbel.noise = gumbel.noise.cuda()
    entries: dict[str, tuple[nn.Module, Callable[[Tensor], Tensor], int]] = {
        LINEAR: (linear, linear, 2 * size.D),
        GUMBEL: (gumbel, gumbel, size.D),
    }
    for name, growing in ((FIXED, False), (GROWING, True), (PLAIN, False)):
        firing = ours(size, growing=growing)
        entries[name] = (firing.module, firing, size.D)  # type: ignore[attr-defined]
    return entries


def step_of(
    module: nn.Module, firing: Callable[[Tensor], Tensor], columns: int, size: Size
) -> Callable[[], None]:
    """A forward and a backward pass whose gradients are made anew."""
    x = torch.rand(size.B, columns, device="cuda", requires_grad=True)
    upstream = torch.randn(size.B, size.U, device="cuda")
    learned = [x, *module.parameters()]

    def step() -> None:
        for tensor in learned:
            tensor.grad = None
        firing(x).backward(upstream)

    return step


def captured(step: Callable[[], None]) -> Callable[[], None]:
    """The step as one CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def both(step: Callable[[], None]) -> tuple[list[float], list[float]]:
    """Times of the step, eager and captured."""
    eager = gpu_milliseconds(step, EAGER_PASSES, RUNS)
    return eager, gpu_milliseconds(captured(step), CAPTURED_PASSES, RUNS)


def measure(size: Size) -> dict[str, tuple[list[float], list[float]]]:
    """Times of all contestants, eager and captured."""
    times = {}
    for name, (module, firing, columns) in contestants(size).items():
        step = step_of(module, firing, columns, size)
        if name == PLAIN:
            with backends.eager_only():
                times[name] = both(step)
        else:
            times[name] = both(step)
    return times


def shown(times: list[float]) -> str:
    """The least and the greatest."""
    return f"{min(times):.3f} to {max(times):.3f}"


def main(*, markdown: bool = False) -> list[Reached]:
    """Measure and print, and give what was asked for; without a CUDA device, say so."""
    if not torch.cuda.is_available():
        print("gpu_rules: no CUDA device on this machine, nothing is measured")
        return []
    kernels = "yes" if choice.triton_backend() is not None else "no"
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, float32; Triton: {kernels}.")
    print(
        "Rule part, forward + backward, B=64, D=1600, U=256; milliseconds, least to greatest of three runs.\n"
    )
    reached = []
    for size in PAPER.values():
        times = measure(size)
        linear = min(times[LINEAR][1])
        rows = [
            [name, shown(eager), shown(replayed), f"{min(replayed) / linear:.2f}"]
            for name, (eager, replayed) in times.items()
        ]
        header = [f"T={size.T}", "eager", "captured", "captured / nn.Linear"]
        print(table(header, rows, markdown=markdown), end="\n\n", flush=True)
        if size.T == 5:
            fixed, growing = times[FIXED][1], times[GROWING][1]
            reached = [
                Reached("rule part, T 5, captured, ms", 0.30, fixed),
                Reached("the same / nn.Linear(2 D, U)", 1.5, [one / linear for one in fixed]),
                Reached("the same, growing, ms", 0.40, growing),
            ]
    return reached


if __name__ == "__main__":
    main()
