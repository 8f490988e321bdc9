"""Rule learners under a limit on their size, counted alike for all: the conditions of all rules together.

A tree's rules are its leaves, of each the columns that its path cuts; conditions on one column are one premise, "x
between a and b". Of a sum of trees (FIGS), of boosted stumps and of RuleFit's weighted rules it is the same. Whoever
has no limit of that kind gets the largest model of its own knob that keeps it. Binary methods (RuleFit, RIPPER) make
one model per class and share the size out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import neuroplastic as npl

Fit = Callable[[np.ndarray, np.ndarray, int, int], "Fitted"]
"""Fits X, y with a limit on the size and a seed."""


class Fitted(NamedTuple):
    """A model's predictions as a function, its size, and where there is one the model."""

    predict: Callable[[np.ndarray], np.ndarray]
    size: int
    model: Any = None


def ours(X: np.ndarray, y: np.ndarray, size: int, seed: int) -> Fitted:
    model = npl.NeuroFuzzyClassifier(readable=True, max_size=size or None, random_state=seed).fit(X, y)
    return Fitted(model.predict, int((model.rules_.premises >= 0).sum()), model)


def ours_alone(X: np.ndarray, y: np.ndarray, size: int, seed: int) -> Fitted:
    model = npl.NeuroFuzzyClassifier(readable=True, taught=False, random_state=seed).fit(X, y)
    return Fitted(model.predict, int((model.rules_.premises >= 0).sum()), model)


def ours_default(X: np.ndarray, y: np.ndarray, size: int, seed: int) -> Fitted:
    return Fitted(npl.NeuroFuzzyClassifier(random_state=seed).fit(X, y).predict, 0)


def boosting(X: np.ndarray, y: np.ndarray, size: int, seed: int) -> Fitted:
    return Fitted(HistGradientBoostingClassifier(random_state=seed).fit(X, y).predict, 0)


def ebm(X: np.ndarray, y: np.ndarray, size: int, seed: int) -> Fitted:
    from interpret.glassbox import ExplainableBoostingClassifier

    options = {"interactions": 0} if len(np.unique(y)) > 2 else {}
    return Fitted(ExplainableBoostingClassifier(n_jobs=1, random_state=seed, **options).fit(X, y).predict, 0)


def _leaves(
    node: Any, children: Callable[[Any], tuple[Any, Any] | None], feature: Callable[[Any], int]
) -> int:
    """Premises of a tree's leaves: of each, the columns on its path."""

    def walk(node: Any, path: frozenset[int]) -> int:
        below = children(node)
        if below is None:
            return len(path)
        return sum(walk(child, path | {feature(node)}) for child in below)

    return walk(node, frozenset())


def _largest(makes: Iterable[Callable[[], Fitted]], size: int) -> Fitted:
    """The last model, of growing ones, that keeps the size."""
    best: Fitted | None = None
    for make in makes:
        made = make()
        if best is not None and made.size > size:
            break
        best = made
    assert best is not None
    return best


def tree(X: np.ndarray, y: np.ndarray, size: int, seed: int) -> Fitted:
    def make(leaves: int) -> Fitted:
        model = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=seed).fit(X, y)
        grown = model.tree_
        inner = lambda node: (  # noqa: E731
            None if grown.children_left[node] < 0 else (grown.children_left[node], grown.children_right[node])
        )
        return Fitted(model.predict, _leaves(0, inner, lambda node: int(grown.feature[node])))

    return _largest(((lambda leaves=leaves: make(leaves)) for leaves in range(2, size + 2)), size)


def figs(X: np.ndarray, y: np.ndarray, size: int, seed: int) -> Fitted:
    from imodels import FIGSClassifier

    classes, numbers = np.unique(y, return_inverse=True)

    def make(splits: int) -> Fitted:
        model = FIGSClassifier(max_rules=splits, random_state=seed).fit(X, numbers)
        inner = lambda node: None if node.left is None else (node.left, node.right)  # noqa: E731
        total = sum(_leaves(root, inner, lambda node: int(node.feature)) for root in model.trees_)
        return Fitted(lambda rows: classes[model.predict(rows).astype(int)], total)

    return _largest(((lambda splits=splits: make(splits)) for splits in range(1, size + 1)), size)


