"""Things that can be opened, made once."""

import numpy as np
import pandas as pd
import pytest
import torch

import neuroplastic as npl
from neuroplastic.learn.columns import Columns
from neuroplastic.learn.table_model import TableModel


@pytest.fixture(scope="session")
def frame():
    """40 rows: a class that depends on a number, beside a category."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"size": rng.normal(5, 2, 40).round(3), "colour": ["red", "blue"] * 20})
    return rows.assign(kind=np.where(rows["size"] > 5, "large", "small"))


@pytest.fixture(scope="session")
def place(tmp_path_factory, frame):
    """A folder with a model of a table, saved networks, a saved estimator, and things that are none of these."""
    folder = tmp_path_factory.mktemp("opened")
    columns = Columns.of(frame, "kind")
    x, y = columns.rows(frame), columns.targets(frame)
    estimator = npl.NeuroFuzzyClassifier(rules=3, max_updates=5, layer_norm=False, random_state=0).fit(x, y)
    TableModel(columns, estimator).save(folder / "model")
    npl.save(estimator, folder / "estimator.safetensors")
    torch.manual_seed(0)
    npl.save(npl.NeuroFuzzyNetwork(3, 2, rules=4), folder / "network.safetensors")
    npl.save(npl.Hierarchy([3, 2, 2], rules=4), folder / "hierarchy.safetensors")
    (folder / "words.txt").write_text("no network")
    (folder / "empty").mkdir()
    frame.to_csv(folder / "rows.csv", index=False)
    x.to_csv(folder / "columns.csv", index=False)
    pd.DataFrame(estimator.encode(x)).to_csv(folder / "inputs.csv", index=False)
    return folder


@pytest.fixture
def run_of(tmp_path):
    """Makes a run's folder that holds an untrained agent of this kind as its best."""
    pytest.importorskip("vizdoom")
    from neuroplastic.doom.presets import preset
    from neuroplastic.experiment.agent import build_agent
    from neuroplastic.experiment.options import with_values
    from neuroplastic.experiment.run_folder import RunFolder

    def make(agent: str):
        config = preset("tuned", "BP", agent)
        config = with_values(config, {"rules": 2}) if agent == "nfn" else config
        folder = RunFolder.create(tmp_path / "runs", config)
        folder.write_best(build_agent(config))
        return folder.path

    return make
