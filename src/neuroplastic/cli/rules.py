"""`neuroplastic rules` and `explain`: what a fitted model, a saved network or a DOOM run has learned."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import catalog
from ..errors import ConfigError, NeuroplasticError, choose
from ..usecases.opening import RUN, Opened, OpenedEstimator, OpenedRun, OpenedTable, kind_of, open_anything
from ..usecases.requests import EPOCHS, HEADS, PICTURES, rule_files
from ..whole_files import write_whole
from .arguments import add_import, add_threads, need_file, new_file, whole

if TYPE_CHECKING:
    from ..usecases.explaining import ExplainedDecision, ExplainedRow


# Rules of a run that are printed unless more is asked for.
SCREENFUL = 20


def add_to(commands: Any) -> None:
    """Add the commands to the parser."""
    standards = ", ".join(catalog.names("standard"))
    rules = commands.add_parser(
        "rules",
        help="print or export the rules of a model, a saved network or a run",
        description="Prints the rules, and as a comment whether they decide, or writes them: the ending of --out "
        f"chooses text (.txt), a table (.csv), JSON (.json) or a standard ({standards}; .onnx holds the network).",
    )
    explain = commands.add_parser(
        "explain",
        help="which rules made a decision, and how much each counted",
        description="Explains rows of a table, or one decision of an agent in an evaluation episode.",
    )
    for command in (rules, explain):
        command.add_argument(
            "source", metavar="MODEL_OR_RUN", help="a folder made by fit, a run, or a saved network"
        )
        command.add_argument("--which", choices=EPOCHS, help="epoch of a run (default: best)")
        add_import(command)
        add_threads(command)
    rules.add_argument("--out", metavar="FILE", help="write here instead of printing")
    rules.add_argument(
        "--formulas", action="store_true", help="print the formulas of THEN parts, not what they amount to"
    )
    rules.add_argument(
        "--exact", action="store_true", help="all premises and digits, so that they can be read back"
    )
    rules.add_argument(
        "--data", metavar="FILE", help="rows to tell from whether the rules decide (a run plays episodes)"
    )
    rules.add_argument(
        "--cards", metavar="FILE.html", help="of a run: a page with a card for every rule that leads in play"
    )
    rules.add_argument("--all", action="store_true", help="of a run: print all rules, not one screenful")
    rules.add_argument("--head", choices=HEADS, help="whose rules, of a run (default: advantage)")
    rules.set_defaults(run=run_rules)
    explain.add_argument("data", nargs="?", metavar="FILE", help="rows to explain, for a model or a network")
    explain.add_argument("--row", type=whole(1), help="which row of FILE, from 1 (default: 1)")
    explain.add_argument("--episode", type=whole(0), help="of a run: evaluation episode (default: 0)")
    explain.add_argument(
        "--decision", type=whole(0), help="of a run: which decision (default: the middle one)"
    )
    explain.add_argument(
        "--method",
        choices=("usual", "cells", "grad_cam", "integrated_gradients", "occlusion"),
        help="of a run that sees pictures: how it is told where it looked (default: usual, which hits best)",
    )
    explain.add_argument("--picture", metavar="FILE", help="also draw it (.png, .svg or .pdf)")
    explain.set_defaults(run=run_explain)


def run_rules(options: argparse.Namespace) -> int:
    """Print or write the rules."""
    target = None if options.out is None else new_file("--out", options.out)
    ending = "" if target is None else choose("the ending of --out", target.suffix.lower(), rule_files())
    if options.exact and ending not in ("", ".txt"):
        raise ConfigError(f"--exact is for rules as text, {ending} is none; leave it out")
    if options.formulas and (ending or options.exact):
        raise ConfigError("--formulas is for rules that are printed; leave it out, or --out and --exact")
    _for_runs(options, "which", "head", "cards")
    if options.cards is not None:
        return _write_cards(options)
    if options.data is not None:
        _check_data(options)
    from ..rules.standards import NotExpressibleError
    from ..usecases.rules import rules_file, rules_of

    opened = open_anything(options.source, which=options.which or EPOCHS[0])
    rules = rules_of(opened, head=options.head or HEADS[0])
    if target is None:
        print(_shown(rules.text(formulas=options.formulas, exact=options.exact), opened, options))
        if not options.exact:
            print(f"\n{_as_comment(_diagnosis(opened, options))}")
            if isinstance(opened, OpenedRun) and opened.card is not None:
                print("\n# ".join(["# On its card:", *opened.card.lines()]))
        return 0
    try:
        content = rules_file(rules, ending, exact=options.exact)
    except NotExpressibleError as error:
        of_table = isinstance(opened, OpenedTable | OpenedEstimator)
        raise ConfigError(f"{error}{'; a table: neuroplastic fit --portable' if of_table else ''}") from error
    write_whole(target, content)
    print(f"{target}: {len(rules)} rules")
    return 0


def _shown(text: str, opened: Opened, options: argparse.Namespace) -> str:
    """All lines; of a run's rules a screenful, unless more was asked for."""
    lines = text.splitlines()
    whole = options.all or options.exact or options.formulas or not isinstance(opened, OpenedRun)
    if whole or len(lines) <= SCREENFUL:
        return text
    more = len(lines) - SCREENFUL
    return "\n".join(
        [*lines[:SCREENFUL], f"# and {more} more: --all prints them, --cards FILE.html shows those that lead"]
    )


