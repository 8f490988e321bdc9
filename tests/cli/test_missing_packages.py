"""Without the game's packages the commands on tables still work, and the others say what to install."""

# One process after another would import everything again: each command is run with what is blocked for it.
BLOCK = """
import sys

blocked = {{"vizdoom", "gymnasium", "cv2", "optuna", "sqlalchemy", "pingouin"}}

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in blocked:
            raise ImportError(f"No module named {{name!r}}")

sys.meta_path.insert(0, Blocked())
from neuroplastic.cli.main import main

assert main({table!r}) == 0
assert not blocked & set(sys.modules)
blocked = {{"vizdoom"}}
assert main({game!r}) == 2
"""


def test_a_table_needs_neither_game_nor_studies_and_the_game_says_what_to_install(tmp_path, fresh_python):
    rows = ["a,b,y"] + [f"{k % 7},{k % 5},{'high' if k % 7 > 3 else 'low'}" for k in range(40)]
    data, out = tmp_path / "d.csv", tmp_path / "m"
    data.write_text("\n".join(rows))
    table = ["fit", str(data), "--target", "y", "--rules", "2", "--folds", "2", "--out", str(out)]
    code = BLOCK.format(table=table, game=["train", "BP", "--rules", "4"])
    done = fresh_python(code, folder=tmp_path)
    assert (out / "index.html").exists()
    assert "neuroplastic[doom]" in done.stderr
    assert not list(tmp_path.glob("runs/*")), "a run that cannot begin leaves nothing"
    assert "Traceback" not in done.stderr
