"""Symbols: raw observations as hashable values, and those as text and JSON that come back as they were."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from efex.errors import InvalidArgumentError

Symbol = Any
"""What is seen: None, bool, int, float, str, bytes, or a tuple of these."""

PLAIN = frozenset({int, str, bool, bytes, type(None)})
"""Types whose values are symbols as they are, and equal only to themselves among values of their type."""

BASES: dict[type, Callable[[Any], Symbol]] = {
    int: int.__int__,
    str: str.__str__,
    float: float.__float__,
    bytes: bytes.__bytes__,
}
"""Plain types, and what makes a plain value of one whose type was made from it, whatever that says of itself."""

MOST_BITS = 13_000
"""Whole numbers of more bits, some 3,900 digits, are no symbols: Python refuses to write them, and so to save them."""

DEEPEST = 100
"""What is nested deeper than this is taken to hold itself."""

UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML has no way to hold."""


def to_symbol(observation: Any) -> Symbol:
    """Return the observation as a symbol: arrays and lists become tuples, mappings sorted tuples of pairs.

    Members of an enumeration of numbers or texts become plain numbers and texts, as a file gives them back.

    >>> from http import HTTPStatus
    >>> to_symbol([HTTPStatus.OK, {"door": np.array([1, 2])}])
    (200, (('door', (1, 2)),))
    """
    return _symbol(observation, 0)


def _symbol(observation: Any, depth: int) -> Symbol:
    if type(observation) in PLAIN:
        return _writable(observation) if type(observation) is int else observation
    if isinstance(observation, np.generic):
        observation = observation.item()
    if isinstance(observation, np.ndarray):
        observation = observation.tolist()
    observation = plain(observation)
    if observation is None or isinstance(observation, bool | float | str | bytes):
        return observation
    if isinstance(observation, int):
        return _writable(observation)
    if depth == DEEPEST:
        raise InvalidArgumentError(
            f"observations must not hold themselves or be nested more than {DEEPEST} deep, as this "
            f"{type(observation).__name__} is; pass observe= to turn each one into a symbol"
        )
    if isinstance(observation, list | tuple):
        return tuple(_symbol(part, depth + 1) for part in observation)
    if isinstance(observation, Mapping):
        pairs = ((_symbol(key, depth + 1), _symbol(value, depth + 1)) for key, value in observation.items())
        return tuple(sorted(pairs, key=repr))
    raise InvalidArgumentError(
        f"observations must be numbers, strings, bytes, arrays, or lists, tuples and mappings of these, "
        f"not {type(observation).__name__}; pass observe= to turn each one into a symbol"
    )


def plain(value: Any) -> Any:
    """Return the plain number, text or bytes that a value of a type made from these is; all others as they are.

    >>> from enum import Enum
    >>> class Colour(str, Enum):
    ...     RED = "red"
    >>> plain(Colour.RED), plain(True), plain(("red",))
    ('red', True, ('red',))
    """
    if type(value) in PLAIN:
        return value
    return next((as_base(value) for base, as_base in BASES.items() if isinstance(value, base)), value)


def _writable(number: int) -> int:
    if number.bit_length() > MOST_BITS:
        raise InvalidArgumentError(
            f"observations must be whole numbers of at most {MOST_BITS:,} bits, not of {number.bit_length():,}; "
            "pass observe= to turn each one into a symbol"
        )
    return number


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
