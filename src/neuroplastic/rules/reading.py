"""From a network to its rule base: sorted and named terms, raw units, consequents in one of two forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ConfigError
from ..network.consequents import MamdaniConsequent
from ..network.hierarchy import Hierarchy
from ..network.nfn import NeuroFuzzyNetwork
from ..network.vocabulary import Vocabulary
from .names import hidden_names, variable_names
from .naming import Naming
from .networks import firing_of, levels_of, numbers
from .rule_base import IGNORED, Conclusions, Linear, Numbers, RuleBase, Term, Variable
from .scaling import Scaling
from .true_names import USUAL_WORDS, names_of, words_of


def rule_base(
    net: NeuroFuzzyNetwork | Hierarchy,
    *,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    scaler: Any = None,
    output_scaler: Any = None,
    terms: Mapping[str, Sequence[str]] | None = None,
    classes: bool = False,
) -> RuleBase:
    """The rules of a network as in evaluation, in raw units where scalers are given.

    `scaler` made the network's inputs and `output_scaler` its targets: fitted scikit-learn scalers, or pairs
    (offset, scale). `terms` gives names of your own, by variable, in order of the sets' centres. Names that are
    not given are those the network knows (`net.vocabulary`, of one made of written rules), or x1, x2, ..., y1, ...
    `classes=True` says that outputs are scores of classes, or of actions, of which the greatest is decided for.
    """
    return read_rules(net, Naming(feature_names, output_names, scaler, output_scaler, terms, classes))


def read_rules(net: NeuroFuzzyNetwork | Hierarchy, naming: Naming) -> RuleBase:
    """As `rule_base`, with all names and units in one."""
    net, *above = levels_of(net)
    if above:
        raise ConfigError("a hierarchy has a rule base per level; use npl.rule_bases(net)")
    words = _Words(naming, net.vocabulary)
    scaling = Scaling.of(naming.scaler, net.in_features)
    output = Scaling.of(naming.output_scaler, net.out_features)
    feature_names, output_names = naming.feature_names, naming.output_names
    known = net.vocabulary
    if known is not None:
        feature_names = known.features if feature_names is None else feature_names
        output_names = known.outputs if output_names is None else output_names
    names = variable_names(feature_names, net.in_features, "feature")
    inputs, premises = _inputs(net, names, scaling, words)
    names = variable_names(output_names, net.out_features, "output")
    outputs, consequents = _outputs(net, names, scaling, output, words)
    if words.own:
        raise ConfigError(f"terms names variables that do not exist or have no terms: {', '.join(words.own)}")
    unknown = set(naming.words or ()) - {variable.name for variable in (*inputs, *outputs)}
    if unknown:
        raise ConfigError(f"words are for variables that do not exist: {', '.join(sorted(unknown))}")
    return RuleBase(
        inputs,
        outputs,
        premises,
        consequents,
        firing=firing_of(net),
        certainty=None if net.certainty is None else numbers(net.certainty),
        gain=None if net.kappa is None else numbers(net.kappa),
        shift=None if net.beta is None else numbers(net.beta),
        classes=bool(naming.classes),
    )


def rule_bases(
    net: NeuroFuzzyNetwork | Hierarchy,
    *,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    scaler: Any = None,
    output_scaler: Any = None,
    terms: Mapping[str, Sequence[str]] | None = None,
    classes: bool = False,
) -> tuple[RuleBase, ...]:
    """The rule base of every level; the values between levels are called h1.1, h1.2, ..., then h2.1, ...

    The other arguments are those of `rule_base`. `terms` of a hidden value names its sets where it is an input.
    A network without levels has one rule base.
    """
    return read_levels(net, Naming(feature_names, output_names, scaler, output_scaler, terms, classes))


def read_levels(net: NeuroFuzzyNetwork | Hierarchy, naming: Naming) -> tuple[RuleBase, ...]:
    """As `rule_bases`, with all names and units in one."""
    levels = levels_of(net)
    last = len(levels) - 1
    inputs = [
        variable_names(naming.feature_names, levels[0].in_features, "feature"),
        *(hidden_names(number, level.out_features) for number, level in enumerate(levels[:-1], start=1)),
    ]
    terms, words = _by_level(naming.terms or {}, inputs), _by_level(naming.words or {}, inputs)
    return tuple(
        read_rules(
            level,
            Naming(
                feature_names=inputs[number] if number else naming.feature_names,
                output_names=naming.output_names if number == last else inputs[number + 1],
                scaler=naming.scaler if number == 0 else None,
                output_scaler=naming.output_scaler if number == last else None,
                terms=terms[number],
                words=words[number],
                quantiles=naming.quantiles if number == 0 else None,
                kept=naming.kept if number == 0 else None,
                classes=naming.classes if number == last else None,
            ),
        )
        for number, level in enumerate(levels)
    )


def _by_level(
    terms: Mapping[str, Sequence[str]], inputs: Sequence[Sequence[str]]
) -> list[dict[str, Sequence[str]]]:
    """Names of one's own by level: those of an input where it is one, all others with the outputs at the top."""
    found: list[dict[str, Sequence[str]]] = [{} for _ in inputs]
    for variable, words in terms.items():
        homes = [level for level, names in enumerate(inputs) if variable in names]
        found[homes[0] if homes else -1][variable] = words
    return found


