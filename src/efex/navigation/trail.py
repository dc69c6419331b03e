"""Trail: the likeliest way that led here, and which steps of it the map does not have."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from efex.navigation.chances import STAYING, Chances

LENGTH = 200
"""How many steps are remembered."""

PROOF = 7.0
"""How much less likely than a closed door, in nats, what a pair did in a row must be on the map for it to be closed."""

OFF_MAP = 4.0
"""What a step counts that is not on the map, in nats: two are proof."""


class Trail:
    """Decodes the last steps by Viterbi's algorithm; what a step really was is often seen only one step later."""

    def __init__(self, chances: Chances, seen: NDArray[np.bool_]) -> None:
        self._chances = chances
        self._score = np.where(seen, 0.0, -np.inf)
        self._steps: deque[tuple[int, NDArray[np.int64]]] = deque(maxlen=LENGTH)

    def follow(self, chances: Chances) -> None:
        """Go on under another map of the same nodes; what was decoded so far stays."""
        self._chances = chances
        self._steps.clear()

    def step(self, action: int, seen: NDArray[np.bool_]) -> None:
        """Take in that `action` led to one of the nodes that are `seen`."""
        with np.errstate(divide="ignore"):
            strayed = self._score + np.log(self._chances.doubt[:, action])
            onward = np.log(1 - self._chances.doubt[:, action]) + self._score
        sources, targets, chance = self._chances.edges[action]
        reached = onward[sources] + chance
        n = self._chances.n_nodes
        jump = int(strayed.argmax())
        score = np.full(n, strayed[jump] + np.log((1 - STAYING) / n))
        before = np.full(n, jump)
        stays = strayed + np.log(STAYING)
        better = stays > score
        score[better], before[better] = stays[better], np.flatnonzero(better)
        order = np.argsort(reached, kind="stable")
        best = np.full(n, -np.inf)
        source = np.zeros(n, np.int64)
        best[targets[order]], source[targets[order]] = reached[order], sources[order]
        better = best > score
        score[better], before[better] = best[better], source[better]
        score[~seen] = -np.inf
        self._score = score - score.max()
        self._steps.append((action, before))

    def closed(self) -> list[tuple[int, int]]:
        """Return the pairs that did not lead on, the last times they were taken, against what the map says.

        A pair that is on the way to that is doubted from now on: a door that was closed once may well be again.
        """
        against: dict[tuple[int, int], float] = {}
        for source, action, target in self._walked():
            pair, chance = (source, action), self._chances.on_map(source, action, target)
            if chance == 0:
                against[pair] = against.get(pair, 0.0) + OFF_MAP
            elif source == target:
                against[pair] = against.get(pair, 0.0) - math.log(chance)
            else:
                against[pair] = 0.0
        doubted = [pair for pair, proof in against.items() if proof >= OFF_MAP and self._chances.outcomes(*pair)]
        for pair in doubted:
            self._chances.suspect(*pair)
        return [pair for pair in doubted if against[pair] >= PROOF]

    def _walked(self) -> list[tuple[int, int, int]]:
        """Return the steps of the likeliest way here, the first one first."""
        node = int(self._score.argmax())
        walked = []
        for action, before in reversed(self._steps):
            walked.append((int(before[node]), action, node))
            node = int(before[node])
        return walked[::-1]
