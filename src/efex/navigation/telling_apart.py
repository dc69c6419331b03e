"""Telling places apart: actions after which two nodes that may be the same place show different things."""

from __future__ import annotations

from collections import deque

from efex.navigation.chances import Chances

PAIRS = 5_000
"""How many pairs of nodes are looked at before two nodes pass for the same place."""


class Distinctions:
    """Finds the shortest experiment on any two nodes, following the likeliest outcome of every action."""

    def __init__(self, chances: Chances) -> None:
        self._chances = chances
        self._found: dict[tuple[int, int], tuple[int, ...]] = {}

    def experiment(self, one: int, other: int) -> tuple[int, ...]:
        """Return the shortest sequence of actions that tells the nodes apart, empty if there is none."""
        pair = (min(one, other), max(one, other))
        if pair not in self._found:
            self._found[pair] = self._search(*pair)
        return self._found[pair]

    def _search(self, one: int, other: int) -> tuple[int, ...]:
        """Search breadth first over the pairs that the two nodes can become."""
        chances, codes = self._chances, self._chances.codes
        todo: deque[tuple[int, int, tuple[int, ...]]] = deque([(one, other, ())])
        seen = {(one, other)}
        while todo and len(seen) < PAIRS:
            a, b, done = todo.popleft()
            for action in range(chances.n_actions):
                x, y = chances.likeliest(a, action), chances.likeliest(b, action)
                if x < 0 or y < 0 or x == y or (x, y) in seen:
                    continue
                if codes[x] != codes[y]:
                    return (*done, action)
                seen.add((x, y))
                todo.append((x, y, (*done, action)))
        return ()
