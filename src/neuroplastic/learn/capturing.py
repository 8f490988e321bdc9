"""Steps of learning and deciding as CUDA graphs: recorded once, then replayed without asking the host anything."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..errors import InputError
from ..fuzzy.tracing import recording
from ..network.capturing import capturable
from .experience import Observations

# Plain runs before a step is recorded: libraries set themselves up, and optimizers make their state.
WARM_UP = 3
# Numbers of observations for which the deciding pass is recorded; others are computed plainly.
MOST_SIZES = 16


class CaptureWarning(UserWarning):
    """A step cannot be recorded as a CUDA graph and is computed plainly, which is slower and otherwise equal."""


class RecordedStep:
    """A step without arguments that a CUDA graph replays after a few plain runs; on a CPU it is always run plainly.

    The step must be a function of tensors that stay where they are: it reads and writes them in place, its shapes do
    not depend on values, and it asks the host nothing. The plain runs count: they are the first steps, not rehearsals.
    What it gives is copied, and may be kept.
    """

    def __init__(
        self,
        what: str,
        step: Callable[[], Tensor],
        device: torch.device,
        *,
        changes: Callable[[], Iterable[Tensor]] = lambda: (),
        generators: Sequence[torch.Generator] = (),
        why_not: Callable[[], str | None] = lambda: None,
        silent: bool = False,
        urgent: bool = False,
        kept: bool = True,
    ) -> None:
        """`changes` gives the tensors that it writes, whose versions autograd would count; `generators` are those of
        the device that it draws from, but for torch's own. `why_not` is asked for a reason to run it plainly before
        it is recorded, and that is said once unless `silent`. An `urgent` step's kernels go before those of others.
        What it gives is not to be `kept`: then it is not copied, and the next step writes over it.
        """
        self.what, self._step, self._device = what, step, device
        self._changes, self._generators = changes, generators
        self._ask, self._why_not = why_not, ""
        self._said, self._kept = silent, kept
        self._priority = -1 if urgent else 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._changed: list[Tensor] = []
        self._given: Tensor | None = None
        self._stream: torch.cuda.Stream | None = None
        self._plain_runs = 0

    @property
    def captured(self) -> bool:
        """Whether it is replayed now."""
        return self._graph is not None

    def forget(self) -> None:
        """Record it anew: a tensor that it uses lies elsewhere now."""
        self._graph = self._given = None
        self._plain_runs = 0

    def __call__(self) -> Tensor:
        """Run the step, or replay it."""
        if self._device.type != "cuda":
            return self._run()
        if self._why_not:
            return self._run()
        if self._graph is None:
            if self._plain_runs < WARM_UP:
                self._plain_runs += 1
                return self._run_aside()
            self._refuse(self._ask())
            if self._why_not or not self._capture():
                return self._run()
        assert self._graph is not None
        assert self._given is not None
        self._graph.replay()
        # A replay changes tensors without saying so; what a network keeps for evaluation needs it.
        torch.autograd.graph.increment_version(self._changed)
        return self._given.clone() if self._kept else self._given

    def _run(self) -> Tensor:
        with recording(), _repeatable_convolutions():
            return self._step()

    def _run_aside(self) -> Tensor:
        """A plain run on the stream that will be recorded."""
        if self._stream is None:
            self._stream = torch.cuda.Stream(self._device, priority=self._priority)  # type: ignore[no-untyped-call]
        current = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            given = self._run()
        current.wait_stream(self._stream)
        return given.clone()

    def _capture(self) -> bool:
        graph = torch.cuda.CUDAGraph()
        current = torch.cuda.current_device() if self._device.index is None else self._device.index
        used = (*self._generators, torch.cuda.default_generators[current])
        before: list[tuple[torch.Generator, torch.Generator]] = []
        try:
            before = [(generator, generator.clone_state()) for generator in used]
            for generator in self._generators:
                graph.register_generator_state(generator)  # type: ignore[no-untyped-call]
            with torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local"):
                self._given = self._run()
        except (RuntimeError, NotImplementedError) as error:
            self._given = None
            for generator, state in before:  # a capture that fails leaves them waiting for its end
                generator.graphsafe_set_state(state)
            self._refuse(str(error).strip().splitlines()[0])
            return False
        self._graph = graph
        self._changed = list(
            self._changes()
        )  # once: to go through a network takes longer than to launch a replay
        return True

    def _refuse(self, why_not: str | None) -> None:
        """Run it plainly from now on, if there is a reason, and say so."""
        self._why_not = why_not or ""
        if self._why_not and not self._said:
            warnings.warn(
                f"{self.what} is not captured as a CUDA graph: {why_not}; it is computed step by step",
                CaptureWarning,
                stacklevel=4,
            )
            self._said = True


@contextmanager
def _repeatable_convolutions() -> Iterator[None]:
    """Have cuDNN choose kernels that add up in a fixed order.

    Others add the parts of a weight's gradient in whatever order they come: two runs of one state, captured or not,
    then differ by a rounding, which Adam's first steps and fifty updates turn into a third of the loss.
    """
    before = torch.backends.cudnn.deterministic
    torch.backends.cudnn.deterministic = True
    try:
        yield
    finally:
        torch.backends.cudnn.deterministic = before


class RecordedPass:
    """A pass over observations (k, *shape), replayed for each k that comes often; both ends are on the host.

    One copy goes to the device and one comes back, which is the only wait.
    """

    def __init__(
        self,
        what: str,
        network_pass: Callable[[Tensor], Tensor],
        device: torch.device,
        *,
        why_not: Callable[[], str | None] = lambda: None,
        silent: bool = False,
    ) -> None:
        self.what, self._pass, self._device = what, network_pass, device
        self._why_not, self._silent = why_not, silent
        self._inputs: dict[tuple[int, ...], Tensor] = {}
        self._pinned: dict[tuple[int, ...], Tensor] = {}
        self._answers: dict[tuple[int, ...], Tensor] = {}
        self._steps: dict[tuple[int, ...], RecordedStep] = {}

    def forget(self) -> None:
        """Record anew: a tensor of the network lies elsewhere now."""
        self._steps.clear()
        self._inputs.clear()
        self._pinned.clear()

    def __call__(self, observations: Observations) -> NDArray[np.float32]:
        """What the pass gives for these observations."""
        size = observations.shape
        if self._device.type != "cuda" or (size not in self._steps and len(self._steps) >= MOST_SIZES):
            staged = torch.from_numpy(observations)
            given = self._plain(staged.to(self._device))
            result: NDArray[np.float32] = given.float().cpu().numpy()
            return result
        self._prepare(size, torch.from_numpy(observations).dtype)
        # What the last pass gave was waited for, so the copy from here is done.
        np.copyto(self._pinned[size].numpy(), observations)
        self._inputs[size].copy_(self._pinned[size], non_blocking=True)
        return self._brought_back(self._steps[size]().float())

    def _brought_back(self, given: Tensor) -> NDArray[np.float32]:
        """A copy on the host, by way of memory that the device writes to: without that it would be copied twice."""
        size = tuple(given.shape)
        if size not in self._answers:
            with torch.inference_mode(False):
                self._answers[size] = torch.empty_like(given, device="cpu", pin_memory=True)
        self._answers[size].copy_(given, non_blocking=True)
        done = torch.cuda.Event()  # type: ignore[no-untyped-call]
        done.record()  # type: ignore[no-untyped-call]
        done.synchronize()  # type: ignore[no-untyped-call]
        answer: NDArray[np.float32] = self._answers[size].numpy().copy()
        return answer

    @torch.inference_mode()
    def _plain(self, observations: Tensor) -> Tensor:
        return self._pass(observations)

    def _prepare(self, size: tuple[int, ...], kind: torch.dtype) -> None:
        """Have a pass for observations of this size, and where they lie on either side."""
        if size in self._steps:
            return
        with torch.inference_mode(False):  # it is written to in any mode
            held = self._inputs[size] = torch.empty(size, dtype=kind, device=self._device)
            self._pinned[size] = torch.empty(size, dtype=kind, pin_memory=True)
        self._steps[size] = RecordedStep(
            self.what,
            lambda: self._plain(held),
            self._device,
            why_not=self._why_not,
            silent=self._silent,
            urgent=True,
        )


def why_not_captured(network: nn.Module) -> str | None:
    """Why a training step of this network cannot be recorded as a CUDA graph; None: it can."""
    return "; ".join(capturable(network).reasons) or None


def check_values(values: Tensor, observations: int, actions: int) -> Tensor:
    """Values (k, actions), which must be as many as there are observations and actions."""
    if values.shape != (observations, actions):
        raise InputError(f"the network must give {(observations, actions)} values, got {tuple(values.shape)}")
    return values
