"""The page of a model fitted to a table: if it is worth anything, its rules to read and to try, pictures."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
import pandas as pd

from ..learn.estimators import NeuroFuzzyClassifier, NeuroFuzzyRegressor
from ..learn.judging.comparison import Comparison
from ..learn.judging.held_out import HeldOut
from ..rules.diagnosis import Diagnosis
from ..rules.explanations.explanation import Explanation
from ..rules.measures.readability import readability
from ..rules.pictures import plot_births, plot_explanation, plot_firing, plot_rule_map, plot_sets
from ..rules.rule_base import RuleBase
from ..rules.text.plain import plain_sentences
from .canvas import finished
from .document import Figure, Part, Report, Section, Table, text_cells
from .from_held_out import (
    calibration_figure,
    comparison_table,
    confusion_table,
    importance_figure,
    scatter_figure,
)
from .rule_cards import rule_cards
from .what_if import what_if

# Rows whose firing levels are drawn; more would not change the picture.
ROWS_DRAWN = 500
# Premises that a sentence on a card has, at most.
CARD_PREMISES = 6
TOO_MANY = "The rules have too many numbers for sliders on a page; neuroplastic explain answers for any row."

Scores = Mapping[str, Sequence[float]]


def table_report(
    title: str,
    estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor,
    x: pd.DataFrame,
    y: pd.Series,
    scores: Scores,
    *,
    rules: RuleBase,
    before: RuleBase,
    diagnosis: Diagnosis,
    held_out: HeldOut,
    comparison: Comparison | None = None,
    notes: Sequence[str] = (),
) -> Report:
    """The page. `scores` are those of cross-validation by name, fold by fold; `rules` those of the estimator with the
    evidence for them, `before` those before training; `diagnosis` is on the rows x, `held_out` what models said of
    them that had not seen them."""
    verdict = () if comparison is None else (comparison.verdict,)
    # Names are drawn as they are: between a pair of dollars matplotlib would read mathematics.
    with matplotlib.rc_context({"text.parse_math": False}):
        return Report(
            title,
            tuple(_summary(estimator, rules, x, scores, held_out)),
            (
                Section("Is it worth anything?", tuple(_worth(scores, comparison)), (*verdict, *notes)),
                Section("Where it errs", tuple(_errors(held_out, rules))),
                Section("What matters", tuple(_importance(held_out, next(iter(scores))))),
                *_playing(estimator, rules, x, y, held_out),
                Section("Do the rules decide?", (_diagnosis_table(diagnosis),), (diagnosis.advice,)),
                Section("How readable they are", (_readability_table(estimator, x),)),
                Section("Pictures", tuple(_figures(estimator, rules, before, x))),
            ),
        )


def _summary(
    estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor,
    rules: RuleBase,
    x: pd.DataFrame,
    scores: Scores,
    held_out: HeldOut,
) -> list[str]:
    named = {name: (statistics.fmean(folds), _spread(folds)) for name, folds in scores.items()}
    summary = [
        f"{name}: {mean:.3f} ± {sd:.3f} over {len(scores[name])} folds" for name, (mean, sd) in named.items()
    ]
    if held_out.area is not None:
        summary.append(
            f"ROC AUC: {held_out.area:.3f} over all rows that were left out, "
            f"together{' (mean of the classes)' * (len(held_out.classes) > 2)}"
        )
    summary.append(
        f"{len(rules)} rules over {len(rules.inputs)} inputs, learned from {len(x)} rows; "
        f"{len(estimator.births_)} fuzzy sets were born in training."
    )
    return summary


def _worth(scores: Scores, comparison: Comparison | None) -> list[Table]:
    compared = () if comparison is None else (comparison, *comparison.others)
    return [*(comparison_table(each) for each in compared), _score_table(scores)]


def _errors(held_out: HeldOut, rules: RuleBase) -> list[Part]:
    if held_out.classes:
        return [confusion_table(held_out), calibration_figure(held_out)]
    return [scatter_figure(held_out, rules.outputs[0].name)]


def _importance(held_out: HeldOut, measure: str) -> list[Part]:
    return [importance_figure(held_out, measure)] if held_out.importance else []


def _playing(
    estimator: NeuroFuzzyClassifier | NeuroFuzzyRegressor,
    rules: RuleBase,
    x: pd.DataFrame,
    y: pd.Series,
    held_out: HeldOut,
) -> list[Section]:
    """The rules on cards, and sliders to try them."""
    sentences = dict(plain_sentences(rules, premises=CARD_PREMISES))
    ranked = [name for name, _, _ in held_out.ranked_importance]
    sliders = what_if(estimator, rules, x, y, sentences=sentences, ranked=ranked)
    assert rules.evidence is not None
    cards = rule_cards(rules, rules.evidence, estimator.encoder_, estimator.encode(x), sentences)
    trying = Section("Try it", (sliders,)) if sliders else Section("Try it", notes=(TOO_MANY,))
    return [trying, Section("The rules", (cards,))]


def _spread(folds: Sequence[float]) -> float:
    return statistics.stdev(folds) if len(folds) > 1 else 0.0


def _score_table(scores: Scores) -> Table:
    folds = max(map(len, scores.values()))
    rows = [
        text_cells(
            name,
            f"{statistics.fmean(values):.4f}",
            f"{_spread(values):.4f}",
            *(f"{value:.4f}" for value in values),
        )
        for name, values in scores.items()
    ]
    header = ("score", "mean", "SD", *(f"fold {k + 1}" for k in range(folds)))
    how = "Each fold was predicted by a model that had not seen it; the model that is kept saw all rows."
    return Table("scores", "Cross-validated scores.", how, header, tuple(rows))


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
    encoded = estimator.encode(x)
    ends = np.stack([encoded.min(axis=0), encoded.max(axis=0)])
    drawn = [
        finished(
            plot_sets(before, rules, ends=ends, categories=estimator.encoder_.crisp),
            "sets",
            "The fuzzy sets before (dotted, of categories dashes) and after training.",
            "A set says what a word such as 'low' means for a column; its height is how much a value belongs to it.",
        ),
        finished(
            plot_rule_map(rules),
            "rule-map",
            "Which set each rule asks for.",
            "A row is a rule, a column an input; dark is low, light is high.",
        ),
        _firing_figure(explanation),
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


def _firing_figure(explanation: Explanation) -> Figure:
    # It names no column, and the ends of its logarithmic axis are powers of ten, set as mathematics.
    with matplotlib.rc_context({"text.parse_math": True}):
        return finished(
            plot_firing(explanation),
            "firing",
            "How strongly the rules fire.",
            "Left by number, right sorted; rules that hardly fire could be dropped.",
        )
