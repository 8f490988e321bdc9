"""Pictures show what they are given: labels, numbers of artists and the data drawn."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

import neuroplastic as npl
from neuroplastic.rules.explanations.regions import PictureExplanation
from neuroplastic.rules.pictures import (
    plot_births,
    plot_explanation,
    plot_firing,
    plot_regions,
    plot_rule_map,
    plot_sets,
)
from neuroplastic.rules.pictures.style import LINES, shades, short
from tests.random_network import Setup

NAMES = ["sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"]


def trained(attributes=4, rules=8, outputs=3, names=None):
    """A network before and after growing, as rule bases, and the network."""
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(
        attributes,
        outputs,
        rules,
        terms=2,
        max_terms=5,
        neurogenesis=npl.Neurogenesis(delay=1),
        consequent="constant",
    )
    before = npl.rule_base(net, feature_names=names)
    for step in range(3):
        net(torch.randn(16, attributes) * (step + 1))
    return before, npl.rule_base(net, feature_names=names), net


def drawn(figure):
    """The figure's canvas after drawing it, with its layout done."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas


def words(figure):
    """All text in a figure, drawn."""
    drawn(figure)
    texts = [artist.get_text() for artist in figure.findobj(match=lambda a: hasattr(a, "get_text"))]
    return [text for text in texts if text]


def nothing_is_cut_off(figure):
    """Everything that is drawn lies within the figure."""
    canvas = drawn(figure)
    box, (width, height) = figure.get_tightbbox(canvas.get_renderer()), figure.get_size_inches()
    return box.x0 >= -0.02 and box.y0 >= -0.02 and box.x1 <= width + 0.02 and box.y1 <= height + 0.02


@pytest.fixture(scope="module")
def small():
    return trained(names=NAMES)


@pytest.fixture(scope="module")
def large():
    return trained(attributes=1600, rules=16)


@pytest.fixture(scope="module")
def explained(small):
    x = torch.randn(30, 4)
    return npl.explain(small[2], x, feature_names=NAMES, output_names=["setosa", "versicolor", "virginica"])


def test_sets_draws_a_panel_per_attribute_with_all_sets_before_and_after(small):
    before, after, _ = small
    figure = plot_sets(before, after)
    assert [panel.get_title() for panel in figure.axes] == NAMES
    for panel, old, new in zip(figure.axes, before.inputs, after.inputs, strict=True):
        lines = [line for line in panel.lines if len(line.get_xdata())]
        assert len(lines) == len(old.terms) + len(new.terms)
        dotted = [line for line in lines if line.get_linestyle() == ":"]
        assert len(dotted) == len(old.terms)
        for line, term in zip(lines, (*old.terms, *new.terms), strict=True):
            x, y = line.get_data()
            np.testing.assert_allclose(y, np.exp(-0.5 * ((x - term.center) / term.width) ** 2))
            assert y.max() > 0.99
    assert "before" in words(figure)
    assert nothing_is_cut_off(figure)


def test_sets_without_a_before_are_drawn_as_they_are(small):
    figure = plot_sets(None, small[1], attributes=["petal width (cm)", 0])
    assert [panel.get_title() for panel in figure.axes] == [NAMES[3], NAMES[0]]
    assert "Fuzzy sets" in words(figure)


def test_sets_of_1600_attributes_shows_those_that_changed_most(large):
    before, _, net = large
    with torch.no_grad():
        net.centers[1234] += 50
    figure = plot_sets(before, npl.rule_base(net))
    assert len(figure.axes) == 12
    assert "x1235" in [panel.get_title() for panel in figure.axes]
    assert any("12 of 1600 attributes" in text for text in words(figure))
    assert nothing_is_cut_off(figure)


def test_rule_map_colours_every_premise_by_its_place_and_names_it(small):
    rules = small[1]
    figure = plot_rule_map(rules)
    data = figure.axes[0].images[0].get_array()
    assert data.shape == rules.premises.shape
    counts = np.array([len(variable.terms) for variable in rules.inputs])
    np.testing.assert_allclose(data, rules.premises / (counts - 1))
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == NAMES
    named = [text.get_text().replace("\n", " ") for text in figure.axes[0].texts]
    expected = [
        variable.terms[term].name
        for row in rules.premises
        for variable, term in zip(rules.inputs, row, strict=True)
    ]
    assert named == expected
    assert nothing_is_cut_off(figure)


