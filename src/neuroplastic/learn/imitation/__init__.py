"""Learning from a teacher: cloning and DAgger, with a student that is a few short rules over named attributes.

`demonstrations.py` holds what the teacher would do in states and what another action costs, `student.py` fits rules to
that and makes an agent's network of them, `rounds.py` lets teacher and student take turns, `config.py` says how.
"""

from typing import TYPE_CHECKING

from ...late_names import late_names
from .config import ImitationConfig
from .demonstrations import Demonstrations

if TYPE_CHECKING:
    from .rounds import Judged, Round, imitate
    from .student import Student, fit_student

__all__ = ["Demonstrations", "ImitationConfig", "Judged", "Round", "Student", "fit_student", "imitate"]

# Imported when first asked for: students are fitted with scikit-learn, which those who only play need not have.
_HOMES = {".rounds": "Judged Round imitate", ".student": "Student fit_student"}
__getattr__, __dir__ = late_names(__name__, _HOMES)
