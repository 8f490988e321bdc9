"""Students of a teacher whose rules are known."""

import numpy as np
import pytest
import torch

from neuroplastic.errors import ConfigError, InputError
from neuroplastic.experiment.agent import greedy
from neuroplastic.learn.estimators.readable.draft import Draft
from neuroplastic.learn.imitation import Demonstrations, ImitationConfig, Judged, fit_student, imitate
from neuroplastic.learn.imitation import rounds as rounds_of_teaching
from neuroplastic.learn.imitation.demonstrations import costs_of
from neuroplastic.learn.imitation.polishing import polished, telling
from neuroplastic.learn.imitation.rewriting import rewritten
from neuroplastic.learn.imitation.rounds import Round, best
from neuroplastic.learn.imitation.student import Student
from neuroplastic.network.dueling import DuelingNetwork
from neuroplastic.network.encoders.attributes import AttributeEncoderConfig
from neuroplastic.network.observation import Observation

SEEN = Observation((3,), ("a", "b", "never varies"), (-1.0, -1.0, 0.0), (1.0, 1.0, 9.0))
ACTIONS = 4


def teacher(states: np.ndarray) -> np.ndarray:
    """Action 0 where a is low; else 2 or 3 by b. Action 1 is never taken."""
    return np.where(states[:, 0] < -0.2, 0, np.where(states[:, 1] < 0.3, 2, 3))


def demonstrations(count: int = 600, seed: int = 0) -> Demonstrations:
    states = np.random.default_rng(seed).uniform(-1, 1, (count, 3)).astype(np.float32)
    states[:, 2] = 5.0
    return Demonstrations(states, teacher(states), np.ones(count))


def agent_of(student: Student) -> DuelingNetwork:
    encoder = AttributeEncoderConfig(clip=True).build(SEEN)
    agent = DuelingNetwork(encoder, student.head.build_value(3), student.head.build(3, ACTIONS))
    student.write_into(agent)
    return agent.eval()


def test_few_short_rules_do_what_the_teacher_does_also_far_outside_of_what_was_shown() -> None:
    config = ImitationConfig(max_rules=4, max_premises=2)
    student = fit_student(demonstrations(), config, actions=ACTIONS, seed=0)
    agent, new = agent_of(student), demonstrations(seed=1)
    assert (greedy(agent, new.attributes) == new.actions).mean() > 0.95
    far = np.array([[-50, 0, 5], [50, -50, 5], [50, 50, -5]], np.float32)
    np.testing.assert_array_equal(greedy(agent, far), teacher(far))
    asked = student.draft.premises != -1
    assert len(asked) <= 4
    assert asked.sum(axis=1).max() <= 2
    assert not asked[:, 2].any()
    assert not agent.value(torch.zeros(1, 3)).any()


def test_polishing_never_agrees_less_with_what_was_shown_and_asks_for_the_same_premises() -> None:
    shown = demonstrations(300)
    states = shown.attributes[:, :2].astype(np.float64)
    centers = np.array([[-1.0, 0.4], [-0.5, 1.0]])
    premises = np.array([[0, -1], [1, 0], [1, 1]])
    draft = Draft(centers, np.full((2, 2), 0.6), np.zeros(2, bool), premises, np.eye(3))
    actions = np.searchsorted([0, 2, 3], shown.actions)

    def chosen(made: Draft) -> np.ndarray:
        with torch.inference_mode():
            return made.network(0).double().eval()(torch.from_numpy(states)).argmax(dim=1).numpy()

    better = polished(draft, states, actions)
    assert (chosen(better) == actions).mean() > (chosen(draft) == actions).mean() + 0.05
    np.testing.assert_array_equal(better.premises, draft.premises)
    once_more = polished(better, states, actions)
    assert (chosen(once_more) == actions).sum() >= (chosen(better) == actions).sum()


def test_a_premise_that_says_nothing_is_dropped_and_no_set_comes_to_say_nothing() -> None:
    states = demonstrations(300).attributes[:, :2].astype(np.float64)
    centers, widths = np.array([[-1.0, 0.0], [-1.0, 1.0]]), np.array([[0.5, 0.9], [0.5, 0.5]])
    premises, outputs = np.array([[0, 0], [1, 1], [1, -1], [-1, 1]]), np.eye(4)[:, :3]
    draft = Draft(centers, widths, np.zeros(2, bool), premises, outputs)
    told = telling(draft, states)
    np.testing.assert_array_equal(told.premises, [[0, 0], [-1, 1], [1, -1]])
    np.testing.assert_array_equal(told.outputs[1], (outputs[1] + outputs[3]) / 2)
    better = polished(told, states, np.zeros(300, np.int64))
    reach = np.sqrt(2 * np.log(2)) * better.widths
    wide = (better.centers - reach <= -0.99) & (better.centers + reach >= 0.99)
    assert not wide[[0, 1, 1], [0, 0, 1]].any()


