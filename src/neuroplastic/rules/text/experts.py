"""Rules that an expert writes, as a network that computes them and learns on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import torch

from ...errors import ConfigError, at_least
from ...fuzzy.firing import Firing
from ...fuzzy.selection import Selection
from ...network.neurogenesis import Neurogenesis
from ...network.nfn import NeuroFuzzyNetwork
from ..building import CONVICTION, SELECTION, network_of
from ..rule_base import IGNORED, Conclusions, Indices, Linear, RuleBase
from .assembly import parse
from .variables import Specification, variables_of

# How often new premises are drawn before equal ones are accepted: with few terms there may be no others.
DRAWS = 10


def from_rules(
    text: str,
    variables: Specification,
    *,
    outputs: Specification | Sequence[str] | str | None = None,
    firing: Firing | None = None,
    defuzzifier: str = "height",
    frozen: bool | Collection[int] = False,
    extra_rules: int = 0,
    generator: torch.Generator | None = None,
    spare_terms: int = 0,
    conviction: float = CONVICTION,
    selection: Selection = SELECTION,
    neurogenesis: Neurogenesis | None = None,
    dtype: torch.dtype | None = None,
) -> NeuroFuzzyNetwork:
    """A trainable network of rules written as text: `IF temperature is hot AND humidity is high THEN fan is 0.9`.

    `variables` gives the inputs in order, and `outputs` those of Mamdani rules: `npl.Variable`s, or a mapping of
    names to terms, `{"cold": (center, width), ...}` or `{"cold": center, ...}`, or to a range, `(low, high)` for
    low, medium and high, `(low, high, 5)` for five terms, `(low, high, ["cold", "hot"])` for terms of your own.
    Without `outputs`, conclusions are numbers or sums, and the outputs are those that the text names, in order.

    `firing` None is the classical one: product of memberships, weighted mean, certainty if the text has it.
    `frozen` keeps all rules, or those with these numbers (as written, or counted from 1), with their sets, as
    they are while the rest learns. `extra_rules` adds rules at random places whose conclusions at first are what
    the written rules say there (with a layer norm, their mere number changes the output too). The other arguments
    are those of the network.
    """
    at_least("extra_rules", extra_rules, 0)
    rules, numbers = read(text, variables, outputs, firing, defuzzifier)
    kept = _kept(frozen, numbers)
    options: dict[str, Any] = {
        "spare_terms": spare_terms,
        "conviction": conviction,
        "selection": selection,
        "neurogenesis": neurogenesis,
        "dtype": dtype,
    }
    if extra_rules:
        rules = _extended(rules, extra_rules, generator)
    net = network_of(rules, **options)
    if kept:
        premises = net.premises()[kept].tolist()
        sets = sorted({(attribute, term) for rule in premises for attribute, term in enumerate(rule)})
        net.freeze(rules=kept, sets=sets)
    return net


def read(
    text: str,
    inputs: Specification,
    outputs: Specification | Sequence[str] | str | None,
    firing: Firing | None,
    defuzzifier: str,
) -> tuple[RuleBase, list[int]]:
    """The rule base of a text, and its rules' numbers as written; see `from_rules`."""
    named = variables_of("variables", inputs)
    if not named:
        raise ConfigError("variables must name at least one input")
    if defuzzifier not in ("height", "area"):
        raise ConfigError(f"defuzzifier must be 'height' or 'area', got {defuzzifier!r}")
    if firing is not None and not isinstance(firing, Firing):
        raise ConfigError(f"firing must be a npl.Firing or None, got {firing!r}")
    found = None if outputs is None else variables_of("outputs", outputs)
    return parse(text, named, found, firing, defuzzifier)


def _kept(frozen: bool | Collection[int], numbers: list[int]) -> list[int]:
    """Places of the rules to be frozen."""
    if isinstance(frozen, bool):
        return list(range(len(numbers))) if frozen else []
    if not isinstance(frozen, Iterable):
        raise ConfigError(f"frozen must be True, False or numbers of rules, got {frozen!r}")
    places = {number: place for place, number in enumerate(numbers)}
    for number in frozen:
        if isinstance(number, bool) or number not in places:
            raise ConfigError(f"frozen must hold numbers of rules in the text, got {number!r}")
    return sorted({places[number] for number in frozen})


def _extended(rules: RuleBase, count: int, generator: torch.Generator | None) -> RuleBase:
    """The rules and `count` more with random premises, each concluding what the rules say where it stands.

    So the network computes nearly the same as without them, and they are free to learn something else.
    """
    premises = _drawn(rules, count, generator)
    places = np.zeros(premises.shape)
    for attribute, variable in enumerate(rules.inputs):
        if variable.terms:
            centers = np.array([term.center for term in variable.terms])
            places[:, attribute] = centers[premises[:, attribute]]
    with torch.no_grad():
        said = network_of(rules, dtype=torch.float64).eval()(torch.from_numpy(places)).numpy()
    return RuleBase(
        rules.inputs,
        rules.outputs,
        np.concatenate([rules.premises, premises]),
        _concluding(rules, said),
        rules.firing,
        certainty=_longer(rules.certainty, count, 1.0),
        gain=_longer(rules.gain, count, 1.0),
        shift=_longer(rules.shift, count, 0.0),
    )


def _drawn(rules: RuleBase, count: int, generator: torch.Generator | None) -> Indices:
    """Random premises, (count, D), unlike each other and those of the rules as far as a few draws allow."""
    sizes = np.array([len(variable.terms) for variable in rules.inputs])
    seen = {row.tobytes() for row in rules.premises}
    new: list[Indices] = []
    for attempt in range(DRAWS):
        draws = torch.rand(count, len(sizes), generator=generator, dtype=torch.float64).numpy()
        for row in np.where(sizes > 0, np.minimum((draws * sizes).astype(np.int64), sizes - 1), IGNORED):
            if len(new) < count and (attempt == DRAWS - 1 or row.tobytes() not in seen):
                seen.add(row.tobytes())
                new.append(row)
    return np.stack(new)


def _concluding(rules: RuleBase, said: np.ndarray[Any, Any]) -> Linear | Conclusions:
    """The consequents and as many more as `said` has rows: constants, or the nearest terms."""
    part = rules.consequents
    if isinstance(part, Linear):
        flat = np.zeros((len(said), *part.weight.shape[1:]))
        return Linear(np.concatenate([part.weight, flat]), np.concatenate([part.bias, said]))
    nearest: Indices = np.empty(said.shape, dtype=np.int64)
    for output, variable in enumerate(rules.outputs):
        centers = np.array([term.center for term in variable.terms])
        nearest[:, output] = np.abs(said[:, output, None] - centers).argmin(axis=1)
    return Conclusions(np.concatenate([part.terms, nearest]), part.defuzzifier)


def _longer(values: np.ndarray[Any, Any] | None, count: int, fill: float) -> np.ndarray[Any, Any] | None:
    return None if values is None else np.concatenate([values, np.full(count, fill)])
