"""Learners on a GPU. Left out, and said so, where there is no CUDA device."""

import copy

import numpy as np
import pytest
import torch

from neuroplastic import catalog
from neuroplastic.learn import RandomStreams
from neuroplastic.learn.experience import Setting
from tests.learn.corridor import ACTIONS, CELLS, MIRRORED, Corridor
from tests.learn.loop import Loop
from tests.learn.test_contract import NETWORKS, config_of, greedy_score

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")


@pytest.mark.parametrize("name", catalog.names("learner"))
@pytest.mark.parametrize("pictures", [False, True], ids=["vectors", "pictures"])
@pytest.mark.parametrize("network", NETWORKS)
def test_a_learner_on_a_gpu_learns_and_is_taken_up_again(name, pictures, network):
    def started(seed: int) -> Loop:
        setting = Setting(ACTIONS, RandomStreams(seed), 400, torch.device("cuda"), MIRRORED)
        net = NETWORKS[network](2 * CELLS if pictures else CELLS + 1)
        return Loop(lambda: Corridor(pictures=pictures), config_of(name, mirror=pictures).build(net, setting))

    loop = started(0)
    list(loop.run(17))
    assert loop.learner.sample_observations(3).is_cuda
    state = copy.deepcopy(loop.state_dict())
    losses = [one.loss for one in loop.run(30) if one.loss is not None]
    assert np.isfinite(losses).all()
    resumed = started(1)
    resumed.load_state_dict(state)
    again = [one.loss for one in resumed.run(30) if one.loss is not None]
    np.testing.assert_allclose(again, losses, rtol=1e-2, atol=1e-3)  # sums on a GPU have no fixed order
    assert np.isfinite(greedy_score(resumed.learner, pictures))
