"""How long explaining takes: 1,000 observations of a table, and one picture's features; best of several runs.

Prints milliseconds for the explanation (fired rules and their shares), for the nearest change that would let
another rule take over, and both, with and without layer norm, whose changes are zeros of degree 4.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

import neuroplastic as npl
from benchmarks.table import table

RUNS = 5
LIMIT_MS = 1000.0


@dataclass(frozen=True)
class Size:
    """A problem."""

    name: str
    B: int
    D: int
    U: int
    outputs: int
    layer_norm: bool
    limited: bool = False


SIZES = (
    Size("1,000 x 64, 32 rules", 1000, 64, 32, 3, False, limited=True),
    Size("1,000 x 64, 32 rules, layer norm", 1000, 64, 32, 3, True, limited=True),
    Size("1 x 1600, 256 rules, layer norm", 1, 1600, 256, 8, True),
    Size("64 x 1600, 256 rules, layer norm", 64, 1600, 256, 8, True),
)


def network(size: Size) -> npl.NeuroFuzzyNetwork:
    """A network whose rules differ in all that training changes, so that nothing is easier than in use."""
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(
        size.D,
        size.outputs,
        size.U,
        firing=npl.Firing(layer_norm=size.layer_norm, certainty="log"),
        input_range=(-2.0, 2.0),
    )
    with torch.no_grad():
        for parameter in (net.centers, net.kappa, net.beta, net.certainty):
            if parameter is not None:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return net.eval()


def measure(size: Size) -> tuple[float, float]:
    """Milliseconds, the best of several runs: explanation from the network on, and changes on top of it."""
    net, x = network(size), torch.randn(size.B, size.D)
    explain = min(_milliseconds(lambda: npl.explain(net, x)) for _ in range(RUNS))
    changes = min(_changes(npl.explain(net, x)) for _ in range(RUNS))
    return explain, changes


def _changes(explanation: npl.Explanation) -> float:
    return _milliseconds(lambda: explanation.changes)


def _milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - started)


def main() -> None:
    rows = []
    for size in SIZES:
        explain, changes = measure(size)
        verdict = ("reached" if explain + changes < LIMIT_MS else "missed") if size.limited else "-"
        figures = (explain, changes, explain + changes)
        rows.append([size.name, *(f"{figure:.1f}" for figure in figures), verdict])
    print(table(["ms", "explanation", "changes", "both", "under 1 s"], rows, markdown=False))


if __name__ == "__main__":
    main()
