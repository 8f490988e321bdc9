"""How much memory the rule part takes: the peak of a training step, and the largest tensor that is made.

`python -m benchmarks.memory 5` prints the peak of a step with 5 terms, and that of one with Adam, which `step` after
the number leaves out; the peak of a process can only be taken in a fresh one, so `peak_extra` starts that command.

`LargestTensor` sees what PyTorch makes, the peak also sees what the compiled kernel takes for itself: of each thread
256 x 64 numbers on its stack and, where the number of rules is not a multiple of a tile, a copy of 2 x D x one tile.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import neuroplastic as npl
from benchmarks.timing import reuse_memory
from neuroplastic.fuzzy import backends

# In these sizes everything that may be made is smaller than B x D x T and B x D x U, which may not.
B, D, U, T = 64, 40, 16, 3


class LargestTensor(TorchDispatchMode):
    """Inside the block, notes the shape of the largest tensor that any PyTorch operation returned."""

    def __init__(self) -> None:
        super().__init__()
        self.shape = torch.Size([0])

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor) and leaf.numel() > self.shape.numel():
                self.shape = leaf.shape
        return result


def small_network(
    rules: int = U, attributes: int = D, terms: int = T, *, neurogenesis: bool = False
) -> npl.NeuroFuzzyNetwork:
    """STGE, layer norm and 1.5-entmax; constant consequents, so that the rule part is what takes memory."""
    return npl.NeuroFuzzyNetwork(
        attributes,
        1,
        rules,
        terms=terms - 1 if neurogenesis else terms,
        max_terms=terms,
        consequent="constant",
        neurogenesis=npl.Neurogenesis(epsilon=0.9, delay=1) if neurogenesis else None,
    )


def largest_tensor(step: Callable[[], object]) -> torch.Size:
    """Shape of the largest tensor made by `step`."""
    with LargestTensor() as largest:
        step()
    return largest.shape


def largest_of_training_step(*, fused: bool) -> float:
    """Largest tensor of a forward and a backward pass, as a share of the smaller of B x D x T and B x D x U."""
    net, x = small_network(), torch.rand(B, D, requires_grad=True)
    with nullcontext() if fused else backends.eager_only():
        shape = largest_tensor(lambda: net(x).square().mean().backward())
    return shape.numel() / (B * D * min(T, U))


def _status(field: str) -> int:
    """Bytes that Linux reports of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


def can_measure() -> bool:
    """Whether this system tells the peak of a process and lets it start anew (Linux does)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmHWM") > 0
    except OSError:
        return False


@contextmanager
def peak() -> Iterator[list[int]]:
    """Bytes that were resident at most inside the block, above what was before; put into the list at its end."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before, result = _status("VmRSS"), [0]
    yield result
    result[0] = _status("VmHWM") - before


class Peak(NamedTuple):
    """Peak of a training step as a multiple of the logits' bytes."""

    step: float
    """Forward and backward."""
    with_adam: float = nan
    """The same with Adam, which adds two moments and, while it steps, two more tensors of that size."""


def measure_peak(
    terms: int, *, batch: int = 64, attributes: int = 1600, rules: int = 256, adam: bool = True
) -> Peak:
    """Peak of two training steps in this process.

    Network and batch are there before; noise, gradients, what a graph keeps, the kernel's scratch memory and the
    moments of Adam all count.
    """
    reuse_memory(threshold=1 << 16)  # the opposite of what speed wants: what is freed goes back at once
    figures = []
    for with_optimizer in (False, True) if adam else (False,):
        _steps(
            small_network(), torch.rand(B, D), with_optimizer
        )  # thread pools and libraries are not what is measured
        net, x = small_network(rules, attributes, terms), torch.rand(batch, attributes)
        with peak() as extra:
            _steps(net, x, with_optimizer)
        figures.append(extra[0] / (net.logits.numel() * net.logits.element_size()))
    return Peak(*figures)


def _steps(net: npl.NeuroFuzzyNetwork, x: torch.Tensor, with_optimizer: bool) -> None:
    optimizer = torch.optim.Adam(net.parameters()) if with_optimizer else None
    x.requires_grad_()
    for _ in range(2):
        net.zero_grad()
        net(x).square().mean().backward()
        if optimizer is not None:
            optimizer.step()


def peak_extra(terms: int, *, fused: bool = True, adam: bool = True) -> Peak:
    """`measure_peak` in a fresh process."""
    environment = {**os.environ, "NEUROPLASTIC_KERNEL": "1" if fused else "0"}
    command = [sys.executable, "-m", "benchmarks.memory", str(terms), *([] if adam else ["step"])]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True)
    return Peak(*map(float, done.stdout.split()))


if __name__ == "__main__":
    print(*measure_peak(int(sys.argv[1]), adam=sys.argv[2:] != ["step"]))
