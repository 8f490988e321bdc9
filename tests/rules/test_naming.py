"""Names and units handed on in one."""

import numpy as np
import torch

import neuroplastic as npl
from neuroplastic.rules.naming import Naming
from neuroplastic.rules.reading import read_levels, read_rules

NAMES = {
    "feature_names": ["size", "age"],
    "output_names": ["price"],
    "scaler": ([1.0, 2.0], [3.0, 4.0]),
    "output_scaler": ([5.0], [6.0]),
    "terms": {"age": ["young", "grown", "old"]},
}


def test_only_a_naming_that_names_nothing_is_empty():
    assert Naming().is_empty
    for name, value in NAMES.items():
        assert not Naming(**{name: value}).is_empty


def test_a_bundle_of_names_reads_and_explains_as_the_names_one_by_one():
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(2, 1, rules=3, terms=3)
    naming = Naming(**NAMES)
    assert read_rules(net, naming).json() == npl.rule_base(net, **NAMES).json()
    assert [base.json() for base in read_levels(net, naming)] == [npl.rule_base(net, **NAMES).json()]
    row = np.array([[1.0, 2.0]])
    assert npl.Explainer.named(net, naming)(row).text(0) == npl.explain(net, row, **NAMES).text(0)
