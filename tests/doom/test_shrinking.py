"""Our own shrinking of pictures against OpenCV's."""

import numpy as np
import pytest

from neuroplastic.doom import shrinking

cv2 = pytest.importorskip("cv2")

SIZES = [
    (120, 160),
    (480, 640),
    (100, 200),
    (85, 85),
    (84, 160),
    (168, 168),
    (168, 300),
    (60, 80),
    (2000, 1500),
]


def opencv(frame: np.ndarray) -> np.ndarray:
    return cv2.resize(frame, (84, 84), interpolation=cv2.INTER_AREA)


@pytest.mark.parametrize("size", SIZES)
def test_pictures_are_opencvs_to_the_last_bit(size):
    generator = np.random.default_rng(0)
    noise = generator.integers(0, 256, (*size, 3), dtype=np.uint8)
    for frame in (noise, cv2.GaussianBlur(noise, (9, 9), 3), np.full_like(noise, 255), noise // 255):
        picture = np.full((84, 84, 3), 7, np.uint8)
        shrinking.shrink(frame, picture)
        np.testing.assert_array_equal(picture, opencv(frame))


def test_frames_that_are_views_are_shrunk_too():
    frame = np.random.default_rng(1).integers(0, 256, (120, 160, 3), dtype=np.uint8)[:, ::-1]
    picture = np.empty((84, 84, 3), np.uint8)
    shrinking.shrink(frame, picture)
    np.testing.assert_array_equal(picture, opencv(np.ascontiguousarray(frame)))


def test_without_the_library_opencv_shrinks(monkeypatch):
    frame = np.random.default_rng(2).integers(0, 256, (120, 160, 3), dtype=np.uint8)
    picture = np.empty((84, 84, 3), np.uint8)
    monkeypatch.setattr(shrinking, "_function", lambda: None)
    shrinking.shrink(frame, picture)
    np.testing.assert_array_equal(picture, opencv(frame))


def test_every_pixel_counts_as_a_whole():
    for before, after in ((160, 84), (120, 84), (640, 84), (480, 84)):
        first, shares = shrinking.taps(before, after)
        assert shares.sum(axis=1) == pytest.approx(1.0, abs=1e-6)
        counted = np.zeros(before + shares.shape[1])
        for start, row in zip(first, shares, strict=True):
            counted[start : start + len(row)] += row
        assert counted[:before] == pytest.approx(after / before, rel=1e-3)
