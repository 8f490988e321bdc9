"""`neuroplastic rules` and `explain`: what a fitted model, a saved network or a DOOM run has learned."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError, InputError, choose
from ..whole_files import write_whole
from .arguments import need_file, new_file, whole

if TYPE_CHECKING:
    from ..rules.rule_base import RuleBase

HEADS = ("advantage", "value")
ENDINGS = (".txt", ".csv", ".json", ".fml", ".xml", ".fcl", ".fis", ".onnx")
SOURCES = "a folder made by `neuroplastic fit`, a run of `neuroplastic train`, or a file written by npl.save"
PICTURES = (".png", ".svg", ".pdf")


def add_to(commands: Any) -> None:
    """Add the commands to the parser."""
    rules = commands.add_parser(
        "rules",
        help="print or export the rules of a model, a saved network or a run",
        description="Prints the rules, or writes them: the ending of --out chooses text (.txt), a table (.csv), "
        "JSON (.json), FML (.fml), FCL (.fcl), MATLAB (.fis) or ONNX (.onnx, the network).",
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
        command.add_argument("--which", choices=("best", "last"), help="epoch of a run (default: best)")
    rules.add_argument("--out", metavar="FILE", help="write here instead of printing")
    rules.add_argument(
        "--exact", action="store_true", help="all premises and digits, so that they can be read back"
    )
    rules.add_argument("--head", choices=HEADS, help="whose rules, of a run (default: advantage)")
    rules.set_defaults(run=run_rules)
    explain.add_argument("data", nargs="?", metavar="FILE", help="rows to explain, for a model or a network")
    explain.add_argument("--row", type=whole(1), help="which row of FILE, from 1 (default: 1)")
    explain.add_argument("--episode", type=whole(0), help="of a run: evaluation episode (default: 0)")
    explain.add_argument(
        "--decision", type=whole(0), help="of a run: which decision (default: the middle one)"
    )
    explain.add_argument("--picture", metavar="FILE", help="also draw it (.png, .svg or .pdf)")
    explain.set_defaults(run=run_explain)


def run_rules(options: argparse.Namespace) -> int:
    """Print or write the rules."""
    target = None if options.out is None else new_file("--out", options.out)
    ending = "" if target is None else choose("the ending of --out", target.suffix.lower(), ENDINGS)
    if options.exact and ending not in ("", ".txt"):
        raise ConfigError(f"--exact is for rules as text, {ending} is none; leave it out")
    rules, network = _rules_of(options)
    if target is None:
        print("\n\n".join(base.text(exact=options.exact) for base in rules))
        return 0
    if ending == ".onnx":
        from ..rules.standards.files import export

        export(network, target)
    elif ending in (".txt", ".csv", ".json"):
        if len(rules) > 1 and ending != ".txt":
            raise ConfigError(f"a hierarchy has a rule base per level; {ending} holds one: use .txt")
        if ending == ".csv":
            content = _csv(rules[0])
        elif ending == ".json":
            content = rules[0].json()
        else:
            content = "\n\n".join(base.text(exact=options.exact) for base in rules)
        write_whole(target, f"{content}\n".encode())
    else:
        from ..rules.standards import NotExpressibleError, export

        if len(rules) > 1:
            raise ConfigError("a hierarchy cannot be written as one fuzzy system; use .txt or .onnx")
        try:
            export(rules[0], target)
        except NotExpressibleError as error:
            again = "; a table: neuroplastic fit --portable" if hasattr(network, "rules_") else ""
            raise ConfigError(f"{error}{again}") from error
    print(f"{target}: {sum(map(len, rules))} rules")
    return 0


def _csv(rules: RuleBase) -> str:
    """The table with its two lines of headings joined: 'IF petal length', 'THEN setosa'."""
    table = rules.table()
    joined = [" ".join(filter(None, names)) for names in table.columns]
    text: str = table.set_axis(joined, axis=1).to_csv(index=False)
    return text.rstrip("\n")


def _rules_of(options: argparse.Namespace) -> tuple[tuple[RuleBase, ...], Any]:
    """The rule bases of a source, level by level, and the network or estimator they are of."""
    from ..rules.reading import rule_bases

    kind, source = _opened(options)
    if kind == "model":
        return (source.estimator.rules_,), source.estimator
    if kind == "run":
        from ..experiment.decision import action_names, feature_names

        config, agent = source
        name = options.head or HEADS[0]
        outputs = ["value"] if name == "value" else action_names(config)
        head = getattr(agent, name)
        return rule_bases(head, feature_names=feature_names(), output_names=outputs), head
    if hasattr(source, "rules_"):
        return (source.rules_,), source
    return rule_bases(source), source


def _opened(options: argparse.Namespace) -> tuple[str, Any]:
    """What kind of thing the source is, and the thing."""
    path = Path(options.source)
    # The file of a TableModel, by name: to ask that class would need scikit-learn for a run, too.
    is_model = (path / "columns.json").is_file()
    for name in ("which", "head"):
        if (path.is_file() or is_model) and getattr(options, name, None) is not None:
            raise ConfigError(f"--{name} is for runs of `neuroplastic train`, {path} is none; leave it out")
    if path.is_file():
        from ..network.storage import StorageError, load

        try:
            return "network", load(path)
        except StorageError as error:
            raise InputError(f"{error}; give {SOURCES}") from error
    if is_model:
        from ..learn.table_model import TableModel

        return "model", TableModel.load(path)
    if not any((folder / "config.json").is_file() for folder in (path, Path("runs") / path)):
        what = "holds neither a model nor a run" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {what}; give {SOURCES}")
    from ..experiment.run_folder import RunFolder
    from .play import load_agent

    config, agent = load_agent(RunFolder.open(options.source), options.which or "best")
    if config.agent != "nfn":
        raise InputError(f"{options.source} is a {config.agent} run: it has no rules; train with --agent nfn")
    return "run", (config, agent)


def run_explain(options: argparse.Namespace) -> int:
    """Explain one row, or one decision."""
    picture = None
    if options.picture is not None:
        picture = new_file("--picture", options.picture, replace=True)
        choose("the ending of --picture", picture.suffix.lower(), PICTURES)
    if options.data is not None:
        need_file(options.data)
    kind, source = _opened(options)
    if kind == "run":
        if options.data is not None or options.row is not None:
            raise ConfigError("a run is explained by its own pictures; leave FILE and --row out")
        figure = _explain_run(options, *source)
    else:
        if options.data is None:
            raise ConfigError("give the FILE whose row is to be explained")
        if options.episode is not None or options.decision is not None:
            raise ConfigError("--episode and --decision are for runs; of a table choose a row with --row")
        figure = _explain_row(options, kind, source)
    if picture is not None:
        figure().savefig(picture)
        print(f"picture: {picture}")
    return 0


def _explain_row(options: argparse.Namespace, kind: str, source: Any) -> Any:
    from ..learn.columns import read_table
    from ..rules.explanations.explaining import explain

    frame = source.read(options.data) if kind == "model" else read_table(options.data)
    number = 1 if options.row is None else options.row
    if number > len(frame):
        raise InputError(f"--row must be at most {len(frame)}, the rows of {options.data}, got {number}")
    row = frame.iloc[[number - 1]]
    if kind == "model":
        explanation = source.estimator.explain(source.columns.matrix(row))
    else:
        try:
            numbers = row.astype(float)
        except ValueError as error:
            raise InputError(
                f"{options.source} needs a FILE with its inputs alone, as numbers: {error}"
            ) from error
        if hasattr(source, "rules_"):
            explanation = source.explain(numbers)
        else:
            names = [str(name) for name in frame.columns]
            explanation = explain(source, numbers.to_numpy(), feature_names=names)
    print(explanation.text(0))

    def draw() -> Any:
        from ..rules.pictures import plot_explanation

        return plot_explanation(explanation)

    return draw


def _explain_run(options: argparse.Namespace, config: Any, agent: Any) -> Any:
    from ..experiment.decision import decision, decision_text, located_decision
    from ..experiment.recording import watch_episode

    episode = options.episode or 0
    pictures = watch_episode(config, agent, episode=episode)
    number = len(pictures) // 2 if options.decision is None else options.decision
    if not 0 <= number < len(pictures):
        raise InputError(f"--decision must lie in 0 to {len(pictures) - 1} in this episode, got {number}")
    print(f"episode {episode}, decision {number} of {len(pictures)}")
    explained = located_decision(config, agent, pictures[number])
    print(decision_text(explained))

    def draw() -> Any:
        from ..rules.pictures import plot_regions

        # Without captum there is no place to draw, and to ask for one says what to install.
        located = explained if explained.heat is not None else decision(config, agent, pictures[number])
        return plot_regions(located)

    return draw
