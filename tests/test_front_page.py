"""What the README says is so: its code runs, its commands and links exist."""

import re
import shlex
from pathlib import Path

import pytest

from neuroplastic.cli.main import parser
from tests.pages import worked_through

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
FRONT = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
TEXT = README.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^neuroplastic (.*)$", TEXT, re.MULTILINE)


def test_the_example_runs_and_sets_are_born(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = worked_through(README).names
    assert names["net"].births
    assert (tmp_path / "net.safetensors").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_front_page_is_one(command):
    words = shlex.split(command, comments=True)
    options, rest = parser().parse_known_args(words)
    assert callable(options.run)
    assert not rest or options.parser.takes_fields


def test_every_make_target_that_is_named_exists():
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in FRONT:
        text = (ROOT / page).read_text(encoding="utf-8")
        for target in re.findall(r"(?:^|`)make ([a-z][a-z-]+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", made, re.MULTILINE), (page, target)


@pytest.mark.parametrize("page", FRONT)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / page).read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:", "#")):
            assert (ROOT / target.partition("#")[0]).exists(), (page, target)
