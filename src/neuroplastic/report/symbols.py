"""The paper's symbols for hyperparameters, and numbers as the paper prints them."""

from __future__ import annotations

from math import isinf, isnan

from ..analysis.gower import Value
from .document import Symbol

SYMBOLS = {
    "hidden": Symbol("|𝒩|", r"$|\mathcal{N}|$"),
    "activation": Symbol("h", "$h$"),
    "learning_rate": Symbol("η", r"$\eta$"),
    "batch_size": Symbol("|X|", r"$|\mathbf{X}|$"),
    "memory_size": Symbol("Mem.", "Mem."),
    "discount": Symbol("γ", r"$\gamma$"),
    "frame_skip": Symbol("Frames", "Frames"),
    "rules": Symbol("|U|", "$|U|$"),
    "reduce": Symbol("w", "$w_u$"),
    "alpha": Symbol("α", r"$\alpha$"),
    "stge": Symbol("STGE", "STGE"),
    "certainty": Symbol("CF", "CF"),
    "layer_norm": Symbol("LN", "LN"),
    "temperature": Symbol("τ", r"$\tau$"),
    "epsilon": Symbol("ε", r"$\epsilon$"),
    "noise_hold": Symbol("N", r"$\mathbf{N}$"),
    "delay": Symbol("+μ", r"$+\mu$"),
    "constraint": Symbol("θ", r"$\theta$"),
}

MEANINGS = {
    "hidden": "neurons of each hidden layer",
    "activation": "activation function",
    "learning_rate": "learning rate",
    "batch_size": "size of a batch",
    "memory_size": "size of the replay memory",
    "discount": "discount factor",
    "frame_skip": "frames an action is held",
    "rules": "number of rules",
    "reduce": "a rule's premises are summed or averaged",
    "alpha": "entmax: 1.0 is softmax, 1.5 is sparse",
    "stge": "premises chosen by straight-through Gumbel (T) or plain straight-through (F)",
    "certainty": "certainty factors",
    "layer_norm": "layer normalisation of the firing levels",
    "temperature": "Gumbel temperature",
    "epsilon": "membership that every input must reach",
    "noise_hold": "batches that share one draw of the noise",
    "delay": "batches before a new fuzzy set is added",
    "constraint": "percentile below which terms are barred",
}

# The paper's order of columns in its tables of hyperparameters.
ORDER = {
    "dnn": ("hidden", "activation", "learning_rate", "batch_size", "memory_size", "discount", "frame_skip"),
    "nfn": (
        "rules",
        "reduce",
        "learning_rate",
        "alpha",
        "stge",
        "certainty",
        "layer_norm",
        "temperature",
        "epsilon",
        "noise_hold",
        "delay",
        "constraint",
    ),
}


def symbol(name: str) -> Symbol | str:
    """The paper's symbol of a hyperparameter; its own name where the paper has none."""
    return SYMBOLS.get(name, name)


def legend(names: tuple[str, ...]) -> str:
    """What the symbols stand for, in one line."""
    known = [(SYMBOLS[name].text, MEANINGS[name]) for name in names if name in SYMBOLS]
    return "; ".join(f"{text}: {meaning}" for text, meaning in known)


def in_order(names: tuple[str, ...], agent: str) -> tuple[str, ...]:
    """Hyperparameters in the paper's order, then those it does not have."""
    order = ORDER.get(agent, ())
    return (*(name for name in order if name in names), *(name for name in names if name not in order))


def shown(name: str, value: Value) -> str:
    """A hyperparameter's value as the paper prints such."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "T" if value else "F"
    if name == "learning_rate" and isinstance(value, float):
        digits, _, power = f"{value:.1e}".partition("e")
        return f"{digits}e{int(power)}"
    if name == "memory_size" and isinstance(value, int) and value % 1000 == 0:
        return f"{value // 1000}k"
    if name == "alpha" and isinstance(value, int | float):
        return f"{value:.1f}"
    if isinstance(value, float):
        return decimal(value, 2)
    return str(value)


def score(value: float) -> str:
    """A return to four digits, but no more than two decimals: 86.60, 0.36, 521.0, 1992."""
    size = abs(value)
    return f"{value:.{0 if size >= 1000 else 1 if size >= 100 else 2}f}"


def decimal(value: float, digits: int) -> str:
    """A number with a fixed number of decimals, without the zero before the point where it is below 1."""
    if isnan(value) or isinf(value):
        return "-" if isnan(value) else ("∞" if value > 0 else "-∞")
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 and digits else text


def probability(p: float) -> str:
    """A p-value with four digits, or a bound."""
    return "<.0001" if p < 0.0001 else decimal(p, 4)
