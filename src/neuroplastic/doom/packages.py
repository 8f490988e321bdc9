"""What is said where the game's packages are missing."""

from __future__ import annotations

from ..errors import MissingPackageError


def missing(error: ImportError) -> MissingPackageError:
    """What to raise where an import that playing DOOM needs has failed."""
    return MissingPackageError(
        f"playing DOOM needs the game engine and its helpers ({error}); "
        "install them with: pip install 'neuroplastic[doom]'",
        name=error.name,
    )
