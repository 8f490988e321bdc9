"""Tables to try things with are whole, and their targets are found."""

import pytest

pytest.importorskip("sklearn", reason="needs the extra 'table'")

from neuroplastic.errors import ConfigError
from neuroplastic.usecases.examples import EXAMPLES, example_table
from neuroplastic.usecases.looking import look_at_table


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_a_table_whose_target_is_proposed(name, tmp_path):
    file = tmp_path / f"{name}.csv"
    file.write_bytes(example_table(name))
    look = look_at_table(file)
    assert look.target == EXAMPLES[name].target
    assert look.rows > 100
    assert not any(column.missing for column in look.columns)


def test_an_example_that_is_not_there_is_said_so():
    with pytest.raises(ConfigError, match="iris"):
        example_table("flowers")
