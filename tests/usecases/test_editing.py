import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="needs the extra 'table'")

from neuroplastic import NeuroFuzzyClassifier, NeuroFuzzyRegressor
from neuroplastic.errors import InputError
from neuroplastic.learn.columns import Columns
from neuroplastic.learn.table_model import TableModel
from neuroplastic.usecases.editing import edited_model, effect_of, save_edited
from neuroplastic.usecases.edits import (
    AddRule,
    MoveSet,
    SetConclusion,
    SetPremise,
    SwitchRule,
    apply_edits,
)
from neuroplastic.usecases.opening import OpenedTable
from neuroplastic.usecases.turning import drawn_rules


def table(rows=80):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"size": rng.uniform(0, 10, rows), "weight": rng.normal(100, 20, rows)})
    frame["kind"] = np.where(frame["size"] > 5, "large", "small")
    frame["price"] = 3 * frame["size"] + 0.1 * frame["weight"]
    return frame


def opened(target, folder, *, readable):
    frame = table()
    path = folder / f"{target}.csv"
    frame[["size", "weight", target]].to_csv(path, index=False)
    kind = NeuroFuzzyClassifier if target == "kind" else NeuroFuzzyRegressor
    settings = {"taught": False} if readable else {"rules": 4}
    model = kind(readable=readable, random_state=0, **settings).fit(frame[["size", "weight"]], frame[target])
    columns = Columns(target, target == "kind", ("size", "weight"))
    return OpenedTable(folder, TableModel(columns, model)), path


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return opened("kind", tmp_path_factory.mktemp("kind"), readable=True)


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    return opened("price", tmp_path_factory.mktemp("price"), readable=False)


def outputs(model):
    return model.estimator._outputs_of(table()[["size", "weight"]])


def for_kind(model, name):
    """The first rule whose conclusion is that class."""
    rules = model.model.estimator.rules_
    place = [variable.name for variable in rules.outputs].index(name)
    return int((rules.consequents.bias.argmax(axis=1) == place).argmax()), place


def test_undone_edits_give_bit_equal_outputs_and_edits_repeat_to_the_bit(kinds):
    model, _ = kinds
    rule, output = for_kind(model, "large")
    first = [SetConclusion(rule, output, -9.0)]
    more = [*first, SwitchRule(rule, on=False)]
    before = outputs(edited_model(model, []))
    once = outputs(edited_model(model, first))
    assert not np.array_equal(before, once)
    assert not np.array_equal(once, outputs(edited_model(model, more)))
    assert np.array_equal(outputs(edited_model(model, more[:-1])), once)
    assert np.array_equal(outputs(edited_model(model, [])), before)


@pytest.mark.parametrize("which", ["kinds", "prices"])
def test_an_edit_that_changes_nothing_changes_no_output(which, request):
    model, _ = request.getfixturevalue(which)
    rules = model.model.estimator.rules_
    same = [
        SetConclusion(0, 0, float(rules.consequents.bias[0, 0])),
        SetPremise(0, 0, int(rules.premises[0, 0])),
    ]
    np.testing.assert_allclose(outputs(edited_model(model, same)), outputs(model.model), atol=1e-5)


def test_a_conclusion_turned_round_turns_the_decision_as_foretold(kinds):
    model, path = kinds
    rule, large = for_kind(model, "large")
    _, small = for_kind(model, "small")
    bias = model.model.estimator.rules_.consequents.bias[rule]
    edits = [SetConclusion(rule, large, float(bias[small])), SetConclusion(rule, small, float(bias[large]))]
    effect = effect_of(model, edits, path)
    assert effect.before > 0.95
    assert effect.after < 0.7
    assert effect.changed > 20
    assert effect.examples[0][1:] == ("large", "large", "small")


def test_a_moved_set_moves_the_boundary(kinds):
    model, _ = kinds
    rules = model.model.estimator.rules_
    asked = [(d, t) for d, variable in enumerate(rules.inputs) for t in range(len(variable.terms))]
    place, term = asked[0]
    old = rules.inputs[place].terms[term]
    edits = [MoveSet(place, term, old.center + 3.0, old.width)]
    assert apply_edits(rules, edits).base.inputs[place].terms[term].center == old.center + 3.0
    assert not np.array_equal(outputs(edited_model(model, edits)), outputs(model.model))


def test_a_rule_in_words_is_added_and_counts(kinds):
    model, _ = kinds
    rules = model.model.estimator.rules_
    name, term = next((v.name, v.terms[0].name) for v in rules.inputs if v.terms)
    edited = apply_edits(rules, [AddRule(f"if {name} is {term} then small")])
    assert len(edited.base) == len(rules) + 1
    assert edited.base[len(rules)].premises[0][1].name == term
    assert not np.array_equal(
        outputs(edited_model(model, [AddRule(f"IF {name} is {term} THEN small")])), outputs(model.model)
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("size is low", "must read"),
        ("IF sise is low THEN small", "did you mean"),
        ("IF size is purple THEN small", "no set called 'purple'"),
        ("IF anything THEN purple", "no output is meant"),
        ("IF anything THEN small is many", "must end with a number"),
    ],
)
def test_a_rule_that_cannot_be_understood_is_refused_with_what_there_is(kinds, text, said):
    with pytest.raises(InputError, match=said):
        apply_edits(kinds[0].model.estimator.rules_, [AddRule(text)])


@pytest.mark.parametrize(
    "edit",
    [
        SetPremise(99, 0, 0),
        SetPremise(0, 9, 0),
        SetPremise(0, 0, 99),
        SetConclusion(0, 7, 1.0),
        SwitchRule(-1, on=False),
    ],
)
def test_an_edit_of_what_is_not_there_is_refused(kinds, edit):
    with pytest.raises(InputError, match="must be one of the"):
        apply_edits(kinds[0].model.estimator.rules_, [edit])


def test_the_last_rule_cannot_be_switched_off(kinds):
    rules = kinds[0].model.estimator.rules_
    with pytest.raises(InputError, match="leave one on"):
        apply_edits(rules, [SwitchRule(rule, on=False) for rule in range(len(rules))]).effective()


@pytest.mark.parametrize("which", ["kinds", "prices"])
def test_a_saved_edited_model_loads_elsewhere_and_says_the_same(which, request, tmp_path):
    model, path = request.getfixturevalue(which)
    edits = [SetConclusion(0, 0, 4.5), SwitchRule(1, on=False)]
    made = save_edited(model, edits, tmp_path / "turned")
    loaded = TableModel.load(made)
    rows = table()[["size", "weight"]]
    assert (loaded.estimator.predict(rows) == edited_model(model, edits).estimator.predict(rows)).all()
    drawn = drawn_rules(OpenedTable(made, loaded), [], path)
    assert len(drawn.premises) == len(model.model.estimator.rules_) - 1


def test_drawn_rules_say_which_rows_each_rule_leads(kinds):
    model, path = kinds
    drawn = drawn_rules(model, [SwitchRule(0, on=False)], path)
    assert sum(drawn.leads) == 80
    assert drawn.leads[0] == 0
    assert drawn.off == (0,)
    assert sum(drawn.inputs[0].histogram) == 80
    assert drawn.effect is not None
