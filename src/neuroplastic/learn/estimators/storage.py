"""Fitted estimators on disk, by `npl.save` and `npl.load`: a network's file with settings and scales in its header."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...decoding import decoded, shown
from ...errors import ConfigError, at_least
from ...network.consequents import Affine, Constant
from ...network.nfn import NeuroFuzzyNetwork
from ...network.storage import Kind, register
from ...network.taking_over import check_finite, check_form, take_over
from ...rules.names import unique
from ...rules.true_names import LEVELS, NamedSet
from .base import NeuroFuzzyEstimator
from .classifier import NeuroFuzzyClassifier
from .encoding import Encoder, column_names, plain_numbers
from .errors import need_fit
from .regressor import NeuroFuzzyRegressor
from .stored_labels import Labels
from .training import History

_NETWORK, _ARRAY = "network.", "estimator."
_ARRAYS = (
    *("offset_", "scale_", "target_offset_", "target_scale_", "limits_", "quantiles_"),
    *("clip_", "cases_", "shares_"),
)
_LABELS = ("feature_names_in_", "classes_")


@dataclass(frozen=True)
class _Fitted:
    """What an estimator has learned that JSON holds as it is."""

    n_features_in_: int
    n_iter_: int


@dataclass(frozen=True)
class _FittedRegressor(_Fitted):
    """What a regressor has learned besides."""

    n_outputs_: int
    _one_dimensional: bool
    target_names_: list[str] | None = None


@dataclass(frozen=True)
class _Saved:
    """The configuration of an estimator's file."""

    parameters: dict[str, Any]
    network: dict[str, Any]
    fitted: dict[str, Any]
    history: History | None = None
    feature_names_in_: Labels | None = None
    encoder_: Encoder | None = None
    classes_: Labels | None = None
    kept_names_: dict[str, list[tuple[str, float, float]]] | None = None


@dataclass(frozen=True)
class _ClassWeight:
    """Weights by class, whose labels need not be text."""

    labels: Labels
    weights: list[float]

    def as_dict(self) -> dict[Any, float]:
        labels = self.labels.array("class_weight", len(self.weights)).tolist()
        return dict(zip(labels, self.weights, strict=True))


_FITTED: dict[type[NeuroFuzzyEstimator], type[_Fitted]] = {
    NeuroFuzzyClassifier: _Fitted,
    NeuroFuzzyRegressor: _FittedRegressor,
}


def _parts(estimator: NeuroFuzzyEstimator) -> tuple[dict[str, Any], dict[str, Tensor]]:
    need_fit(estimator)
    estimator._check_parameters()  # those that were changed since would make a file that cannot be read
    learned = vars(estimator)
    plain = [field.name for field in fields(_FITTED[type(estimator)])]
    config: dict[str, Any] = {
        "parameters": _parameters(estimator),
        "network": estimator.network_.config(),
        "fitted": {name: learned[name] for name in plain if name in learned},
        "encoder_": asdict(estimator.encoder_),
    }
    if learned.get("kept_names_") is not None:
        config["kept_names_"] = learned["kept_names_"]
    if "history_" in learned:
        config["history"] = asdict(learned["history_"])
    config |= {name: asdict(Labels.of(name, learned[name])) for name in _LABELS if name in learned}
    tensors = {_NETWORK + name: tensor for name, tensor in estimator.network_.state_dict().items()}
    tensors |= {
        _ARRAY + name: torch.from_numpy(learned[name].copy())
        for name in _ARRAYS
        if learned.get(name) is not None
    }
    return config, tensors


def _parameters(estimator: NeuroFuzzyEstimator) -> dict[str, Any]:
    """The constructor's arguments. A generator object cannot be told in JSON: None takes its place."""
    found = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in estimator.get_params(deep=False).items()
    }
    if isinstance(found["random_state"], np.random.RandomState):
        found["random_state"] = None
    if found["words"] is not None:
        found["words"] = {name: list(words) for name, words in found["words"].items()}
    weights = found.get("class_weight")
    if isinstance(weights, Mapping):  # JSON has no keys but text
        labels = asdict(Labels.of("class_weight", np.array(list(weights))))
        found["class_weight"] = {"labels": labels, "weights": [float(value) for value in weights.values()]}
    return found


