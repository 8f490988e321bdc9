"""The page of a fitted table: is it worth anything, rules on cards, sliders; in a browser where there is one."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from neuroplastic.errors import ConfigError
from neuroplastic.report.document import RuleCards, WhatIf
from neuroplastic.report.folder import render
from neuroplastic.report.what_if import safe_json, step_of
from neuroplastic.usecases.preparing import prepare_table
from neuroplastic.usecases.requests import FitRequest, TableRequest
from neuroplastic.usecases.table_pages import save_table, table_page
from neuroplastic.usecases.tables import fit_table
from tests.javascript import CHROMIUM, NO_CHROMIUM, Browser

SIZE, WEIGHT = "<script>alert(1)</script>", "a & b \u2028 </script> $\\x_$"
YES, NO = "<img src=x onerror=alert(2)>", "it's no"


def table(rows: int = 160) -> pd.DataFrame:
    """Columns and classes whose names are markup; a class that depends on a number and a category."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            SIZE: rng.normal(5, 2, rows).round(2),
            WEIGHT: rng.normal(0, 1, rows).round(2),
            "colour": rng.choice(["red", "<b>blue</b>", "green"], rows),
            "seen": [f"2020-01-{day:02d}" for day in rng.integers(1, 29, rows)],
        }
    )
    great = (frame[SIZE] > 5) ^ (frame["colour"] == "red")
    return frame.assign(kind=np.where(great, YES, NO), cost=3 * frame[SIZE] + great + 100)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Fits of a class and of a number, and a readable one of the class."""
    folder = tmp_path_factory.mktemp("pages")
    table().to_csv(folder / "rows.csv", index=False)
    kind = prepare_table(TableRequest(folder / "rows.csv", "kind", ignore=("cost",)))
    cost = prepare_table(TableRequest(folder / "rows.csv", "cost", ignore=("kind",)))
    return {
        "kind": fit_table(kind, FitRequest(rules=5, folds=2)),
        "cost": fit_table(cost, FitRequest(rules=5, folds=2)),
        "readable": fit_table(kind, FitRequest(folds=2, readable=True, max_rules=6, max_premises=2)),
    }


@pytest.fixture(scope="module")
def pages(fitted):
    """The page of each; to draw one takes a second or two."""
    return {target: table_page(of) for target, of in fitted.items()}


def part_of(page, kind):
    return next(part for section in page.sections for part in section.parts if isinstance(part, kind))


def test_the_page_says_in_its_first_note_whether_the_rules_are_worth_it(fitted, pages):
    worth = pages["kind"].sections[0]
    assert worth.title == "Is it worth anything?"
    assert worth.notes[0] == fitted["kind"].comparison.verdict
    ours = [row for row in worth.tables[0].rows if row[0].text == "▶ these rules"]
    assert len(ours) == 1
    assert all(cell.bold for cell in ours[0])


def test_a_class_has_confusion_and_calibration_and_a_number_a_scatter(pages):
    keys = {
        target: [part.key for section in page.sections for part in section.parts]
        for target, page in pages.items()
    }
    assert {"confusion", "calibration", "importance"} <= set(keys["kind"])
    assert {"scatter", "importance"} <= set(keys["cost"])
    assert not {"confusion", "calibration"} & set(keys["cost"])


def test_a_readable_model_keeps_to_its_limits_and_its_cards_to_the_cases_of_training(fitted):
    rules = fitted["readable"].rules
    assert len(rules) <= 6
    assert max(len(rule.premises) for rule in rules) <= 2
    assert rules.evidence is not None
    assert fitted["readable"].estimator.rules_.text() == rules.text()


def test_limits_without_a_readable_model_are_refused():
    with pytest.raises(
        ConfigError, match="max_rules is a limit of readable models; ask for one with --readable"
    ):
        FitRequest(max_rules=3)


def test_a_page_without_baselines_leaves_only_them_out(fitted):
    page = table_page(replace(fitted["kind"], comparison=None))
    assert [one.key for one in page.sections[0].tables] == ["scores"]


@pytest.mark.parametrize("target", ["kind", "cost", "readable"])
def test_rules_that_lead_have_cards_with_the_most_rows_first_and_others_are_counted(fitted, pages, target):
    rules, cards = fitted[target].rules, part_of(pages[target], RuleCards)
    cases = [card.cases for card in cards.cards]
    assert cases == sorted(cases, reverse=True)
    assert sum(cases) == 160
    assert all(cases)
    idle = len(rules) - len(cards.cards)
    assert (f"{idle} of {len(rules)} rules never lead" in cards.how_to_read) == (idle > 0)
    for card in cards.cards:
        assert len(card.pictures) + card.left_out == len(rules[card.number - 1].premises)
        assert card.sentence in rules.text(premises=6)


def test_a_set_of_categories_is_drawn_in_steps_and_one_of_numbers_as_a_bell(pages):
    pictures = [picture for card in part_of(pages["readable"], RuleCards).cards for picture in card.pictures]
    colours = {picture.curve for picture in pictures if picture.column == "colour"}
    assert colours
    assert all(len(curve.split("L")) == 2 * 3 for curve in colours), "two ends for each of three colours"
    assert {(picture.low, picture.high) for picture in pictures if picture.column == "colour"} == {
        ("<b>blue</b>", "red")
    }
    assert all(len(picture.curve.split("L")) > 40 for picture in pictures if picture.column == SIZE)


def test_sliders_are_there_for_the_columns_that_matter_most_first(pages):
    given = json.loads(part_of(pages["kind"], WhatIf).content)
    names = [control["name"] for control in given["controls"]]
    assert set(names[:2]) == {SIZE, "colour"}
    by_name = {control["name"]: control for control in given["controls"]}
    assert [option["name"] for option in by_name["colour"]["options"]] == ["<b>blue</b>", "green", "red"]
    assert (by_name["seen"]["kind"], by_name["seen"]["origin"][:8]) == ("date", "2020-01-")
    low, high = table()[SIZE].min(), table()[SIZE].max()
    assert (by_name[SIZE]["low"], by_name[SIZE]["high"]) == (
        low,
        pytest.approx(high, abs=by_name[SIZE]["step"]),
    )


def test_no_name_breaks_out_of_the_page(pages):
    page = render(pages["kind"])
    assert "alert(1)" in page
    for wild in (SIZE, YES, "<b>blue</b>", "\u2028"):
        assert wild not in page
    assert page.count("<script") == 2
    assert 'src="http' not in page


def test_json_in_a_script_element_has_no_character_that_ends_it():
    text = safe_json({"name": "</script><!-- & \u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"name": "</script><!-- & \u2028\u2029"}


def test_only_the_pages_own_script_may_run(pages):
    page = render(pages["kind"])
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src &#39;none&#39;")
    assert "unsafe-inline" not in policy.partition("script-src")[2]


@pytest.mark.parametrize(
    ("low", "high", "whole", "step"),
    [(0, 100, True, 1), (0, 1, False, 0.005), (-3, 3, False, 0.02), (0, 1e6, True, 5000), (2, 2, False, 1)],
)
def test_a_slider_has_round_steps(low, high, whole, step):
    assert step_of(low, high, whole=whole) == pytest.approx(step)


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM:
        pytest.skip(NO_CHROMIUM)
    made = Browser()
    yield made
    made.close()


@pytest.fixture(scope="module")
def saved(fitted, tmp_path_factory):
    """The pages as they are written beside the models."""
    folder = tmp_path_factory.mktemp("saved")
    return {target: save_table(of, folder / target).page for target, of in fitted.items()}


@pytest.fixture
def opened(browser, fitted, saved, request):
    """The browser with the page of a target, and no complaints of an earlier one."""
    browser.open(saved[request.param])
    browser.complaints()
    browser.open(saved[request.param])
    return browser, fitted[request.param]


ALL = pytest.mark.parametrize("opened", ["kind", "cost", "readable"], indirect=True)


EVALUATE = """
const rules = WhatIf.pages[0].given.rules;
return arguments[0].map((row) => RuleBase.evaluate(rules, row).outputs);
"""


@ALL
def test_the_sliders_compute_what_the_model_predicts(opened):
    browser, fitted = opened
    estimator = fitted.estimator
    rows = table().sample(50, random_state=1)[list(fitted.table.columns.inputs)]
    encoded = estimator.encode(rows).tolist()
    outputs = np.array(browser(EVALUATE, encoded))
    if fitted.table.columns.classes:
        found = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        found /= found.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found, estimator.predict_proba(rows), atol=1e-6)
    else:
        np.testing.assert_allclose(outputs[:, 0], estimator.predict(rows), rtol=1e-6)


MOVE = """
const [number, value] = arguments;
const input = document.querySelector(`[data-control='${number}']`);
input.value = value;
input.dispatchEvent(new Event("input", { bubbles: true }));
return [...document.querySelectorAll(".outputs .value")].map((one) => one.textContent);
"""


@ALL
def test_what_is_shown_follows_a_slider_and_a_choice(opened):
    browser, fitted = opened
    given = browser("return WhatIf.pages[0].given")
    numbers = {control["name"]: k for k, control in enumerate(given["controls"])}
    browser(MOVE, numbers[SIZE], 8.0)
    before = browser("return [...WhatIf.pages[0].row]")
    shown = browser(MOVE, numbers["colour"], 2)  # red
    row = browser("return WhatIf.pages[0].row")
    size = fitted.estimator.encoder_.names.index(SIZE)
    assert row[size] == pytest.approx(8.0, abs=0.1)
    assert row != before
    typical = table().median(numeric_only=True)
    seen = pd.to_datetime(table()["seen"]).median()
    asked = pd.DataFrame(
        {SIZE: [row[size]], WEIGHT: [typical[WEIGHT]], "colour": ["red"], "seen": [str(seen)[:10]]}
    )
    if fitted.table.columns.classes:
        told = [float(text.split()[0].lstrip(">")) / 100 for text in shown]
        np.testing.assert_allclose(told, fitted.estimator.predict_proba(asked)[0], atol=2e-3)
    else:
        assert float(shown[0]) == pytest.approx(fitted.estimator.predict(asked)[0], rel=1e-3)
    firing = browser("return [...document.querySelectorAll('.firing .value')].map((one) => one.textContent)")
    assert firing


@ALL
def test_a_button_brings_back_the_typical_row(opened):
    browser, _ = opened
    before = browser("return [...WhatIf.pages[0].row]")
    browser(MOVE, 0, 1)
    assert browser("return [...WhatIf.pages[0].row]") != before
    browser("document.querySelector('.starts button').click()")
    assert browser("return [...WhatIf.pages[0].row]") == before


@ALL
def test_names_are_shown_as_text_and_nothing_of_them_runs(opened):
    browser, _ = opened
    assert browser.complaints() == []
    assert browser("return document.querySelectorAll('script:not([type]), img[onerror], b b').length") == 1
    names = browser("return [...document.querySelectorAll('.control .name')].map((one) => one.textContent)")
    assert SIZE in names


@ALL
@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_is_wider_than_the_window(opened, width):
    browser, _ = opened
    browser.resize(width, 900)
    assert browser("return document.documentElement.scrollWidth") <= width
    cut = browser(
        "return [...document.querySelectorAll('.card, .what-if, .control, .bar, h1, h2, p')]"
        ".filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'none')"
        ".map((one) => one.className + ': ' + one.textContent.slice(0, 60))"
    )
    assert cut == []
