"""Small networks gain nothing from a second thread, and lose much when the machine is busy."""

import torch

torch.set_num_threads(1)
