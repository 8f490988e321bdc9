"""The C kernel under the address and the undefined-behaviour sanitizer: its own tests, with an instrumented build."""

import importlib.machinery
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import neuroplastic

ROOT, PACKAGE = Path(__file__).parents[2], Path(neuroplastic.__file__).parent
FLAGS = [
    *("-shared", "-fPIC", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    *("-std=gnu11", "-O1", "-g", "-fno-omit-frame-pointer", "-fopenmp"),
]
TESTS = [
    *(f"tests/fuzzy/test_backend{part}.py" for part in ("s", "_norms", "_limits")),
    *("tests/network/test_equations.py", "tests/network/test_gradients.py"),
    *("tests/network/test_norm_drop.py", "tests/network/test_odd_tensors.py"),
    "tests/network/test_random_configurations.py",
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="sanitizers are asked of gcc"),
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The environment of a Python whose kernel is instrumented, in a copy of the package."""
    place = tmp_path_factory.mktemp("sanitized")
    copy = shutil.copytree(
        PACKAGE, place / "neuroplastic", ignore=shutil.ignore_patterns("*.so", "box", "__pycache__")
    )
    library = copy / "fuzzy" / f"_kernel{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    sources = copy / "fuzzy" / "_kernel.c"
    command = [
        "gcc",
        "-shared",
        "-fPIC",
        "-fsanitize=address,undefined",
        *FLAGS,
        str(sources),
        "-o",
        str(library),
        "-lm",
    ]
    subprocess.run(command, check=True)
    found = [
        subprocess.check_output(["gcc", f"-print-file-name={name}"], text=True)
        for name in ("libasan.so", "libubsan.so")
    ]
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(path.strip() for path in found),
        # Python and PyTorch keep much to the end; memory that is not there is for the kernel to answer for.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join([str(place), str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "OMP_NUM_THREADS": "2",
    }


def python(environment, *words):
    return subprocess.run([sys.executable, *words], env=environment, cwd=ROOT, capture_output=True, text=True)


def test_an_instrumented_kernel_finds_a_write_beyond_the_end(environment):
    program = (
        "import ctypes; from neuroplastic.fuzzy.backends.library import open_library\n"
        "library = open_library(); room = (ctypes.c_float * 4)()\n"
        "library.uniform(1, ctypes.addressof(room), {count}, 1); print('written')"
    )
    assert "written" in python(environment, "-c", program.format(count=4)).stdout
    beyond = python(environment, "-c", program.format(count=64))
    assert beyond.returncode != 0
    assert "AddressSanitizer" in beyond.stderr


def test_the_kernels_tests_pass_under_both_sanitizers(environment, capsys):
    where = python(environment, "-c", "import neuroplastic; print(neuroplastic.__file__)").stdout
    assert "sanitized" in where
    done = python(environment, "-m", "pytest", "-q", "-p", "no:randomly", *TESTS, "-m", "not slow", "-x")
    with capsys.disabled():
        print("\n" + "\n".join(done.stdout.splitlines()[-3:]))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for word in ("AddressSanitizer", "runtime error:"):
        assert word not in done.stdout + done.stderr
