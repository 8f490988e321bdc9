"""Environments of Gymnasium from the command line: vectors and pictures, both learners, both agents."""

import csv
import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import pytest

from neuroplastic.errors import ConfigError
from neuroplastic.gym.environment import GymEnvironment

gymnasium = pytest.importorskip("gymnasium", reason="pip install 'neuroplastic[gym]'")
SHORT = ("--epochs", 2, "--steps-per-epoch", 96, "--episodes", 3)
LEARNERS = {
    "dqn": ("--batch-size", 8, "--learning-starts", 16),
    "parallel_q": ("--training-games", 4, "--rollout", 8, "--batch-size", 16),
}
AGENTS = {"nfn": ("--rules", 6), "dnn": ("--hidden", 16)}
MANY = (*SHORT, *LEARNERS["parallel_q"])


def metrics(run: Path) -> list[dict[str, str]]:
    with (run / "metrics.csv").open() as file:
        return list(csv.DictReader(file))


def sets_of(run: Path, command) -> dict[str, list[float]]:
    """The middles of the fuzzy sets by attribute."""
    command("rules", run, "--out", "rules.json")
    rules = json.loads((run.parents[1] / "rules.json").read_text())
    return {entry["name"]: [term["center"] for term in entry["terms"]] for entry in rules["inputs"]}


@pytest.mark.parametrize(
    ("agent", "learner"),
    [
        pytest.param(agent, learner, marks=[] if (agent == "nfn") == (learner == "dqn") else pytest.mark.slow)
        for agent in AGENTS
        for learner in LEARNERS
    ],
)
def test_cartpole_is_trained_made_longer_evaluated_and_told_about(agent, learner, command, tmp_path):
    words = ("--agent", agent, "--learner", learner, *AGENTS[agent], *LEARNERS[learner])
    told = command("train", "CartPole-v1", *words, *SHORT).out
    assert "solved at      475.00" in told
    run = tmp_path / "runs" / f"CartPole-v1-{agent}-standard-seed0"
    assert all(float(row["loss"]) > 0 for row in metrics(run)), "it learned"
    longer = command("train", "--resume", run.name, "--epochs", 3).out
    assert f"going on with runs/{run.name} after step 192" in longer
    assert [row["steps"] for row in metrics(run)] == ["96", "192", "288"]
    best = max(float(row["mean"]) for row in metrics(run))
    assert f"{best:.2f} +-" in command("evaluate", run, "--episodes", 3).out
    assert "3/3" in command("runs").out
    if agent == "dnn":
        for ask in ("rules", "explain"):
            assert "is a dnn run: it has no rules" in command(ask, run, code=2).err
        return
    rules = command("rules", run).out
    assert (
        rules.count("cart position is ")
        == len(re.findall(r"THEN (?:mostly )?push (?:left|right)$", rules, re.M))
        == 6
    )
    assert command("rules", run, "--formulas").out.count("THEN push left is ") == 6
    angles = sets_of(run, command)["pole angle"]
    # Radians: Gymnasium's bounds, where the outermost sets begin and training moves them a little from.
    assert [min(angles), max(angles)] == pytest.approx([-0.418879, 0.418879], rel=0.1)
    assert "is told by a plain network" in command("rules", run, "--head", "value", code=2).err
    explained = command("explain", run).out
    assert "seen: cart position " in explained
    assert "decision: push " in explained


def test_frames_are_stacked_and_attributes_renamed(command, tmp_path):
    words = ("--names", "a,b,c,d", "--frame-stack", 3, "--rules", 4)
    command("train", "CartPole-v1", *words, *MANY)
    run = tmp_path / "runs" / "CartPole-v1-nfn-standard-seed0"
    when = (" 2 before", " 1 before", "")
    assert list(sets_of(run, command)) == [f"{name}{before}" for before in when for name in "abcd"]
    assert "a 2 before" in command("explain", run).out
    for wrong, why in (
        (("--names", "a,b"), "--names must name the 4 attributes of CartPole-v1, got 2"),
        (("--frame-stack", 0), "frame_stack must be a whole number of at least 1, got 0"),
    ):
        assert why in command("train", "CartPole-v1", *wrong, *MANY, code=2).err
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_pictures_of_gymnasium_are_learned_from_and_rules_have_places(command, tmp_path):
    task, own = "tests.gym_catch:SmallCatch-v0", ("--import", "tests.gym_catch")
    command("train", task, "--frame-stack", 2, "--features", 16, "--rules", 4, "--processes", 0, *MANY)
    run = tmp_path / "runs" / "tests.gym_catch_SmallCatch-v0-nfn-standard-seed0"
    assert json.loads((run / "config.json").read_text())["encoder"]["kind"] == "pictures"
    command("train", "--resume", run, "--epochs", 3, *own)
    assert len(re.findall(r"THEN (?:mostly )?action \d$", command("rules", run, *own).out, re.M)) == 4
    assert command("rules", run, *own, "--formulas").out.count("THEN action 0 is ") == 4
    assert "decision: action " in command("explain", run, *own, "--picture", "why.png").out
    assert (tmp_path / "why.png").stat().st_size > 10_000
    assert "shows pictures (12, 12, 3)" in command("train", task, "--names", "a,b", code=2).err


@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("pygame", "cv2", "imageio_ffmpeg")),
    reason="CartPole is drawn by pygame, and films are made by OpenCV and ffmpeg",
)
def test_an_episode_of_cartpole_is_filmed(command, tmp_path):
    command("train", "CartPole-v1", "--rules", 4, *MANY)
    run = tmp_path / "runs" / "CartPole-v1-nfn-standard-seed0"
    assert "rules fired" in command("record", run, "--explain").out
    assert (run / "episode-0.mp4").read_bytes()[4:8] == b"ftyp"


def test_what_cannot_draw_itself_is_not_filmed_and_says_why(monkeypatch):
    class Bare(gymnasium.Env):
        observation_space, action_space = gymnasium.spaces.Box(0, 1, (2,)), gymnasium.spaces.Discrete(2)

    class Stubborn(Bare):
        metadata: ClassVar = {"render_modes": ["rgb_array"]}

    for kind, why in ((Bare, "lists no render mode 'rgb_array'"), (Stubborn, "render_mode='rgb_array'")):
        spec = gymnasium.envs.registration.EnvSpec(f"{kind.__name__}-v0", entry_point=kind)
        monkeypatch.setitem(gymnasium.registry, spec.id, spec)
        with pytest.raises(ConfigError, match=f"{spec.id} cannot be filmed: .*{why}"):
            GymEnvironment(spec.id, 1, seed=0, stream="evaluation", film=True)


def test_what_no_agent_can_play_is_refused_by_name(command):
    for task, why in {
        "Pendulum-v1": "agents here need discrete actions",
        "Blackjack-v1": "agents here need one box",
        "CartPole": "did you mean 'CartPole-v1'?\n",
        "tests.gym_catch:SmalCatch-v0": "there is no task 'tests.gym_catch:SmalCatch-v0'",
    }.items():
        assert why in command("train", task, code=2).err
