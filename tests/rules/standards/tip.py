"""How much to tip, by hand: what the files of the tests of FCL and .fis say."""

import numpy as np


def membership(values, center, width):
    return np.exp(-0.5 * ((values - center) / width) ** 2)


def tips(x):
    """The tip for service and food, x (B, 2): three rules, of which the last always fires."""
    service, food = x.T
    poor = 0.25 * membership(service, 0, 2) * membership(food, 0, 2.5)
    fired = np.stack([poor, membership(food, 10, 5), np.ones(len(x))], axis=1)
    decided = np.stack([np.full(len(x), 5.0), service - 2 * food + 3, np.full(len(x), 5.0)], axis=1)
    return (fired * decided).sum(axis=1) / fired.sum(axis=1)