def test_rules_are_rewritten_until_no_premise_and_no_conclusion_can_be_changed_for_more_agreement() -> None:
    shown = demonstrations(300)
    states, actions = shown.attributes.astype(np.float64), np.searchsorted([0, 2, 3], shown.actions)
    centers = np.array([[-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0]])
    premises = np.array([[0, 0, -1], [1, 0, 1], [-1, 1, 0], [-1, -1, 0]])
    outputs = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    draft = Draft(centers, np.full((3, 2), 0.9), np.zeros(3, bool), premises, outputs)

    def agreement(made: Draft) -> float:
        with torch.inference_mode():
            said = made.network(0).double().eval()(torch.from_numpy(states))
        return float((said.argmax(dim=1).numpy() == actions).mean())

    better = rewritten(draft, states, actions, max_premises=2)
    for _ in range(5):
        before, better = better, rewritten(better, states, actions, max_premises=2)
        assert agreement(better) >= agreement(before)
    assert agreement(better) > agreement(draft) + 0.2
    assert better.size < draft.size
    asked = (better.premises != -1).sum(axis=1)
    assert asked.min() >= 1
    assert asked.max() <= 2
    assert len(np.unique(better.premises, axis=0)) == 4
    np.testing.assert_array_equal(better.centers, draft.centers)


def test_states_count_by_what_a_wrong_action_costs() -> None:
    values = np.array([[3.0, 1.0], [2.0, 2.0], [0.0, 4.0]])
    np.testing.assert_array_equal(costs_of(values), [2.0, 0.0, 4.0])
    shown = Demonstrations(np.zeros((3, 1), np.float32), values.argmax(axis=1), costs_of(values))
    weights = shown.weights(costs=True)
    assert weights.mean() == pytest.approx(1)
    assert weights[2] > weights[0] > weights[1] > 0
    np.testing.assert_array_equal(shown.weights(costs=False), np.ones(3))


def test_the_student_plays_after_the_first_round_and_the_best_round_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nobody = Student(None, np.zeros(3), np.ones(3))  # type: ignore[arg-type]
    monkeypatch.setattr(rounds_of_teaching, "fit_student", lambda *_, **__: nobody)
    players: list[bool] = []
    judged = iter(
        [Judged((3.0, 3.0), 0.9), Judged((5.0, 5.0), 0.6), Judged((5.0, 5.0), 0.7), Judged((1.0, 1.0), 1.0)]
    )

    def collect(student: Student | None, number: int) -> Demonstrations:
        players.append(student is None)
        return demonstrations(200, seed=number)

    config = ImitationConfig(max_rules=4, max_premises=2, rounds=4)
    rounds = imitate(config, collect, lambda _: next(judged), actions=ACTIONS, seed=0)
    assert players == [True, False, False, False]
    assert [made.states for made in rounds] == [200, 400, 600, 800]
    assert best(rounds).number == 2


def test_of_students_that_score_alike_within_chance_the_one_that_agrees_most_is_kept() -> None:
    def made(number: int, returns: tuple[float, ...], agreement: float) -> Round:
        return Round(number, None, 100, Judged(returns, agreement))  # type: ignore[arg-type]

    rounds = [made(0, (4.0, 10.0), 0.8), made(1, (3.0, 13.0), 0.7), made(2, (1.0, 2.0), 0.9)]
    assert best(rounds).number == 0
    assert Judged((4.0,), 1.0).error == 0


def test_agreement_can_count_states_by_what_is_at_stake() -> None:
    shown = Demonstrations(np.zeros((3, 1), np.float32), np.array([0, 1, 1]), np.array([6.0, 1.0, 3.0]))
    taken = np.array([0, 0, 1])
    assert shown.agreement_with(taken, costs=False) == pytest.approx(2 / 3)
    assert shown.agreement_with(taken, costs=True) == pytest.approx(0.9)
    nothing_at_stake = Demonstrations(shown.attributes, shown.actions, np.zeros(3))
    assert nothing_at_stake.agreement_with(taken, costs=True) == pytest.approx(2 / 3)


def test_what_cannot_be_learned_from_is_refused() -> None:
    shown = demonstrations(50)
    alike = Demonstrations(shown.attributes, np.zeros(50, np.int64), shown.costs)
    with pytest.raises(InputError, match="one action in all 50 states"):
        fit_student(alike, ImitationConfig(), actions=ACTIONS, seed=0)
    with pytest.raises(InputError, match="as many actions and costs as states"):
        Demonstrations(shown.attributes, shown.actions[:-1], shown.costs)
    with pytest.raises(ConfigError, match="max_rules must be a whole number of at least 2"):
        ImitationConfig(max_rules=1)
    with pytest.raises(ConfigError, match="by `neuroplastic imitate`"):
        ImitationConfig().build(torch.nn.Linear(1, 1), None)  # type: ignore[arg-type]