def _build(
    kind: type[NeuroFuzzyEstimator], config: dict[str, Any], tensors: dict[str, Tensor]
) -> NeuroFuzzyEstimator:
    saved: _Saved = decoded(_Saved, config, "config")
    estimator = kind(**_read_parameters(kind, saved.parameters))
    estimator._check_parameters()
    of_network, arrays = _apart(tensors)
    net = take_over(NeuroFuzzyNetwork.from_config(saved.network, device="meta"), of_network)
    if not isinstance(net.consequent_config, Constant if estimator.readable else Affine):
        raise ConfigError(
            f"the network of an estimator with readable={estimator.readable} must have "
            f"{'constant' if estimator.readable else 'affine'} consequents"
        )
    learned = _read_fitted(kind, saved, net) | _read_arrays(kind, net, arrays)
    for name, value in learned.items():  # names that stand in this file, none of the header's
        setattr(estimator, name, value)
    estimator.network_ = net.eval()
    return estimator


def _read_parameters(kind: type[NeuroFuzzyEstimator], saved: dict[str, Any]) -> dict[str, Any]:
    """The constructor's arguments, by their types; truth and whole numbers may change places, as in `verbose=True`."""
    hints = typing.get_type_hints(kind.__init__)
    weights = saved.get("class_weight")
    if isinstance(weights, dict):
        saved = {**saved, "class_weight": decoded(_ClassWeight, weights, "parameters.class_weight").as_dict()}
    for name, value in saved.items():
        if name not in kind._get_param_names():
            raise ConfigError(f"parameters has an unknown field {shown(name)}")
        if name == "class_weight" and isinstance(value, dict):
            continue
        decoded(hints[name] | bool | int, value, f"parameters.{name}")
    seed = saved.get("random_state")
    if seed is not None and not 0 <= seed < 2**32:
        raise ConfigError(f"parameters.random_state must lie in 0 to 2**32 - 1, got {seed}")
    return saved


def _read_fitted(kind: type[NeuroFuzzyEstimator], saved: _Saved, net: NeuroFuzzyNetwork) -> dict[str, Any]:
    """What JSON holds of what was learned, as far as it fits the network."""
    fitted: _Fitted = decoded(_FITTED[kind], saved.fitted, "fitted")
    learned: dict[str, Any] = dict(vars(fitted))
    at_least("fitted.n_iter_", fitted.n_iter_, 0)
    learned["encoder_"] = _read_encoder(saved, fitted.n_features_in_, net)
    if isinstance(fitted, _FittedRegressor):
        _equal("fitted.n_outputs_", fitted.n_outputs_, net.out_features)
        if fitted._one_dimensional:
            _equal("fitted.n_outputs_ of one dimension", fitted.n_outputs_, 1)
        if fitted.target_names_ is not None:
            _equal("the number of fitted.target_names_", len(fitted.target_names_), net.out_features)
    if (saved.classes_ is not None) != (kind is NeuroFuzzyClassifier):
        raise ConfigError(f"classes_ must be there for a classifier, and only there, got a {kind.__name__}")
    if saved.classes_ is not None:
        learned["classes_"] = _sorted(saved.classes_.array("classes_", net.out_features))
    if saved.feature_names_in_ is not None:
        names = saved.feature_names_in_.array("feature_names_in_", fitted.n_features_in_)
        if not all(isinstance(name, str) for name in names.tolist()):
            raise ConfigError("feature_names_in_ must be text")
        learned["feature_names_in_"] = names.astype(object)
    if saved.kept_names_ is not None:
        learned["kept_names_"] = {
            name: [NamedSet(*one) for one in sets] for name, sets in saved.kept_names_.items()
        }
        for name, sets in learned["kept_names_"].items():
            unique(f"kept name of {shown(name)}", [one.name for one in sets])
    if saved.history is not None:
        learned["history_"] = saved.history
    return learned


