"""A floor plan: where nodes lie if an action leads the same way wherever it is taken, as in rooms and on grids."""

from __future__ import annotations

from itertools import islice, permutations, product

import numpy as np
from numpy.typing import NDArray

from efex.graph.action_names import action_text
from efex.graph.compass import Fit, fitted
from efex.graph.crowding import SAME, aside, places
from efex.graph.headings import QUARTERS, Headings, headings
from efex.graph.latent import LatentGraph
from efex.graph.steps import Steps, components, likely_steps

Points = NDArray[np.float64]

MOST = 64
"""Where there are more actions than this, none is asked which way it leads."""

TURNS = 3
"""So many pairs of actions, at most, are taken for turns, one after another."""

CROWDED, CROWD = 0.1, 6
"""The share of the nodes, at most, that may lie where others do, and how many may lie at one place."""

FACING, ASIDE = 0.25, 0.3
"""How far a node that looks somewhere lies ahead of its place, and nodes of the same place beside it, in steps."""

WORDS = {
    **dict.fromkeys(("right", "east", "e"), (1, 0)),
    **dict.fromkeys(("left", "west", "w"), (-1, 0)),
    **dict.fromkeys(("up", "north", "n"), (0, 1)),
    **dict.fromkeys(("down", "south", "s"), (0, -1)),
}
"""Where actions that are called so lead on paper."""


def floor_plan(graph: LatentGraph) -> Points | None:
    """Return where nodes lie, in one to three dimensions, if actions lead the same way everywhere; None if not.

    Where two actions turn, the others need to lead the same way only if one looks the same way.
    """
    steps = likely_steps(graph)
    if graph.n_actions > MOST:
        return None
    if (fit := fitted(steps, steps.action, graph.n_actions)) is not None:
        return _unfolded(fit.points @ _turned(fit, _words(graph)), steps)
    for looks in islice(headings(steps), TURNS):
        kind = np.where(looks.turn[steps.action] == 0, steps.action * QUARTERS + looks.of[steps.source], -1)
        if (fit := fitted(steps, kind, graph.n_actions * QUARTERS)) is not None:
            ahead = Fit(fit.points + FACING * _ahead(fit, looks), fit.moves)
            return _unfolded(ahead.points @ _turned(ahead, np.zeros((len(fit.moves), 2))), steps)
    return None


def _words(graph: LatentGraph) -> Points:
    """Return where actions lead by the last word of their names, zeros where it says nothing."""
    words = [action_text(graph, action).lower().split()[-1] for action in range(graph.n_actions)]
    return np.array([WORDS.get(word, (0, 0)) for word in words], np.float64)


def _ahead(fit: Fit, looks: Headings) -> Points:
    """Return for every node how the first kind of step moves that moves whoever looks as it does."""
    kinds = fit.moves.reshape(-1, QUARTERS, fit.moves.shape[1])
    first = np.argmax(np.linalg.norm(kinds, axis=2).all(axis=1))
    return np.asarray(kinds[first, looks.of])


def _turned(fit: Fit, words: Points) -> Points:
    """Return what axes are to be multiplied by, so that one leads across, one up and one back.

    Words decide; then the longest extent is across and the shortest back; then the first kind that moves along an axis
    moves along it, not against it.
    """
    n_axes = fit.moves.shape[1]
    extent = np.ptp(fit.points, axis=0)
    first = [int(np.argmax(np.abs(fit.moves[:, axis]) > SAME)) for axis in range(n_axes)]
    best, turned = None, np.eye(n_axes)
    for order in permutations(range(n_axes)):
        for signs in product((1.0, -1.0), repeat=n_axes):
            matrix = np.eye(n_axes)[:, order] * signs
            moves = fit.moves @ matrix
            said = float((moves[:, :2] * words[:, : min(n_axes, 2)]).sum())
            along = sum(moves[first[axis], new] > 0 for new, axis in enumerate(order))
            value = (round(said, 6), [round(extent[axis], 6) for axis in order], along)
            if best is None or value > best:
                best, turned = value, matrix
    return turned


def _unfolded(points: Points, steps: Steps) -> Points | None:
    """Return the points with those of the same place side by side; None where there are too many."""
    # In every part of the graph by itself: they are drawn apart.
    place = places(np.column_stack([components(steps)[1], points]))
    if len(points) - len(np.unique(place)) > CROWDED * len(points) or np.bincount(place).max() > CROWD:
        return None
    return aside(points, place, distance=ASIDE)
