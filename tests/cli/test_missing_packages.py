"""Without the game's packages the commands on tables still work, and the others say what to install."""

import subprocess
import sys

import pytest

BLOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ImportError(f"No module named {{name!r}}")

sys.meta_path.insert(0, Blocked())
from neuroplastic.cli.main import main

sys.exit(main({arguments!r}))
"""


def run(blocked: set[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    code = BLOCK.format(blocked=blocked, arguments=list(arguments))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)


def test_the_command_that_needs_the_game_says_what_to_install():
    done = run({"vizdoom"}, "train", "BP", "--rules", "4")
    assert done.returncode == 2
    assert "neuroplastic[doom]" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("blocked", [{"vizdoom", "gymnasium", "cv2", "optuna", "sqlalchemy", "pingouin"}])
def test_a_table_needs_neither_game_nor_studies(blocked, tmp_path):
    rows = ["a,b,y"] + [f"{k % 7},{k % 5},{'high' if k % 7 > 3 else 'low'}" for k in range(40)]
    (tmp_path / "d.csv").write_text("\n".join(rows))
    done = run(
        blocked,
        "fit",
        str(tmp_path / "d.csv"),
        "--target",
        "y",
        "--rules",
        "2",
        "--folds",
        "2",
        "--out",
        str(tmp_path / "m"),
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "m" / "index.html").exists()
