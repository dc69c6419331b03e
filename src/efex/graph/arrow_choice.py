"""Which way every arrow of a small map takes, so that curves and labels keep out of one another's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from efex.graph.arrow_labels import Label
from efex.graph.arrow_ways import AIR, CLASH, CROSSED, SAMPLES, Ways, within
from efex.graph.marks import HEAD, Points

HEADLESS = 30.0
"""What a label costs on the head of another arrow."""

TOGETHER, MET = 10.0, 5.0
"""What curves cost that run together all the way, and two that begin or end in one place."""

ROUNDS = 6
"""So often every arrow may look for a better way."""


def choose_ways(ways: Sequence[Ways], labels: Sequence[Label]) -> list[tuple[int, int]]:
    """Return the (curve, middle) of every arrow: the cheapest among those of the others, in rounds until it settles."""
    halves = np.stack([label.half for label in labels])
    paths, middles = np.zeros((len(ways), SAMPLES, 2)), np.zeros((len(ways), 2))
    chosen = [(-1, -1)] * len(ways)
    for number in range(ROUNDS):
        before = list(chosen)
        for i, way in enumerate(ways):
            others = [j for j in range(len(ways) if number else i) if j != i]
            crowd = _crowding(way, halves[i], paths[others], middles[others], halves[others])
            chosen[i] = route, spot = _cheapest(way.cost + crowd)
            paths[i], middles[i] = way.paths[route], way.middles[route, spot]
        if chosen == before:
            break
    return chosen


def _cheapest(cost: Points) -> tuple[int, int]:
    route, spot = divmod(int(np.argmin(cost)), cost.shape[1])
    return route, spot


def _crowding(way: Ways, half: Points, paths: Points, middles: Points, halves: Points) -> Points:
    """Return what every choice costs among the curves and labels of the other arrows."""
    if len(paths) == 0:
        return np.zeros_like(way.cost)
    close = cdist(way.paths.reshape(-1, 2), paths.reshape(-1, 2)).reshape(*way.paths.shape[:2], *paths.shape[:2])
    together = np.any(close < HEAD, axis=(2, 3)).mean(axis=1)
    met = np.sum(close[:, [0, -1]][:, :, :, [0, -1]] < HEAD, axis=(1, 2, 3))
    under = within(way.paths[:, None], middles[:, None], halves[:, None] + 2 * AIR)
    over = within(paths, way.middles[:, :, None, None], half + 2 * AIR)
    on = within(middles, way.middles[:, :, None], half + halves + AIR)
    curve = TOGETHER * together + MET * met + _hidden(under)
    return np.asarray(curve[:, None] + _hidden(over) + CLASH * on.sum(axis=2))


def _hidden(covered: NDArray[np.bool_]) -> Points:
    """Return what it costs that these points of curves are under labels, the last of which are heads."""
    return np.asarray((CROSSED * covered.any(axis=-1) + HEADLESS * covered[..., -1]).sum(axis=-1))
