"""Learning from a teacher: cloning and DAgger, with a student that is a few short rules over named attributes.

`demonstrations.py` holds what the teacher would do in states and what another action costs, `student.py` fits rules to
that and makes an agent's network of them, `rounds.py` lets teacher and student take turns, `config.py` says how.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .config import ImitationConfig
from .demonstrations import Demonstrations

if TYPE_CHECKING:
    from .rounds import Judged, Round, imitate
    from .student import Student, fit_student

__all__ = ["Demonstrations", "ImitationConfig", "Judged", "Round", "Student", "fit_student", "imitate"]

# Imported when first asked for: students are fitted with scikit-learn, which those who only play need not have.
_HOME = {
    "Judged": "rounds",
    "Round": "rounds",
    "imitate": "rounds",
    "Student": "student",
    "fit_student": "student",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
