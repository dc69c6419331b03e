"""Raw observations of any kind as hashable symbols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from efex.errors import InvalidArgumentError
from efex.experience import Symbol


def to_symbol(observation: Any) -> Symbol:
    """Return the observation as a symbol: arrays and lists become tuples, mappings sorted tuples of pairs."""
    if isinstance(observation, np.generic):
        return observation.item()
    if observation is None or isinstance(observation, bool | int | float | str | bytes):
        return observation
    if isinstance(observation, np.ndarray):
        return to_symbol(observation.tolist())
    if isinstance(observation, list | tuple):
        return tuple(to_symbol(part) for part in observation)
    if isinstance(observation, Mapping):
        pairs = ((to_symbol(key), to_symbol(value)) for key, value in observation.items())
        return tuple(sorted(pairs, key=repr))
    raise InvalidArgumentError(
        f"observations must be numbers, strings, bytes, arrays, or lists, tuples and mappings of these, "
        f"not {type(observation).__name__}; pass observe= to turn each one into a symbol"
    )
