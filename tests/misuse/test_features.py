"""What the docs promise of PyTorch's features is so, row by row."""

import ast
import warnings

import pytest
import torch

import neuroplastic as npl
from neuroplastic.fuzzy.backends import eager_only
from tests.misuse.features import FEATURES, NOT, PAGE, REFUSED, WORKS, network, page, rows

CHECKED = [feature for feature in FEATURES if feature.check is not None]


@pytest.mark.parametrize("feature", CHECKED, ids=lambda feature: feature.name)
def test_the_promise_holds(feature):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if feature.promise == WORKS:
            feature.check()
            return
        with pytest.raises(npl.NeuroplasticError if feature.promise == REFUSED else Exception) as caught:
            feature.check()
    assert isinstance(caught.value, npl.NeuroplasticError) == (feature.promise == REFUSED)


def test_what_is_refused_is_refused_by_the_plain_backend_too():
    with eager_only(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for feature in CHECKED:
            if feature.promise == REFUSED:
                with pytest.raises(npl.NeuroplasticError):
                    feature.check()


def test_every_other_row_names_a_test_that_exists():
    root = PAGE.parents[2]
    for feature in FEATURES:
        if feature.check is not None or not feature.tested:
            assert feature.check is not None or feature.promise == NOT
            continue
        file, name = feature.tested.split("::")
        tree = ast.parse((root / file).read_text(encoding="utf-8"))
        names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        assert any(found.startswith(name) for found in names), feature.tested


def test_the_page_in_the_docs_is_the_one_that_is_checked():
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m tests.misuse.features"


def test_second_derivatives_by_every_parameter_are_refused():
    for options in ({}, {"firing": npl.Firing(alpha=1.0)}, {"consequent": npl.Mamdani(terms=3)}):
        net, x = network(**options), rows()
        inputs = [parameter for parameter in net.parameters() if parameter.requires_grad]
        slopes = torch.autograd.grad(net(x).square().sum(), inputs, create_graph=True, allow_unused=True)
        total = sum(slope.square().sum() for slope in slopes if slope is not None)
        with pytest.raises(npl.NeuroplasticError, match="cannot be differentiated again"):
            torch.autograd.grad(total, inputs, allow_unused=True)
