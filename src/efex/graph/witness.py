"""Experiments that tell two nodes apart: the equivalence test for weighted automata of Tzeng (1992)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Alphabet
from efex.graph.refinement import ROUNDING
from efex.symbols import Symbol

if TYPE_CHECKING:
    from efex.graph.latent import LatentGraph

Belief = dict[int, float]
"""The probability of every node where the walk may be."""

Rows = list[list[list[tuple[int, int, float]]]]
"""The target, what it shows, and the probability of every edge, by action and source."""


class Witness(NamedTuple):
    """An experiment that tells two graphs apart.

    Walking `actions` from the start and seeing `observations`, the first one included, has probability
    `probabilities[0]` in the one graph and `probabilities[1]` in the other.
    """

    actions: tuple[int, ...]
    observations: tuple[Symbol, ...]
    probabilities: tuple[float, float]


class _Walk(NamedTuple):
    """An experiment and where it leads to from either node."""

    actions: tuple[int, ...]
    codes: tuple[int, ...]
    left: Belief
    right: Belief
    probabilities: tuple[float, float] = (1.0, 1.0)
    gap: float = 0.0
    """How much the probabilities differ, over the larger one before the last step."""


def walk_probability(graph: LatentGraph, node: int, *, actions: Sequence[int], observations: Sequence[Symbol]) -> float:
    """Return the probability that walking `actions` from `node` shows `observations`, the first included."""
    seen = Alphabet(graph.symbols).lookup(observations)
    belief = np.zeros(graph.n_nodes)
    belief[node] = graph.codes[node] == seen[0]
    for action, code in zip(actions, seen[1:], strict=True):
        belief = (belief @ graph.transition(action)) * (graph.codes == code)
    return min(float(belief.sum()), 1.0)


def distinguish(
    graph: LatentGraph, left: int, right: int, *, tolerance: float = 0.0
) -> tuple[tuple[int, ...], tuple[Symbol, ...]]:
    """Return the actions and observations of an experiment more probable from one node than from the other.

    More probable: by more than `tolerance` of what it was before the last step; where none is, the largest
    such difference found. Where no experiment differs at all, the first observation alone comes back.

    Experiments are searched by their length over their probability, and taken by their length over the
    difference they make. Where actions have certain outcomes the shortest comes back; where they slip, one
    that needs a whole series of slips has to wait for likelier ones.
    """
    rows = _rows(graph)
    span = _Span(graph)
    first = _Walk((), (int(graph.codes[left]),), {left: 1.0}, {right: 1.0})
    best = first
    serial = count()
    queue = [(0.0, next(serial), first, False)]
    while queue:
        _, _, walk, final = heappop(queue)
        if final:
            best = walk
            break
        # What differs by a sum of differences already searched shows nothing that they do not show.
        if not span.grow(walk.codes[-1], walk.left, walk.right):
            continue
        for longer in _extensions(walk, rows):
            if max(longer.probabilities) == 0:
                continue  # too improbable for a float
            if longer.gap > max(best.gap, ROUNDING):
                best = longer
            cost = len(longer.actions) / max(longer.probabilities)
            if longer.gap > max(tolerance, ROUNDING):
                made = abs(longer.probabilities[0] - longer.probabilities[1])
                heappush(queue, (len(longer.actions) / made, next(serial), longer, True))
            if longer.left and longer.right:
                heappush(queue, (cost, next(serial), longer, False))
    return best.actions, tuple(graph.symbols[code] for code in best.codes)


def _rows(graph: LatentGraph) -> Rows:
    rows: Rows = [[[] for _ in graph.observations] for _ in range(graph.n_actions)]
    codes = graph.codes.tolist()
    for edge in graph.edges():
        if edge.probability > 0:
            rows[edge.action][edge.source].append((edge.target, codes[edge.target], edge.probability))
    return rows


def _extensions(walk: _Walk, rows: Rows) -> Iterator[_Walk]:
    """Iterate over the walks one step longer."""
    for action, edges in enumerate(rows):
        left, right = _step(walk.left, edges), _step(walk.right, edges)
        for code in sorted(left.keys() | right.keys()):
            here, there = left.get(code, {}), right.get(code, {})
            masses = sum(here.values()), sum(there.values())
            first, second = walk.probabilities[0] * masses[0], walk.probabilities[1] * masses[1]
            yield _Walk(
                actions=(*walk.actions, action),
                codes=(*walk.codes, code),
                left={node: mass / masses[0] for node, mass in here.items()},
                right={node: mass / masses[1] for node, mass in there.items()},
                probabilities=(first, second),
                gap=abs(first - second) / max(walk.probabilities),
            )


def _step(belief: Belief, edges: list[list[tuple[int, int, float]]]) -> dict[int, Belief]:
    """Return the mass that arrives at every node, by what the node shows."""
    arrived: dict[int, Belief] = {}
    for node, mass in belief.items():
        for target, code, probability in edges[node]:
            shown = arrived.setdefault(code, {})
            shown[target] = shown.get(target, 0.0) + mass * probability
    return arrived


class _Span:
    """The span of the belief differences searched so far, apart for every observation."""

    def __init__(self, graph: LatentGraph) -> None:
        order = np.argsort(graph.codes, kind="stable")
        self._size = np.bincount(graph.codes)
        first = np.cumsum(self._size) - self._size
        self._position = np.empty(graph.n_nodes, np.int64)
        self._position[order] = np.arange(graph.n_nodes) - first[graph.codes[order]]
        self._bases: dict[int, NDArray[np.float64]] = {}
        self._parent = list(range(graph.n_nodes))

    def grow(self, code: int, left: Belief, right: Belief) -> bool:
        """Return whether left - right lies outside the span, which then takes it in."""
        if len(left) == len(right) == 1:
            # Differences of two nodes span what a union of sets does, in almost no time (Hopcroft and Karp).
            return self._unite(*left, *right)
        vector = np.zeros(self._size[code])
        vector[self._position[list(left)]] += list(left.values())
        vector[self._position[list(right)]] -= list(right.values())
        basis = self._bases.get(code, np.zeros((0, len(vector))))
        rest = vector.copy()
        for _ in range(2):  # once more removes what rounding left of the basis
            rest -= basis.T @ (basis @ rest)
        size = float(np.linalg.norm(rest))
        if size <= ROUNDING * max(float(np.linalg.norm(vector)), ROUNDING):
            return False
        self._bases[code] = np.vstack([basis, rest / size])
        return True

    def _unite(self, left: int, right: int) -> bool:
        first, second = self._root(left), self._root(right)
        self._parent[first] = second
        return first != second

    def _root(self, node: int) -> int:
        while self._parent[node] != node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node
