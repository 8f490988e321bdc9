"""Tables: numbers as the paper prints them, LaTeX in which nothing is a command."""

from __future__ import annotations

import pytest

from neuroplastic.analysis import Sample, compare
from neuroplastic.report.document import Cell, Symbol, Table
from neuroplastic.report.latex import escaped, latex
from neuroplastic.report.symbols import decimal, in_order, probability, score, shown
from neuroplastic.report.tables import (
    Chosen,
    best_table,
    comparison_table,
    importance_table,
    medoid_table,
    ordered,
)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("learning_rate", 6.9e-4, "6.9e-4"),
        ("memory_size", 30_000, "30k"),
        ("stge", True, "T"),
        ("temperature", None, "-"),
        ("epsilon", 0.363, ".36"),
        ("alpha", 1, "1.0"),
        ("rules", 64, "64"),
        ("activation", "ReLU", "ReLU"),
    ],
)
def test_a_hyperparameter_is_shown_as_the_paper_prints_it(name: str, value: object, text: str) -> None:
    assert shown(name, value) == text


def test_numbers_are_shown_as_the_paper_prints_them() -> None:
    assert [decimal(x, 2) for x in (0.123, -0.123, -0.001, 1.5, -10.26, float("inf"))] == [
        ".12",
        "-.12",
        ".00",
        "1.50",
        "-10.26",
        "∞",
    ]
    assert [score(x) for x in (86.6, 521, 1992, 0.363, -17.8)] == ["86.60", "521.0", "1992", "0.36", "-17.80"]
    assert [probability(p) for p in (0.00001, 0.0198, 1.0)] == ["<.0001", ".0198", "1.0000"]


def test_tasks_and_hyperparameters_stand_in_the_papers_order_and_unknown_ones_last() -> None:
    assert ordered(["ZZ", "GH", "AA", "BP"]) == ["BP", "GH", "AA", "ZZ"]
    assert in_order(("new", "epsilon", "rules"), "nfn") == ("rules", "epsilon", "new")


def chosen(mean: float, sd: float, slope: float = 1.0, **parameters: object) -> Chosen:
    return Chosen(parameters, Sample(mean, sd, 25), slope)


def test_the_better_of_two_agents_is_bold() -> None:
    table = best_table("nfn", {"BP": chosen(5, 2, 1, rules=64)}, {"BP": chosen(4, 1, 2)})
    assert [cell.bold for cell in table.rows[0]] == [False, False, True, False, False]


def test_a_medoid_shows_what_it_shares_with_the_best_trial_and_what_matters() -> None:
    medoid = Chosen({"rules": 64, "delay": 3}, Sample(5, 1, 75), support=3, highlighted=("delay",))
    row = medoid_table("nfn", {"BP": medoid}, {"BP": chosen(6, 1, rules=64, delay=5)}).rows[0]
    assert [(cell.text, cell.bold, cell.highlighted) for cell in row[1:3]] == [
        ("64", True, False),
        ("3", False, True),
    ]
    assert row[-1].text == "3"


def test_importances_are_shaded_by_their_share() -> None:
    table = importance_table("nfn", {"BP": {"MDI": {"rules": 0.25, "delay": 0.75}}})
    assert [cell.shade for cell in table.rows[0]] == [0, 0, 0.25, 0.75]


@pytest.mark.parametrize("order", [("BP", "GH"), ("GH", "BP")])
def test_tasks_that_were_searched_over_different_hyperparameters_share_a_table(
    order: tuple[str, str],
) -> None:
    shares = {"BP": {"MDI": {"rules": 0.25, "delay": 0.75}}, "GH": {"MDI": {"rules": 0.5, "epsilon": 0.5}}}
    table = importance_table("nfn", {task: shares[task] for task in order})
    assert [[cell.text for cell in row[2:]] for row in table.rows] == [
        [".25", "-", ".75"],
        [".50", ".50", "-"],
    ]


def test_a_significant_difference_is_bold() -> None:
    table = comparison_table({"BP": compare(Sample(0, 1, 25), Sample(5, 1, 25))})
    assert [cell.text for cell in table.rows[0] if cell.bold] == ["<.0001"]


def test_latex_keeps_every_command_of_a_name_harmless() -> None:
    assert escaped(r"a_b & 5 % \input{x} $y$ #1 ~^") == (
        r"a\_b \& 5 \% \textbackslash{}input\{x\} \$y\$ \#1 \textasciitilde{}\textasciicircum{}"
    )


def test_latex_has_a_row_for_each_row_and_a_line_at_each_break() -> None:
    table = Table(
        "key",
        "Caption.",
        "Read.",
        ("Task", Symbol("η", r"$\eta$")),
        (
            (Cell("BP"), Cell("1", bold=True)),
            (Cell("GH"), Cell("2", highlighted=True, shade=0.5, mark="equal")),
        ),
        (1,),
    )
    text = latex(table)
    assert r"    Task & $\eta$ \\" in text
    assert (
        "    BP & \\textbf{1} \\\\\n    \\hline\n    GH & \\cellcolor[gray]{0.62}\\underline{2}$^{=}$ \\\\"
        in text
    )
    assert text.count("{") == text.count("}")
    assert r"\label{tab:key}" in text
