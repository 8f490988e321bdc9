"""What simplification did: sizes before and after, and the measured change of the outputs after every step."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ...network.hierarchy import Hierarchy
from ...network.nfn import NeuroFuzzyNetwork
from .draft import Size


@dataclass(frozen=True)
class Change:
    """How far outputs moved on the data, in the report's unit: the largest change, and the root mean square."""

    largest: float
    rms: float

    @classmethod
    def between(cls, now: Tensor, reference: Tensor, unit: Tensor) -> Change:
        """From outputs `reference` (B, O) to `now` (B, O), in `unit` (O,)."""
        change = (now - reference) / unit
        return cls(float(change.abs().max()), float(change.square().mean().sqrt()))

    def by(self, measure: str) -> float:
        """The one of the two figures that a tolerance bounds: 'max' or 'rms'."""
        return self.largest if measure == "max" else self.rms


@dataclass(frozen=True)
class Step:
    """One step of a simplification: what it was, what was left after it, and the change from the original so far."""

    name: str
    level: int
    """which level of a hierarchy, from 1"""
    done: int
    """how many were dropped or merged"""
    undone: int
    """how many trials went beyond the tolerance and were taken back"""
    refits: int
    """how many trials stayed within the tolerance because what was left was refitted"""
    size: Size
    """of the whole network, after the step"""
    change: Change
    """from the original network to the one after the step, on the data"""


@dataclass(frozen=True)
class SimplificationReport:
    """Sizes before and after, and what every step cost. `str()` gives a table."""

    before: Size
    after: Size
    steps: tuple[Step, ...]
    change: Change
    """of the network handed back, computed in its own precision"""
    tolerance: float
    measure: str
    """'max' or 'rms': which of the two figures the tolerance bounds"""
    unit: str
    """'deviation': changes are multiples of each output's standard deviation on the data; or 'absolute'"""
    rows: int
    seconds: float

    def __str__(self) -> str:
        unit = "standard deviations of the outputs" if self.unit == "deviation" else "units of the outputs"
        bounded = "largest change" if self.measure == "max" else "rms change"
        lines = [
            f"Simplified on {self.rows} rows in {self.seconds:.1f} s",
            f"  rules    {self.before.rules:6d} -> {self.after.rules}",
            f"  sets     {self.before.sets:6d} -> {self.after.sets}",
            f"  premises {self.before.premises:6d} -> {self.after.premises}",
            f"  change   {self.change.largest:.3g} largest, {self.change.rms:.3g} rms, in {unit}",
            f"  allowed  {self.tolerance:g} {bounded}",
            f"  {'step':<36}{'done':>6}{'undone':>8}{'refits':>8}"
            f"{'rules':>7}{'sets':>7}{'premises':>10}{'largest':>10}{'rms':>10}",
        ]
        levels = {step.level for step in self.steps}
        for step in self.steps:
            name = f"level {step.level}: {step.name}" if len(levels) > 1 else step.name
            lines.append(
                f"  {name:<36}{step.done:>6}{step.undone:>8}{step.refits:>8}{step.size.rules:>7}{step.size.sets:>7}"
                f"{step.size.premises:>10}{step.change.largest:>10.2g}{step.change.rms:>10.2g}"
            )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Simplified:
    """The simpler network and the report on it."""

    network: NeuroFuzzyNetwork | Hierarchy
    report: SimplificationReport

    def __str__(self) -> str:
        return str(self.report)
