"""The rule part (selection, log-firing, firing; STGE) against peers and the limit: forward and backward, and B = 1.

Prints one table of milliseconds and ratios, and which of the project's targets are reached.
"""

from __future__ import annotations

import copy
import operator
import platform
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn

import neuroplastic as npl
from benchmarks import agreement, memory
from benchmarks.peers import FuzzyTheoryAntecedent, StraightforwardGumbel, installed, pytsk_antecedent
from benchmarks.table import table
from benchmarks.timing import Contestant, race, reuse_memory
from neuroplastic.fuzzy import backends

SECONDS = 60.0
HOLD = 64

HELD, FRESH = "ours, noise held", "ours, fresh noise"
SOFTMAX, EAGER = "ours, noise held, softmax, no layer norm", "ours, noise held, without the compiled kernel"
GUMBEL_HELD, GUMBEL_FRESH = "(a) one-hot product, noise held", "(a) F.gumbel_softmax, fresh noise"
PYTSK, FUZZY_THEORY, LINEAR = (
    "(b) scikit-pytsk antecedent",
    "(c) fuzzy-theory, fixed links",
    "(d) nn.Linear(2 D, U)",
)
ROWS = (HELD, FRESH, SOFTMAX, EAGER, GUMBEL_HELD, GUMBEL_FRESH, PYTSK, FUZZY_THEORY, LINEAR)
# A contestant with fresh noise is compared with ours under fresh noise, all others with ours under held noise.
AGAINST = {name: FRESH if name == GUMBEL_FRESH else HELD for name in ROWS}


@dataclass(frozen=True)
class Size:
    """A problem."""

    name: str
    B: int
    D: int
    U: int
    T: int


PAPER = {T: Size(f"paper T={T}", 64, 1600, 256, T) for T in (2, 5, 16)}
TABULAR = Size("tabular T=3", 256, 30, 32, 3)
SINGLE = Size("B=1 evaluation T=5", 1, 1600, 256, 5)
SIZES = (*PAPER.values(), TABULAR, SINGLE)

Times = dict[str, dict[str, float]]
"""Milliseconds by name of size and name of contestant."""


def network(size: Size, hold: int = HOLD, *, plain: bool = False) -> npl.NeuroFuzzyNetwork:
    """Our network; `plain` leaves layer norm and entmax out, as (b) and (c) do. All networks of a size are equal."""
    torch.manual_seed(0)
    return npl.NeuroFuzzyNetwork(
        size.D,
        1,
        size.U,
        terms=size.T,
        max_terms=size.T,
        selection=npl.Selection(estimator="stge", noise_hold=hold),
        firing=npl.Firing(alpha=1.0, layer_norm=False) if plain else npl.Firing(alpha=1.5, layer_norm=True),
        consequent="constant",
        neurogenesis=None,
    )


def forward_and_backward(
    module: nn.Module, firing: Callable[[Tensor], Tensor], x: Tensor
) -> Callable[[], None]:
    """One pass in training; the gradients are dropped afterwards, as an optimizer's `zero_grad` does."""
    parameters = list(module.parameters())
    with torch.no_grad():
        upstream = torch.randn_like(firing(x))

    def run() -> None:
        firing(x).backward(upstream)
        x.grad = None
        for parameter in parameters:
            parameter.grad = None

    return run


def ours(name: str, net: npl.NeuroFuzzyNetwork, x: Tensor, *, fused: bool = True) -> Contestant:
    """Our rule part in training mode, the pass counter advancing as it does in `net(x)`."""
    antecedent, hold = net.antecedent, net.selection.noise_hold

    def path() -> AbstractContextManager[None]:
        return nullcontext() if fused else backends.eager_only()

    def firing(x: Tensor) -> Tensor:
        antecedent.passes += 1
        return net.firing(x)

    run = forward_and_backward(net, firing, x)

    def run_on_path() -> None:
        with path():
            run()

    def draw() -> None:
        antecedent.passes += hold
        with path():
            net.noise()

    return Contestant(name, run_on_path if not fused else run, draw if hold > 1 else None, hold)


