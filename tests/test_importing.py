"""What is done after another package was imported, each case in a Python of its own."""

import subprocess
import sys
import textwrap

import pytest

BEGIN = """
import sys
from neuroplastic.importing import after_import
done = []
after_import("later", lambda: done.append(sys.modules["later"].value))
watches = len(sys.meta_path)
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import later; assert done == [7]", id="once it is imported"),
        pytest.param("from later.part import more; assert done == [7]", id="through a part of it"),
        pytest.param(
            "import later, importlib; importlib.reload(later); assert done == [7]",
            id="not again when reloaded",
        ),
        pytest.param(
            "import later; assert len(sys.meta_path) == watches - 1\n"
            "assert 'exec_module' not in vars(later.__loader__)",
            id="leaving nothing behind",
        ),
        pytest.param(
            "import importlib.util as u; u.find_spec('later'); u.find_spec('later'); assert not done\n"
            "import later; assert done == [7]",
            id="not when it is only looked for",
        ),
        pytest.param(
            "later = 'later'\ntry: import missing_part_of_nothing\nexcept ImportError: pass\nassert not done",
            id="not for another package",
        ),
        pytest.param(
            "import later\nafter_import('later', lambda: done.append('at once')); assert done == [7, 'at once']",
            id="at once where it has been imported",
        ),
        pytest.param(
            "import os; os.environ['FAILS'] = '1'\ntry: import later\nexcept RuntimeError: pass\nassert not done\n"
            "del os.environ['FAILS']; import later; assert done == [7]",
            id="after an import that failed, when the next one does not",
        ),
    ],
)
def test_the_act_follows_the_import(code, tmp_path):
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "__init__.py").write_text(
        textwrap.dedent("""
        import os
        value = 7
        if "FAILS" in os.environ:
            raise RuntimeError("not now")
        """)
    )
    (tmp_path / "later" / "part.py").write_text("more = 1\n")
    subprocess.run([sys.executable, "-c", BEGIN + code], check=True, cwd=tmp_path)


def test_who_blocked_a_package_is_not_made_to_wait_for_it(monkeypatch):
    from neuroplastic.importing import after_import

    monkeypatch.setitem(sys.modules, "later", None)
    before = list(sys.meta_path)
    after_import("later", lambda: pytest.fail("it cannot have been imported"))
    assert sys.meta_path == before