def test_rule_map_leaves_premises_out_that_ask_nothing():
    net = npl.NeuroFuzzyNetwork(3, 1, 5, terms=2, max_terms=2, consequent="constant")
    widths = net.widths.detach().clone()
    widths[:, 1] = torch.inf
    net.place_sets(net.centers.detach(), widths)
    chosen = net.premises().numpy()
    figure = plot_rule_map(net, feature_names=list("abc"))
    np.testing.assert_array_equal(np.ma.getmaskarray(figure.axes[0].images[0].get_array()), chosen == 1)
    assert len(figure.axes[0].patches) == (chosen == 1).sum()
    assert "not asked" in words(figure)


@pytest.mark.parametrize("sets", [4, 9, 12])
def test_rule_map_of_few_rules_has_room_for_its_key_and_for_long_names(sets):
    net = npl.NeuroFuzzyNetwork(16, 1, 2, terms=sets, max_terms=sets, consequent="constant")
    figure = plot_rule_map(net, feature_names=[f"mean compactness error, {i:02}" for i in range(16)])
    renderer = drawn(figure).get_renderer()
    assert nothing_is_cut_off(figure)
    labels = [bar.yaxis.label for bar in figure.axes[1:]]  # the layout leaves these out of its account
    assert len(labels) == (sets > 9)
    for label in labels:
        box = label.get_window_extent(renderer)
        assert box.y0 >= 0
        assert box.y1 <= figure.bbox.height


def test_rule_map_of_1600_attributes_numbers_them(large):
    figure = plot_rule_map(large[1])
    assert figure.axes[0].images[0].get_array().shape == (16, 1600)
    assert figure.axes[0].get_xlabel() == "attribute, by number"
    assert len(figure.axes[0].texts) == 0
    assert len(figure.axes[0].get_xticks()) <= 12
    assert nothing_is_cut_off(figure)
    part = plot_rule_map(large[1], attributes=range(5))
    assert part.axes[0].images[0].get_array().shape == (16, 5)


