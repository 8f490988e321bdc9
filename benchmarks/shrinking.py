"""CPU time of shrinking a frame to what agents see, by OpenCV and our own C: `python -m benchmarks.shrinking`."""

from __future__ import annotations

import time
from collections.abc import Callable

import cv2
import numpy as np

from neuroplastic.doom import shrinking
from neuroplastic.doom.pictures import SIDE

TURNS, CALLS = 20, 50


def best(call: Callable[[], object]) -> float:
    """Microseconds of this thread for one call, in the best of some turns."""
    turns = []
    for _ in range(TURNS):
        began = time.thread_time()
        for _ in range(CALLS):
            call()
        turns.append((time.thread_time() - began) / CALLS)
    return 1e6 * min(turns)


def main() -> None:
    if shrinking._function() is None:
        print("our own C was not built: OpenCV against itself")
    for rows, columns in ((120, 160), (480, 640)):
        frame = np.random.default_rng(0).integers(0, 256, (rows, columns, 3), dtype=np.uint8)
        picture, other = (np.empty((SIDE, SIDE, 3), np.uint8) for _ in range(2))
        area = cv2.INTER_AREA
        opencv = best(lambda: cv2.resize(frame, (SIDE, SIDE), dst=picture, interpolation=area))  # noqa: B023
        ours = best(lambda: shrinking.shrink(frame, other))  # noqa: B023
        alike = "the same picture" if (picture == other).all() else "ANOTHER PICTURE"
        print(f"{columns} x {rows}: OpenCV {opencv:.1f} us, ours {ours:.1f} us, {alike}")


if __name__ == "__main__":
    main()
