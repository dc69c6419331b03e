"""Lookahead: what an action costs when one does not know where one is, the observations to come counted in."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.navigation.chances import Chances

DEPTH = 2
"""How many steps are looked ahead."""

DOUBT = 2.0
"""What a nat of doubt about where one is costs, in steps."""

CERTAIN = 0.99
"""A belief that gives one node so much is taken to be sure of it."""

Places = dict[int, float]
"""A few nodes and what each is believed in; need not sum to one."""


class Prospect(NamedTuple):
    """What each action is expected to cost, and how many nats of doubt are left where the lookahead ends."""

    cost: NDArray[np.float64]
    doubt: NDArray[np.float64]


class Lookahead:
    """Expected steps to a goal from a belief, when `steps` says what they are from every node."""

    def __init__(self, chances: Chances, steps: NDArray[np.float64]) -> None:
        self._chances = chances
        self._steps: list[float] = steps.tolist()

    def prospect(self, places: Places, depth: int = DEPTH) -> Prospect:
        """Return what every action is expected to cost from here, looking `depth` steps ahead."""
        total = sum(places.values())
        costs, doubts = [], []
        for action in range(self._chances.n_actions):
            cost = doubt = 0.0
            for seen in self._ahead(places, action).values():
                share, (onward, unclear) = sum(seen.values()) / total, self._value(seen, depth - 1)
                cost += share * onward
                doubt += share * unclear
            costs.append(1 + cost)
            doubts.append(doubt)
        return Prospect(np.array(costs), np.array(doubts))

    def mistake(self, node: int, action: int) -> float:
        """Return how many more steps it takes from `node` when it begins with `action`."""
        onward = self._chances.outcomes(node, action) or [(node, 1.0)]
        return max(1 + sum(p * self._steps[target] for target, p in onward) - self._steps[node], 0.0)

    def _value(self, places: Places, depth: int) -> tuple[float, float]:
        total = sum(places.values())
        steps = sum(p * self._steps[node] for node, p in places.items()) / total
        if steps == 0 or max(places.values()) >= CERTAIN * total:
            return steps, 0.0
        if depth > 0:
            prospect = self.prospect(places, depth)
            best = int(prospect.cost.argmin())
            return float(prospect.cost[best]), float(prospect.doubt[best])
        unclear = entropy(places)
        return steps + DOUBT * unclear, unclear

    def _ahead(self, places: Places, action: int) -> dict[int, Places]:
        """Return what may be seen after `action`, and the nodes it then may be; an untried pair stays in place."""
        codes, seen = self._chances.codes, defaultdict[int, Places](dict)
        for node, p in places.items():
            for target, chance in self._chances.outcomes(node, action) or [(node, 1.0)]:
                among = seen[int(codes[target])]
                among[target] = among.get(target, 0.0) + p * chance
        return seen


def entropy(places: Places) -> float:
    """Return the doubt about which of the places it is, in nats."""
    total = sum(places.values())
    return -sum(p / total * math.log(p / total) for p in places.values() if p > 0)
