"""The paper's picture encoder: four convolutions that turn an 84 x 84 RGB picture into 1600 features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..errors import ConfigError, InputError
from ..fuzzy.backends import backend_for
from ..fuzzy.tracing import may_look
from .keeping import keeping
from .norm_drop import norm_relu_drop
from .observation import Observation
from .passes import recomputing
from .settled import Settled

# (in-channels, out-channels, kernel size, stride); none has a bias, batch norm brings one.
CONVOLUTIONS = ((3, 8, 3, 2), (8, 8, 3, 2), (8, 8, 5, 1), (8, 16, 7, 1))
PICTURE = (84, 84, 3)
FEATURES = 1600
# The last planes have CELLS x CELLS cells.
CELLS = 10
# Kernels count places in 32 bits; the first planes have more values than the pictures.
MOST_VALUES = 2**30


class PictureEncoder(nn.Module):
    """Pictures (B, 84, 84, 3), values 0 to 255 in uint8 or float, to features (B, 1600).

    Each convolution is followed by batch norm, ReLU and dropout; the last one's (16, 10, 10) planes are
    flattened row-major. In evaluation mode without gradients, batch norm and the division by 255 are folded
    into the convolutions: equal to the unfolded pass up to rounding (1e-5), and faster. The folded weights are
    kept until a parameter or a running statistic changes, whoever writes it (see `settled.py`). On a GPU, where to look
    for changes is a wait, nothing is kept; with Triton the stages are kernels of our own (see `fused_stages.py`).
    """

    out_features = FEATURES

    @keeping()
    def __init__(self, *, dropout: float = 0.2, feature_norm: bool = False) -> None:
        """`dropout`: probability of a zero in training; `feature_norm`: layer-normalise the features."""
        super().__init__()
        if not 0 <= dropout < 1:
            raise ConfigError(f"dropout must lie in [0, 1), got {dropout!r}")
        self.dropout = dropout
        self.convolutions = nn.ModuleList(
            nn.Conv2d(before, after, size, stride, bias=False) for before, after, size, stride in CONVOLUTIONS
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(after) for _, after, _, _ in CONVOLUTIONS)
        self.feature_norm = nn.LayerNorm(FEATURES) if feature_norm else nn.Identity()
        self.settled: Settled[list[tuple[Tensor, Tensor]]] = Settled()

    def forward(self, pictures: Tensor) -> Tensor:
        """Features (B, 1600) of pictures (B, 84, 84, 3)."""
        if pictures.ndim != 4 or pictures.shape[1:] != PICTURE:
            raise InputError(
                f"pictures must have shape (B, 84, 84, 3): height, width, RGB; got {tuple(pictures.shape)}"
            )
        if self._fuses(pictures):
            features: Tensor = self.feature_norm(self._fused_stages(pictures))
            return features
        # A view whose memory is channels-last, which the convolutions keep: faster both ways (measured on a CPU).
        x = pictures.permute(0, 3, 1, 2).to(next(self.parameters()).dtype)
        unfolded = self.training or torch.is_grad_enabled() or not may_look(x)
        planes = self._convolve(x) if unfolded else self._convolve_folded(x)
        features = self.feature_norm(planes.flatten(1))
        return features

    def feature_names(self, observation: Observation) -> list[str]:
        """Plane, row and column of every feature."""
        places = (divmod(rest, CELLS) for rest in range(CELLS * CELLS))
        cells = [f"row {row + 1} column {column + 1}" for row, column in places]
        return [f"feature {plane + 1} {cell}" for plane in range(FEATURES // len(cells)) for cell in cells]

    def scaling(self) -> None:
        """Features have no units."""

    def _fuses(self, pictures: Tensor) -> bool:
        """Whether the kernels of `fused_stages` serve: on a GPU, but for passes that they cannot give a gradient of."""
        if not pictures.is_cuda or backend_for(next(self.parameters())).name != "triton":
            return False
        if not 0 < pictures.numel() < MOST_VALUES or pictures.dtype not in (torch.uint8, torch.float32):
            return False
        if pictures.requires_grad or torch.is_autocast_enabled("cuda") or recomputing():
            return False
        norms = [norm for _, norm in self._stages()]
        if self.training:
            return all(norm.training and norm.momentum is not None for norm in norms)
        return not torch.is_grad_enabled() and not any(norm.training for norm in norms)

    def _fused_stages(self, pictures: Tensor) -> Tensor:
        from .fused_stages import Stage, settled_stages, training_stages  # Triton takes a second to import

        stages = [Stage(convolution, norm) for convolution, norm in self._stages()]
        if self.training:
            return training_stages(pictures, stages, 1 / 255, self.dropout)
        return settled_stages(pictures, stages, 1 / 255)

    def _convolve(self, x: Tensor) -> Tensor:
        for index, (convolution, norm) in enumerate(self._stages()):
            # Brightness on the first convolution's weights, which are fewer than the pixels.
            weight = convolution.weight if index else convolution.weight * (1 / 255)
            x = functional.conv2d(x, weight, stride=convolution.stride)
            if norm.training and self.training:
                x = norm_relu_drop(x, norm, self.dropout)
            else:  # evaluation, or statistics frozen by hand
                x = functional.dropout(functional.relu(norm(x)), self.dropout, self.training)
        return x

    def _convolve_folded(self, x: Tensor) -> Tensor:
        for (weight, bias), (_, _, _, stride) in zip(self._folded(len(x)), CONVOLUTIONS, strict=True):
            x = functional.conv2d(x, weight, bias, stride).relu_()
        return x

    def _stages(self) -> Iterator[tuple[nn.Conv2d, nn.BatchNorm2d]]:
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            assert isinstance(convolution, nn.Conv2d)
            assert isinstance(norm, nn.BatchNorm2d)
            yield convolution, norm

    def _folded(self, observations: int) -> list[tuple[Tensor, Tensor]]:
        """Weights and biases with batch norm (and, in the first convolution, 1 / 255) multiplied in."""
        parts = (*self.convolutions, *self.norms)
        held = (tensor for part in parts for tensor in (*part._parameters.values(), *part._buffers.values()))
        tensors = [tensor for tensor in held if tensor is not None]
        return self.settled.value(tensors, self._fold, observations=observations)

    def _fold(self) -> list[tuple[Tensor, Tensor]]:
        return [
            _fold_one(convolution.weight if index else convolution.weight / 255, norm)
            for index, (convolution, norm) in enumerate(self._stages())
        ]

    def train(self, mode: bool = True) -> PictureEncoder:
        """Set training or evaluation mode, and look anew at what is kept for evaluation."""
        self.settled.doubt()
        return super().train(mode)

    def _apply(self, fn: Any, recurse: bool = True) -> PictureEncoder:
        self.settled.forget()  # it would hold on to memory that is given up
        with keeping():
            super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self


def _fold_one(weight: Tensor, norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
    bias = norm.bias - norm.running_mean * scale
    folded = weight * scale.view(-1, 1, 1, 1)
    return folded.contiguous(memory_format=torch.channels_last), bias
