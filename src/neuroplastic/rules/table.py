"""Rules as a table, one row per rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import MissingPackageError
from .rule_base import IGNORED, Linear, RuleBase
from .text.sentences import factor

if TYPE_CHECKING:
    import pandas


def table_of(rules: RuleBase) -> pandas.DataFrame:
    """One row per rule, two levels of columns; see `RuleBase.table`."""
    try:
        import pandas
    except ImportError as error:
        raise MissingPackageError("a table needs pandas: pip install 'neuroplastic[rules]'") from error
    columns: dict[tuple[str, str], Any] = {}
    for attribute, variable in enumerate(rules.inputs):
        words = [term.name for term in variable.terms]
        chosen = rules.premises[:, attribute].tolist()
        columns["IF", variable.name] = [None if term == IGNORED else words[term] for term in chosen]
    part = rules.consequents
    for output, variable in enumerate(rules.outputs):
        heading = f"THEN {variable.name}"
        if isinstance(part, Linear):
            columns[heading, "constant"] = part.bias[:, output]
            for place in range(part.weight.shape[2]):
                columns[heading, f"* {rules.inputs[place].name}"] = part.weight[:, output, place]
        else:
            words = [term.name for term in variable.terms]
            columns[heading, "term"] = [words[term] for term in part.terms[:, output].tolist()]
    if rules.certainty is not None:
        form = rules.firing.certainty
        columns["WITH", "certainty"] = [factor(float(stored), form) for stored in rules.certainty]
    for name, values in (("gain", rules.gain), ("shift", rules.shift)):
        if values is not None:
            columns["WITH", name] = values
    index = pandas.RangeIndex(1, len(rules) + 1, name="rule")
    return pandas.DataFrame(columns, index=index)
