"""Backends, and the tensors that they are tried with, in every layout; what each should make of them, to compare."""

import os
from types import SimpleNamespace

import numpy as np
import torch

from neuroplastic.fuzzy.backends import choice
from tests.random_network import array

# A backend to come takes one line here: itself (None where it is not to be had) and the device it serves.
BACKENDS = {
    "eager": (choice.EAGER, "cpu"),
    "compiled": (choice.COMPILED, "cpu"),
}
if torch.cuda.is_available():
    BACKENDS["eager on a GPU"] = (choice.EAGER, "cuda")
    BACKENDS["triton"] = (choice.triton_backend(), "cuda")
elif os.environ.get("TRITON_INTERPRET") == "1":  # slow: kernels as Python, where there is no GPU
    BACKENDS["triton"] = (choice.triton_backend(), "cpu")
TOLERANCES = {torch.float32: 2e-4, torch.float64: 1e-10}
LAYOUTS = ["contiguous", "transposed", "strided", "negated"]


def laid(tensor, layout):
    """The same values, in another arrangement of memory."""
    if layout == "transposed":
        order = list(reversed(range(tensor.dim())))
        return tensor.permute(order).contiguous().permute(order)
    if layout == "strided":
        return torch.stack([tensor, tensor], -1)[..., 0]
    if layout == "negated" and tensor.is_floating_point():
        return torch._neg_view(-tensor)
    return tensor


def case(seed, dtype, layout="contiguous", large=False):
    """Random sets, logits, noise, observations and gradients of log-firing, of random sizes."""
    rng = np.random.default_rng(seed)
    most = (70, 140, 9, 150) if large else (6, 5, 4, 7)
    B, D, T, U = (int(rng.integers(1, size + 1)) for size in most)
    mask = rng.random((D, T)) < 0.6
    mask[np.arange(D), rng.integers(T, size=D)] = True
    logits = rng.normal(size=(T, D, U)).round(1)  # rounded, so that there are ties
    noise = None if seed % 2 else rng.gumbel(size=(T, D, U))
    numbers = {
        "x": rng.normal(size=(B, D)),
        "logits": logits,
        "noise": noise,
        "mask": mask,
        "centers": rng.normal(size=(D, T)),
        "precisions": rng.uniform(0.1, 3.0, size=(D, T)),
        "upstream": rng.normal(size=(B, U)),
    }
    tensors = {}
    for name, drawn in numbers.items():
        tensor = None if drawn is None else torch.tensor(drawn)
        if tensor is not None and tensor.is_floating_point():
            tensor = tensor.to(dtype)
        tensors[name] = tensor if tensor is None else laid(tensor, layout)
    return SimpleNamespace(**tensors)


def plain(tensor):
    """The same values in double precision, in one piece of memory."""
    return tensor.double().clone(memory_format=torch.contiguous_format).resolve_neg()


def doubled(this):
    """The same numbers in double precision, plainly laid."""
    return SimpleNamespace(
        **{
            name: plain(tensor) if tensor is not None and tensor.is_floating_point() else tensor
            for name, tensor in vars(this).items()
        }
    )


def moved(this, device):
    """The same on another device."""
    return SimpleNamespace(
        **{name: None if tensor is None else tensor.to(device) for name, tensor in vars(this).items()}
    )


def close(found, expected, dtype):
    """Whether two results agree to what the type can hold, measured by the greatest number."""
    finite = expected[expected.isfinite()]
    scale = float(finite.abs().max()) if finite.numel() else 1.0
    torch.testing.assert_close(
        found.cpu().double(),
        expected.double(),
        rtol=TOLERANCES[dtype],
        atol=TOLERANCES[dtype] * max(scale, 1e-3),
        equal_nan=True,
    )


def arrays(this, *names):
    return [array(getattr(this, name)) for name in names]


def widths(this):
    return np.sqrt(0.5 / array(this.precisions))


def scores(this):
    logits = array(this.logits)
    return logits if this.noise is None else logits + array(this.noise)


def selected(backend, this):
    return backend.select(this.logits, this.noise, this.mask, this.centers, this.precisions)


def moments(this):
    return this.upstream.sum(0), this.x.t() @ this.upstream, this.x.square().t() @ this.upstream


def gradients(backend, this, term, rate):
    sets = this.centers, this.precisions
    return backend.gradient(this.logits, this.noise, this.mask, term, *sets, moments(this), rate)


def shifted_rows(seed, dtype, spread=3.0):
    rng = np.random.default_rng(seed)
    rows = torch.tensor(rng.normal(size=(int(rng.integers(1, 9)), int(rng.integers(1, 200)))) * spread)
    return (rows - rows.amax(dim=1, keepdim=True)).to(dtype)


def picture_rows(seed, dtype, layout):
    rng = np.random.default_rng(seed)
    channels = int(rng.integers(1, 9))
    shape = int(rng.integers(2, 60)), channels * int(rng.integers(1, 40))
    draw = [rng.normal(5.0, 3.0, size=shape), rng.normal(size=channels), rng.normal(size=channels)]
    upstream = rng.normal(size=shape)
    return [laid(torch.tensor(drawn).to(dtype), layout) for drawn in (*draw, upstream)]
