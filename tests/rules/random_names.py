"""Networks over all options with odd names, as seeds for round trips."""

import itertools

import numpy as np
import torch

import neuroplastic as npl
from tests.random_network import Setup, fill

ODD_NAMES = (
    *("petal length", "petal length (cm)", "is", "AND", "If", "then", "not", "or", "rule", "WITH", "any", "anything"),
    *("certainty", "certainty weight", "gain", "1596 more", "more", "level 8", "8", "1e5", "x1.2", "x.", "-x", "a * b"),
    *("größe", "温度", "🌡 heat", "नमी", "don’t", '"quoted"', "# not a comment", "a,b", "a:b", "a  b", "a\tb", "İs"),
    *("a\u2028b", "a\x0bb", "a\x00b", "\ufeffx", "3d size", "x_1", "_", "RULE 1: IF x is low THEN y is 1", "ıf"),
)  # fmt: skip

CONSEQUENTS = (
    *("affine", "constant"),
    npl.LowRank(rank=2),
    npl.Mamdani(terms=4),
    npl.Mamdani(terms=3, defuzzifier="area"),
)

OPTIONS = tuple(
    itertools.product(
        CONSEQUENTS,
        (None, "log", "tanh"),
        (True, False),
        ("sum", "mean", "scaled", "worst"),
        (1.0, 1.5, 2.0, 1.3, "learn"),
    )
)


def odd_names(rng, count):
    """Distinct names, odd ones first of all."""
    names = rng.permutation([*ODD_NAMES, *(f"x{number}" for number in range(count))])
    return [str(name) for name in names[:count]]


def random_network(number):
    """The `number`-th network: a random choice of options, sets and premises, some of them ignored."""
    rng = np.random.default_rng(number)
    consequent, certainty, layer_norm, reduce, alpha = OPTIONS[rng.integers(len(OPTIONS))]
    setup = Setup(
        D=int(rng.integers(1, 7)),
        outputs=int(rng.integers(1, 4)),
        U=int(rng.integers(1, 9)),
        terms=1,
        max_terms=int(rng.integers(2, 10)),
        reduce=reduce,
        alpha=alpha,
        layer_norm=layer_norm,
        certainty=certainty,
        consequent=consequent,
    )
    net = setup.network(seed=number)
    if rng.random() < 0.5:  # some sets are "any"
        widths, infinite = net.widths.detach().clone(), torch.tensor(rng.random(net.widths.shape) < 0.3)
        net.place_sets(net.centers.detach(), widths.masked_fill(infinite, torch.inf), net.term_mask.clone())
    fill(net.raw_alpha, rng)
    return net.eval(), rng


def random_rule_base(number):
    """The `number`-th network and its rule base with odd names of variables and terms."""
    net, rng = random_network(number)
    counts = net.antecedent.covering_mask.sum(dim=1).tolist()
    features = odd_names(rng, net.in_features)
    outputs = odd_names(rng, net.out_features)
    if isinstance(net.consequent_config, npl.Mamdani):
        # One mapping serves inputs and outputs, so their names must differ.
        outputs = [name + " out" for name in outputs]
        counts = counts + [net.consequent_config.terms] * len(outputs)
        named = features + outputs
    else:
        named = features
    words = {}
    for name, count in zip(named, counts, strict=True):
        words[name] = [word if word != "any" else "any one" for word in odd_names(rng, count)]
    return net, npl.rule_base(net, feature_names=features, output_names=outputs, terms=words)
