"""A small builder of ONNX graphs: nodes named in order, constants as initializers, two precisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import MissingPackageError

OPSET = 17
_IR_VERSION = 8  # of the time of this opset, so that runtimes of that time read it


def _onnx() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise MissingPackageError("ONNX export needs onnx: pip install 'neuroplastic[rules]'") from error
    return onnx


class Graph:
    """Nodes and constants under construction. `dtype` is the precision of inputs and outputs."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.onnx = _onnx()
        self.dtype = dtype
        self.integer_type: int = self.onnx.TensorProto.INT64
        self.steps: list[Any] = []
        self.initializers: list[Any] = []
        self._shared: dict[tuple[str, str], str] = {}

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of one output; gives the name of its value."""
        return self.nodes(kind, 1, *inputs, **attributes)[0]

    def nodes(self, kind: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        """Add a node of several outputs; gives the names of their values."""
        number = len(self.steps)
        names = [f"{kind}_{number}" if outputs == 1 else f"{kind}_{number}_{k}" for k in range(outputs)]
        self.steps.append(self.onnx.helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def constant(self, values: ArrayLike, *, wide: bool = False) -> str:
        """A constant of the graph's precision, or in doubles."""
        return self._initializer(np.asarray(values, dtype=np.float64 if wide else self.dtype))

    def number(self, value: float, *, wide: bool = False) -> str:
        """A constant that is a single number; equal ones are shared."""
        key = (repr(value), "wide" if wide else "narrow")
        if key not in self._shared:
            self._shared[key] = self.constant(value, wide=wide)
        return self._shared[key]

    def integers(self, values: ArrayLike) -> str:
        """A constant of whole numbers."""
        return self._initializer(np.asarray(values, dtype=np.int64))

    def _initializer(self, values: NDArray[Any]) -> str:
        name = f"c{len(self.initializers)}"
        self.initializers.append(self.onnx.numpy_helper.from_array(np.array(values, order="C"), name))
        return name

    def wide(self, value: str) -> str:
        """The value in doubles."""
        if self.dtype == np.float64:
            return value
        return self.node("Cast", value, to=self.onnx.TensorProto.DOUBLE)

    def narrow(self, value: str) -> str:
        """The value in the graph's precision."""
        if self.dtype == np.float64:
            return value
        return self.node("Cast", value, to=self.onnx.TensorProto.FLOAT)

    def sum(self, value: str) -> str:
        """The sum of each row, (B, 1)."""
        return self.node("ReduceSum", value, self.integers([1]), keepdims=1)

    def mean(self, value: str) -> str:
        """The mean of each row, (B, 1)."""
        return self.node("ReduceMean", value, axes=[1], keepdims=1)


def checked_bytes(
    graph: Graph, output: str, in_features: int, out_features: int, notes: Mapping[str, str]
) -> bytes:
    """The finished model, checked by onnx, with the batch left open; `notes` become its metadata."""
    from ... import __version__

    helper, types = graph.onnx.helper, graph.onnx.TensorProto
    element = types.DOUBLE if graph.dtype == np.float64 else types.FLOAT
    graph.steps.append(helper.make_node("Identity", [output], ["y"]))
    model = helper.make_model(
        helper.make_graph(
            graph.steps,
            "rules",
            [helper.make_tensor_value_info("x", element, ["batch", in_features])],
            [helper.make_tensor_value_info("y", element, ["batch", out_features])],
            graph.initializers,
        ),
        producer_name="neuroplastic",
        producer_version=__version__,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
    )
    helper.set_model_props(model, dict(notes))
    graph.onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString()
    return content
