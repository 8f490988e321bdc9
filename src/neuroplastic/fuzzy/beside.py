"""Work that a CUDA graph does at once: small kernels leave most of a GPU idle, so independent ones may share it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def beside(part: Callable[[Tensor], Tensor], x: Tensor) -> Callable[[], Tensor]:
    """Begin a part on x; the function returned waits for it and gives what it gave.

    While a CUDA graph is captured, the part goes to a stream of its own, and a replay computes it together with what
    follows until it is waited for. Otherwise it is computed at once: launching is what takes time then. But for x it
    must not read what the others write, nor write what they read.
    """
    if not (x.is_cuda and torch.cuda.is_current_stream_capturing()):  # type: ignore[no-untyped-call]
        given = part(x)
        return lambda: given
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        aside = part(x)
    # Else the memory of x could serve something new as soon as nobody but this part, or its gradient, reads it.
    x.record_stream(stream)

    def joined() -> Tensor:
        current = torch.cuda.current_stream()
        current.wait_stream(stream)
        aside.record_stream(current)
        return aside

    return joined