def _read_encoder(saved: _Saved, columns: int, net: NeuroFuzzyNetwork) -> Encoder:
    """What the columns are; in files of version 0.1 they are numbers, none of them missing."""
    if saved.encoder_ is None:
        _equal("fitted.n_features_in_", columns, net.in_features)
        names = saved.feature_names_in_
        return plain_numbers(column_names(columns, None if names is None else names.values))
    if len(saved.encoder_.columns) != columns:
        raise ConfigError(f"encoder_ must have {columns} columns, got {len(saved.encoder_.columns)}")
    _equal("the width of encoder_", saved.encoder_.width, net.in_features)
    return saved.encoder_


def _read_arrays(
    kind: type[NeuroFuzzyEstimator], net: NeuroFuzzyNetwork, tensors: dict[str, Tensor]
) -> dict[str, NDArray[Any]]:
    """Offsets, scales and limits: one for each input, and in regression scales of each target."""
    sizes: dict[str, tuple[int, ...]] = {"offset_": (net.in_features,), "scale_": (net.in_features,)}
    if kind is NeuroFuzzyRegressor:
        sizes |= {"target_offset_": (net.out_features,), "target_scale_": (net.out_features,)}
    further = {
        "limits_": (2, net.in_features),  # files of version 0.1 have none, nor the next
        "quantiles_": (len(LEVELS), net.in_features),
        "clip_": (2, net.in_features),  # of readable models, as the next two
        "cases_": (net.rules,),
        "shares_": (net.rules, net.out_features),
    }
    sizes |= {name: size for name, size in further.items() if name in tensors}
    if tensors.keys() != sizes.keys():
        raise ConfigError(
            f"the estimator's tensors must be {', '.join(sizes)}, got {shown(', '.join(tensors))}"
        )
    for name, size in sizes.items():
        check_form(name, tensors[name], torch.empty(size, dtype=torch.float64, device="meta"))
        check_finite(name, tensors[name])
        if name.endswith("scale_") and not bool((tensors[name] > 0).all()):
            raise ConfigError(f"the tensor {name} must be above 0")
        if name == "quantiles_" and bool((tensors[name].diff(dim=0) < 0).any()):
            raise ConfigError("the tensor quantiles_ must not fall from one level to the next")
    if "cases_" in tensors and bool((tensors["cases_"] < 0).any()):
        raise ConfigError("the tensor cases_ must be at least 0")
    return {name: tensor.double().numpy().copy() for name, tensor in tensors.items()}


def _apart(tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The network's tensors and the estimator's own, by their names there."""
    found: dict[str, dict[str, Tensor]] = {_NETWORK: {}, _ARRAY: {}}
    for name, tensor in tensors.items():
        part = next((part for part in found if name.startswith(part)), None)
        if part is None:
            raise ConfigError(
                f"there is a tensor {shown(name)} that is neither the network's nor the estimator's"
            )
        found[part][name.removeprefix(part)] = tensor
    return found[_NETWORK], found[_ARRAY]


def _sorted(classes: NDArray[Any]) -> NDArray[Any]:
    try:
        if np.array_equal(np.unique(classes), classes):
            return classes
    except TypeError:  # text and numbers have no order between them
        pass
    raise ConfigError("classes_ must be in order, none of them twice")


def _equal(name: str, value: int, wanted: int) -> None:
    if value != wanted:
        raise ConfigError(f"{name} must be {wanted} as in the network, got {value}")


for _kind in (NeuroFuzzyClassifier, NeuroFuzzyRegressor):
    register(_kind.__name__, Kind(_parts, lambda config, tensors, kind=_kind: _build(kind, config, tensors)))  # type: ignore[misc]
