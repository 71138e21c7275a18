"""The skew of a scanned page, and the page with its lines made level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SKEW_DEGREES = 5.0
"""Degrees either way. A larger angle was intended when scanning, or the page is no text."""
MIN_SKEW_DEGREES = 0.2
"""Degrees: tesseract reads lines with less skew as well as level ones, and rotating blurs letters a little."""
_WIDTH_PIXELS = 1200
"""Pixels that are enough to measure it: a line of text is ten high."""
_MAX_INK_PIXELS = 60_000
_COARSE_STEP_DEGREES, _FINE_STEP_DEGREES = 0.5, 0.05


def level(picture: Image) -> Image:
    """Return the picture in grey, turned so that its lines of text are level."""
    from PIL.Image import Resampling

    grey = picture.convert("L")
    degrees = lean(grey)
    return (
        grey
        if abs(degrees) < MIN_SKEW_DEGREES
        else grey.rotate(degrees, Resampling.BICUBIC, expand=True, fillcolor=255)
    )


def lean(grey: Image) -> float:
    """Return the degrees by which lines sink to the right; 0 if there are none.

    On a page with level lines, the ink is in few rows of pixels: the angle with the strongest such concentration is
    searched (projection profiles; Postl, "Detection of linear oblique structures and skew scan in digitized documents",
    1986).
    """
    x, y = _find_ink(grey)
    if not len(x):
        return 0.0
    coarse = _find_sharpest(
        x, y, np.arange(-MAX_SKEW_DEGREES, MAX_SKEW_DEGREES + _COARSE_STEP_DEGREES / 2, _COARSE_STEP_DEGREES)
    )
    return _find_sharpest(
        x,
        y,
        np.arange(
            coarse - _COARSE_STEP_DEGREES, coarse + _COARSE_STEP_DEGREES + _FINE_STEP_DEGREES / 2, _FINE_STEP_DEGREES
        ),
    )


def _find_ink(grey: Image) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the places of dark pixels in the reduced picture; an even sample if there are many."""
    small = grey.reduce(max(1, grey.width // _WIDTH_PIXELS))
    pixels = np.asarray(small)
    # Half-way between the darkest and the paper, whatever grey the scanner made of white.
    y, x = np.nonzero(pixels < (int(pixels.min()) + int(np.median(pixels))) / 2)
    step = max(1, len(x) // _MAX_INK_PIXELS)
    return x[::step].astype(np.float64), y[::step].astype(np.float64)


def _find_sharpest(x: NDArray[np.float64], y: NDArray[np.float64], degrees: NDArray[np.float64]) -> float:
    def sharpness(angle: float) -> float:
        rows = np.round(y - x * np.tan(np.radians(angle))).astype(np.int64)
        ink = np.bincount(rows - rows.min())
        return float((ink.astype(np.float64) ** 2).sum())

    return float(max(degrees, key=lambda angle: (sharpness(angle), -abs(angle))))