@pytest.mark.parametrize("log", [False, True])
def test_firing_draws_mean_levels_by_number_and_sorted(explained, small, log):
    figure = plot_firing(explained, log=log)
    levels = small[2].eval().firing(torch.tensor(explained.x, dtype=torch.float32)).detach().double().numpy()
    left, right = figure.axes
    by_number = [bar.get_height() for bar in left.patches]
    np.testing.assert_allclose(by_number, levels.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose([bar.get_height() for bar in right.patches], sorted(by_number, reverse=True))
    order = [int(label.get_text()) - 1 for label in right.get_xticklabels()]
    np.testing.assert_array_equal(order, np.argsort(-levels.mean(axis=0), kind="stable"))
    assert left.get_yscale() == ("log" if log else "linear")
    never = int((levels.mean(axis=0) == 0).sum())
    assert any(f"{never} never fired" in text for text in words(figure))
    assert nothing_is_cut_off(figure)


def test_firing_takes_levels_of_one_observation_and_refuses_nonsense():
    figure = plot_firing([0.5, 0.0, 0.5], log=True)
    assert any("one observation; 1 never fired" in text for text in words(figure))
    for wrong in ([[]], [[-1.0, 2.0]], [[np.nan]]):
        with pytest.raises(npl.InputError, match="firing"):
            plot_firing(wrong)


def test_births_are_drawn_where_and_when_they_happened(small):
    net = small[2]
    figure = plot_births(net, feature_names=NAMES)
    above, below = figure.axes[:2]
    dots = next(c for c in below.collections if isinstance(c, PathCollection) and len(c.get_offsets()))
    np.testing.assert_array_equal(dots.get_offsets(), [(b.step, b.attribute) for b in net.births])
    np.testing.assert_allclose(dots.get_array(), [b.center for b in net.births])
    assert above.lines[0].get_ydata()[-1] == len(net.births)
    assert [label.get_text() for label in below.get_yticklabels()] == NAMES
    assert f"{len(net.births)} fuzzy sets born in 4 attributes" in words(figure)
    assert nothing_is_cut_off(figure)


def test_births_at_1600_attributes_and_none_at_all(large):
    figure = plot_births(large[2])
    assert figure.axes[1].get_ylabel() == "attribute, by number"
    assert nothing_is_cut_off(figure)
    assert "no set was born" in words(plot_births([], attributes=3))
    with pytest.raises(npl.ConfigError, match="feature_names"):
        plot_births(large[2], feature_names=["a"])


def test_explanation_bars_are_the_rules_shares_and_the_lead(explained):
    case = explained[3]
    figure = plot_explanation(explained, row=3, output="versicolor")
    left, right = figure.axes
    bars = [bar.get_width() for bar in left.patches]
    np.testing.assert_allclose(sum(bars), case.output[1], rtol=1e-6)
    np.testing.assert_allclose(bars, case.shares[:, 1])
    lead = np.diff(explained.scores[3, [case.alternative, case.strongest]])
    np.testing.assert_allclose(sum(bar.get_width() for bar in right.patches), lead, rtol=1e-6)
    for bar in (*left.patches, *right.patches):
        assert (bar.get_hatch() is not None) == (bar.get_width() < 0)
    assert left.get_xlabel() == f"part of versicolor = {case.output[1]:.4g}"
    assert any(text.startswith(f"next in line: rule {case.alternative + 1};") for text in words(figure))
    assert nothing_is_cut_off(figure)


def test_explanation_of_many_rules_and_attributes_sums_up_the_rest(large):
    explanation = npl.explain(large[2], torch.randn(2, 1600))
    figure = plot_explanation(explanation[1])
    left, right = figure.axes
    assert len(left.patches) <= 10
    assert len(right.patches) == 11 if explanation[1].own_margin(0, 1) else 10
    assert "1591 more attributes" in words(figure)
    np.testing.assert_allclose(
        sum(bar.get_width() for bar in left.patches), explanation[1].output.max(), rtol=1e-6
    )
    assert nothing_is_cut_off(figure)


def test_explanation_of_a_single_rule_has_no_alternative():
    explanation = npl.explain(Setup(U=1).network(0), torch.zeros(1, 4))
    assert not any("next in line" in text for text in words(plot_explanation(explanation)))


def test_regions_frames_the_hottest_square(explained):
    heat = np.zeros((84, 84))
    heat[40:44, 60:64] = 1.0
    found = PictureExplanation(
        np.zeros((84, 84, 3), dtype=np.uint8),
        np.array([0.5]),
        0,
        None,
        explained,
        heat,
        "the target",
        "cells",
    )
    figure = plot_regions(found)
    top, left, bottom, right = found.region()
    for panel in figure.axes[:2]:
        assert panel.patches[0].get_xy() == (left - 0.5, top - 0.5)
        assert (panel.patches[0].get_width(), panel.patches[0].get_height()) == (right - left, bottom - top)
    np.testing.assert_array_equal(figure.axes[1].images[1].get_array(), heat)
    assert top <= 40
    assert bottom >= 44
    cold = PictureExplanation(found.picture, found.values, 0, None, explained, -heat, "the target", "cells")
    assert cold.region() is None
    assert len(plot_regions(cold).axes[0].patches) == 0


def test_things_that_are_looked_for_are_ringed_and_the_clearest_are_numbered(explained):
    things = np.array([[10.0, 20.0, 0.5], *([[40.0, 50.0, 3.0]] * 8)])
    seen = PictureExplanation(
        np.zeros((84, 84, 3), dtype=np.uint8),
        np.array([0.5]),
        0,
        None,
        explained,
        np.zeros((84, 84)),
        "the target",
        "cells",
        things=things,
    )
    left = plot_regions(seen).axes[0]
    np.testing.assert_array_equal(left.collections[0].get_offsets(), things[:, :2])
    assert sorted(text.get_text() for text in left.texts) == [str(number) for number in range(2, 10)]


def test_figures_belong_to_nobody_else(small, explained):
    import matplotlib.pyplot as plt

    before, after, net = small
    figures = [plot_sets(before, after), plot_rule_map(after), plot_firing(explained), plot_births(net)]
    assert all(type(figure) is Figure for figure in figures)
    assert plt.get_fignums() == []


def test_colours_are_told_apart_by_lightness_alone():
    for count in (2, 3, 5, 7):
        lightness = [0.299 * r + 0.587 * g + 0.114 * b for r, g, b, _ in shades(count)]
        assert (np.diff(lightness) > 0.05).all()
    assert ":" not in LINES


def test_long_names_keep_both_ends():
    assert short("x1") == "x1"
    cut = short("a very long name of an attribute, number 17", 20)
    assert len(cut) <= 20
    assert cut.startswith("a very")
    assert cut.endswith("17")


def test_wrong_arguments_are_refused_by_name(small, large):
    with pytest.raises(npl.InputError, match="same attributes"):
        plot_sets(small[0], large[1])
    with pytest.raises(npl.InputError, match="attributes must be names or indices of the 4"):
        plot_sets(None, small[1], attributes=["weight"])
    with pytest.raises(npl.InputError, match="at least one"):
        plot_rule_map(small[1], attributes=[])
    with pytest.raises(npl.ConfigError, match="has its names already"):
        plot_rule_map(small[1], feature_names=NAMES)


def test_the_package_needs_neither_matplotlib_nor_captum_and_pictures_name_the_extra(fresh_python):
    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['captum'] = None\n"
        "import neuroplastic as npl\n"
        "try:\n    import neuroplastic.rules.pictures\n"
        "except npl.NeuroplasticError as error:\n    print(error)"
    )
    assert (
        fresh_python(code).stdout.strip()
        == "pictures of rules need matplotlib: pip install 'neuroplastic[rules]'"
    )


