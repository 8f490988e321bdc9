"""Builds the optional C kernels; where no compiler is found the package installs without it and stays correct."""

import sys

from setuptools import Extension, setup

windows = sys.platform == "win32"
openmp = [] if windows or sys.platform == "darwin" else ["-fopenmp"]
kernel = Extension(
    "neuroplastic.fuzzy._kernel",
    sources=["src/neuroplastic/fuzzy/_kernel.c"],
    depends=["src/neuroplastic/fuzzy/_kernel_body.h", "src/neuroplastic/fuzzy/_norm_body.h"],
    extra_compile_args=["-std=gnu11", "-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", *openmp],
    extra_link_args=openmp,
    optional=True,
)
shrinking = Extension(
    "neuroplastic.doom._area",
    sources=["src/neuroplastic/doom/_area.c"],
    extra_compile_args=["-std=gnu11", "-O3", "-g0", "-fno-trapping-math", "-ffp-contract=off"],
    optional=True,
)
setup(ext_modules=[] if windows else [kernel, shrinking])
