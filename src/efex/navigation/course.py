"""Course: what to do about a goal, given a belief over where one is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from efex.graph.latent import LatentGraph
from efex.graph.routes import routes
from efex.navigation.chances import Chances
from efex.navigation.lookahead import Lookahead, Places, entropy
from efex.navigation.telling_apart import Distinctions

CANDIDATES = 16
"""How many of the likeliest nodes are thought about."""

UNLIKELY = 0.01
"""Nodes less likely than this, relative to the likeliest, are not thought about."""

WRONG_WAY = 0.05
"""How many steps an action may cost on average for not knowing where one is, before that is found out first."""

TELLING = 0.9
"""Doubt that is expected to shrink to less than this share is being resolved on the way."""


class Course:
    """The routes to the nodes of `goal` on a map, and the actions that tell where on them one is."""

    def __init__(self, graph: LatentGraph, chances: Chances, distinctions: Distinctions, goal: frozenset[int]) -> None:
        self._distinctions = distinctions
        self._goal = goal
        plan = routes(with_ways_out(graph), goal)
        known = self._certain = np.isfinite(plan.steps)
        # Out of reach is farther than anything in reach, but not so far that nothing else matters.
        self.steps: NDArray[np.float64] = np.where(known, plan.steps, plan.steps[known].max() + graph.n_nodes)
        """The least expected steps to the goal from every node."""
        self._policy = plan.policy
        self.reachable: NDArray[np.bool_] = known | (plan.policy >= 0)
        """The nodes from which the goal can be reached."""
        self._lookahead = Lookahead(chances, self.steps)

    def is_reached(self, belief: NDArray[np.float64], sure: float) -> bool:
        """Return whether the belief is `sure` to be at the goal, or at what no experiment tells from it."""
        inside = float(belief[list(self._goal)].sum())
        if inside >= sure:
            return True
        if inside < 1 - sure:
            return False
        places = candidates(belief)
        here = max(self._goal, key=lambda node: belief[node])
        alike = sum(
            p for node, p in places.items() if node not in self._goal and not self._distinctions.experiment(here, node)
        )
        return inside + alike >= sure

    def actions(self, belief: NDArray[np.float64], available: NDArray[np.bool_]) -> tuple[int, ...]:
        """Return the available action that gets to the goal in the fewest expected steps, none if none helps.

        Where it is worth finding out first where one is, and that takes more than a few steps, all of these.
        """
        places = candidates(belief)
        best = max(places, key=lambda node: places[node])
        if not self.reachable[best]:
            return ()
        action = int(self._policy[best])
        if not self._certain[best]:
            return (action,) if available[action] else ()
        if len(places) == 1 and available[action]:
            return (action,)  # what is as good in sum may put arriving off for ever
        prospect = self._lookahead.prospect(places)
        action = int(np.where(available, prospect.cost, np.inf).argmin())
        is_telling = len(places) == 1 or prospect.doubt[action] <= TELLING * entropy(places)
        experiment = () if is_telling else self._experiment(places, action)
        return experiment if experiment and available[experiment[0]] else (action,)

    def _experiment(self, places: Places, action: int) -> tuple[int, ...]:
        """Return actions that tell places apart where `action` would be a mistake from where it is not, if any do."""
        total = sum(places.values())
        wrong = {node: p / total * self._lookahead.mistake(node, action) for node, p in places.items()}
        if sum(wrong.values()) < WRONG_WAY:
            return ()
        right = max(places, key=lambda node: places[node] * (wrong[node] == 0))
        mistaken = sorted((node for node in places if wrong[node] > 0), key=lambda node: -wrong[node])
        experiments = (self._distinctions.experiment(right, node) for node in mistaken)
        return next((experiment for experiment in experiments if experiment), ())


def candidates(belief: NDArray[np.float64]) -> Places:
    """Return the likeliest nodes, which is where one is taken to be."""
    likely = np.argsort(-belief, kind="stable")[:CANDIDATES]
    likely = likely[belief[likely] >= UNLIKELY * belief[likely[0]]]
    return {int(node): float(belief[node]) for node in likely}


def with_ways_out(graph: LatentGraph) -> LatentGraph:
    """Return the graph to plan on: a node where nothing was tried yet is no end, what is tried there leads anywhere."""
    ends = np.flatnonzero(graph.untried.any(axis=1) & ~graph.tried.any(axis=1))
    if not len(ends):
        return graph
    n = graph.n_nodes
    action = np.argmax(graph.untried[ends], axis=1)
    return replace(
        graph,
        source=np.concatenate([graph.source, np.repeat(ends, n)]),
        action=np.concatenate([graph.action, np.repeat(action, n)]),
        target=np.concatenate([graph.target, np.tile(np.arange(n), len(ends))]),
        probability=np.concatenate([graph.probability, np.full(n * len(ends), 1 / n)]),
        count=np.concatenate([graph.count, np.zeros(n * len(ends))]),
    )
