"""The loss of what games advise, which every learner that can be taught adds to its own."""

import numpy as np
import pytest
import torch

from neuroplastic.learn.teaching import margin_loss, mirrored_advice


def by_definition(values: np.ndarray, advice: np.ndarray, margin: float) -> float:
    short = []
    for row, advised in zip(values, advice, strict=True):
        raised = [value + margin * (action != advised) for action, value in enumerate(row)]
        short.append(max(raised) - row[advised] if advised >= 0 else 0.0)
    return float(np.mean(short))


def test_advised_actions_fall_short_as_defined():
    rng = np.random.default_rng(3)
    values, advice = rng.normal(size=(200, 4)), rng.integers(-1, 4, 200)
    got = margin_loss(torch.from_numpy(values), torch.from_numpy(advice), 0.7)
    assert got.item() == pytest.approx(by_definition(values, advice, 0.7))


def test_nothing_is_to_be_learned_where_the_advised_action_is_preferred_enough_or_there_is_no_advice():
    values = torch.tensor([[0.0, 2.0], [0.0, 5.0]], requires_grad=True)
    loss = margin_loss(values, torch.tensor([1, -1]), 0.5)
    loss.backward()
    assert loss.item() == 0
    assert not values.grad.any()


def test_in_a_mirror_advice_is_that_of_the_mirrored_action_and_none_stays_none():
    advice, turn = torch.tensor([0, 0, 2, -1, -1]), torch.tensor([True, False, True, True, False])
    assert mirrored_advice(advice, turn, torch.tensor([1, 0, 2])).tolist() == [1, 0, 2, -1, -1]
