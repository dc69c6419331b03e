"""Observation symbols as text and as JSON: what goes out comes back as the same symbol of the same type."""

from __future__ import annotations

import base64
import math
import re
from typing import Any

import numpy as np

from efex.errors import InvalidArgumentError
from efex.experience import Symbol

UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML has no way to hold."""


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