def boosted_rules(X: np.ndarray, y: np.ndarray, size: int, seed: int) -> Fitted:
    """AdaBoost of stumps: each is two rules of one premise."""
    from imodels import BoostedRulesClassifier

    classes, numbers = np.unique(y, return_inverse=True)
    model = BoostedRulesClassifier(n_estimators=size // 2, random_state=seed).fit(X, numbers)
    return Fitted(lambda rows: classes[model.predict(rows).astype(int)], 2 * len(model.estimators_))


def _one_against_the_rest(
    X: np.ndarray,
    y: np.ndarray,
    size: int,
    make: Callable[[np.ndarray, int], tuple[Callable[..., np.ndarray], int]],
) -> Fitted:
    classes = np.unique(y)
    sides = classes[1:] if len(classes) == 2 else classes
    made = [make((y == side).astype(int), max(1, size // len(sides))) for side in sides]

    def predict(rows: np.ndarray) -> np.ndarray:
        chances = np.stack([chance(rows) for chance, _ in made], axis=1)
        if len(classes) == 2:
            return classes[(chances[:, 0] >= 0.5).astype(int)]
        return classes[chances.argmax(axis=1)]

    return Fitted(predict, sum(count for _, count in made))


def rulefit(X: np.ndarray, y: np.ndarray, size: int, seed: int) -> Fitted:
    from imodels import RuleFitClassifier

    def make(target: np.ndarray, limit: int) -> tuple[Callable[..., np.ndarray], int]:
        def with_rules(rules: int) -> Fitted:
            model = RuleFitClassifier(max_rules=rules, include_linear=False, random_state=seed).fit(X, target)
            found = model._get_rules()
            texts = found[(found["type"] == "rule") & (found["coef"] != 0)]["rule"]
            count = sum(len({part.split()[0] for part in text.split(" and ")}) for text in texts)
            return Fitted(lambda rows: model.predict_proba(rows)[:, 1], count)

        best = _largest(((lambda rules=rules: with_rules(rules)) for rules in (2, 4, 6, 9, 13, 18)), limit)
        return best.predict, best.size

    return _one_against_the_rest(X, y, size, make)


def ripper(X: np.ndarray, y: np.ndarray, size: int, seed: int) -> Fitted:
    import wittgenstein

    def make(target: np.ndarray, limit: int) -> tuple[Callable[..., np.ndarray], int]:
        model = wittgenstein.RIPPER(random_state=seed, max_total_conds=limit)
        model.fit(X, target, pos_class=1)
        count = sum(len(rule.conds) for rule in model.ruleset_.rules)
        return lambda rows: model.predict_proba(rows)[:, -1], count

    return _one_against_the_rest(X, y, size, make)


def ex_fuzzy(X: np.ndarray, y: np.ndarray, size: int, seed: int) -> Fitted:
    """Its genetic search with two premises a rule; 20 generations of 30, for its default of 70 takes a minute a fit."""
    from ex_fuzzy.evolutionary_fit import BaseFuzzyRulesClassifier

    classes, numbers = np.unique(y, return_inverse=True)
    model = BaseFuzzyRulesClassifier(nRules=max(len(classes), size // 2), nAnts=2, verbose=False)
    model.fit(X, numbers, n_gen=20, pop_size=30, random_state=seed)
    count = sum(
        sum(choice >= 0 for choice in rule.antecedents)
        for base in model.rule_base.rule_bases
        for rule in base.rules
    )
    return Fitted(lambda rows: classes[np.asarray(model.predict(rows)).astype(int)], count)


OURS = "neuroplastic, readable"
SIZED: dict[str, Fit] = {
    OURS: ours,
    "tree": tree,
    "FIGS": figs,
    "boosted rules": boosted_rules,
    "RuleFit": rulefit,
    "RIPPER": ripper,
    "ex-fuzzy": ex_fuzzy,
}
UNSIZED: dict[str, Fit] = {
    "neuroplastic, readable by default": ours,
    "neuroplastic, readable, not taught": ours_alone,
    "neuroplastic": ours_default,
    "EBM": ebm,
    "gradient boosting": boosting,
}
