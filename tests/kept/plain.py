"""Arithmetic that gives the same bits on every x86-64 processor, and runs that are resumed in it.

As a program: `python plain.py RUN ...` with `PLAIN` in its environment resumes runs one after the other. It prints
first how this machine computes; only where that is as on the machine that made the kept ends can they be compared
bit for bit.
"""

import hashlib
import os
import sys

PLAIN = {
    "OMP_NUM_THREADS": "1",
    "NEUROPLASTIC_KERNEL": "0",
    "ATEN_CPU_CAPABILITY": "default",
    "DNNL_MAX_CPU_ISA": "SSE41",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "MKL_CBWR": "COMPATIBLE",
}
"""Read when PyTorch is imported: one thread, no compiled kernel of ours, no instructions that some processors lack."""


def arithmetic() -> str:
    """The SHA-256 of what PyTorch alone makes of fixed numbers with the operations that a training step takes."""
    import torch
    from torch.nn import functional

    torch.manual_seed(0)
    pictures = torch.rand(4, 3, 84, 84)
    encoder = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, 2, bias=False),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, 16, 7, bias=False),
        torch.nn.Dropout(0.2),
        torch.nn.Flatten(),
        torch.nn.LazyLinear(8),
    )
    for _ in range(3):
        values = encoder(pictures)
        levels = functional.layer_norm(values.double(), (8,)).softmax(dim=1).float()
        loss = (levels * values).exp().log().square().mean()
        optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3, fused=True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    digest = hashlib.sha256()
    for tensor in encoder.state_dict().values():
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()


if __name__ == "__main__":
    assert PLAIN.items() <= os.environ.items(), "give this program the environment PLAIN"
    from neuroplastic.cli.main import main

    print(f"arithmetic {arithmetic()}", flush=True)
    sys.exit(max(main(["train", "--resume", run]) for run in sys.argv[1:]))
