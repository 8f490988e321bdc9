"""Rules of anything, as text and as files."""

import io
import json

import pandas as pd
import pytest
import torch

import neuroplastic as npl
from neuroplastic import catalog
from neuroplastic.cli.main import main
from neuroplastic.errors import ConfigError, InputError
from neuroplastic.rules.standards import NotExpressibleError
from neuroplastic.usecases.opening import open_anything
from neuroplastic.usecases.requests import rule_files
from neuroplastic.usecases.rules import ReadRules, rules_file, rules_of


def rules(place, name):
    return rules_of(open_anything(place / name))


@pytest.mark.parametrize(
    ("name", "levels", "count"),
    [
        ("model", 1, 3),
        ("estimator.safetensors", 1, 3),
        ("network.safetensors", 1, 4),
        ("hierarchy.safetensors", 2, 8),
    ],
)
def test_everything_has_rules_that_read_as_sentences(name, levels, count, place):
    found = rules(place, name)
    assert (len(found.levels), len(found)) == (levels, count)
    assert found.text().count("RULE") == count
    assert len(found.text(exact=True)) > len(found.text())


def test_the_rules_of_a_table_have_its_names(place):
    text = rules(place, "model").text()
    assert "IF size is" in text
    assert "* 'colour = red'" not in text
    assert "* 'colour = red'" in rules(place, "model").text(formulas=True)  # a category speaks in THEN parts
    assert "THEN mostly large" in text


@pytest.mark.parametrize("head", ["advantage", "value"])
def test_a_run_has_rules_of_two_heads(head, run_of):
    found = rules_of(open_anything(run_of("nfn")), head=head)
    assert ([v.name for v in found.levels[0].outputs] == ["value"]) == (head == "value")
    assert found.levels[0].inputs[0].name == "feature 1 row 1 column 1"


def test_rules_of_the_value_are_followed_by_no_diagnosis(run_of, capsys):
    assert main(["rules", str(run_of("nfn")), "--head", "value"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "# Whether the rules decide is told of the advantage head."


def test_a_plain_run_has_no_rules(run_of):
    with pytest.raises(InputError, match="is a dnn run: it has no rules; train with --agent nfn"):
        rules_of(open_anything(run_of("dnn")))


@pytest.mark.parametrize("ending", rule_files())
def test_a_table_is_written_to_every_kind_of_file(ending, place, tmp_path):
    content = rules_file(rules(place, "model"), ending)
    assert isinstance(content, bytes)
    if ending in catalog.names("standard") and ending != ".onnx":
        (tmp_path / f"rules{ending}").write_bytes(content)
        assert len(npl.import_rules(tmp_path / f"rules{ending}")) == 3
    elif ending == ".csv":
        read = pd.read_csv(io.BytesIO(content))
        assert len(read) == 3
        assert {"IF size", "IF colour = red"} <= set(read.columns)
    elif ending == ".json":
        assert json.loads(content)
    elif ending == ".txt":
        assert content.count(b"RULE") == 3


def test_every_standard_can_be_asked_for():
    assert set(catalog.names("standard")) < set(rule_files())


def test_exact_text_says_more_and_other_files_refuse_it(place):
    found = rules(place, "network.safetensors")
    short, whole = (rules_file(found, ".txt", exact=exact) for exact in (False, True))
    assert len(whole) > len(short)
    with pytest.raises(ConfigError, match=r"exact is for rules as text, \.csv is none"):
        rules_file(found, ".csv", exact=True)


@pytest.mark.parametrize("ending", [".csv", ".json", ".fml"])
def test_a_hierarchy_is_refused_by_files_that_hold_one_rule_base(ending, place):
    found = rules(place, "hierarchy.safetensors")
    with pytest.raises(ConfigError, match=r"use \.txt or \.onnx"):
        rules_file(found, ending)
    assert rules_file(found, ".txt").count(b"RULE") == 8
    assert rules_file(found, ".onnx")


def test_what_a_standard_cannot_say_is_refused_by_name(place):
    with pytest.raises(NotExpressibleError, match="layer_norm"):
        rules_file(rules(place, "network.safetensors"), ".fis")


def test_what_has_a_gain_is_written_in_a_standard_by_sets_that_take_it_up(tmp_path):
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(
        2,
        1,
        3,
        firing=npl.Firing(reduce="worst", gain=4.0, layer_norm=False, alpha=1.0),
        consequent="constant",
        dtype=torch.float64,
    ).eval()
    x, file = torch.rand(20, 2, dtype=torch.float64), tmp_path / "rules.fis"
    file.write_bytes(rules_file(ReadRules((npl.rule_base(net),), net), ".fis"))
    assert torch.allclose(npl.network_of(npl.import_rules(file), dtype=torch.float64)(x), net(x), atol=1e-6)


def test_an_unknown_ending_is_refused(place):
    with pytest.raises(ConfigError, match="the ending must be one of"):
        rules_file(rules(place, "network.safetensors"), ".doc")
