import pytest

from neuroplastic.errors import InputError
from neuroplastic.rules.rule_base import Term, Variable
from neuroplastic.usecases.rule_in_words import premise_of, set_meant

NAMES = ("low (to 13)", "low (to 29)", "medium (25 to 39)", "high (from 36)", "very high")


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [("very high", 4), ("under 12", 0), ("below 40", 1), ("over 12", 3), ("from 36", 3), ("at most 28.5", 1)],
)
def test_a_set_is_meant_by_its_name_or_by_the_number_where_it_ends(wanted, meant):
    assert set_meant(NAMES, wanted) == meant


@pytest.mark.parametrize("wanted", ["tall", "about 12", "under", "under x"])
def test_a_set_that_is_not_meant_is_refused_with_the_words_that_may_be_used(wanted):
    variable = Variable("tenure", tuple(Term(name, 0.0, 1.0) for name in NAMES))
    with pytest.raises(InputError, match=r"tenure has no set called .*; it has: low \(to 13\), low"):
        premise_of([variable], f"tenure is {wanted}")
