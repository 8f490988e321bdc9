"""Load every tensor of a network in odd forms and compute; prints one line per case: its name, a tab, what came of it.

A program of its own: what it looks for would take the test process along, and it is to run under `python -O`.
"""

import sys
import warnings
from itertools import islice

import torch

import neuroplastic as npl

DTYPES = {"half": torch.float16, "bfloat16": torch.bfloat16, "single": torch.float32, "double": torch.float64}
ANY = ("expanded", "transposed", "strided", "misaligned", "empty")
TRUTHS = ("bytes", "floats")
# A newborn set is rounded too, and what follows from it.
TOLERANCES = {"half": 1e-2, "bfloat16": 5e-2}

NETWORKS = {
    "affine": {"firing": npl.Firing(certainty="log", alpha="learn")},
    "frozen": {"firing": npl.Firing(certainty="tanh", alpha=1.5)},
    "low rank": {"consequent": "low_rank", "firing": npl.Firing(layer_norm=False, alpha=2)},
    "mamdani": {"consequent": npl.Mamdani(defuzzifier="area"), "selection": npl.Selection(constraint=20)},
}


def network(kind, dtype):
    torch.manual_seed(0)
    growth = npl.Neurogenesis(delay=1, min_width=0.3)  # wide, so that rounding its centre matters little
    net = npl.NeuroFuzzyNetwork(5, 2, 7, max_terms=5, neurogenesis=growth, dtype=dtype, **NETWORKS[kind])
    if kind == "frozen":
        net.freeze(rules=[1, 3], sets=[(2, 0)])
    return net


def odd(tensor, form):
    """The tensor in an odd form, and in a plain one with the same values."""
    tensor = tensor.clone()
    if form in DTYPES:
        return tensor.to(DTYPES[form]), tensor.to(DTYPES[form]).to(tensor.dtype)
    if form == "expanded":
        one = tensor.flatten()[:1].view([1] * tensor.dim())
        return one.expand(tensor.shape), one.expand(tensor.shape).clone()
    if form == "transposed":
        order = list(reversed(range(tensor.dim())))
        return tensor.permute(order).contiguous().permute(order), tensor
    if form == "strided":
        return torch.stack([tensor, tensor], -1)[..., 0], tensor
    if form == "misaligned":
        memory = bytearray(b"\0" + bytes(tensor.flatten().view(torch.uint8).tolist()))
        return torch.frombuffer(memory, dtype=tensor.dtype, offset=1).view(tensor.shape), tensor
    if form == "bytes":
        return tensor.to(torch.uint8), tensor
    if form == "floats":
        return tensor.to(torch.float32), tensor
    return torch.empty(0, dtype=tensor.dtype), tensor


def computed(net, x):
    """Output and gradients in training, and the output of evaluation after a step of an optimizer."""
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    y = net.train()(x)
    y.square().sum().backward()
    grads = {name: parameter.grad.clone() for name, parameter in net.named_parameters()}
    optimizer.step()
    with torch.no_grad():
        return {"output": y.detach(), **grads, "evaluation": net.eval()(x)}


def outcome(kind, dtype, name, form):
    net, plain = network(kind, dtype), network(kind, dtype)
    state, plain_state = net.state_dict(), plain.state_dict()
    state[name], plain_state[name] = odd(state[name], form)
    try:
        net.load_state_dict(state, assign=True)
    except RuntimeError as error:
        named = f"size mismatch for {name}" in str(error)
        return "refused on loading" if named else f"raw error: {error}".replace("\n", " ")
    plain.load_state_dict(plain_state)
    x = torch.rand(6, 5, dtype=dtype) * 3
    try:
        found = computed(net, x)
    except npl.NeuroplasticError as error:
        return f"refused: {type(error).__name__}"
    except Exception as error:
        return f"raw error: {type(error).__name__}: {error}".replace("\n", " ")
    tolerance = TOLERANCES.get(form, 1e-4)
    for what, expected in computed(plain, x).items():
        reached = found[what].to(expected.dtype)
        if not torch.allclose(
            reached, expected, rtol=tolerance, atol=tolerance * float(expected.abs().max())
        ):
            return (
                f"differs in {what}: {reached.flatten()[:4].tolist()}, not {expected.flatten()[:4].tolist()}"
            )
    return "equal"


def forms(tensor):
    numbers = DTYPES if tensor.is_floating_point() else ()
    return (*ANY, *numbers, *(TRUTHS if tensor.dtype == torch.bool else ()))


def cases():
    """Kind of network, type of number, name of the tensor and its form."""
    for kind in NETWORKS:
        for dtype in (torch.float32, torch.float64):
            for name, tensor in network(kind, dtype).state_dict().items():
                for form in () if name.endswith("_extra_state") else forms(tensor):
                    yield kind, dtype, name, form


def main(every=1):
    warnings.simplefilter("ignore")
    if __debug__:
        sys.exit("to be run under python -O")
    for kind, dtype, name, form in islice(cases(), 0, None, every):
        print(f"{kind}, {dtype}, {name}, {form}", end="\t", flush=True)
        print(outcome(kind, dtype, name, form), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
