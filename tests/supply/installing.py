"""Builds sdist and wheel, installs each where there is no compiler and no extra, and uses it there.

    python -m tests.supply.installing [PYTHON ...]      default: the present one

Needs what the package itself needs (torch and few others) in each Python that is named; nothing is fetched.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What the extras bring.
EXTRAS = (
    *(
        "vizdoom",
        "gymnasium",
        "cv2",
        "imageio_ffmpeg",
        "tensorboard",
        "sklearn",
        "pandas",
        "pyarrow",
        "matplotlib",
    ),
    *(
        "jinja2",
        "captum",
        "defusedxml",
        "onnx",
        "onnxscript",
        "optuna",
        "sqlalchemy",
        "scipy",
        "pingouin",
        "psycopg",
    ),
    *("ray", "starlette", "uvicorn", "websockets", "minari", "h5py"),
)
USE = (
    "import torch, neuroplastic as npl; from neuroplastic.fuzzy.backends import compiled_available; "
    "net = npl.NeuroFuzzyNetwork(3, 2, 4); net(torch.rand(5, 3)).sum().backward(); npl.save(net, 'm.safetensors'); "
    "npl.load('m.safetensors'); print(npl.__version__, npl.__file__, 'kernel' if compiled_available() else 'no kernel')"
)


def run(*words: object, cwd: Path, **variables: str) -> str:
    """What a command prints; one that fails ends all."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (
        f"{words} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    )
    return done.stdout


def built(python: str, folder: Path) -> tuple[Path, Path]:
    """An sdist of the present tree, and a wheel made of that sdist where there is no compiler."""
    make = "from setuptools import build_meta as b; b.build_{}({!r})"
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    clean = folder / "tree"
    for name in tracked:
        (clean / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            (clean / name).write_bytes((ROOT / name).read_bytes())
    run(python, "-c", make.format("sdist", str(folder)), cwd=clean)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "sdist", filter="data") if hasattr(
            tarfile, "data_filter"
        ) else archive.extractall(folder / "sdist")
    (inside,) = (folder / "sdist").iterdir()
    run(
        python,
        "-c",
        make.format("wheel", str(folder)),
        cwd=inside,
        CC="/nonexistent",
        PATH=str(Path(python).parent),
    )
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def check(python: str, folder: Path) -> str:
    """Install and use; what the use prints."""
    sdist, wheel = built(python, folder)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(folder / "installed")  # what an installer of a wheel does, but for scripts
    for needed in ("py.typed", "fuzzy/_kernel.c", "report/page.css", "studio/static/"):
        assert any(needed in name for name in names), f"{needed} is missing in {wheel.name}"
    assert not any(name.endswith(".so") for name in names), "a kernel without a compiler"
    place = folder / "elsewhere"
    place.mkdir()
    path = os.pathsep.join([str(ROOT / "tests" / "blocking"), str(folder / "installed")])
    apart = {"PYTHONPATH": path, "NEUROPLASTIC_TESTS_WITHOUT": " ".join(EXTRAS)}
    said = run(python, "-c", USE, cwd=place, **apart)
    assert str(folder / "installed") in said
    assert "no kernel" in said
    for command in (
        (),
        ("fit",),
        ("predict",),
        ("rules",),
        ("train",),
        ("study", "run"),
        ("report",),
        ("studio",),
    ):
        assert "usage: neuroplastic" in run(
            python, "-m", "neuroplastic", *command, "--help", cwd=place, **apart
        )
    return f"{sdist.name}, {wheel.name}: {said.split()[0]} works without compiler and extras"


def main(pythons: list[str]) -> int:
    """Check with each Python."""
    for python in pythons or [sys.executable]:
        version = run(python, "-V", cwd=ROOT).strip()
        with tempfile.TemporaryDirectory() as folder:
            print(f"{version}: {check(python, Path(folder).resolve())}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
