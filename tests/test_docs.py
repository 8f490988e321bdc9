"""The documentation does what it says: its code is run in order, and the newcomers' page's commands too."""

import re
import shlex

import numpy as np
import onnxruntime
import pytest
from sklearn.datasets import load_breast_cancer

from neuroplastic import catalog
from neuroplastic.cli.main import main
from tests.pages import DOCS, HOW_TO, examples_that_print_what_is_shown

PAGE = HOW_TO / "from_a_csv_file.md"
# Pages that are run here, with the number of outputs that they show, pages that tests of their own run, and pages
# that no test runs.
SHOWN = {
    "concepts/decisions": 0,
    "concepts/neuroplasticity": 2,
    "how_to/adding": 2,
    "how_to/analysis": 1,
    "how_to/diagnosis": 2,
    "how_to/estimators": 3,
    "how_to/gpu": 1,
    "how_to/gpu_networks": 1,
    "how_to/learner": 1,
    "how_to/pytorch": 2,
    "how_to/reading_rules": 2,
    "how_to/runs": 1,
    "how_to/simplification": 0,
    "how_to/standards": 1,
    "how_to/task": 1,
    "reference/errors": 11,
    "reference/estimators": 2,
    "reference/files": 1,
    "reference/network": 17,
    "reference/rules": 9,
    "reference/understanding": 13,
}
RUN_ELSEWHERE = {
    "how_to/explanations",
    "how_to/from_a_csv_file",
    "how_to/gymnasium",
    "how_to/rules_text",
    "how_to/stable_baselines3",
    "tutorial",
}
NOT_RUN = {"how_to/studies"}


def test_every_page_with_code_is_accounted_for():
    with_code = {
        page.relative_to(DOCS).with_suffix("").as_posix()
        for page in DOCS.rglob("*.md")
        if "```python" in page.read_text(encoding="utf-8")
    }
    assert with_code == {*SHOWN, *RUN_ELSEWHERE, *NOT_RUN}


@pytest.mark.parametrize("page", SHOWN)
def test_the_examples_run_as_written_and_print_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages write files
    # and register tasks and learners, whose names other tests may have taken
    ours = {
        group: {name: home for name, home in kinds.items() if isinstance(home, str)}
        for group, kinds in catalog.KINDS.items()
    }
    monkeypatch.setattr(catalog, "KINDS", ours)
    assert examples_that_print_what_is_shown(DOCS / f"{page}.md") == SHOWN[page]


def some_tumours(*, as_frame):
    """Every tenth row: what the page does is done in a tenth of the time, all else is as it says."""
    data = load_breast_cancer(as_frame=as_frame)
    data.frame, data.target = data.frame[::10], data.target[::10]
    return data


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    """The folder in which the page was worked through, and all that its code defined."""
    folder = tmp_path_factory.mktemp("newcomer")
    names: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("sklearn.datasets.load_breast_cancer", some_tumours)
        for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
            exec(compile(code, str(PAGE), "exec"), names)
    return folder, names


def test_the_code_learns_explains_and_draws(worked):
    folder, names = worked
    assert names["scores"].mean() > 0.9
    assert "rules fired" in names["explanation"].text(0)
    for name in ("sets.png", "rules.png", "why.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    session = onnxruntime.InferenceSession(folder / "tumours.onnx")
    scores = session.run(None, {"x": names["X"].to_numpy(dtype=np.float32)})[0]
    agreed = names["model"].classes_[scores.argmax(axis=1)] == names["model"].predict(names["X"])
    assert agreed.mean() > 0.995
    assert len(names["simple"].rules_) <= 6


def test_the_commands_run(worked, monkeypatch, capsys):
    folder, _ = worked
    monkeypatch.chdir(folder)
    (folder / "why.png").unlink(missing_ok=True)
    commands = re.findall(r"^neuroplastic (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["fit", "predict", "rules", "explain", "simplify"]
    for command in commands:
        assert main(shlex.split(command)) == 0, command
    assert (folder / "tumours" / "index.html").exists()
    assert (folder / "why.png").exists()
    assert "rules fired" in capsys.readouterr().out


def test_how_to_add_is_told_alike_on_the_site_and_in_contributing():
    def rows(text: str) -> list[str]:
        return re.findall(r"^\| (?:an? |what ).*$", text, re.MULTILINE)

    site, beside = (HOW_TO / "adding.md").read_text(), (DOCS.parent / "CONTRIBUTING.md").read_text()
    assert rows(site) == rows(beside)
    assert len(rows(site)) == 7
