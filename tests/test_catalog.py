"""Kinds by name: those of the package, and those that a program registers."""

import pytest

from neuroplastic import catalog
from neuroplastic.errors import ConfigError
from tests.small_game import CatchTask, CorridorTask


def test_every_address_of_the_catalogue_leads_to_a_class_of_that_name():
    for group in catalog.KINDS:
        for name in catalog.names(group):
            assert isinstance(catalog.kind(group, name), type)


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(ConfigError, match="already; choose another name"):
        catalog.register("task", "catch", CorridorTask)
    catalog.register("task", "catch", CatchTask)  # the same again is not another
