"""An agent's rules as a page draws them while they are turned."""

from __future__ import annotations

from collections.abc import Sequence

from ..learn.imitation.config import ImitationConfig
from ..rules.rule_base import Linear
from ..rules.text.plain import plain_sentences
from .agent_editing import edited_agent, edited_agent_rules
from .drawing import DrawnRules, drawn_input
from .edits import Edit
from .opening import OpenedRun

PREMISES_SHOWN = 3
"""Of a rule over features of pictures, which has one for each."""


def drawn_agent_rules(run: OpenedRun, edits: Sequence[Edit]) -> DrawnRules:
    """The rules by which an agent decides, after edits; of one that sees pictures, without its features' sets."""
    edited = edited_agent_rules(run, edits)
    edited_agent(run, edits)  # what cannot be computed is refused here, and not when it is to play
    base, pictures = edited.base, run.config.task.observation.is_picture
    assert isinstance(base.consequents, Linear)
    sentences = dict(plain_sentences(base, premises=PREMISES_SHOWN if pictures else None))
    student = isinstance(run.config.learner, ImitationConfig)
    return DrawnRules(
        () if pictures else tuple(drawn_input(base, d, None) for d in range(len(base.inputs))),
        tuple(variable.name for variable in base.outputs),
        True,
        tuple(() if pictures else tuple(row) for row in base.premises.tolist()),
        tuple(tuple(row) for row in base.consequents.bias.tolist()),
        not base.consequents.is_constant,
        tuple(sentences[number] for number in range(1, len(base) + 1)),
        (),
        tuple(sorted(edited.off)),
        tuple(sorted(edited.frozen)),
        None,
        agent=True,
        quick=not pictures,
        why_not_trained="a student learns from its teacher, by neuroplastic imitate" if student else "",
    )
