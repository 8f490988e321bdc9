"""PyTorch's features by what a neuro-fuzzy network promises of each; every row of the table is checked by a test.

python -m tests.misuse.features          writes docs/reference/pytorch_features.md anew
"""

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.func import functional_call, grad, jacfwd, jacrev, jvp, vmap
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import neuroplastic as npl

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "pytorch_features.md"
WORKS, REFUSED, NOT = "works", "refused by name", "not supported"


@dataclass(frozen=True)
class Feature:
    """A row of the table. A check raises what the feature raises; `tested` names another test instead."""

    name: str
    promise: str
    note: str
    check: Callable[[], Any] | None = None
    tested: str = ""


def network(*, training: bool = True, **options: Any) -> npl.NeuroFuzzyNetwork:
    """A small one, always the same."""
    torch.manual_seed(0)
    return npl.NeuroFuzzyNetwork(3, 2, 4, **options).train(training)


def rows() -> Tensor:
    """Five of them, on both sides of 0."""
    return torch.linspace(-1, 1, 15).reshape(5, 3)


def _growing() -> npl.NeuroFuzzyNetwork:
    return network(max_terms=8, neurogenesis=npl.Neurogenesis(epsilon=0.5, delay=1))


def _averaged(**options: Any) -> None:
    """Sets and births of the average are the network's; its parameters are averages."""
    net = _growing()
    average = AveragedModel(net, **options)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for batch in range(1, 6):
        optimizer.zero_grad()
        net(3 * batch * rows()).square().mean().backward()
        optimizer.step()
        average.update_parameters(net)
    assert net.births
    assert average.module.births == net.births
    assert torch.equal(average.module.term_mask, net.term_mask)
    assert not torch.equal(average.module.centers, net.centers)
    assert average.eval()(rows()).isfinite().all()


def _forward_derivative() -> None:
    with forward_ad.dual_level():
        network()(forward_ad.make_dual(rows(), torch.ones_like(rows())))


def _first_derivatives() -> None:
    """By rows, the Jacobian is what backward gives."""
    net, x = network(training=False), rows()
    found = torch.autograd.functional.jacobian(net, x)
    for output in range(2):
        leaf = x.clone().requires_grad_()
        net(leaf)[:, output].sum().backward()
        torch.testing.assert_close(found[:, output].sum(dim=0), leaf.grad)


def _second(reached: str) -> None:
    net, x = network(), rows().requires_grad_()
    y = net(x)
    (slope,) = torch.autograd.grad((y if reached == "penalty" else y**2).sum(), x, create_graph=True)
    if reached == "penalty":
        (y.sum() + slope.square().sum()).backward()
    else:
        torch.autograd.grad(slope.sum(), x, allow_unused=True)


def _graph_kept() -> None:
    """create_graph alone, nothing differentiated twice, gives the gradients that there are without it."""
    net, x = network(training=False), rows().requires_grad_()
    plain = torch.autograd.grad(net(x).sum(), x)[0]
    kept = torch.autograd.grad(net(x).sum(), x, create_graph=True)[0]
    assert torch.equal(plain, kept.detach())


def _functional_call() -> None:
    net = network(training=False)
    parameters = {name: parameter + 0.01 for name, parameter in net.named_parameters()}
    other = copy.deepcopy(net)
    other.load_state_dict({**other.state_dict(), **parameters})
    torch.testing.assert_close(functional_call(net, parameters, (rows(),)), other(rows()))


def _batched(leaf: Tensor) -> None:
    torch.autograd.grad(network()(leaf).sum(0), leaf, torch.eye(2), is_grads_batched=True)


def _from_meta() -> None:
    net = network(training=False)
    other = npl.NeuroFuzzyNetwork(3, 2, 4, device="meta").to_empty(device="cpu").eval()
    other.load_state_dict(net.state_dict())
    assert torch.equal(other(rows()), net(rows()))