def training_contestants(size: Size) -> list[Contestant]:
    """Forward and backward of all contestants, each with its own copy of everything; inputs need gradients."""

    def batch(columns: int = size.D) -> Tensor:
        return torch.rand(size.B, columns, requires_grad=True)

    def peer(name: str, module: nn.Module, x: Tensor) -> Contestant:
        return Contestant(name, forward_and_backward(module, module, x))

    net = network(size)
    held = StraightforwardGumbel(net, HOLD)
    contestants = [
        ours(HELD, net, batch()),
        ours(FRESH, network(size, hold=1), batch()),
        ours(SOFTMAX, network(size, plain=True), batch()),
        ours(EAGER, copy.deepcopy(net), batch(), fused=False),
        Contestant(GUMBEL_HELD, forward_and_backward(held, held, batch()), held.draw, HOLD),
        peer(GUMBEL_FRESH, StraightforwardGumbel(net, 1), batch()),
        peer(LINEAR, nn.Linear(2 * size.D, size.U), batch(2 * size.D)),
    ]
    if installed("pytsk"):
        contestants.append(peer(PYTSK, pytsk_antecedent(net), batch()))
    if installed("fuzzy"):
        contestants.append(peer(FUZZY_THEORY, FuzzyTheoryAntecedent(net), batch()))
    return contestants


def evaluation_contestants(size: Size) -> list[Contestant]:
    """One observation in evaluation mode without gradients; our choice of rules is cached after the first pass."""
    net = network(size).eval()
    plain, eager = network(size, plain=True).eval(), copy.deepcopy(net)
    x = torch.rand(size.B, size.D)

    def without_kernel(x: Tensor) -> Tensor:
        with backends.eager_only():
            return eager.firing(x)

    calls: dict[str, tuple[Callable[[Tensor], Tensor], Tensor]] = {
        HELD: (net.firing, x),
        SOFTMAX: (plain.firing, x),
        EAGER: (without_kernel, x),
        LINEAR: (nn.Linear(2 * size.D, size.U).eval(), torch.rand(size.B, 2 * size.D)),
    }
    if installed("pytsk"):
        calls[PYTSK] = (pytsk_antecedent(net).eval(), x)
    if installed("fuzzy"):
        calls[FUZZY_THEORY] = (FuzzyTheoryAntecedent(net).eval(), x)

    def timed(call: Callable[[Tensor], Tensor], x: Tensor) -> Callable[[], None]:
        def run() -> None:
            with torch.no_grad():
                call(x)

        return run

    return [Contestant(name, timed(*arguments)) for name, arguments in calls.items()]


def measure(seconds: float) -> tuple[Times, int]:
    """Best times of all contestants at all sizes, in one race, since sizes are compared too; and its rounds."""
    entries = {
        size.name: evaluation_contestants(size) if size is SINGLE else training_contestants(size)
        for size in SIZES
    }
    rounds = race([contestant for contestants in entries.values() for contestant in contestants], seconds)
    times = {name: {c.name: c.milliseconds for c in contestants} for name, contestants in entries.items()}
    return times, rounds


@dataclass(frozen=True)
class Target:
    """What the project asks for and what was reached; None where a peer is missing or the system does not tell."""

    claim: str
    sign: str
    limit: float
    reached: float | None

    def cells(self) -> list[str]:
        """A row of the table of targets."""
        asked = f"{self.sign} {self.limit:g}"
        if self.reached is None:
            return [self.claim, asked, "not measured", "-"]
        met = {">=": operator.ge, "<=": operator.le, "<": operator.lt}[self.sign](self.reached, self.limit)
        return [self.claim, asked, f"{self.reached:.2f}", "yes" if met else "no"]