def _write_cards(options: argparse.Namespace) -> int:
    """Write the page of cards."""
    if options.out is not None or options.exact or options.formulas or options.head is not None:
        raise ConfigError("--cards is a page of its own; leave --out, --exact, --formulas and --head out")
    target = new_file("--cards", options.cards, replace=True)
    choose("the ending of --cards", target.suffix.lower(), (".html",))
    from ..usecases.agent_cards import agent_cards
    from ..usecases.card_pages import cards_page

    opened = open_anything(options.source, which=options.which or EPOCHS[0])
    assert isinstance(opened, OpenedRun)
    found = agent_cards(opened)
    write_whole(target, cards_page(found).encode())
    print(f"{target}: {len(found.cards)} rules that lead, {found.silent} that never do")
    return 0


def _check_data(options: argparse.Namespace) -> None:
    if kind_of(options.source) == RUN:
        raise ConfigError("a run is diagnosed on what it sees in evaluation episodes; leave --data out")
    if options.out is not None or options.exact:
        raise ConfigError("--data is for the words below printed rules; leave it out, or --out and --exact")
    need_file(options.data)


def _diagnosis(opened: Opened, options: argparse.Namespace) -> str:
    """Whether the rules decide, or why that is not told."""
    from ..usecases.diagnosing import diagnose_evaluation, diagnose_file

    if not isinstance(opened, OpenedRun):
        untold = "Whether the rules decide is told on data: give --data FILE."
        return untold if options.data is None else str(diagnose_file(opened, options.data))
    if options.head not in (None, HEADS[0]):
        return f"Whether the rules decide is told of the {HEADS[0]} head."
    try:
        return str(diagnose_evaluation(opened))
    except NeuroplasticError as error:  # the rules have been printed all the same
        return f"Whether the rules decide is not told, for no episode can be played: {error}"


def _as_comment(text: str) -> str:
    """Lines that the language of rules skips."""
    return "\n".join(f"# {line}" for line in text.splitlines())


def run_explain(options: argparse.Namespace) -> int:
    """Explain one row, or one decision."""
    picture = None
    if options.picture is not None:
        picture = new_file("--picture", options.picture, replace=True)
        choose("the ending of --picture", picture.suffix.lower(), PICTURES)
    if options.data is not None:
        need_file(options.data)
    _for_runs(options, "which")
    explained = _explained(options)
    print(explained.text)
    if picture is not None:
        drawn = io.BytesIO()
        explained.figure().savefig(drawn, format=picture.suffix.lower().removeprefix("."))
        write_whole(picture, drawn.getvalue())
        print(f"picture: {picture}")
    return 0


def _explained(options: argparse.Namespace) -> ExplainedRow | ExplainedDecision:
    is_run = kind_of(options.source) == RUN
    if is_run and (options.data is not None or options.row is not None):
        raise ConfigError("a run is explained by its own pictures; leave FILE and --row out")
    if not is_run and options.data is None:
        raise ConfigError("give the FILE whose row is to be explained")
    if not is_run and (options.episode is not None or options.decision is not None):
        raise ConfigError("--episode and --decision are for runs; of a table choose a row with --row")
    if not is_run and options.method is not None:
        raise ConfigError("--method is for runs that see pictures; leave it out")
    from ..usecases.explaining import explain_decision, explain_row

    opened = open_anything(options.source, which=options.which or EPOCHS[0])
    if not isinstance(opened, OpenedRun):
        return explain_row(opened, options.data, number=options.row or 1)
    made = explain_decision(
        opened, episode=options.episode or 0, number=options.decision, method=options.method
    )
    print(f"episode {made.episode}, decision {made.number} of {made.decisions}")
    return made


def _for_runs(options: argparse.Namespace, *names: str) -> None:
    """Refuse options that only a run can follow, where the source is none."""
    given = [name for name in names if getattr(options, name) is not None]
    if given and kind_of(options.source) != RUN:
        path = Path(options.source)
        raise ConfigError(f"--{given[0]} is for runs of `neuroplastic train`, {path} is none; leave it out")
