"""The computations that are worth more than one implementation, behind one interface.

`backend_for(tensor)` gives the fastest implementation there is for tensors like this one: `Compiled`, C for CPU
tensors, where a compiler was at hand when the package was installed; `Triton` for NVIDIA GPUs, where Triton is
installed, as it is with torch's CUDA builds; `Eager`, plain PyTorch, everywhere else. They differ in speed, not in
results, but for rounding and for which units dropout drops. A further one subclasses `Backend` and takes its place in
`choice.py`.

`compiled_available()` says whether the C library can be used, `eager_only()` does without the fast ones for a
while, and `NEUROPLASTIC_KERNEL=0` in the environment does for a whole process.
"""

from .choice import backend_for, compiled_available, eager_only
from .interface import Backend, Chosen, Draw, Normed

__all__ = ["Backend", "Chosen", "Draw", "Normed", "backend_for", "compiled_available", "eager_only"]
