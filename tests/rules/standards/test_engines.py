"""An exported file means the same to engines that others wrote."""

import numpy as np
import pytest

from neuroplastic.rules.standards import to_fcl, to_fis, to_fml
from tests.rules.standards.engines import read_fcl, read_fis, read_fis_by_fuzzylab, read_fml
from tests.rules.standards.random_rules import KINDS, grid, outputs_of, random_rules


def in_jfuzzylogic(rules):
    return to_fcl(rules, dialect="jfuzzylogic")


FORMATS = {
    "fml": (to_fml, read_fml),
    "fcl": (to_fcl, read_fcl),
    "fcl of jfuzzylogic": (in_jfuzzylogic, read_fcl),
    "fis": (to_fis, read_fis),
}


CASES = [
    (name, kind) for name in FORMATS for kind in KINDS if (name, kind) != ("fcl of jfuzzylogic", "affine")
]


@pytest.mark.parametrize("certain", [False, True])
@pytest.mark.parametrize("reduce", ["sum", "worst"])
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_pyfuzzylite_computes_what_the_network_does(name, kind, certain, reduce):
    write, read = FORMATS[name]
    x = grid(3)
    for seed in range(3):
        rules = random_rules(seed, kind=kind, certain=certain, ignore=0.2 * seed, reduce=reduce)
        np.testing.assert_allclose(read(write(rules)).evaluated(x), outputs_of(rules, x), rtol=0, atol=1e-9)


@pytest.mark.parametrize("certain", [False, True])
@pytest.mark.parametrize("reduce", ["sum", "worst"])
@pytest.mark.parametrize("kind", KINDS)
def test_fuzzylab_reads_the_fis_file_and_it_computes_what_the_network_does(kind, certain, reduce, tmp_path):
    path, x = tmp_path / "rules.fis", grid(3)
    for seed in range(3):
        rules = random_rules(seed, kind=kind, certain=certain, ignore=0.2 * seed, reduce=reduce)
        path.write_text(to_fis(rules))
        result = read_fis_by_fuzzylab(path).evaluated(x)
        np.testing.assert_allclose(result, outputs_of(rules, x), rtol=0, atol=1e-9)


def test_rule_weights_multiply_firing_and_the_average_normalises():
    """y = sum sigmoid(c) f g / sum sigmoid(c) f, written out, is what certainty 'log' computes."""
    rules, x = random_rules(4, kind="affine", certain=True, ignore=0.0), grid(3)
    fired = np.ones((len(x), len(rules)))
    for u, rule in enumerate(rules):
        for variable, term in rule.premises:
            values = x[:, [v.name for v in rules.inputs].index(variable.name)]
            fired[:, u] *= np.exp(-0.5 * ((values - term.center) / term.width) ** 2)
    fired = fired / (1 + np.exp(-rules.certainty))
    decisions = np.einsum("uod,bd->buo", rules.consequents.weight, x) + rules.consequents.bias
    by_hand = np.einsum("bu,buo->bo", fired, decisions) / fired.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(by_hand, outputs_of(rules, x), rtol=0, atol=1e-12)
