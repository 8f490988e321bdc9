"""Rule bases in the formats that other fuzzy tools read and write: IEEE 1855 FML, IEC 61131-7 FCL, MATLAB .fis."""

from .errors import FileFormatError, NotExpressibleError, StandardError
from .fcl import to_fcl
from .fcl_reading import from_fcl
from .files import export, import_rules
from .fis import to_fis
from .fis_reading import from_fis
from .fml import to_fml
from .fml_reading import from_fml

__all__ = [
    "FileFormatError",
    "NotExpressibleError",
    "StandardError",
    "export",
    "from_fcl",
    "from_fis",
    "from_fml",
    "import_rules",
    "to_fcl",
    "to_fis",
    "to_fml",
]
