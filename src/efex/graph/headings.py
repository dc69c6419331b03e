"""Headings: which way every node looks, in quarters of a round, if two actions turn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.graph.steps import Ids, Steps

QUARTERS = 4
"""Turns that make a round."""

ALWAYS = 0.9
"""How often, at least, turns must do what turns do."""


class Headings(NamedTuple):
    """Which way every node looks, and by how many quarters every action turns: one, back, or not at all."""

    of: Ids
    turn: Ids


def headings(steps: Steps) -> Iterator[Headings]:
    """Yield what every two actions make of it that undo one another and are back where they began after a round."""
    leads_to = np.full((steps.n_actions, steps.n), -1)
    leads_to[steps.action, steps.source] = steps.target
    for left, right in combinations(range(steps.n_actions), 2):
        if _turns(leads_to, left, right):
            turn = np.zeros(steps.n_actions, np.int64)
            for quarters, kind in ((1, left), (-1, right)):
                turn[[_alike(leads_to[kind], leads_to[other]) for other in range(steps.n_actions)]] = quarters
            of = _spread(steps, turn)
            if (of[steps.target] == (of[steps.source] + turn[steps.action]) % QUARTERS).mean() >= ALWAYS:
                yield Headings(of, turn)


def _turns(leads_to: Ids, left: int, right: int) -> bool:
    """Return whether two actions undo one another, and four of one are a round while two are not."""
    return _back(leads_to, left, right) and _back(leads_to, *[left] * QUARTERS) and not _back(leads_to, left, left)


def _alike(one: Ids, other: Ids) -> bool:
    """Return whether two actions lead to the same from most nodes, of those from which both were tried."""
    both = (one >= 0) & (other >= 0)
    return bool((one[both] == other[both]).sum() >= ALWAYS * max(both.sum(), 1))


def _back(leads_to: Ids, *actions: int) -> bool:
    """Return whether actions lead back from most nodes, of those from which they were tried."""
    begin = np.arange(leads_to.shape[1])
    at = begin
    for action in actions:
        at = np.where(at < 0, -1, leads_to[action, at])
    return bool((at == begin).sum() >= ALWAYS * max((at >= 0).sum(), 1))


def _spread(steps: Steps, turn: Ids) -> NDArray[np.int64]:
    """Return which way nodes look if one of every part of the graph looks ahead, by the first way there."""
    of = np.full(steps.n, -1)
    source = np.concatenate([steps.source, steps.target])
    target = np.concatenate([steps.target, steps.source])
    turned = np.concatenate([turn[steps.action], -turn[steps.action]])
    while (of < 0).any():
        of[np.argmin(of)] = 0
        while len(new := np.flatnonzero((of[source] >= 0) & (of[target] < 0))):
            of[target[new]] = (of[source[new]] + turned[new]) % QUARTERS
    return of
