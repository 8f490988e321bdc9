"""Few short rules that carry the decision: they start as the leaves of a small tree, learn by gradient, and shed
premises that do not pay.

`limits.py` says how many there may be, `teaching.py` what they are to learn, `leaves.py` where they start, `draft.py`
turns them into a network and back, `shedding.py` drops what costs least, `widening.py` says how far sets may go,
`sharing.py` lets few rules share a decision, `fitting.py` does it all in turns, `ordering.py` puts categories in order,
and `learning.py` is what the estimators call.
"""

from .limits import Limits
from .ordering import ordered_by_target

__all__ = ["Limits", "ordered_by_target"]