def test_an_attribute_whose_sets_simplifying_took_away_is_drawn_as_it_was_before():
    inputs = {"a": {"low": (0.0, 1.0), "high": (1.0, 1.0)}}
    before = npl.RuleBase.from_text("IF a is low THEN y is 1", inputs)
    gone = replace(
        before,
        inputs=(replace(before.inputs[0], terms=()),),
        premises=np.full_like(before.premises, -1),
    )
    (panel,) = plot_sets(before, gone).axes
    assert len(panel.lines) >= 2


def test_sets_of_categories_are_bars_at_the_categories_and_nothing_between(small):
    before, after, _ = small
    figure = plot_sets(before, after, categories={1: ("red", "green", "blue")})
    panel, (old, new) = figure.axes[1], (before.inputs[1], after.inputs[1])
    assert [label.get_text() for label in panel.get_xticklabels()] == ["red", "green", "blue"]
    at = np.arange(3)
    heights = [np.exp(-0.5 * ((at - term.center) / term.width) ** 2) for term in new.terms]
    np.testing.assert_allclose([bar.get_height() for bar in panel.patches], np.concatenate(heights))
    nearest = [round(bar.get_x() + bar.get_width() / 2) for bar in panel.patches]
    assert nearest == [*at] * len(new.terms)
    assert len(panel.lines) == len(old.terms)
    assert all(line.get_linestyle() == "None" for line in panel.lines)
    assert not figure.axes[0].patches, "other attributes are drawn as before"
    assert nothing_is_cut_off(figure)


def test_every_one_of_many_sets_has_its_name():
    sets = {f"around number {place}": (10.0 + place / 4, 0.5) for place in range(7)}
    rules = "\n".join(f"IF a is {name} THEN y is 1" for name in sets)
    figure = plot_sets(None, npl.RuleBase.from_text(rules, {"a": sets}))
    named = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(named) == sorted(sets)
    assert nothing_is_cut_off(figure)


def test_sets_are_drawn_where_there_are_data(small):
    ends = np.array([[0.5, 0, 0, 0], [1.5, 1, 1, 1]])
    panel = plot_sets(None, small[1], ends=ends).axes[0]
    assert panel.get_xlim() == (0.5, 1.5)
