"""The page of a model fitted to a table: scores, rules, whether they decide, how readable they are, pictures."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ..learn.estimators import NeuroFuzzyClassifier, NeuroFuzzyRegressor
from ..rules.diagnosis import Diagnosis
from ..rules.measures.readability import readability
from ..rules.pictures import plot_births, plot_explanation, plot_firing, plot_rule_map, plot_sets
from ..rules.rule_base import RuleBase
from ..rules.text.plain import plain_sentences
from .canvas import finished
from .document import Cell, Figure, Report, Section, Table, text_cells

# Rows whose firing levels are drawn; more would not change the picture.
ROWS_DRAWN = 500

Scores = Mapping[str, Sequence[float]]


def table_report(
    title: str,
    estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor,
    x: pd.DataFrame,
    scores: Scores,
    *,
    before: RuleBase,
    diagnosis: Diagnosis,
    notes: Sequence[str] = (),
) -> Report:
    """The page. `scores` are those of cross-validation by name, fold by fold; `before` the rules before training;
    `diagnosis` is on the rows x."""
    rules = estimator.rules_
    named = {name: (statistics.fmean(folds), _spread(folds)) for name, folds in scores.items()}
    summary = [
        f"{name}: {mean:.3f} ± {sd:.3f} over {len(scores[name])} folds" for name, (mean, sd) in named.items()
    ]
    summary.append(
        f"{len(rules)} rules over {len(rules.inputs)} inputs, learned from {len(x)} rows; "
        f"{len(estimator.births_)} fuzzy sets were born in training."
    )
    return Report(
        title,
        tuple(summary),
        (
            Section("How good it is", (_score_table(scores),), tuple(notes)),
            Section("The rules", (_rule_table(rules),)),
            Section("Do the rules decide?", (_diagnosis_table(diagnosis),), (diagnosis.advice,)),
            Section("How readable they are", (_readability_table(estimator, x),)),
            Section("Pictures", tuple(_figures(estimator, rules, before, x))),
        ),
    )


def _spread(folds: Sequence[float]) -> float:
    return statistics.stdev(folds) if len(folds) > 1 else 0.0


def _score_table(scores: Scores) -> Table:
    folds = max(map(len, scores.values()))
    rows = [
        text_cells(
            name,
            *(f"{value:.4f}" for value in values),
            f"{statistics.fmean(values):.4f}",
            f"{_spread(values):.4f}",
        )
        for name, values in scores.items()
    ]
    header = ("score", *(f"fold {k + 1}" for k in range(folds)), "mean", "SD")
    how = "Each fold was predicted by a model that had not seen it; the model that is kept saw all rows."
    return Table("scores", "Cross-validated scores.", how, header, tuple(rows))


def _rule_table(rules: RuleBase) -> Table:
    rows = []
    for number, sentence in plain_sentences(rules):
        said = sentence.removeprefix(f"RULE {number}: ")
        rows.append((Cell(f"RULE {number}"), Cell(said)))
    how = (
        "A rule fires the more, the better a row matches its IF part; the output is the average of the THEN parts, "
        "weighted by firing. Of long rules the premises that set them apart most are shown."
    )
    return Table("rules", "The rules, in the table's own units.", how, ("rule", "reads"), tuple(rows))


def _diagnosis_table(diagnosis: Diagnosis) -> Table:
    rows = [text_cells(name, words) for name, words in diagnosis.lines()]
    how = (
        "The rule that leads on a row is the one that fires most. If all rules fire as on average, the IF parts know "
        "nothing of the row: what still comes out the same is the work of the THEN parts."
    )
    caption = f"Figures of who decides, on the {diagnosis.rows} rows learned from."
    return Table("diagnosis", caption, how, ("figure", "value"), tuple(rows))


def _readability_table(estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor, x: pd.DataFrame) -> Table:
    seen = (estimator.encode(x) - estimator.offset_) / estimator.scale_
    figures = readability(estimator.network_, seen)
    rows = [text_cells(name, words) for name, words in figures.lines()]
    how = "Fewer active rules per decision and well separated terms make a rule base easier to follow."
    return Table(
        "readability", "Figures of readability on these rows.", how, ("figure", "value"), tuple(rows)
    )


def _figures(
    estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor, rules: RuleBase, before: RuleBase, x: pd.DataFrame
) -> list[Figure]:
    some = x.iloc[np.linspace(0, len(x) - 1, min(len(x), ROWS_DRAWN)).astype(int)]
    explanation = estimator.explain(some)
    drawn = [
        finished(
            plot_sets(before, rules),
            "sets",
            "The fuzzy sets before (dotted) and after training.",
            "A set says what a word such as 'low' means for a column; its height is how much a value belongs to it.",
        ),
        finished(
            plot_rule_map(rules),
            "rule-map",
            "Which set each rule asks for.",
            "A row is a rule, a column an input; dark is low, light is high.",
        ),
        finished(
            plot_firing(explanation),
            "firing",
            "How strongly the rules fire.",
            "Left by number, right sorted; rules that hardly fire could be dropped.",
        ),
        finished(
            plot_explanation(explanation, row=0),
            "explanation",
            "One decision explained: the first row.",
            "The bars on the left add up to the output; those on the right say why the strongest rule came first.",
        ),
    ]
    if estimator.births_:
        drawn.append(
            finished(
                plot_births(estimator.network_, feature_names=[variable.name for variable in rules.inputs]),
                "births",
                "Fuzzy sets born in training.",
                "A set is born where values were not covered by any set.",
            )
        )
    return drawn
