"""Saved networks: what load makes of files of before, of flipped bits and of claims that no tensor bears out."""

import json
import os
import struct
from pathlib import Path

import pytest
import torch

import neuroplastic as npl
from tests.fuzz.model_files import ModelFile

KEPT = Path(__file__).parent / "kept"
OUTPUTS = json.loads((KEPT / "outputs.json").read_text())


@pytest.fixture
def file():
    return ModelFile.read(KEPT / "network.safetensors")


@pytest.mark.parametrize("name", OUTPUTS)
def test_files_without_a_checksum_still_load(name):
    net = npl.load(KEPT / f"{name}.safetensors").eval()
    first = net.levels[0] if isinstance(net, npl.Hierarchy) else net
    x = torch.linspace(0, 1, 4 * first.in_features).reshape(4, -1).to(first.centers.dtype)
    torch.testing.assert_close(net(x).float(), torch.tensor(OUTPUTS[name]))


def test_what_a_network_remembers_is_loaded_whole():
    net = npl.load(KEPT / "network.safetensors")
    assert net.births
    assert net.frozen == ([1], [(0, 1)])
    assert all(parameter.requires_grad for parameter in net.parameters())
    words = npl.load(KEPT / "words.safetensors").vocabulary
    assert words.features == ("temperature", "humidity")


def test_loading_draws_no_random_numbers():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    npl.load(KEPT / "network.safetensors")
    assert torch.equal(torch.rand(3), expected)


def test_loaded_tensors_are_the_network_s_own(tmp_path):
    path = tmp_path / "net"
    npl.save(npl.NeuroFuzzyNetwork(3, 2, 4), path)
    net = npl.load(path).eval()
    x, before = torch.rand(3, 3), [value.clone() for value in net.state_dict().values()]
    path.write_bytes(bytes(path.stat().st_size))
    assert all(map(torch.equal, net.state_dict().values(), before))
    assert all(value.data_ptr() % value.element_size() == 0 for value in net.state_dict().values())
    net(x).sum().backward()


def test_every_flipped_bit_of_tensors_and_header_is_found(tmp_path):
    path = tmp_path / "net"
    npl.save(npl.NeuroFuzzyNetwork(2, 1, 2, max_terms=2, terms=2), path)
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    places = [*range(8 + length, len(raw)), *range(8, 8 + length, 7)]
    unnoticed = []
    for place in places:
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])
        try:
            npl.load(path)
            unnoticed.append(raw[place - 3 : place + 3])
        except npl.StorageError:
            continue
    assert not unnoticed


def test_what_could_not_be_read_back_is_not_saved(tmp_path):
    net = npl.NeuroFuzzyNetwork(3, 2, 4)
    net.centers.data[1, 2] = torch.nan
    with pytest.raises(
        npl.ConfigError, match=r"cannot be saved: the tensor antecedent.centers must be finite"
    ):
        npl.save(net, tmp_path / "net")
    net = npl.NeuroFuzzyNetwork(3, 2, 4)
    net.vocabulary = npl.network.vocabulary.Vocabulary(("a", "b"), ("c", "d"))
    with pytest.raises(npl.ConfigError, match="cannot be saved: the vocabulary must name 3 inputs"):
        npl.save(net, tmp_path / "net")
    assert not list(tmp_path.iterdir())


def test_saving_draws_no_random_numbers(tmp_path):
    torch.manual_seed(0)
    net, expected = npl.NeuroFuzzyNetwork(3, 2, 4), torch.rand(3)
    torch.manual_seed(0)
    net = npl.NeuroFuzzyNetwork(3, 2, 4)
    npl.save(net, tmp_path / "net")
    assert torch.equal(torch.rand(3), expected)


def set_extra(file, **changes):
    dtype, _, content = file.tensors["antecedent._extra_state"]
    text = json.dumps({**json.loads(content), **changes}).encode()
    file.tensors["antecedent._extra_state"] = dtype, [len(text)], text


def floats(file, name, *values):
    dtype, shape, content = file.tensors[name]
    assert dtype == "F32"
    file.tensors[name] = dtype, shape, struct.pack(f"<{len(values)}f", *values) + content[4 * len(values) :]


