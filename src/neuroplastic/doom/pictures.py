"""What the engine draws, and what an agent sees of it: sizes that can be told where the game is not installed."""

from __future__ import annotations

from typing import Literal, get_args

Picture = Literal["paper", "fast"]
"""What the engine draws before it is shrunk: "paper" is 640x480; "fast" is 160x120, which keeps the layout."""

PICTURES: tuple[Picture, ...] = get_args(Picture)
SIDE = 84
"""Height and width of the picture that an agent sees."""
TICS_PER_SECOND = 35
"""The game's clock."""

Planes = Literal["colours", "motion"]
"""The three planes of the picture: red, green and blue, or the grey of now and of the two decisions before."""
PLANES: tuple[Planes, ...] = get_args(Planes)

Observe = Literal["pictures", "objects", "both"]
"""What an environment shows: the picture, a vector of named attributes (`doom.objects`), or a dictionary of both."""
OBSERVE: tuple[Observe, ...] = get_args(Observe)
