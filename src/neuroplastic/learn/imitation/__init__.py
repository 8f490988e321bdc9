"""Learning from a teacher: cloning and DAgger, with a student that is a few short rules over named attributes.

`demonstrations.py` holds what the teacher would do in states and what another action costs, `student.py` fits rules to
that and makes an agent's network of them, `rounds.py` lets teacher and student take turns, `config.py` says how.
"""

from .config import ImitationConfig
from .demonstrations import Demonstrations
from .rounds import Round, imitate
from .student import Student, fit_student

__all__ = ["Demonstrations", "ImitationConfig", "Round", "Student", "fit_student", "imitate"]
