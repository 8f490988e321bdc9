"""Seeds of episodes: functions of a run's seed and the number of an episode alone. PyTorch is not needed for them."""

from __future__ import annotations

from typing import Literal

from ..errors import ConfigError, choose

Stream = Literal["training", "evaluation"]
"""Which episodes: those an agent learns from, or those it is judged on."""

_STREAMS: tuple[Stream, ...] = ("training", "evaluation")
_BITS = 31
_MASK = (1 << _BITS) - 1
_MULTIPLIERS = (0x5D1A6E33, 0x3B9C7A4F, 0x71E2C58B)


def mix(word: int) -> int:
    """A 64-bit word scrambled by the finaliser of splitmix64; a bijection."""
    word = (word + 0x9E3779B97F4A7C15) % 2**64
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def episode_seed(run_seed: int, episode: int, *, stream: Stream = "training") -> int:
    """The seed (32 bits) of one episode of a run.

    A function of its arguments alone, so that a run can be taken up at any episode.
    The top bit tells the streams apart, so that evaluation never sees an episode that any run trains on;
    the other 31 are the episode number sent through a permutation that the run seed keys, so that no two episodes
    of a run are alike.
    """
    choose("stream", stream, _STREAMS)
    if not 0 <= run_seed < 2**64:
        raise ConfigError(f"run_seed must be at least 0 and below 2**64, got {run_seed}")
    if not 0 <= episode < 2**_BITS:
        raise ConfigError(f"episode must be at least 0 and below 2**{_BITS}, got {episode}")
    top = _STREAMS.index(stream)
    key = mix(run_seed) ^ top
    x = episode
    for multiplier in _MULTIPLIERS:  # each line is a bijection of 31-bit words: add, odd multiple, xor-shift
        key = mix(key)
        x = (x + key) & _MASK
        x = x * multiplier & _MASK
        x ^= x >> 15
    return top << _BITS | x
