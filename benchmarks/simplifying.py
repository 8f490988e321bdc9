"""How much smaller `npl.simplify` makes trained networks on five data sets, and what that does to their accuracy."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import torch
from sklearn import datasets
from torch import Tensor
from torch.nn import functional as F

import neuroplastic as npl
from benchmarks.table import table

TOLERANCES = (0.1, 0.25)


@dataclass(frozen=True)
class Case:
    """A data set of scikit-learn and the network that learns it."""

    name: str
    rules: int
    epochs: int
    consequent: str


CASES = (
    Case("iris", 12, 150, "constant"),
    Case("wine", 16, 150, "affine"),
    Case("breast_cancer", 16, 40, "constant"),
    Case("digits", 32, 40, "constant"),
    Case("diabetes", 16, 100, "affine"),
)


@dataclass(frozen=True)
class Trained:
    """A trained network with the rows it learned from and those it did not see."""

    net: npl.NeuroFuzzyNetwork
    seen: tuple[Tensor, Tensor]
    unseen: tuple[Tensor, Tensor]


def loaded(name: str) -> tuple[Tensor, Tensor]:
    """Inputs scaled to 0..1; labels, or for diabetes the standardised target."""
    data = getattr(datasets, f"load_{name}")()
    x = torch.tensor(data.data, dtype=torch.float32)
    low, high = x.min(dim=0).values, x.max(dim=0).values
    x = (x - low) / (high - low).clamp_min(1e-9)
    if name != "diabetes":
        return x, torch.tensor(data.target)
    y = torch.tensor(data.target, dtype=torch.float32).unsqueeze(1)
    return x, (y - y.mean()) / y.std()


def trained(case: Case, seed: int = 0) -> Trained:
    """The case's network, with layer norm, 1.5-entmax and neurogenesis, after training on three rows of four."""
    x, y = loaded(case.name)
    torch.manual_seed(seed)
    order = torch.randperm(len(x))
    learn, rest = order[: 3 * len(x) // 4], order[3 * len(x) // 4 :]
    net = npl.NeuroFuzzyNetwork(
        x.shape[1],
        1 if y.is_floating_point() else int(y.max()) + 1,
        case.rules,
        max_terms=6,
        consequent=case.consequent,
        selection=npl.Selection(temperature=1.0, noise_hold=16),
        neurogenesis=npl.Neurogenesis(epsilon=0.2, delay=20, min_width=0.1),
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    loss = F.mse_loss if y.is_floating_point() else F.cross_entropy
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", npl.CapacityWarning)
        for _ in range(case.epochs):
            for batch in learn[torch.randperm(len(learn))].split(64):
                optimizer.zero_grad()
                loss(net(x[batch]), y[batch]).backward()
                optimizer.step()
    return Trained(net.eval(), (x[learn], y[learn]), (x[rest], y[rest]))


@torch.no_grad()
def score(net: torch.nn.Module, rows: tuple[Tensor, Tensor]) -> float:
    """Percent of the labels that are right, or for a number the percent of its variance that is explained."""
    x, y = rows
    said = net(x)
    if y.is_floating_point():
        return 100 * (1 - float(F.mse_loss(said, y) / y.var(unbiased=False)))
    return 100 * float((said.argmax(dim=1) == y).double().mean())


def main(*, markdown: bool = False) -> None:
    """Print one table row per data set and tolerance."""
    torch.set_num_threads(1)
    rows = []
    for case in CASES:
        found = trained(case)
        for tolerance in TOLERANCES:
            started = time.process_time()
            simpler = npl.simplify(found.net, found.seen[0], tolerance)
            seconds = time.process_time() - started
            report = simpler.report
            before, after = report.before, report.after
            rows.append(
                (
                    f"{case.name}, {case.consequent}",
                    f"{tolerance:g}",
                    f"{before.rules} → {after.rules}",
                    f"{before.sets} → {after.sets}",
                    f"{before.premises} → {after.premises}",
                    f"{report.change.largest:.3f}",
                    f"{report.change.rms:.3f}",
                    f"{score(found.net, found.seen):.1f} → {score(simpler.network, found.seen):.1f}",
                    f"{score(found.net, found.unseen):.1f} → {score(simpler.network, found.unseen):.1f}",
                    f"{seconds:.1f}",
                )
            )
            if not markdown:
                print(report, flush=True)
    header = (
        "data, consequents",
        "tolerance",
        "rules",
        "sets",
        "premises",
        "largest change",
        "rms change",
        "score on the data",
        "score on unseen rows",
        "seconds of CPU",
    )
    print(table(header, rows, markdown=markdown))


if __name__ == "__main__":
    main()
