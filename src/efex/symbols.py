"""Symbols: raw observations as hashable values, and those as text and JSON that come back as they were."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from efex.errors import InvalidArgumentError

Symbol = Any
"""What is seen: None, bool, int, float, str, bytes, or a tuple of these."""

PLAIN = frozenset({int, str, bool, bytes, type(None)})
"""Types whose values are symbols as they are, and equal only to themselves among values of their type."""

UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML has no way to hold."""


def to_symbol(observation: Any) -> Symbol:
    """Return the observation as a symbol: arrays and lists become tuples, mappings sorted tuples of pairs."""
    if type(observation) in PLAIN:
        return observation
    if isinstance(observation, np.generic):
        observation = observation.item()
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


def symbol_text(symbol: Symbol) -> str:
    """Return a string as it is, any other symbol, and a string that XML cannot hold, as Python writes it."""
    if isinstance(symbol, np.generic):
        symbol = symbol.item()
    if isinstance(symbol, str) and not UNPRINTABLE.search(symbol):
        return symbol
    return repr(symbol)


def encode_symbol(symbol: Symbol) -> Any:
    """Return the symbol in JSON's types; tuples, bytes and infinities become objects that name their type."""
    if isinstance(symbol, np.generic):
        symbol = symbol.item()
    if isinstance(symbol, tuple):
        return {"tuple": [encode_symbol(part) for part in symbol]}
    if isinstance(symbol, bytes):
        return {"bytes": base64.b64encode(symbol).decode("ascii")}
    if isinstance(symbol, float) and not math.isfinite(symbol):
        return {"float": repr(symbol)}
    if symbol is None or isinstance(symbol, bool | int | float | str):
        return symbol
    raise InvalidArgumentError(
        "observations must be None, bool, int, float, str, bytes or tuples of these to be written, "
        f"not {type(symbol).__name__}"
    )


def decode_symbol(encoded: Any) -> Symbol:
    """Return the symbol that `encode_symbol` was given."""
    if not isinstance(encoded, dict):
        return encoded
    if "tuple" in encoded:
        return tuple(decode_symbol(part) for part in encoded["tuple"])
    if "bytes" in encoded:
        return base64.b64decode(encoded["bytes"])
    return float(encoded["float"])
