"""Convolutions with layer norm, of which the encoders of pictures are made."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ...errors import ConfigError, InputError
from ...fuzzy.backends import backend_for
from ..observation import Observation


def normed(convolution: nn.Conv2d) -> list[nn.Module]:
    """A convolution, layer norm over its planes, and ReLU."""
    return [convolution, nn.GroupNorm(1, convolution.out_channels), nn.ReLU()]


class NormedConvolutions(nn.Sequential):
    """Convolutions, layer norms and ReLUs by turns; on a GPU with Triton the last two of each three are one kernel."""

    def forward(self, x: Tensor) -> Tensor:
        """Planes (B, channels, height, width) of planes."""
        if not self._fuses(x):
            planes: Tensor = super().forward(x)  # type: ignore[no-untyped-call]
            return planes
        from ..fused_norm import norm_relu, serves  # Triton takes a second to import

        layers = list(self)
        for convolution, norm, relu in zip(layers[::3], layers[1::3], layers[2::3], strict=True):
            assert isinstance(norm, nn.GroupNorm)
            x = convolution(x)
            x = norm_relu(x, norm) if serves(x) else relu(norm(x))
        return x

    def _fuses(self, x: Tensor) -> bool:
        """Whether layer norm and ReLU are one kernel: on a GPU with Triton, in single precision."""
        return x.is_cuda and not torch.is_autocast_enabled("cuda") and backend_for(x).name == "triton"


def check_picture(encoder: str, observation: Observation) -> None:
    """Raise a ConfigError where an encoder of pictures is to be built for vectors."""
    if not observation.is_picture:
        raise ConfigError(
            f"the encoder {encoder!r} takes pictures, this task shows vectors {observation.shape}; "
            "use --encoder attributes"
        )


def brightness(pictures: Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Planes (B, channels, height, width), 0 to 1, of pictures (B, height, width, channels) of that shape."""
    if tuple(pictures.shape[1:]) != shape:
        raise InputError(
            f"pictures must have shape (B, {', '.join(map(str, shape))}), got {tuple(pictures.shape)}"
        )
    # A view whose memory is channels-last, which the convolutions keep: faster both ways (measured on a CPU).
    return pictures.permute(0, 3, 1, 2).to(dtype) / 255
