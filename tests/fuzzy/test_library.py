"""The C library is opened only if it was built from the sources that lie beside it."""

import re
from pathlib import Path

import pytest

from neuroplastic.fuzzy import backends
from neuroplastic.fuzzy.backends import library

SOURCES = Path(library.__file__).parents[1]


class Stale:
    """A library of another version."""

    def kernel_version(self):
        return library.VERSION - 1


@pytest.mark.parametrize("built", [Stale(), object()], ids=["another version", "older than versions"])
def test_a_library_of_other_sources_is_not_used_and_the_fix_is_named(built):
    with pytest.warns(RuntimeWarning, match=r"other sources.*build_ext --inplace"):
        assert library._checked(built, Path("_kernel.so")) is None


def test_sources_and_python_are_of_one_version():
    assert re.search(r"#define VERSION (\d+)", (SOURCES / "_kernel.c").read_text())[1] == str(library.VERSION)


def test_every_function_of_the_sources_is_described_with_as_many_arguments():
    text = "".join((SOURCES / name).read_text() for name in ("_kernel_body.h", "_norm_body.h"))
    found = re.findall(r"EXPORT \w+ NAME\((\w+)\)\(([^)]*)\)", text)
    assert {name: arguments.count(",") + 1 for name, arguments in found} == {
        name: len(kinds.replace(" ", "")) for name, kinds in library._ARGUMENTS.items()
    }


def test_an_environment_variable_does_without_the_library(fresh_python):
    for value, expected in (("0", "False"), ("1", str(backends.compiled_available()))):
        program = f"import os; os.environ['NEUROPLASTIC_KERNEL'] = {value!r}\n"
        program += "from neuroplastic.fuzzy import backends; print(backends.compiled_available())"
        assert fresh_python(program).stdout.strip() == expected
