"""Tensors that C could not read as they lie: no crash, whatever is loaded, freed or set as a default."""

import copy
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import neuroplastic as npl
from neuroplastic.fuzzy import backends

ROOT = Path(__file__).parents[2]


def run_optimised(*arguments, compiled=True):
    """The outcome of a Python without asserts."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    if not compiled:
        environment["NEUROPLASTIC_KERNEL"] = "0"
    command = [sys.executable, "-O", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240)


@pytest.mark.parametrize(
    ("compiled", "every"),
    [(True, 23), *(pytest.param(compiled, 1, marks=pytest.mark.slow) for compiled in (True, False))],
    ids=["some", "all", "all without the kernel"],
)
def test_every_tensor_loaded_in_any_form_gives_equal_results_or_is_refused_by_name(compiled, every):
    ended = run_optimised("-m", "tests.network.odd_tensors", str(every), compiled=compiled)
    lines = ended.stdout.splitlines()
    assert ended.returncode == 0, f"{lines[-1:]}: {ended.stderr[-2000:]}"
    assert len(lines) > 800 / every
    wrong = [line for line in lines if line.split("\t")[1] not in ("equal", "refused on loading")]
    assert not wrong


EXPANDED_LOGITS = """
import torch, neuroplastic as npl
net = npl.NeuroFuzzyNetwork(512, 2, 2048, max_terms=8)
state = net.state_dict()
state["antecedent.logits"] = torch.zeros(1, 1, 1).expand(8, 512, 2048)
net.load_state_dict(state, assign=True)
net(torch.rand(4, 512)).sum().backward()
print(net.logits.grad.isfinite().all().item())
"""


def test_logits_expanded_from_one_number_do_not_crash_the_interpreter():
    ended = run_optimised("-c", EXPANDED_LOGITS)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert ended.stdout.split() == ["True"]


# One rule over two million attributes: a copy padded to the width of a vector takes 32 times its memory.
OUT_OF_MEMORY = """
import resource, torch
from neuroplastic.fuzzy import backends
torch.set_num_threads(1)
x, table = torch.zeros(1, 2_000_000), torch.zeros(2_000_000, 1)
backend = backends.backend_for(x)
backend.distance(x[:, :1000], table[:1000], table[:1000])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 100_000_000, resource.RLIM_INFINITY))
try:
    backend.distance(x, table, table)
except MemoryError as error:
    print("refused:", error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are set as on Linux")
@pytest.mark.skipif(not backends.compiled_available(), reason="only the compiled backend takes memory itself")
def test_running_out_of_memory_is_an_error_and_not_the_end_of_the_process():
    ended = run_optimised("-c", OUT_OF_MEMORY)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "1 rules over 2000000 attributes" in ended.stdout


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("consequent", ["affine", "mamdani"])
def test_defaults_of_type_and_device_change_nothing(consequent):
    torch.manual_seed(0)
    net, x = npl.NeuroFuzzyNetwork(5, 2, 7, consequent=consequent, dtype=torch.float32), torch.rand(6, 5)
    twin = copy.deepcopy(net)
    expected = twin(x)
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    try:
        y = net(x)
        y.sum().backward()
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
    assert torch.equal(net.noise(), twin.noise())
    assert torch.equal(y, expected)


def test_loading_by_assignment_into_a_frozen_network_takes_over_what_is_loaded():
    net, other = (npl.NeuroFuzzyNetwork(3, 1, 4, firing=npl.Firing(certainty="log")) for _ in range(2))
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(torch.rand_like(parameter))
    net.freeze()
    other.freeze()
    net.load_state_dict({name: tensor.clone() for name, tensor in other.state_dict().items()}, assign=True)
    for name in ("kappa", "beta", "certainty"):
        assert torch.equal(getattr(net, name), getattr(other, name))
    x = torch.rand(5, 3)
    assert torch.equal(net.eval()(x), other.eval()(x))
