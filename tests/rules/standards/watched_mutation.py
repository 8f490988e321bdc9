"""Run by test_fuzz.py as a process of its own: mutate files of each format while watching for side effects.

Arguments: the seconds for each format, the seed. Prints how many inputs were read of each.
"""

import contextlib
import sys

import numpy as np

from neuroplastic.rules.standards import from_fcl, from_fis, from_fml, to_fcl, to_fis, to_fml
from neuroplastic.rules.standards.files import rules_of_bytes
from tests.rules.mutation import mutate
from tests.rules.standards.random_rules import KINDS, random_rules

READERS = {"fml": (to_fml, from_fml), "fcl": (to_fcl, from_fcl), "fis": (to_fis, from_fis)}
HOSTILE = {
    "fml": [
        '<!DOCTYPE f [<!ENTITY x SYSTEM "file:///etc/passwd">]><fuzzySystem name="a">&x;</fuzzySystem>',
        '<!DOCTYPE f SYSTEM "http://localhost:1/x.dtd"><fuzzySystem xmlns:xi="http://www.w3.org/2001/XInclude">'
        '<xi:include href="file:///etc/passwd" parse="text"/></fuzzySystem>',
    ],
    "fcl": [],
    "fis": [],
}
# What touches files, processes or the network.
WATCHED = (
    "open",
    "os.",
    "shutil.",
    "socket.",
    "subprocess.",
    "urllib.",
    "ctypes.",
    "exec",
    "compile",
    "import",
)


def main(seconds, seed):
    seeds = {
        name: [
            write(random_rules(k, kind=kind, certain=k % 2 == 0, inputs=2, rules=3, ignore=0.3))
            for k, kind in enumerate(KINDS)
        ]
        + HOSTILE[name]
        for name, (write, _) in READERS.items()
    }
    for name, (_, read) in READERS.items():
        for text in seeds[name]:  # the first readings may import and compile what they need
            with contextlib.suppress(ValueError):
                read(text)
            with contextlib.suppress(ValueError):
                rules_of_bytes(b"\xff" + text.encode(), f".{name}")
    for encoding in ("utf-8-sig", "utf-16", "ascii", "latin-1", "cp1252"):  # codecs load at their first use
        "".encode(encoding)
    watching, seen = [False], []

    def watch(event, arguments):
        if watching[0] and event.startswith(WATCHED):
            seen.append((event, arguments))

    sys.addaudithook(watch)
    for name, (_, read) in READERS.items():
        watching[0] = True
        generator = np.random.default_rng(seed)
        tried = mutate(seeds[name], read, seconds / 2, generator)
        encoded = [text.encode() for text in seeds[name]]
        tried += mutate(encoded, lambda content: rules_of_bytes(content, f".{name}"), seconds / 2, generator)  # noqa: B023
        watching[0] = False
        assert not seen, (name, seen[:3])
        print(name, tried)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
