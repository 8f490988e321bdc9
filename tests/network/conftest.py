"""The two computation paths of the network: the fused kernel, and plain PyTorch."""

import pytest

from neuroplastic.fuzzy import backends


@pytest.fixture(scope="module", params=["fused", "eager"])
def path(request):
    """Run the test on the fused kernel, then on the eager path; of module scope, as Hypothesis wants."""
    if request.param == "fused":
        if not backends.compiled_available():
            pytest.skip("the fused kernel is not available on this machine, only the eager path is tested")
        yield "fused"
        return
    with backends.eager_only():
        yield "eager"
