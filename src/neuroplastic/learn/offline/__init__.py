"""Learning from recordings alone: behaviour cloning, conservative Q-learning and implicit Q-learning.

`recording.py` is what was recorded, `config.py` says how to learn from it, `learner.py` does.
"""

from .config import OfflineConfig
from .learner import OfflineLearning
from .recording import Episode, Recording

__all__ = ["Episode", "OfflineConfig", "OfflineLearning", "Recording"]