def speed_targets(times: Times) -> list[Target]:
    """The project's targets of speed; ours is the default network with layer norm, entmax and held noise."""

    def ratio(numerator: str, denominator: str, size: Size = PAPER[5]) -> float | None:
        at = times[size.name]
        return at[numerator] / at[denominator] if numerator in at and denominator in at else None

    growth = times[PAPER[16].name][HELD] / times[PAPER[2].name][HELD]
    return [
        Target("T=5: (a) / ours, noise held for 64 passes", ">=", 3, ratio(GUMBEL_HELD, HELD)),
        Target("T=5: (a) / ours, fresh noise at every pass", ">=", 3, ratio(GUMBEL_FRESH, FRESH)),
        Target("T=5: (b) / ours", ">=", 8, ratio(PYTSK, HELD)),
        Target("T=5: ours / (c), which learns no structure", "<=", 1, ratio(HELD, FUZZY_THEORY)),
        Target("T=5: ours / (d), the limit", "<=", 3, ratio(HELD, LINEAR)),
        Target("ours at T=16 / ours at T=2", "<=", 3.5, growth),
        Target("B=1 evaluation: ours / (d)", "<=", 6, ratio(HELD, LINEAR, SINGLE)),
    ]


def memory_targets(peaks: dict[int, memory.Peak]) -> list[Target]:
    """Peak memory of a training step, and the largest tensor that one makes, on both paths."""
    largest = max(memory.largest_of_training_step(fused=fused) for fused in (True, False))
    return [
        *(
            Target(
                f"T={T}: peak extra memory, forward + backward / logits",
                "<=",
                6,
                peaks[T].step if peaks else None,
            )
            for T in PAPER
        ),
        Target("largest tensor made / the smaller of B x D x T, B x D x U", "<", 1, largest),
    ]


def other_peaks(peaks: dict[int, memory.Peak]) -> str:
    """Peak memory in circumstances that the targets do not speak of."""
    adam = ", ".join(f"{peaks[T].with_adam:.1f}" for T in PAPER)
    eager = ", ".join(f"{memory.peak_extra(T, fused=False).step:.1f}" for T in PAPER)
    return (
        f"Peak extra memory / logits at T={', '.join(map(str, PAPER))} with Adam (its moments included): {adam}; "
        f"forward + backward without the compiled kernel: {eager}."
    )


def time_rows(times: Times) -> list[list[str]]:
    """A row for each contestant: milliseconds, and in brackets how many times as long as ours."""
    rows = []
    for name in ROWS:
        cells = [name]
        for size in SIZES:
            at = times[size.name]
            cells.append(f"{at[name]:.3g} ({at[name] / at[AGAINST[name]]:.2f})" if name in at else "-")
        rows.append(cells)
    return rows


def conditions(rounds: int, *, tuned: bool) -> str:
    """What one has to know to read the table."""
    return "\n".join(
        [
            f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}, float32; "
            f"compiled kernel: {'yes' if backends.compiled_available() else 'no'}.",
            "Paper: B=64, D=1600, U=256. Tabular: B=256, D=30, U=32. Forward + backward, but for B=1.",
            "Best pass in milliseconds; in brackets: times as long as ours with held noise "
            "((a) with fresh noise: as ours with fresh noise).",
            f"All contestants at all sizes take turns in one process, {rounds} rounds, each turn one pass or 10 ms.",
            "Held noise: 1/64 of a draw is added to a pass.",
            "Ours and (a) include layer norm and 1.5-entmax; (b) and (c) have a softmax, (d) neither.",
            "Allocator, for all alike: "
            + ("freed memory is kept (mallopt)." if tuned else "the system's default."),
        ]
    )


def main(*, markdown: bool = False, seconds: float = SECONDS) -> None:
    """Check that contestants compute the same, measure, and print."""
    tuned = reuse_memory()
    agreement.check()
    times, rounds = measure(seconds)
    print(conditions(rounds, tuned=tuned), end="\n\n")
    header = ["rule part, ms (ratio to ours)", *(size.name for size in SIZES)]
    print(table(header, time_rows(times), markdown=markdown), end="\n\n")
    peaks = {T: memory.peak_extra(T) for T in PAPER} if memory.can_measure() else {}
    rows = [target.cells() for target in (*speed_targets(times), *memory_targets(peaks))]
    print(table(["target", "asked", "reached", "met"], rows, markdown=markdown), end="\n\n")
    if peaks:
        print(other_peaks(peaks), flush=True)


if __name__ == "__main__":
    main()
