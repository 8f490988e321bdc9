"""`python -m neuroplastic` is the command line."""

import subprocess
import sys

import neuroplastic as npl


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "neuroplastic", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"neuroplastic {npl.__version__}\n")


def test_a_mistake_is_the_modules_exit_code_too():
    done = subprocess.run(
        [sys.executable, "-m", "neuroplastic", "fti", "x.csv"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "did you mean 'fit'?" in done.stderr
    assert "usage: __main__" not in done.stderr
