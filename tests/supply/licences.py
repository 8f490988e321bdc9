"""Licences of all that the package needs, directly or through others, as installed here.

    python -m tests.supply.licences [EXTRA ...]      default: the extra `all`

Prints a line for each package: name, version, licence, who asks for it. Exit code 1 where one says nothing.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

OURS = "neuroplastic"
# Packages that give their licence only in a file, which was read.
READ: dict[str, str] = {}


def needed(extras: Iterable[str]) -> dict[str, set[str]]:
    """Every package that is asked for and installed, with those that ask for it."""
    found: dict[str, set[str]] = {}
    left = [(OURS, frozenset(extras))]
    seen = set(left)
    while left:
        name, wanted = left.pop()
        try:
            requirements = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        for requirement in map(Requirement, requirements):
            marker = requirement.marker
            if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in (*wanted, "")):
                continue
            other = re.sub(r"[-_.]+", "-", requirement.name).lower()
            if other != OURS:
                found.setdefault(other, set()).add(name)
            step = (other, frozenset(requirement.extras))
            if step not in seen:
                seen.add(step)
                left.append(step)
    return found


def licence_of(package: Distribution) -> str:
    """What a package says of its licence, in a line."""
    about = package.metadata
    said = about.get("License-Expression")
    classes = [
        text.rpartition(" :: ")[2]
        for text in about.get_all("Classifier") or ()
        if text.startswith("License ::")
    ]
    plain = (about.get("License") or "").strip().splitlines()
    return (
        said
        or ", ".join(dict.fromkeys(classes))
        or (plain[0][:80] if plain else "")
        or READ.get(about["Name"], "")
    )


def table(extras: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    """Name, version, licence and askers of each package that is installed."""
    for name, askers in sorted(needed(extras).items()):
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        yield name, package.version, licence_of(package), ", ".join(sorted(askers))


def main(extras: list[str]) -> int:
    """Print them."""
    rows = list(table(extras or ["all"]))
    for name, version, licence, askers in rows:
        print(f"{name:32} {version:14} {licence or '(says nothing)':48} {askers}")
    silent = [name for name, _, licence, _ in rows if not licence]
    print(f"{len(rows)} packages; {len(silent)} say nothing of a licence: {', '.join(silent) or 'none'}")
    return 1 if silent else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
