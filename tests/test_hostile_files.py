"""Files that have no end, and JSON that is nested without end: refused in a line, whoever reads them."""

import os
import shutil
import sys
import warnings
from pathlib import Path

import pytest

import neuroplastic as npl
from neuroplastic.analysis.studies import load_studies
from neuroplastic.experiment.run_folder import RunFolder
from neuroplastic.experiment.saved_preset import load_preset
from neuroplastic.experiment.tasks import find_task
from neuroplastic.learn.checkpoint import CheckpointError, CheckpointStore
from neuroplastic.learn.columns import read_table
from neuroplastic.learn.table_model import TableModel
from neuroplastic.locks import FileLock

KEPT = Path(__file__).parent / "kept" / "v0_1"
CHECKPOINT = "checkpoints/checkpoint-000000024"
DEEP = "[" * 100_000 + "]" * 100_000

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="pipes in folders, and links")


@pytest.fixture
def run(tmp_path):
    return Path(shutil.copytree(KEPT / "runs" / "finished" / "BP-dnn-paper-seed6", tmp_path / "run"))


@pytest.fixture
def model(tmp_path):
    return Path(shutil.copytree(KEPT / "table" / "model", tmp_path / "model"))


def read_run(folder):
    found = RunFolder(folder)
    for read in (
        found.config,
        found.metrics,
        lambda: found.returns(1),
        lambda: found.load_into(_Any(), "best"),
    ):
        read()
    found.checkpoints.load()


class _Any:
    def load_state_dict(self, _state):
        pass


def _columns(tmp_path, text):
    shutil.copytree(KEPT / "table" / "model", tmp_path / "m")
    (tmp_path / "m" / "columns.json").write_text(text)
    TableModel.load(tmp_path / "m")


def _checkpoint(tmp_path, text):
    CheckpointStore(tmp_path).save(1, {"a": 1})
    (tmp_path / "checkpoint-000000001" / "state.json").write_text(text)
    CheckpointStore(tmp_path).load()


def _config(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    RunFolder(tmp_path).config()


def _preset(tmp_path, text):
    (tmp_path / "p.json").write_text(text)
    load_preset(tmp_path / "p.json", find_task("CartPole-v1"), "nfn")


def _study(tmp_path, text):
    (tmp_path / "s.json").write_text(text)
    load_studies(tmp_path / "s.json")


def _study_csv(tmp_path, text):
    (tmp_path / "s.csv").write_text(f"trial,task,agent,mean,sd,slope,epochs\n0,BP,dnn,1,1,1,{text}\n")
    load_studies(tmp_path / "s.csv")


def _header(tmp_path, text):
    import torch
    from safetensors.torch import save_file

    save_file({"a": torch.zeros(1)}, tmp_path / "m.safetensors", metadata={"neuroplastic": text})
    npl.load(tmp_path / "m.safetensors")


def _rules(_tmp_path, text):
    npl.RuleBase.from_json(text)


PLACES = (_header, _columns, _checkpoint, _config, _preset, _study, _study_csv, _rules)


@pytest.mark.parametrize("text", [DEEP, '{"a":' * 100_000], ids=["whole", "without end"])
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__.strip("_"))
def test_json_nested_a_hundred_thousand_deep_is_refused_by_name(tmp_path, place, text):
    with pytest.raises(npl.NeuroplasticError, match=r"nested deeper|is not a preset|field larger") as caught:
        place(tmp_path, text)
    assert len(str(caught.value)) < 1000


def test_a_page_of_the_studio_that_asks_in_deep_json_gets_an_answer():
    pytest.importorskip("starlette", reason="the studio's extra")
    from neuroplastic.studio.watch import command_of

    assert command_of(DEEP) == (None, None)


@posix_only
@pytest.mark.parametrize("what", ["pipe", "device"])
@pytest.mark.parametrize(
    "name",
    ["config.json", "metrics.csv", "returns.csv", "best.safetensors"]
    + [f"{CHECKPOINT}/{name}" for name in ("state.json", "tensors.safetensors")],
)
def test_run_with_a_pipe_or_an_endless_device_as_a_file_is_refused(run, name, what):
    _put(run / name, what)
    with pytest.raises(npl.NeuroplasticError, match="no regular file"):
        read_run(run)


@posix_only
@pytest.mark.parametrize("what", ["pipe", "device"])
def test_models_tables_and_rules_that_are_pipes_or_endless_devices_are_refused(tmp_path, model, what):
    for name, read in {
        "m.safetensors": npl.load,
        "r.fml": npl.import_rules,
        "r.fis": npl.import_rules,
        "t.csv": read_table,
        "t.parquet": read_table,
        "s.csv": load_studies,
    }.items():
        _put(tmp_path / name, what)
        with pytest.raises(npl.NeuroplasticError, match=r"regular file|is not a file|no study at"):
            read(tmp_path / name)
    _put(model / "columns.json", what)
    with pytest.raises(npl.NeuroplasticError):
        TableModel.load(model)


def _put(path, what):
    path.unlink(missing_ok=True)
    os.mkfifo(path) if what == "pipe" else path.symlink_to("/dev/zero")


@posix_only
def test_lock_that_is_a_link_does_not_empty_what_it_leads_to(tmp_path):
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="lock"):
        FileLock(tmp_path / "lock").acquire()
    assert (tmp_path / "mine").read_text() == "precious"


def test_damaged_checkpoint_is_still_passed_over(tmp_path):
    store = CheckpointStore(tmp_path)
    for step in (1, 2):
        store.save(step, {"losses": [float("nan")], "state": 2**127 + 1})
    (store.path(2) / "state.json").write_text(DEEP)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = store.load()
    assert found is not None
    assert found.step == 1
    assert found.state["state"] == 2**127 + 1
    (store.path(1) / "state.json").write_text(DEEP)
    with pytest.raises(CheckpointError, match="no intact checkpoint"):
        store.load()
