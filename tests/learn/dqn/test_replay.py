import copy

import numpy as np
import pytest
import torch

from neuroplastic.errors import ConfigError, InputError
from neuroplastic.learn import ReplayMemory
from neuroplastic.learn.dqn.device_replay import DeviceReplay


def on_device(capacity: int, **options) -> DeviceReplay:
    generator = torch.Generator().manual_seed(0)
    return DeviceReplay(capacity, device=torch.device("cpu"), generator=generator, **options)


MEMORIES = {"host": ReplayMemory, "device": on_device}
in_every_memory = pytest.mark.parametrize("memory", MEMORIES)


def frame(number: int) -> np.ndarray:
    return np.array([[number // 256, number % 256]], np.uint8)


def number_of(pictures: torch.Tensor) -> list[int]:
    return [int(row[0, 0]) * 256 + int(row[0, 1]) for row in pictures]


class Recorder:
    """Plays random episodes into a memory and, slowly, writes down every transition that it should be able to give."""

    def __init__(
        self,
        capacity: int,
        n_step: int,
        discount: float = 0.9,
        seed: int = 0,
        cut_share: float = 0.0,
        memory: str = "host",
    ) -> None:
        self.memory = MEMORIES[memory](capacity, n_step=n_step, discount=discount)
        self.rng = np.random.default_rng(seed)
        self.cut_share = cut_share  # of the episodes that end
        self.episodes: list[list[tuple[int, int, float]]] = []  # (frame, action, reward)
        self.last_frames: dict[int, int] = {}  # by number of an episode cut short
        self.over = True
        self.frames = 0

    def step(self, end_probability: float) -> None:
        if self.over:
            self.memory.begin(self._next_frame())
            self.episodes.append([])
        action, reward = int(self.rng.integers(8)), float(np.float32(self.rng.normal()))
        self.over = bool(self.rng.random() < end_probability)
        self.episodes[-1].append((self.frames - 1, action, reward))
        last = None
        if self.over and self.rng.random() < self.cut_share:
            last = self._next_frame()
            self.last_frames[len(self.episodes) - 1] = self.frames - 1
        self.memory.append(action, reward, None if self.over else self._next_frame(), last_frame=last)

    def _next_frame(self) -> np.ndarray:
        self.frames += 1
        return frame(self.frames - 1)

    def expected(self) -> dict[int, tuple[int, int, float, float, int | None]]:
        """By step: frame, action, n-step return, discount, next frame (None where there is none)."""
        n, discount = self.memory.n_step, self.memory.discount
        known = {}
        step = 0
        for number, episode in enumerate(self.episodes):
            finished = self.over or number < len(self.episodes) - 1
            for place, (picture, action, _) in enumerate(episode):
                rewards = [reward for _, _, reward in episode[place : place + n]]
                total = sum(discount**k * reward for k, reward in enumerate(rewards))
                if place + n < len(episode):
                    known[step] = (picture, action, total, discount**n, episode[place + n][0])
                elif finished:
                    last = self.last_frames.get(number)
                    known[step] = (
                        picture,
                        action,
                        total,
                        0.0 if last is None else discount ** len(rewards),
                        last,
                    )
                elif place + n == len(episode):  # reaches the frame not yet acted upon
                    known[step] = (picture, action, total, discount**n, self.frames - 1)
                step += 1
        return {k: known[k] for k in known if k >= step - self.memory.capacity}


@pytest.mark.parametrize("n_step", [1, 2, 3, 7])
@pytest.mark.parametrize("capacity", [7, 8, 25, 60])
@pytest.mark.parametrize("cut_share", [0.0, 0.5])
@in_every_memory
def test_every_transition_equals_the_one_written_down_at_any_place_of_the_ring(
    capacity, n_step, cut_share, memory
):
    recorder = Recorder(capacity, n_step, seed=capacity * 10 + n_step, cut_share=cut_share, memory=memory)
    for _ in range(3 * capacity + 5):
        recorder.step(end_probability=0.15)
        expected = recorder.expected()
        assert len(recorder.memory) == len(expected)
        if not expected:
            continue
        steps = np.array(sorted(expected))
        batch = recorder.memory.gather(steps)
        rows = [expected[step] for step in steps]
        assert number_of(batch.states) == [row[0] for row in rows]
        assert batch.actions.tolist() == [row[1] for row in rows]
        np.testing.assert_allclose(batch.returns, [row[2] for row in rows], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(batch.discounts, [row[3] for row in rows], rtol=1e-6)
        for got, row in zip(number_of(batch.next_states), rows, strict=True):
            assert row[4] is None or got == row[4]


@pytest.mark.parametrize("n_step", [1, 3])
@pytest.mark.parametrize("cut_share", [0.0, 1.0])
@in_every_memory
def test_sampling_is_uniform_over_exactly_the_complete_transitions(n_step, cut_share, memory):
    recorder = Recorder(capacity=20, n_step=n_step, cut_share=cut_share, memory=memory)
    for _ in range(47):
        recorder.step(end_probability=0.1)
    frames = sorted(row[0] for row in recorder.expected().values())
    if memory == "host":
        drawn = number_of(recorder.memory.sample(20_000, np.random.default_rng(0)).states)
    else:
        drawn = number_of(recorder.memory.draw(20_000).states)
    seen, counts = np.unique(drawn, return_counts=True)
    assert seen.tolist() == frames
    mean = 20_000 / len(frames)
    assert np.abs(counts - mean).max() < 5 * np.sqrt(mean)


def test_samples_are_contiguous_uint8_and_independent_of_later_steps():
    recorder = Recorder(capacity=10, n_step=1)
    for _ in range(10):
        recorder.step(end_probability=0.1)
    batch = recorder.memory.sample(6, np.random.default_rng(0))
    before = batch.states.clone()
    for _ in range(20):
        recorder.step(end_probability=0.1)
    assert batch.states.dtype == torch.uint8
    assert batch.states.is_contiguous()
    assert batch.next_states.is_contiguous()
    assert batch.actions.dtype == torch.int64
    assert torch.equal(batch.states, before)


@pytest.mark.parametrize("steps", [0, 5, 30])
@pytest.mark.parametrize("cut_share", [0.0, 0.5])
@pytest.mark.parametrize(("of", "to"), [("host", "host"), ("device", "device"), ("host", "device")])
def test_a_reloaded_memory_goes_on_as_the_first(steps, cut_share, of, to):
    first, second = (Recorder(capacity=12, n_step=3, cut_share=cut_share, memory=kind) for kind in (of, to))
    for _ in range(steps):
        first.step(end_probability=0.2)
    for _ in range(40):  # whatever it held before
        second.step(end_probability=0.3)
    second.memory.load_state_dict(copy.deepcopy(first.memory.state_dict()))
    second.rng.bit_generator.state = first.rng.bit_generator.state
    second.episodes, second.over, second.frames = [list(e) for e in first.episodes], first.over, first.frames
    for _ in range(20):
        first.step(end_probability=0.2)
        second.step(end_probability=0.2)
    for a, b in zip(*(r.memory.sample(50, np.random.default_rng(1)) for r in (first, second)), strict=True):
        torch.testing.assert_close(a, b, rtol=0 if of == to else 1e-6, atol=0 if of == to else 1e-6)


def test_a_large_memory_uses_only_what_it_holds():
    resident = _resident_megabytes()
    memory = ReplayMemory(50_000)
    picture = np.ones((84, 84, 3), np.uint8)
    memory.begin(picture)
    for _ in range(1000):
        memory.append(0, 0.0, picture)
    assert _resident_megabytes() - resident < 60  # 21 MB of frames, 2 MB pages, and the rest of the process


def _resident_megabytes() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


@in_every_memory
def test_an_episode_ended_from_outside_has_a_terminal_last_transition(memory):
    make = MEMORIES[memory]
    memory = make(10, n_step=3, discount=0.5)
    memory.begin(frame(0))
    for step in range(4):
        memory.append(step, 1.0, frame(step + 1))
    memory.end_episode()
    assert len(memory) == 4
    assert memory.gather(np.array([3])).discounts.tolist() == [0.0]
    memory.begin(frame(9))  # the place of frame 4 is free again
    assert memory.current_frame is not None
    assert number_of(torch.from_numpy(memory.current_frame[None])) == [9]


@in_every_memory
def test_an_episode_cut_short_from_outside_goes_on_with_the_frame_not_acted_upon(memory):
    make = MEMORIES[memory]
    memory = make(10, n_step=3, discount=0.5)
    memory.begin(frame(0))
    for step in range(4):
        memory.append(step, 1.0, frame(step + 1))
    memory.end_episode(cut_short=True)
    memory.begin(frame(9))
    batch = memory.gather(np.array([2, 3]))
    assert batch.discounts.tolist() == [0.25, 0.5]
    assert number_of(batch.next_states) == [4, 4]
    assert batch.next_steps.tolist() == [-1, -1]  # nobody's: the frame of step 4 is another one


def test_last_frames_are_kept_no_longer_than_their_transitions():
    recorder = Recorder(capacity=10, n_step=2, cut_share=1.0)
    for _ in range(200):
        recorder.step(end_probability=0.4)
    kept = recorder.memory.state_dict()["cut_short"]["steps"].tolist()
    assert kept == [step for step, row in recorder.expected().items() if row[4] and row[3] == 0.9]


@in_every_memory
def test_vectors_are_kept_as_they_come(memory):
    make = MEMORIES[memory]
    memory = make(4)
    vectors = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    memory.begin(vectors[0])
    memory.append(0, 1.0, vectors[1])
    memory.append(1, 2.0, None, last_frame=vectors[2])
    batch = memory.gather(np.array([0, 1]))
    assert torch.equal(batch.states, torch.from_numpy(vectors[:2]))
    assert torch.equal(batch.next_states, torch.from_numpy(vectors[1:]))
    again = make(4)
    again.load_state_dict(copy.deepcopy(memory.state_dict()))
    assert torch.equal(again.gather(np.array([1])).next_states, batch.next_states[1:])
    with pytest.raises(InputError, match="frames must be float32 like the first, got uint8"):
        again.begin(np.zeros(5, np.uint8))
    with pytest.raises(InputError, match="frames must be uint8 or float32, got float64"):
        make(4).begin(np.zeros(5))


@in_every_memory
def test_mistakes_are_named(memory):
    make = MEMORIES[memory]
    memory = make(5)
    with pytest.raises(InputError, match="no complete transition"):
        memory.sample(1, np.random.default_rng(0))
    with pytest.raises(InputError, match="begin"):
        memory.append(0, 0.0, frame(0))
    memory.begin(frame(0))
    with pytest.raises(InputError, match="under way"):
        memory.begin(frame(1))
    with pytest.raises(InputError, match="uint8"):
        memory.append(0, 0.0, frame(0).astype(np.float32))
    with pytest.raises(InputError, match="shape"):
        memory.append(0, 0.0, np.zeros((3, 3), np.uint8))
    with pytest.raises(ConfigError, match="n_step must be at most"):
        make(5, n_step=6)
