"""Checks of what a caller asks for: each returns the value it accepts, or says what it must be."""

import inspect
import math
import os
from collections.abc import Callable
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from efex.errors import InvalidArgumentError


def whole(name: str, value: Any, *, at_least: int) -> int:
    """Return `value` as an int of at least `at_least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise InvalidArgumentError(f"{name} must be a whole number of at least {at_least}, not {value!r}")
    return int(value)


def flag(name: str, value: Any) -> bool:
    """Return `value`, True or False."""
    if not isinstance(value, bool):
        raise InvalidArgumentError(f"{name} must be True or False, not {value!r}")
    return value


def fraction(name: str, value: Any) -> float:
    """Return `value` as a float above 0 and at most 1."""
    if not _is_number(value) or not 0 < value <= 1:
        raise InvalidArgumentError(f"{name} must be a number above 0 and at most 1, not {value!r}")
    return float(value)


def repetition(name: str, value: Any) -> float:
    """Return `value` as a float of at least 0 and below 1."""
    if not _is_number(value) or not 0 <= value < 1:
        raise InvalidArgumentError(f"{name} must be a number of at least 0 and below 1, not {value!r}")
    return float(value)


def amount(name: str, value: Any) -> float:
    """Return `value` as a finite float of at least 0."""
    if not _is_number(value) or value < 0:
        raise InvalidArgumentError(f"{name} must be a finite number of at least 0, not {value!r}")
    return float(value)


def finite(name: str, value: Any) -> float:
    """Return `value` as a finite float."""
    if not _is_number(value):
        raise InvalidArgumentError(f"{name} must be a finite number, not {value!r}")
    return float(value)


def tolerance(name: str, value: Any) -> float:
    """Return `value` as a finite float of at least 0."""
    if not _is_number(value) or value < 0:
        raise InvalidArgumentError(f"{name} must be a finite number of at least 0, not {value!r}")
    return float(value)


def function(name: str, value: Any) -> Callable[..., Any] | None:
    """Return `value`, a function or None."""
    if value is not None and not callable(value):
        raise InvalidArgumentError(f"{name} must be a function or None, not {value!r}")
    return value  # type: ignore[no-any-return]


def takes(asked: Callable[..., Any], *arguments: Any, **named: Any) -> bool:
    """Return whether a function can be called like this; of one that does not say what it takes, it is believed.

    >>> takes(lambda action: None, 3), takes(lambda: None, 3), takes(lambda: None, seed=0)
    (True, False, False)
    """
    try:
        inspect.signature(asked).bind(*arguments, **named)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def place(name: str, value: Any) -> Path:
    """Return `value` as a path."""
    if not isinstance(value, str | os.PathLike) or not str(value) or "\0" in str(value):
        raise InvalidArgumentError(f"{name} must be a path, text or a pathlib.Path, not {value!r}")
    return Path(value)


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
