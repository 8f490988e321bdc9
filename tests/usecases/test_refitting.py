import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs the extra 'table'")

from neuroplastic.errors import ConfigError
from neuroplastic.learn.table_model import TableModel
from neuroplastic.usecases.editing import edited_model, save_edited
from neuroplastic.usecases.edits import FreezeRule, SetConclusion
from neuroplastic.usecases.opening import OpenedTable
from neuroplastic.usecases.refitting import refit_edited
from neuroplastic.usecases.turning import drawn_rules
from tests.usecases.test_editing import opened


def asked(rules, number):
    return [(variable.name, term.center, term.width) for variable, term in rules[number].premises]


@pytest.mark.parametrize(("target", "readable"), [("kind", True), ("price", False)])
def test_a_frozen_rule_is_the_same_to_the_bit_after_learning_on_and_others_are_not(
    target, readable, tmp_path
):
    model, path = opened(target, tmp_path, readable=readable)
    edits = [SetConclusion(0, 0, 4.7), FreezeRule(0, on=True), SetConclusion(1, 0, -0.3)]
    before = edited_model(model, edits).estimator.rules_
    told = []
    made = refit_edited(model, edits, path, tmp_path / "on", on_progress=told.append)
    after = TableModel.load(made.path).estimator.rules_
    assert np.array_equal(after.consequents.bias[0], before.consequents.bias[0])
    assert np.array_equal(after.consequents.weight[0], before.consequents.weight[0])
    assert asked(after, 0) == asked(before, 0)
    assert not np.array_equal(after.consequents.bias[1], before.consequents.bias[1])
    assert made.frozen == 1
    assert made.after >= made.edited
    assert told[-1].stage == "learning on"


def test_what_is_frozen_stays_so_in_a_saved_model_until_it_is_let_go(tmp_path):
    model, path = opened("kind", tmp_path, readable=True)
    kept = save_edited(model, [FreezeRule(1, on=True)], tmp_path / "kept")
    again = OpenedTable(kept, TableModel.load(kept))
    assert drawn_rules(again, []).frozen == (1,)
    assert drawn_rules(again, [FreezeRule(1, on=False)]).frozen == ()
    every = [FreezeRule(rule, on=True) for rule in range(len(again.model.estimator.rules_))]
    with pytest.raises(ConfigError, match="let one learn"):
        refit_edited(again, every, path, tmp_path / "none")
    assert not (tmp_path / "none").exists()