BIRTH = {"step": 1, "attribute": 0, "term": 0, "center": 0.0, "width": 1.0, "count": 2}
CLAIMS = {
    "rules": (lambda f: f.header["config"].update(rules=40_000_000), "must have shape"),
    "sets": (lambda f: f.header["config"].update(max_terms=10**8), "must have shape"),
    "overflow": (lambda f: f.header["config"].update(rules=2**62), "the most is"),
    "temperature": (
        lambda f: f.header["config"]["selection"].update(temperature=1e-300),
        r"temperature \(tau\) must be above 0 \(1e-150 to 1e\+150\), got 1e-300",
    ),
    "text": (lambda f: f.header["config"].update(rules="4"), "config.rules must be a whole number, got '4'"),
    "type": (lambda f: f.header["config"].update(dtype="load"), "config.dtype must be 'float16' or"),
    "field": (lambda f: f.header["config"].update(x=1), "unknown field 'x'"),
    "lacking": (lambda f: f.header["config"].pop("firing"), "config lacks the field 'firing'"),
    "consequent": (lambda f: f.header["config"]["consequent"].pop("kind"), "consequent.kind must be one of"),
    "kind": (lambda f: f.header.update(kind="os.system"), "holds a 'os.system', which this version"),
    "format": (lambda f: f.header.update(format=2), "has format 2, this version reads 1"),
    "words": (
        lambda f: f.header["config"].update(vocabulary={"features": ["a"], "outputs": ["b", "c"]}),
        "must name 3 inputs and 2 outputs, got 1 and 2",
    ),
    "missing": (lambda f: f.tensors.pop("kappa"), "the tensor kappa is missing"),
    "strange": (lambda f: f.resized("kappa", [4]) or f.tensors.update(k=f.tensors["kappa"]), "a tensor 'k'"),
    "shape": (lambda f: f.resized("kappa", [2, 2]), r"kappa must have shape \(4,\), got \(2, 2\)"),
    "scalar": (
        lambda f: f.tensors.update(kappa=("I64", [4], bytes(32))),
        "kappa must be float32, got int64",
    ),
    "complex": (lambda f: f.tensors.update(kappa=("C64", [4], bytes(32))), "'kappa' is torch.complex64"),
    "nan": (lambda f: floats(f, "antecedent.centers", 0, float("nan")), r"finite, got nan at \[0, 1\]"),
    "infinity": (lambda f: floats(f, "antecedent.logits", float("-inf")), r"finite, got -inf at \[0, 0, 0\]"),
    "no set": (
        lambda f: f.tensors.update({"antecedent.term_mask": ("BOOL", [3, 5], bytes(15))}),
        "must leave every attribute at least one set",
    ),
    "truth": (
        lambda f: f.tensors.update({"antecedent.term_mask": ("BOOL", [3, 5], b"\2" * 15)}),
        "neither 0 nor 1",
    ),
    "count": (lambda f: floats(f, "antecedent.statistics.count", -1), "must not be negative"),
    "far sets": (lambda f: floats(f, "antecedent.centers", 1e30), "sets lie too far out, or are too narrow"),
    "passes": (lambda f: set_extra(f, passes=-1), "passes must be a whole number of at least 0"),
    "births": (
        lambda f: set_extra(f, births=[{**BIRTH, "attribute": 3}]),
        r"births must lie .* got \(3, 0\)",
    ),
    "width": (lambda f: set_extra(f, births=[{**BIRTH, "width": -1}]), "width above 0"),
    "frozen rule": (lambda f: set_extra(f, frozen=[[4], []]), "frozen rules must be numbers from 0 to 3"),
    "frozen twice": (lambda f: set_extra(f, frozen=[[1, 1], []]), "must be named once each"),
    "long state": (lambda f: set_extra(f, births=[BIRTH] * 20_000), "longer than"),
    "many": (
        lambda f: f.tensors.update({f"t{number}": ("U8", [0], b"") for number in range(10_000)}),
        "tensors, more than any network",
    ),
    "frozen set": (lambda f: set_extra(f, frozen=[[], [[0, -1]]]), "frozen sets must lie in 3 attributes"),
    "no such set": (
        lambda f: (
            f.tensors.update({"antecedent.term_mask": ("BOOL", [3, 5], b"\1\1\1\1\0" * 3)})
            or set_extra(f, frozen=[[], [[0, 4]]])
        ),
        "frozen sets must exist",
    ),
    "no state": (lambda f: f.resized("antecedent._extra_state", [0]), "it is no JSON"),
    "deep state": (
        lambda f: f.tensors.update({"antecedent._extra_state": ("U8", [200_000], b"[" * 200_000)}),
        "deeper than 64",
    ),
    "deep": (lambda f: setattr(f, "header", "@deep"), "deeper than 64"),
    "list": (lambda f: setattr(f, "header", []), "the header must be an object"),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_tensors_do_not_bear_out_is_refused_by_name(tmp_path, file, claim):
    change, complaint = CLAIMS[claim]
    change(file)
    path = file.write(tmp_path / "net.safetensors")
    with pytest.raises(npl.StorageError, match=complaint) as caught:
        npl.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("claim", ["rules", "sets"])
def test_a_small_file_that_claims_much_takes_no_memory(tmp_path, file, claim, fresh_python):
    CLAIMS[claim][0](file)
    path = file.write(tmp_path / "net.safetensors")
    code = (
        "import resource, neuroplastic as npl\n"
        "npl.NeuroFuzzyNetwork(2, 1, 2)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"try: npl.load({str(path)!r})\n"
        "except npl.StorageError: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    assert int(fresh_python(code).stdout) < 20_000  # kB


def test_loading_does_not_wait_for_the_compiler(fresh_python):
    code = (
        "import sys, neuroplastic as npl\n"
        f"for name in {list(OUTPUTS)}: npl.load(f'{KEPT}/{{name}}.safetensors')\n"
        "assert not {'sympy', 'torch._dynamo'} & set(sys.modules)"
    )
    fresh_python(code)


def test_a_pipe_or_folder_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(npl.StorageError, match="no regular file"):
            npl.load(path)


def test_levels_that_do_not_fit_are_refused(tmp_path):
    file = ModelFile.read(KEPT / "hierarchy.safetensors")
    levels = file.header["config"]["levels"]
    levels.reverse()
    with pytest.raises(npl.StorageError, match="level 2 must have 1 inputs"):
        npl.load(file.write(tmp_path / "h"))
    levels *= 1000
    with pytest.raises(npl.StorageError, match="between 1 and 256 levels"):
        npl.load(file.write(tmp_path / "h"))


def test_state_of_another_size_is_refused_by_name():
    small, large = npl.NeuroFuzzyNetwork(2, 1, 3), npl.NeuroFuzzyNetwork(2, 1, 30)
    large.freeze(rules=[20])
    with pytest.raises(npl.ConfigError, match="frozen rules must be numbers from 0 to 2, got 20"):
        small.load_state_dict(large.state_dict())
