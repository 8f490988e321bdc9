"""Sets may widen, but not until a premise says nothing."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from neuroplastic.learn.estimators.readable.draft import Draft
from neuroplastic.learn.estimators.readable.widening import MOST, Widest
from neuroplastic.network.starting import HALF


@pytest.fixture
def scene():
    """Two rules over two columns, the second of which is 0 in 19 of 20 rows, and the limits of their sets."""
    x = np.stack([np.linspace(-1, 1, 400), np.where(np.arange(400) % 20, 0.0, 1.0)], axis=1)
    draft = Draft(
        centers=np.array([[-1.0, 1.0], [0.0, 1.0]]),
        widths=np.array([[1.0, 1.0], [0.5, 0.5]]) / HALF,
        crisp=np.zeros(2, dtype=bool),
        premises=np.array([[0, 0], [1, 1]]),
        outputs=np.zeros((2, 1)),
    )
    net = draft.network(0).double()
    return SimpleNamespace(net=net, widest=Widest(net, torch.from_numpy(x)), x=x, begun=net.widths.detach())


def covered(scene):
    away = np.abs(scene.x[:, :, None] - scene.net.centers.detach().numpy()[:, :-1])
    return (away <= HALF * scene.net.widths.detach().numpy()[:, :-1]).mean(axis=0)


def test_sets_within_their_limits_stay_as_they_are(scene):
    scene.widest.enforce(scene.net)
    torch.testing.assert_close(scene.net.widths.detach(), scene.begun)


def test_a_set_that_widened_holds_of_no_more_than_nearly_all_rows(scene):
    with torch.no_grad():
        scene.net.antecedent.raw_widths[:, :-1] += 10
    assert (covered(scene) == 1).all()
    scene.widest.enforce(scene.net)
    assert covered(scene)[0] == pytest.approx(MOST, abs=0.01)
    assert covered(scene)[1].tolist() == [0.95, 0.05], (
        "as the first began; and the second has no more to take"
    )
    once = scene.net.widths.detach().clone()
    scene.widest.enforce(scene.net)
    assert torch.equal(scene.net.widths, once), "a second time changes nothing"


def test_any_stays_any(scene):
    with torch.no_grad():
        scene.net.antecedent.raw_widths[:, :-1] += 10
    scene.widest.enforce(scene.net)
    assert scene.net.antecedent.any_mask[:, -1].all()