def _inputs(
    net: NeuroFuzzyNetwork, names: Sequence[str], scaling: Scaling, words: _Words
) -> tuple[tuple[Variable, ...], np.ndarray[Any, np.dtype[np.int64]]]:
    """Variables with terms in order of their centres, and premises (U, D) that point into them."""
    centers = scaling.raw(numbers(net.centers).T).T
    widths = numbers(net.widths) * scaling.scale[:, None]
    exists = net.antecedent.covering_mask.cpu().numpy()
    chosen = net.premises().cpu().numpy()
    premises = np.full_like(chosen, IGNORED)
    variables = []
    for attribute, name in enumerate(names):
        order = [int(t) for t in np.argsort(centers[attribute], kind="stable") if exists[attribute, t]]
        used = np.isin(order, chosen[:, attribute]).tolist()
        named = words(name, centers[attribute, order], widths[attribute, order], attribute, used)
        variables.append(
            Variable(
                name,
                tuple(
                    Term(word, float(centers[attribute, t]), float(widths[attribute, t]))
                    for word, t in zip(named, order, strict=True)
                ),
            )
        )
        for place, term in enumerate(order):
            premises[chosen[:, attribute] == term, attribute] = place
    return tuple(variables), premises


class _Words:
    """Names of a variable's sets: one's own, else those the network knows, else by the data or the sets' order."""

    def __init__(self, naming: Naming, known: Vocabulary | None) -> None:
        self.own = dict(naming.terms or {})
        self.known = {} if known is None else known.terms
        self.naming = naming

    def __call__(
        self,
        name: str,
        centers: Numbers,
        widths: Numbers,
        attribute: int | None = None,
        used: Sequence[bool] | None = None,
    ) -> Sequence[str]:
        """The names in order of the centres; `attribute` is the number of an input, whose data may be known."""
        count = len(centers)
        if name in self.own:
            given = self.own.pop(name)
            if len(given) != count:
                raise ConfigError(
                    f"terms[{name!r}] must name its {count} sets in order of their centres, got {given!r}"
                )
            return given
        known = self.known.get(name, ())
        if len(known) == count:
            return known
        naming, words = self.naming, USUAL_WORDS
        if naming.words is not None and name in naming.words:
            words = words_of(naming.words[name], name)
        if attribute is None:
            return names_of(centers.tolist(), widths.tolist(), None, words=words)
        return names_of(
            centers.tolist(),
            widths.tolist(),
            None if naming.quantiles is None else naming.quantiles[:, attribute],
            words=words,
            used=used,
            kept=(naming.kept or {}).get(name, ()),
        )


def _outputs(
    net: NeuroFuzzyNetwork,
    names: Sequence[str],
    scaling: Scaling,
    output: Scaling,
    words: _Words,
) -> tuple[tuple[Variable, ...], Linear | Conclusions]:
    part = (
        net.consequent
    )  # the centres were read before: that puts frozen entries back that an optimizer moved
    if isinstance(part, MamdaniConsequent):
        return _conclusions(part, names, output, words)
    variables = tuple(Variable(name) for name in names)
    form = part.linear()
    # Firing levels sum to 1, so a scaled output is the same mixture of scaled consequents.
    bias = output.raw(numbers(form.bias))
    if form.weight is None:
        return variables, Linear(np.zeros((*bias.shape, 0)), bias)
    weight = numbers(form.weight)
    if form.projection is not None:
        weight = weight @ numbers(form.projection).T
    weight = weight * output.scale[:, None] / scaling.scale
    return variables, Linear(weight, bias - weight @ scaling.offset)


def _conclusions(
    part: MamdaniConsequent, names: Sequence[str], output: Scaling, words: _Words
) -> tuple[tuple[Variable, ...], Conclusions]:
    centers = output.raw(numbers(part.output_centers).T).T
    widths = numbers(part.output_widths) * output.scale[:, None]
    order = np.argsort(centers, axis=1, kind="stable")
    places = np.argsort(order, axis=1, kind="stable")  # of each set among the sorted ones
    variables = tuple(
        Variable(
            name,
            tuple(
                Term(word, float(centers[o, t]), float(widths[o, t]))
                for word, t in zip(
                    words(name, centers[o, order[o]], widths[o, order[o]]), order[o].tolist(), strict=True
                )
            ),
        )
        for o, name in enumerate(names)
    )
    chosen = part.conclusions().cpu().numpy()
    terms = np.stack([places[o][chosen[:, o]] for o in range(len(names))], axis=1)
    return variables, Conclusions(terms, part.config.defuzzifier)
