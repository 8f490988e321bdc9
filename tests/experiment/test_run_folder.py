"""A run on disk that was damaged: what is wrong is named, and the other runs are still listed."""

from dataclasses import replace

import pytest

from neuroplastic.cli.main import main
from neuroplastic.doom.presets import preset
from neuroplastic.errors import ConfigError
from neuroplastic.experiment.agent import build_agent
from neuroplastic.experiment.options import with_values
from neuroplastic.experiment.run_folder import EpochMetrics, RunError, RunFolder

METRICS = EpochMetrics(1, 24, 2.5, 0.5, 2, 3, 4, 0.1, 12, 0, None, {"exploration": 0.9})


@pytest.fixture
def run(tmp_path):
    """A run that was evaluated once."""
    config = with_values(preset("tuned", "BP", "nfn"), {"rules": 2})
    folder = RunFolder.create(tmp_path / "runs", config)
    folder.write_metrics([METRICS])
    folder.write_returns(1, [2.0, 3.0])
    folder.write_best(build_agent(config))
    return folder


def test_what_was_written_is_read_back(run):
    assert run.metrics() == [METRICS]
    assert run.returns(1) == [2.0, 3.0]
    run.load_into(build_agent(run.config()), "best")


@pytest.mark.parametrize("command", ["evaluate", "record", "rules", "explain"])
def test_a_network_cut_short_is_named(run, command, capsys):
    path = run.path / "best.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    assert main([command, str(run.path)]) == 2
    error = capsys.readouterr().err
    assert f"{path} is damaged" in error
    assert error.count("\n") == 1


def test_a_network_of_another_configuration_is_named_in_few_words(run):
    other = build_agent(with_values(run.config(), {"rules": 3}))
    with pytest.raises(RunError, match=r"best\.safetensors is damaged or of another version") as caught:
        run.load_into(other, "best")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("metrics.csv", "epoch,steps\n1,24\n"),
        ("metrics.csv", "epoch,mean\nfirst,"),
        ("metrics.csv", b"\xff\xfe"),
        ("config.json", "{"),
        ("config.json", b"\xff\xfe"),
        ("config.json", "[]"),
    ],
)
def test_an_unreadable_run_does_not_hide_the_others(run, file, content, capsys):
    broken = RunFolder.create(run.path.parent, run.config())
    (broken.path / file).write_bytes(content.encode() if isinstance(content, str) else content)
    assert main(["runs", "--runs", str(run.path.parent)]) == 0
    printed = capsys.readouterr()
    lines = dict(line.split(maxsplit=1) for line in printed.out.splitlines())
    assert lines[run.path.name].startswith("1/10")
    assert lines[broken.path.name].startswith("unreadable")
    assert str(broken.path / file) in printed.err


def test_rules_are_not_asked_of_a_plain_agent(tmp_path, capsys):
    config = with_values(preset("tuned", "BP", "dnn"), {"hidden": 4})
    plain = RunFolder.create(tmp_path, config)
    plain.write_best(build_agent(config))
    assert main(["record", str(plain.path), "--explain"]) == 2
    assert "is a dnn run: it has no rules; leave --explain out" in capsys.readouterr().err
    assert not list(plain.path.glob("*.mp4"))


def test_metrics_without_their_columns_are_told_which_are_missing(run):
    (run.path / "metrics.csv").write_text("epoch,steps,mean\n1,24,3\n")
    with pytest.raises(RunError, match=r"metrics\.csv .*it has no sd, least, most, training_episodes"):
        run.metrics()


def test_damaged_returns_are_named(run):
    (run.path / "returns.csv").write_text("epoch,episode,return\n1,0\n")
    with pytest.raises(RunError, match=r"returns\.csv"):
        run.returns(1)


def test_the_learners_figures_stand_after_the_loss(run):
    header = (run.path / "metrics.csv").read_text().splitlines()[0].split(",")
    assert header[header.index("loss") + 1] == "exploration"


def test_a_second_writer_is_refused_by_name_and_the_first_goes_on(run):
    with run.lock():
        assert RunFolder(run.path).is_locked
        with pytest.raises(RunError, match=r"is being written by process \d+ on"), RunFolder(run.path).lock():
            pass
    with RunFolder(run.path).lock():
        pass
    assert not run.is_locked


def test_a_run_can_be_made_longer_but_not_shorter_than_it_is(run):
    run.write_config(run.extended(20))
    assert run.config().protocol.epochs == 20
    with pytest.raises(RunError, match="has made 1 epochs already; it cannot end after 0"):
        run.extended(0)


@pytest.mark.parametrize("name", ["x/../../../escaped/pwn", "a\0b", "", ".", "..", "-x", "a/b", "x" * 200])
def test_a_preset_whose_name_is_no_name_makes_no_folder(name, tmp_path):
    config = preset("tuned", "BP", "dnn")
    with pytest.raises(ConfigError, match="preset must be a name"):
        replace(config, preset=name)
    assert not list(tmp_path.iterdir())