def _pickled() -> None:
    net = _growing()
    net(9 * rows())
    again = pickle.loads(pickle.dumps(net))
    assert again.births == net.births
    assert torch.equal(again.eval()(rows()), net.eval()(rows()))


def _data_parallel() -> None:
    net = network(training=False)
    assert torch.equal(torch.nn.DataParallel(net)(rows()), net(rows()))


def _table(net: npl.NeuroFuzzyNetwork) -> None:
    net.double()
    assert net(rows().double()).dtype == torch.float64


def _half() -> None:
    for dtype in (torch.float16, torch.bfloat16):
        y = network().to(dtype)(rows().to(dtype))
        assert y.dtype == dtype
        assert y.isfinite().all()


_NO_FUNC = "gives its derivatives row by row: `torch.autograd.functional.jacobian`"
FEATURES = (
    Feature(
        "`torch.compile(net, fullgraph=True)`",
        WORKS,
        "one graph; trains like the plain network",
        tested="tests/network/test_compile.py::test_compiled_network_trains_like_the_plain_one",
    ),
    Feature(
        "`torch.jit.script`",
        NOT,
        "PyTorch's own error; use `torch.compile` or export to ONNX",
        lambda: torch.jit.script(network()),
    ),
    Feature(
        "`torch.func.functional_call`",
        WORKS,
        "as often as you like, in evaluation and training",
        _functional_call,
    ),
    Feature(
        "`torch.func.vmap`",
        REFUSED,
        "a network takes a whole batch at once",
        lambda: vmap(network())(rows()[:, None]),
    ),
    Feature(
        "`torch.func.grad`, `vjp`",
        REFUSED,
        "use `backward`",
        lambda: grad(lambda x: network()(x).sum())(rows()),
    ),
    Feature(
        "`torch.func.jacrev`, `jacfwd`",
        REFUSED,
        _NO_FUNC,
        lambda: (jacrev(network()), jacfwd(network()))[0](rows()),
    ),
    Feature(
        "`torch.func.jvp`", REFUSED, "no forward derivatives", lambda: jvp(network(), (rows(),), (rows(),))
    ),
    Feature("`torch.autograd.forward_ad`", REFUSED, "no forward derivatives", _forward_derivative),
    Feature("`autograd.functional.jacobian`", WORKS, "without `vectorize`", _first_derivatives),
    Feature(
        "`jacobian(vectorize=True)`, `is_grads_batched`",
        REFUSED,
        "backward passes are written for one gradient",
        lambda: _batched(rows().requires_grad_()),
    ),
    Feature("`create_graph=True`", WORKS, "as long as nothing is differentiated twice", _graph_kept),
    Feature("gradient penalty (double backward)", REFUSED, "never 0 in silence", lambda: _second("penalty")),
    Feature("`autograd.functional.hessian`", REFUSED, "never 0 in silence", lambda: _second("hessian")),
    Feature(
        "`torch.utils.checkpoint`, both kinds",
        WORKS,
        "bit for bit as without; what cannot be told apart is refused",
        tested="tests/network/test_checkpointing.py::test_a_checkpointed_network_trains_as_if_it_were_not",
    ),
    Feature(
        "`torch.inference_mode`",
        WORKS,
        "passes in any order",
        tested="tests/network/test_inference_mode.py::test_all_five_kinds_of_passes_may_come_in_any_order",
    ),
    Feature(
        "`torch.autocast`",
        WORKS,
        "the rule part computes in single precision",
        tested="tests/network/test_extremes.py::test_autocast_keeps_the_rule_part_in_single_precision",
    ),
    Feature("`net.half()`, `net.bfloat16()`", WORKS, "computed in single precision, answered in half", _half),
    Feature("`net.double()`", WORKS, "", lambda: _table(network())),
    Feature(
        "`DistributedDataParallel`",
        WORKS,
        "replicas bear the same sets",
        tested="tests/network/test_parallel.py::test_data_parallel_replicas_bear_the_same_sets_and_renew_the_same_rules",
    ),
    Feature(
        "`nn.DataParallel`",
        WORKS,
        "in evaluation; births of replicas on several GPUs are lost: use the above",
        _data_parallel,
    ),
    Feature(
        "`fully_shard`",
        REFUSED,
        "for networks that grow: births would be lost",
        tested="tests/network/test_parallel.py::test_data_parallel_replicas_bear_the_same_sets_and_renew_the_same_rules",
    ),
    Feature(
        "`AveragedModel`, also with an EMA", WORKS, "sets, births and counters are the network's", _averaged
    ),
    Feature(
        "`AveragedModel(multi_avg_fn=get_ema_multi_avg_fn())`",
        WORKS,
        "likewise",
        lambda: _averaged(multi_avg_fn=get_ema_multi_avg_fn(0.9)),
    ),
    Feature(
        "`AveragedModel(use_buffers=True)`",
        REFUSED,
        "which sets exist and what was counted has no average",
        lambda: AveragedModel(_growing(), use_buffers=True),
    ),
    Feature(
        "`AveragedModel(use_buffers=True)` with an EMA",
        REFUSED,
        "likewise, also for a network inside another module",
        lambda: AveragedModel(
            torch.nn.Sequential(_growing()), multi_avg_fn=get_ema_multi_avg_fn(), use_buffers=True
        ),
    ),
    Feature(
        "`AveragedModel(use_buffers=True)` of other modules",
        WORKS,
        "as if this package were not there",
        lambda: AveragedModel(torch.nn.BatchNorm1d(2), use_buffers=True),
    ),
    Feature(
        "every optimizer of `torch.optim`",
        WORKS,
        "LBFGS and sparse ones aside",
        tested="tests/network/test_module.py::test_learns_under_any_optimizer",
    ),
    Feature(
        "parameter groups",
        WORKS,
        "`npl.parameter_groups`",
        tested="tests/network/test_parameter_groups.py::test_a_schedule_keeps_the_groups_apart_also_after_a_reload",
    ),
    Feature(
        "`load_state_dict(assign=True)`",
        WORKS,
        "or is refused, for tensors of a form that cannot be computed with",
        tested="tests/network/test_odd_tensors.py::test_every_tensor_loaded_in_any_form_gives_equal_results_or_is_refused_by_name",
    ),
    Feature(
        "`copy.deepcopy`",
        WORKS,
        "equal and independent",
        tested="tests/network/test_module.py::test_deep_copy_is_equal_and_independent",
    ),
    Feature(
        "`pickle`, workers by spawn",
        WORKS,
        "births included; from strangers only files of `npl.save`",
        _pickled,
    ),
    Feature(
        "meta device, forward",
        REFUSED,
        "there are no numbers",
        lambda: network().to("meta")(rows().to("meta")),
    ),
    Feature("meta device, `to_empty`, `load_state_dict`", WORKS, "", _from_meta),
    Feature(
        "NVIDIA GPUs", WORKS, "tested where one is at hand", tested="tests/network/test_device.py::test_"
    ),
    Feature("other accelerators (MPS, XPU, ...)", NOT, "plain PyTorch computes there; never tested"),
    Feature(
        "complex numbers, whole numbers",
        REFUSED,
        "inputs are floating point",
        lambda: network()(rows().to(torch.complex64)),
    ),
)


def page() -> str:
    """The page as it should be."""
    lines = [
        "# PyTorch's features",
        "",
        "What a neuro-fuzzy network promises of each. *Refused by name* is a `NeuroplasticError` that says so before",
        "anything is computed wrongly; *not supported* ends in an error of PyTorch's own, or was never tried. This",
        "table is written by the tests that check it (`python -m tests.misuse.features`).",
        "",
        "| feature | promise | remark |",
        "|---|---|---|",
        *(f"| {each.name} | {each.promise} | {each.note} |" for each in FEATURES),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
