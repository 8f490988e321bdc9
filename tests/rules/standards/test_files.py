"""npl.export and npl.import_rules choose the format by the extension."""

import builtins
import re

import numpy as np
import pytest
import torch

import neuroplastic as npl
from neuroplastic import catalog
from neuroplastic.rules.standards import FileFormatError, NotExpressibleError, from_fml, to_fml
from neuroplastic.rules.standards.files import standard
from neuroplastic.rules.standards.source import rules_of
from neuroplastic.rules.standards.standard import text_of
from neuroplastic.usecases.requests import rule_files
from tests.rules.standards.random_rules import grid, outputs_of, random_rules

READABLE = [ending for ending in catalog.names("standard") if standard(ending).reads]


@pytest.mark.parametrize("extension", [*READABLE, ".FIS"])
def test_a_rule_base_comes_back_from_a_file(extension, tmp_path):
    rules, path, x = random_rules(0), tmp_path / f"rules{extension}", grid(3)
    npl.export(rules, path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    np.testing.assert_allclose(outputs_of(npl.import_rules(path), x), outputs_of(rules, x), atol=1e-9)


def test_a_network_is_exported_as_it_is_in_evaluation(tmp_path):
    torch.manual_seed(0)
    firing = npl.Firing(alpha=1.0, layer_norm=False, certainty="log")
    net = npl.NeuroFuzzyNetwork(3, 2, 6, firing=firing, dtype=torch.float64)
    npl.export(net, tmp_path / "rules.fml")
    x = grid(3)
    with torch.no_grad():
        expected = net.eval()(torch.from_numpy(x)).numpy()
    found = outputs_of(npl.import_rules(tmp_path / "rules.fml"), x)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_rule_base_is_exported_as_onnx(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    rules, x = random_rules(1, certain=True), grid(3)
    npl.export(rules, tmp_path / "rules.onnx")
    session = runtime.InferenceSession(str(tmp_path / "rules.onnx"), providers=["CPUExecutionProvider"])
    (result,) = session.run(None, {"x": x.astype(np.float32)})
    np.testing.assert_allclose(result, outputs_of(rules, x), rtol=1e-5, atol=1e-5)


def test_an_unknown_extension_is_named(tmp_path):
    with pytest.raises(
        npl.StandardError,
        match=re.escape(f"must be one of {', '.join(catalog.names('standard'))}, got '.txt'"),
    ):
        npl.export(random_rules(0), tmp_path / "rules.txt")
    with pytest.raises(npl.StandardError, match=r"got '\.onnx'"):
        npl.import_rules(tmp_path / "rules.onnx")


def test_a_refusal_leaves_the_old_file_as_it_was(tmp_path):
    path = tmp_path / "rules.fml"
    path.write_text("old")
    with pytest.raises(NotExpressibleError, match="layer_norm=True"):
        npl.export(npl.NeuroFuzzyNetwork(2, 1, 3), path)
    assert path.read_text() == "old"


def test_a_byte_order_mark_is_skipped_and_other_bytes_are_refused(tmp_path):
    path = tmp_path / "rules.fis"
    npl.export(random_rules(0), path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(npl.import_rules(path)) == 6
    path.write_bytes(b"[System]\n\xff")
    with pytest.raises(FileFormatError, match="not UTF-8 text"):
        npl.import_rules(path)


@pytest.mark.parametrize(("package", "use"), [("defusedxml", "FML"), ("onnx", "ONNX")])
def test_a_missing_package_is_named_with_its_extra(package, use, monkeypatch, tmp_path):
    original = builtins.__import__

    def without(name, *arguments, **options):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return original(name, *arguments, **options)

    rules, text = random_rules(0), to_fml(random_rules(0))
    needing = {
        "onnx": lambda: npl.export(rules, tmp_path / "rules.onnx"),
        "defusedxml": lambda: from_fml(text),
    }
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=rf"{use}.*neuroplastic\[rules\]") as caught:
        needing[package]()
    assert isinstance(caught.value, npl.NeuroplasticError)


class Listing:
    """A standard of somebody's own."""

    reads = True

    def write(self, source):
        return rules_of(source).json().encode()

    def read(self, content):
        return npl.RuleBase.from_json(text_of(content))


def test_a_standard_that_is_registered_is_found_by_its_ending(tmp_path, monkeypatch):
    monkeypatch.setitem(catalog.KINDS["standard"], ".listing", Listing)
    rules = random_rules(3)
    npl.export(rules, tmp_path / "rules.listing")
    np.testing.assert_array_equal(npl.import_rules(tmp_path / "rules.listing").premises, rules.premises)
    assert ".listing" in rule_files()
