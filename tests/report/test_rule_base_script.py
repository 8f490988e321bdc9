"""The rules as a page computes them, in JavaScript, beside the network that they were read off."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest
import torch

import neuroplastic as npl
from tests.javascript import CHROMIUM, NO_CHROMIUM, NODE, Browser, in_node
from tests.random_network import Setup

SOURCE = files("neuroplastic.report").joinpath("rule_base.js").read_text(encoding="utf-8")
EVALUATE = "const [bases, rows] = arguments; return bases.map((b, k) => rows[k].map((r) => RuleBase.evaluate(b, r)));"
ROWS = 50
FORMS = [
    *(
        Setup(reduce=reduce, gain=gain)
        for reduce, gain in (("sum", 1), ("mean", 1), ("scaled", 2.5), ("worst", 0.4))
    ),
    *(Setup(alpha=alpha, layer_norm=norm) for alpha in (1.0, 1.01, 1.3, 1.5, 2.0) for norm in (True, False)),
    *(Setup(certainty=form, layer_norm=norm) for form in ("log", "tanh") for norm in (True, False)),
    Setup(alpha="learn"),
    Setup(consequent="constant"),
    Setup(U=1),
    Setup(D=40, U=64, outputs=5, alpha=1.0, layer_norm=False),
]


@pytest.fixture(scope="module", params=["chromium", "node"])
def evaluated(request, tmp_path_factory):
    """Computes rule bases, each on rows of its own, in an engine of JavaScript."""
    if request.param == "node":
        if not NODE:
            pytest.skip("needs node")
        yield lambda bases, rows: in_node(SOURCE, EVALUATE, bases, rows)
        return
    if not CHROMIUM:
        pytest.skip(NO_CHROMIUM)
    page = tmp_path_factory.mktemp("script") / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><script>{SOURCE}</script>", encoding="utf-8")
    browser = Browser()
    try:
        browser.open(page)
        yield lambda bases, rows: browser(EVALUATE, bases, rows)
    finally:
        browser.close()


def test_every_form_of_rules_gives_the_same_numbers_in_the_browser_as_in_python(evaluated):
    rng = np.random.default_rng(0)
    networks = [form.network(seed=k).eval() for k, form in enumerate(FORMS)]
    offsets = [(rng.normal(50, 20, form.D), rng.uniform(0.5, 30, form.D)) for form in FORMS]
    bases = [npl.rule_base(net, scaler=scaler) for net, scaler in zip(networks, offsets, strict=True)]
    seen = [rng.normal(0, 1.5, (ROWS, form.D)) for form in FORMS]
    raw = [offset + scale * rows for (offset, scale), rows in zip(offsets, seen, strict=True)]
    found = evaluated([json.loads(base.json()) for base in bases], [rows.tolist() for rows in raw])
    for form, net, rows, told in zip(FORMS, networks, seen, found, strict=True):
        x = torch.from_numpy(rows)
        with torch.no_grad():
            outputs, firing = net(x).numpy(), net.firing(x).numpy()
        np.testing.assert_allclose([one["firing"] for one in told], firing, atol=1e-6, err_msg=str(form))
        np.testing.assert_allclose(
            [one["outputs"] for one in told], outputs, rtol=1e-6, atol=1e-6, err_msg=str(form)
        )


def test_rows_far_from_every_set_still_give_numbers(evaluated):
    forms = [Setup(alpha=alpha, layer_norm=norm) for alpha in (1.0, 1.5, 2.0) for norm in (True, False)]
    bases = [npl.rule_base(form.network().eval()) for form in forms]
    row = [1e6, -1e6, 3e5, 0.0]
    for told in evaluated([json.loads(base.json()) for base in bases], [[row]] * len(forms)):
        assert sum(told[0]["firing"]) == pytest.approx(1)
        assert np.isfinite(told[0]["outputs"]).all()
