from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from neuroplastic.usecases.reasons import reason, valued_more

NAMES = ("left", "right", "both")
PREMISES = ("IF x is low", "IF x is medium", "IF x is high")
PLAIN = (0, 1, 2)


@dataclass
class Decided:
    """What is asked of a case: the rules that fired, the strongest first, and what each added to each action."""

    fired: np.ndarray
    firing: np.ndarray
    shares: np.ndarray
    rules = SimpleNamespace(outputs=[SimpleNamespace(name=name) for name in NAMES])

    @property
    def strongest(self):
        return int(self.fired[0])

    @property
    def output(self):
        return self.shares.sum(axis=0)

    def reason(self, runner_up, plain=PLAIN):
        concluded = self.shares.argmax(axis=1).tolist()
        return reason(self, int(self.output.argmax()), runner_up, concluded, PREMISES, plain)


def decided(shares, firing=(0.9, 0.1)):
    return Decided(np.array([1, 2]), np.array(firing), np.array(shares, float))


def test_the_rule_that_fires_most_is_the_reason_where_it_is_for_what_is_done():
    found = decided([[0, 5, 0], [1, 0, 0]]).reason(0)
    assert (found.rule, found.sentence) == (2, "IF x is medium THEN right")
    assert found.note == "Rule 2 fires most (90 %)."


def test_a_rule_against_what_is_done_is_never_its_reason_but_said_to_be_outweighed():
    found = decided([[4, 3.9, 0], [0, 2, 0]]).reason(0)
    assert (found.rule, found.sentence) == (3, "IF x is high THEN right")
    assert found.note.startswith("Rule 3 speaks most for it (10 %). Rule 2 fires most (90 %) and is for left")


def test_where_no_rule_concludes_what_is_done_they_are_said_to_do_so_together():
    found = decided([[3, 2, 0], [0, 2, 3]]).reason(0)
    assert found.rule == 0
    assert "THEN" not in found.sentence
    assert "no single rule says right: together they value it 1 more than left" in found.sentence


def test_a_rule_for_what_does_the_same_with_more_buttons_is_a_reason_too():
    found = decided([[4, 0, 3.9], [0, 0, 2]]).reason(0, plain=(0, 1, 1))
    assert found.sentence == "IF x is high THEN right"


@pytest.mark.parametrize(
    ("less", "told"), [(4.0, "0.66 more"), (4.655, "0.005 more"), (4.66, "0.000000 more")]
)
def test_a_difference_is_told_with_digits_enough_to_see_it(less, told):
    assert told in valued_more(NAMES, (less, 4.66), 1, 0)
