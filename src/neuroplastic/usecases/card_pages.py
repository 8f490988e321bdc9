"""Cards of an agent's rules, drawn as a page."""

from __future__ import annotations

from ..report.agent_page import bars, heat_picture, page, picture, section
from .agent_cards import AgentCard, AgentCards


def cards_page(found: AgentCards) -> str:
    """The page: live rules, most often leading first; those that never lead are only counted."""
    pictures = any(card.pictures is not None for card in found.cards)
    introduction = (
        f"{len(found.cards)} of {found.rules} rules lead in {found.observations} decisions of greedy play; "
        f"{found.silent} never do and have no card. A rule leads where it fires most. "
        + ("The heat is where its lead over the other rules comes from; the" if pictures else "The")
        + " bars are what it gives each action over the mean action."
    )
    return page(f"Rules of {found.title}", introduction, [_card(card, found.actions) for card in found.cards])


def _card(card: AgentCard, actions: tuple[str, ...]) -> str:
    lines = [f"Where it leads: {card.action} in {100 * card.action_share:.0f} % of the decisions."]
    figures = []
    if card.pictures is None:
        lines.insert(0, card.sentence)
    elif card.mean is not None and card.heat is not None:
        figures = [picture(pixels, "leads clearly") for pixels in card.pictures]
        figures += [picture(card.mean, "mean picture"), heat_picture(card.heat, card.mean, "where it looks")]
    return section(
        f"Rule {card.number}: leads in {100 * card.share:.1f} % of the decisions",
        lines,
        figures=figures,
        bars=bars(actions, card.values),
    )
