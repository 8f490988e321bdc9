"""What importing the package brings along, and what it must not."""

import json
import subprocess
import sys
from types import ModuleType

import pytest

import neuroplastic as npl

NAMES = "import sys, neuroplastic as npl; [getattr(npl, name) for name in npl.__all__ if name not in {late}]"
PASS = (
    "import torch; net = npl.NeuroFuzzyNetwork(4, 3, 8); net(torch.rand(5, 4)); net.eval()(torch.rand(5, 4))"
)
LATE = ["NeuroFuzzyClassifier", "NeuroFuzzyRegressor"]


PLAYING = (
    "neuroplastic.doom.environment, neuroplastic.gym.environment, neuroplastic.experiment.arena.fork_server"
)
SHOW = "; import json, sys; print(json.dumps(sorted(sys.modules)))"


@pytest.fixture
def modules_after(fresh_python):
    """What a Python that had imported PyTorch has imported once it has run the code."""
    return lambda code: set(json.loads(fresh_python(code + SHOW).stdout))


def test_every_public_name_is_found_and_listed():
    for name in npl.__all__:
        assert getattr(npl, name) is not None
    assert set(npl.__all__) <= set(dir(npl))


def modules_of_a_new_python(code: str) -> set[str]:
    """What a Python that had imported nothing has imported once it has run the code."""
    return set(json.loads(subprocess.check_output([sys.executable, "-c", code + SHOW], text=True)))


def test_import_waits_for_nothing_heavy():
    heavy = {"torch", "numpy", "sklearn", "pandas", "matplotlib", "gymnasium"}
    assert not heavy & modules_of_a_new_python("import neuroplastic")


def test_playing_needs_no_pytorch():
    pytest.importorskip("vizdoom")
    assert "torch" not in modules_of_a_new_python(f"import {PLAYING}")


def test_networks_need_neither_the_compiler_nor_optional_packages(modules_after):
    brought = modules_after(f"{NAMES.format(late=LATE)}; {PASS}")
    assert not {"torch._dynamo", "sklearn", "pandas", "matplotlib", "onnx", "captum", "optuna"} & brought


def test_saved_estimator_is_loaded_where_only_storage_was_imported(tmp_path, modules_after):
    model = npl.NeuroFuzzyRegressor(rules=2, max_updates=1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    npl.save(model, tmp_path / "model.safetensors")
    code = f"from neuroplastic.network.storage import load; load({str(tmp_path / 'model.safetensors')!r})"
    assert "neuroplastic.learn.estimators.regressor" in modules_after(code)


def test_training_and_playing_need_no_scikit_learn(modules_after):
    brought = modules_after(
        "import neuroplastic.cli.train, neuroplastic.usecases.runs, neuroplastic.usecases.playing"
    )
    assert not {"sklearn", "pandas", "scipy"} & brought


def test_telling_how_many_trials_are_enough_waits_for_no_statistics(modules_after):
    brought = modules_after("from neuroplastic.analysis.enough import TO_CHOOSE")
    assert not {"sklearn", "pandas", "scipy"} & brought


def test_names_of_the_analysis_are_found_whatever_part_of_it_was_imported_first():
    from neuroplastic import analysis
    from neuroplastic.analysis import clustering

    found = {name: getattr(analysis, name) for name in analysis.__all__}
    assert not [name for name, thing in found.items() if isinstance(thing, ModuleType)]
    assert found["clusters"] is clustering.clusters
    assert set(found) <= set(dir(analysis))
    with pytest.raises(AttributeError, match="has no attribute 'custers'"):
        analysis.custers  # noqa: B018


def test_an_analysis_without_its_packages_names_the_extra(fresh_python):
    code = "import sys; sys.modules['sklearn'] = None; import neuroplastic.analysis"
    said = fresh_python(code, check=False).stderr
    assert "MissingPackageError" in said
    assert "(there is no sklearn); install them with: pip install 'neuroplastic[study]'" in said
