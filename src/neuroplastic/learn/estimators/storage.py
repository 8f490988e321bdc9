"""Fitted estimators on disk, by `npl.save` and `npl.load`: a network's file with settings and scales in its header."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import ConfigError
from ...network.nfn import NeuroFuzzyNetwork
from ...network.storage import Kind, register
from .base import NeuroFuzzyEstimator
from .classifier import NeuroFuzzyClassifier
from .errors import need_fit
from .regressor import NeuroFuzzyRegressor
from .training import History

_NETWORK, _ARRAY = "network.", "estimator."
_ARRAYS = ("offset_", "scale_", "target_offset_", "target_scale_")
_PLAIN = ("n_features_in_", "n_iter_", "n_outputs_", "_one_dimensional", "target_names_")


def _parts(estimator: NeuroFuzzyEstimator) -> tuple[dict[str, Any], dict[str, Tensor]]:
    need_fit(estimator)
    fitted = vars(estimator)
    config: dict[str, Any] = {
        "parameters": _parameters(estimator),
        "network": estimator.network_.config(),
        "fitted": {name: fitted[name] for name in _PLAIN if name in fitted},
    }
    if "history_" in fitted:
        config["history"] = vars(fitted["history_"])
    for name in ("feature_names_in_", "classes_"):
        if name in fitted:
            config[name] = _as_json(name, fitted[name])
    tensors = {_NETWORK + name: tensor for name, tensor in estimator.network_.state_dict().items()}
    tensors |= {_ARRAY + name: torch.from_numpy(fitted[name].copy()) for name in _ARRAYS if name in fitted}
    return config, tensors


def _parameters(estimator: NeuroFuzzyEstimator) -> dict[str, Any]:
    """The constructor's arguments. A generator object cannot be told in JSON: None takes its place."""
    found = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in estimator.get_params(deep=False).items()
    }
    if isinstance(found["random_state"], np.random.RandomState):
        found["random_state"] = None
    return found


def _as_json(name: str, values: NDArray[Any]) -> dict[str, Any]:
    """Labels with their type. JSON writes floats so that they read back the same, to the last bit."""
    listed = values.tolist()
    if not all(isinstance(value, (str, int, float)) for value in listed):
        odd = next(value for value in listed if not isinstance(value, (str, int, float)))
        raise ConfigError(
            f"{name} must be text, numbers or truth values to be saved, got {odd!r}; rename it first"
        )
    return {"type": values.dtype.str if values.dtype.kind in "biufU" else "object", "values": listed}


def _build(
    kind: type[NeuroFuzzyEstimator], config: dict[str, Any], tensors: dict[str, Tensor]
) -> NeuroFuzzyEstimator:
    estimator = kind(**config["parameters"])
    for name, value in config["fitted"].items():
        setattr(estimator, name, value)
    if "history" in config:
        estimator.history_ = History(**config["history"])
    for name in ("feature_names_in_", "classes_"):
        if name in config:
            setattr(estimator, name, np.array(config[name]["values"], dtype=config[name]["type"]))
    net = NeuroFuzzyNetwork.from_config(config["network"])
    state = {
        name.removeprefix(_NETWORK): tensor for name, tensor in tensors.items() if name.startswith(_NETWORK)
    }
    net.load_state_dict(state)
    estimator.network_ = net.eval()
    for name, tensor in tensors.items():
        if name.startswith(_ARRAY):
            setattr(estimator, name.removeprefix(_ARRAY), tensor.numpy().copy())
    return estimator


for _kind in (NeuroFuzzyClassifier, NeuroFuzzyRegressor):
    register(_kind.__name__, Kind(_parts, lambda config, tensors, kind=_kind: _build(kind, config, tensors)))  # type: ignore[misc]
