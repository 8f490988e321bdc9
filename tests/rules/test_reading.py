"""A network's rule base has the words of its sets: by their number, or of one's own, level by level."""

import pytest
import torch

import neuroplastic as npl
from neuroplastic.rules.names import MOST_WORDS, term_names


@pytest.mark.parametrize("count", range(1, MOST_WORDS + 1))
def test_words_are_unique_and_mirror_each_other_around_the_middle(count):
    words = term_names(count)
    assert len(set(words)) == count
    assert [word.replace("low", "high") for word in words[: count // 2]] == list(
        reversed(words[(count + 1) // 2 :])
    )
    assert ("medium" in words) == (count % 2 == 1)


def test_more_sets_than_words_are_numbered():
    assert term_names(MOST_WORDS + 1)[-1] == f"level {MOST_WORDS + 1}"


def test_every_level_takes_the_names_of_its_own_inputs():
    net = npl.Hierarchy([2, 1, 1], 3, terms=2, max_terms=2)
    words = {"heat": ["cold", "hot"], "h1.1": ["calm", "wild"]}
    first, second = npl.rule_bases(net, feature_names=["heat", "noise"], terms=words)
    assert [[term.name for term in variable.terms] for variable in first.inputs] == [
        ["cold", "hot"],
        ["low", "high"],
    ]
    assert [term.name for term in second.inputs[0].terms] == ["calm", "wild"]


def test_names_of_the_outputs_sets_go_to_the_top_level():
    net = npl.Hierarchy([2, 1, 1], 3, terms=2, max_terms=2, consequent=npl.Mamdani(2))
    *_, top = npl.rule_bases(net, output_names=["risk"], terms={"risk": ["fair", "grave"]})
    assert [term.name for term in top.outputs[0].terms] == ["fair", "grave"]


def test_names_for_a_variable_that_is_not_there_are_refused():
    with pytest.raises(npl.ConfigError, match=r"h2\.1"):
        npl.rule_bases(npl.Hierarchy([2, 1, 1], 3), terms={"h2.1": ["calm", "wild"]})


def test_a_network_alone_has_one_rule_base():
    net = npl.NeuroFuzzyNetwork(2, 1, 3)
    (alone,) = npl.rule_bases(net)
    assert alone.json() == npl.rule_base(net).json()


def test_what_is_no_network_is_refused_by_name():
    with pytest.raises(npl.ConfigError, match="got Linear"):
        npl.rule_bases(torch.nn.Linear(2, 1))
    wrapped = torch.nn.Sequential(torch.nn.LayerNorm(2), npl.NeuroFuzzyNetwork(2, 1, 3))
    with pytest.raises(
        npl.ConfigError, match=r"got Sequential; it has one inside: give model.get_submodule\('1'\)"
    ):
        npl.rule_base(wrapped)
