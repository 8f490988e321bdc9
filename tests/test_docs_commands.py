"""The commands of the pages work, in the order of the page. Only training is made shorter than the page says."""

import re
import shlex
from pathlib import Path

import pytest

from neuroplastic.cli.main import main, parser
from tests.pages import DOCS, HOW_TO

SHORT = ["--epochs", "1", "--steps-per-epoch", "256", "--episodes", "2"]
SHORTER = {"train": SHORT, "study run": [*SHORT, "--trials", "2", "--workers", "1"]}
GAME = ("BP",)  # commands that play it are parsed here; tests of the command line run them


def commands(page: Path) -> list[list[str]]:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")  # lines that go on
    lines = re.findall(r"^neuroplastic (\w.*)$", text, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def python(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def shortened(words: list[str]) -> list[str]:
    if "--resume" in words:
        return words
    return words + next(
        (more for start, more in SHORTER.items() if words[: len(start.split())] == start.split()), []
    )


def run_all(page: Path) -> None:
    for words in commands(page):
        if not any(part.startswith(GAME) or "/BP-" in part for part in words):
            assert main(shortened(words)) == 0, shlex.join(words)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.mark.parametrize(
    "page", ["tutorial", "how_to/gymnasium", "how_to/runs", "how_to/gpu", "how_to/studies", "students"]
)
def test_the_commands_of_a_page_are_commands(page: str) -> None:
    for words in commands(DOCS / f"{page}.md"):
        options, rest = parser().parse_known_args(words)
        assert not rest or options.parser.takes_fields, shlex.join(words)


@pytest.mark.slow
def test_the_tutorial_goes_from_nothing_to_rules_agents_and_a_report(tmp_path: Path) -> None:
    pytest.importorskip("pygame", reason="pygame draws the pole; `pip install 'neuroplastic[gym]'` brings it")
    names: dict[str, object] = {}
    for code in python(DOCS / "tutorial.md"):
        exec(compile(code, "tutorial", "exec"), names)
    run_all(DOCS / "tutorial.md")
    assert (tmp_path / "irises" / "index.html").exists()
    assert (tmp_path / "runs" / "CartPole-v1-nfn-standard-seed0" / "episode-0.mp4").exists()
    assert (tmp_path / "report" / "index.html").exists()


def test_a_run_is_stopped_resumed_extended_and_looked_at(tmp_path: Path) -> None:
    run_all(HOW_TO / "runs.md")
    metrics = tmp_path / "runs" / "CartPole-v1-nfn-standard-seed3" / "metrics.csv"
    assert len(metrics.read_text().splitlines()) == 1 + 12


def test_an_environment_of_ones_own_is_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "thermostat.py").write_text(python(HOW_TO / "gymnasium.md")[0])
    monkeypatch.syspath_prepend(tmp_path)
    run_all(HOW_TO / "gymnasium.md")
    assert (tmp_path / "runs" / "thermostat_Thermostat-v0-nfn-standard-seed0" / "best.safetensors").exists()


@pytest.mark.parametrize(
    ("page", "module", "parts"), [("task", "corridor", (0, 1, 3)), ("learner", "one_step", (0, 1))]
)
def test_a_module_of_ones_own_is_found_by_the_command_line(
    tmp_path: Path, fresh_python, page, module, parts
) -> None:
    blocks = python(HOW_TO / f"{page}.md")
    (tmp_path / f"{module}.py").write_text("\n\n".join(blocks[part] for part in parts))
    asked = [shlex.join(shortened(words)) for words in commands(HOW_TO / f"{page}.md")]
    assert len(asked) > 1
    # In a process of its own: the pages themselves register kinds of the same names.
    code = "import shlex, sys; from neuroplastic.cli.main import main\n"
    code += f"for command in {asked!r}:\n    assert main(shlex.split(command)) == 0, command"
    fresh_python(code, folder=tmp_path)
