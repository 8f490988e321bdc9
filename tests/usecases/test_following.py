import pytest

from neuroplastic.experiment.run_folder import EpochMetrics
from neuroplastic.usecases.following import collapse_told


def told(leading: float, carry: float) -> str:
    figures = {"leading_rules": leading, "carry": carry}
    return collapse_told(EpochMetrics(3, 900, 500.0, 0.0, 500.0, 500.0, 4, 0.1, 20, 0, 12.0, figures))


def test_rules_that_decide_need_no_word():
    assert told(4.0, 0.9) == ""


@pytest.mark.parametrize(
    ("leading", "carry", "why"),
    [
        (4.0, 0.18, "nearly the same is decided everywhere: 18 %"),
        (1.0, 0.9, "one rule leads everywhere: 90 %"),
    ],
)
def test_a_collapsed_rule_base_is_told_calmly_with_what_to_do(leading, carry, why):
    said = told(leading, carry)
    assert said.startswith(f"After epoch 3 {why} of the decisions depend on which rules fire")
    assert "Where the score is good that is no fault" in said
    assert "train on" in said
