"""A run becomes an agent in a box: its files and a card that says what it is worth; damaged files are refused."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from neuroplastic.errors import ConfigError, InputError
from neuroplastic.experiment.agent import build_agent
from neuroplastic.experiment.options import with_values
from neuroplastic.experiment.run_folder import EpochMetrics, RunError, RunFolder
from neuroplastic.usecases import boxing
from neuroplastic.usecases.boxing import BoxRequest, put_in_box, train_command
from neuroplastic.usecases.cards import CardError, card_of
from neuroplastic.usecases.opening import BOX, box_names, open_run
from neuroplastic.usecases.runs import evaluate_run
from tests.small_game import CorridorTask

REASON = "the best of two"


@pytest.fixture
def run(tmp_path) -> RunFolder:
    task = CorridorTask(cells=4, limit=9)
    config = task.preset(task.presets[0], "nfn")
    folder = RunFolder.create(tmp_path, config)
    folder.write_best(build_agent(config))
    folder.write_metrics([EpochMetrics(1, 500, 0.0, 0.0, 0.0, 0.0, 3, 0.1, 0, 0, None)])
    return folder


@pytest.fixture
def boxed(run, tmp_path):
    put_in_box(BoxRequest(str(run.path), tmp_path / "box" / "catch", episodes=3, seed=5, chosen=REASON))
    return tmp_path / "box" / "catch"


def test_a_card_tells_budget_choice_score_on_new_episodes_and_whether_the_rules_decide(run, boxed):
    card = card_of(boxed)
    assert (card.decisions, card.seed, card.chosen, card.epoch) == (500, 0, REASON, 1)
    played = evaluate_run(str(run.path), episodes=3, seed=5)
    assert card.mean == pytest.approx(played.mean, abs=1e-4)
    assert {"leading_rules", "carry", "fit", "rules"} <= card.diagnosis.keys()
    assert card.verdict
    assert not (boxed / "checkpoints").exists()
    assert open_run(boxed).card == card
    assert evaluate_run(str(boxed), episodes=1).card == card


def test_an_agent_that_is_boxed_again_keeps_the_words_on_how_it_was_chosen(run, boxed, tmp_path):
    again = put_in_box(BoxRequest(str(boxed), tmp_path / "again", episodes=1))
    assert again.chosen == card_of(tmp_path / "again").chosen == REASON
    assert put_in_box(BoxRequest(str(run.path), tmp_path / "other", episodes=1)).chosen.startswith("not told")


def test_an_agent_has_the_same_episodes_however_many_are_played_at_once(boxed):
    one, three = (evaluate_run(str(boxed), episodes=4, seed=5, games=games) for games in (1, 3))
    assert one.returns == three.returns


@pytest.mark.parametrize("name", ["best.safetensors", "config.json"])
def test_an_agent_whose_file_was_changed_cut_or_lost_is_refused_with_its_name(boxed, name):
    path = boxed / name
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for damaged in (bytes(flipped), whole[:-1], b""):
        path.write_bytes(damaged)
        with pytest.raises(CardError, match=rf"{name} is damaged"):
            open_run(boxed)
    path.unlink()
    with pytest.raises((CardError, RunError), match=r"is damaged|is not a run"):
        open_run(boxed)
    path.write_bytes(whole)
    assert open_run(boxed).card is not None


@pytest.mark.parametrize("text", ["", "{}", '{"task": 3}', "[" * 500])
def test_a_damaged_card_is_refused(boxed, text):
    (boxed / "card.json").write_text(text)
    with pytest.raises(CardError, match=r"card.json is damaged"):
        open_run(boxed)


def test_a_card_cannot_name_files_outside_of_its_folder(boxed, tmp_path):
    card = json.loads((boxed / "card.json").read_text())
    (tmp_path / "other").write_text("x")
    card["digests"] = {"../../other": "0" * 64}
    (boxed / "card.json").write_text(json.dumps(card))
    with pytest.raises(
        CardError, match=r"a name in digests must be one of 'config.json', 'best.safetensors'"
    ):
        open_run(boxed)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"diagnosis": {"rules": 8.0}}, "got none of rows, leading_rules, carry, fit"),
        ({"verdict": "They decide.\nIF x is low THEN y is high"}, "verdict must be one line"),
        ({"mean": 1e999}, "Infinity"),
    ],
)
def test_a_card_that_cannot_be_told_or_tells_more_than_its_lines_is_refused(boxed, changed, said):
    card = json.loads((boxed / "card.json").read_text())
    (boxed / "card.json").write_text(json.dumps({**card, **changed}))
    with pytest.raises(CardError, match=said):
        open_run(boxed)


def test_what_is_too_large_or_in_the_way_is_refused(run, boxed, tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="exists and is not overwritten"):
        put_in_box(BoxRequest(str(run.path), boxed, episodes=1))
    monkeypatch.setattr(boxing, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match="fewer --features"):
        put_in_box(BoxRequest(str(run.path), tmp_path / "other", episodes=1))


def test_half_precision_halves_what_is_large_and_the_card_is_of_what_is_stored(
    run, boxed, tmp_path, monkeypatch
):
    monkeypatch.setattr(boxing, "LARGE", 8)
    half = tmp_path / "box" / "half"
    card = put_in_box(BoxRequest(str(run.path), half, episodes=3, seed=5, half=True))
    large, small = (load_file(folder / "best.safetensors") for folder in (boxed, half))
    assert {name for name in small if small[name].dtype == torch.float16} == {
        name for name in large if large[name].dtype == torch.float32 and large[name].numel() >= 8
    }
    widened = open_run(half).agent.state_dict()
    for name, tensor in widened.items():
        assert tensor.dtype == large[name].dtype, "it is computed with in the precision of the run"
        torch.testing.assert_close(tensor, large[name], rtol=1e-3, atol=1e-6)
    assert card.mean == pytest.approx(evaluate_run(str(half), episodes=3, seed=5).mean, abs=1e-4)
    assert card_of(half).digests != card_of(boxed).digests


def test_numbers_beyond_half_precision_are_refused_and_leave_nothing(run, tmp_path, monkeypatch):
    monkeypatch.setattr(boxing, "LARGE", 1)
    path = run.path / "best.safetensors"
    state = load_file(path)
    save_file({name: t * 1e9 if t.dtype == torch.float32 else t for name, t in state.items()}, path)
    with pytest.raises(InputError, match="beyond half precision; put the run into the box without --half"):
        put_in_box(BoxRequest(str(run.path), tmp_path / "box" / "half", episodes=1, half=True))
    assert not list((tmp_path / "box").iterdir())


def test_on_a_full_disk_the_new_folder_is_named_and_nothing_stays(run, tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        put_in_box(BoxRequest(str(run.path), tmp_path / "box" / "new", episodes=1))
    assert Path(caught.value.filename).is_relative_to(tmp_path / "box")
    assert not list((tmp_path / "box").iterdir())


def test_a_run_whose_command_is_not_known_is_refused_before_it_plays(run, tmp_path, monkeypatch):
    config = run.config()
    run.write_config(replace(config, preset="student"))
    monkeypatch.setattr(boxing, "make_card", lambda *_, **__: pytest.fail("it played"))
    with pytest.raises(ConfigError, match="say so with --command"):
        put_in_box(BoxRequest(str(run.path), tmp_path / "new", episodes=1))


def test_the_command_on_a_card_names_what_differs_from_the_preset():
    task = CorridorTask()
    config = with_values(task.preset(task.presets[0], "nfn"), {"rules": 7, "seed": 3, "processes": 2})
    train = f"neuroplastic train corridor --agent nfn --preset {config.preset}"
    assert train_command(config) == f"{train} --rules 7 --seed 3"


@pytest.mark.parametrize("name", box_names())
def test_every_agent_in_the_box_has_a_card_with_100_new_episodes(name):
    card = card_of(BOX / name)
    assert card is not None
    assert card.episodes >= 100
    assert bool(card.diagnosis) == (card.agent == "nfn")
    assert set(card.digests) == {"config.json", "best.safetensors"}
