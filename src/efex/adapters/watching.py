"""Watching the first observations: what is off about all of them is said early, not left to the map to show."""

from __future__ import annotations

import warnings

from efex.symbols import Symbol

WATCHED = 100
"""After so many observations it is looked at how many of them were different."""

NOTHINGS = 20
"""After so many times None, and nothing else, a return is missing."""


class Watch:
    """Sees every symbol; warns where nothing is ever seen twice, or where `observe` makes nothing of all there is."""

    def __init__(self, *, observed: bool) -> None:
        self._observed = observed
        self._shown = 0
        self._nothing = True
        self._numbers: set[Symbol] = set()

    def see(self, symbol: Symbol) -> None:
        """Take note of a symbol, and warn when it is time to."""
        if self._shown >= WATCHED:
            return
        self._shown += 1
        if self._observed:
            self._look_for_nothing(symbol)
        else:
            self._look_for_fractions(symbol)

    def _look_for_nothing(self, symbol: Symbol) -> None:
        self._nothing = self._nothing and symbol is None
        if self._nothing and self._shown == NOTHINGS:
            warnings.warn(
                f"observe returned None for each of the first {NOTHINGS} observations, so that all places are one: "
                "is a return missing in it?",
                stacklevel=2,
            )

    def _look_for_fractions(self, symbol: Symbol) -> None:
        if _has_fraction(symbol):
            self._numbers.add(symbol)
        if self._shown == WATCHED and len(self._numbers) > 0.9 * WATCHED:
            warnings.warn(
                f"{len(self._numbers)} of the first {WATCHED} observations are different and have fractions, so that "
                "nothing is seen twice; pass observe=, a function that rounds them",
                stacklevel=2,
            )


def _has_fraction(symbol: Symbol) -> bool:
    """Return whether a symbol is a number that is not whole, or a tuple that holds one."""
    if isinstance(symbol, tuple):
        return any(map(_has_fraction, symbol))
    return isinstance(symbol, float) and not symbol.is_integer()
