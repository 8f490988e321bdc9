import pytest
import torch


@pytest.fixture(autouse=True)
def _one_thread():
    """Small batches gain little from a second thread, and lose much where other programs use the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
