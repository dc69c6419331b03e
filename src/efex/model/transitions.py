"""Transitions: the counted steps of a path between places, each with what it weighed beforehand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import transitions as kernel
from efex.kernels.reckoning import read_edges
from efex.kernels.throwing import NOWHERE
from efex.model.moves import Moves, no_moves
from efex.model.reckoning import reckon

STICKINESS = 0.5
"""How likely an action is to stay where one is, before it was tried anywhere where the same is seen."""


class Transitions(NamedTuple):
    """Entries sorted by row, row = source * n_actions + action; the last place stands before every episode.

    An entry's prior weight is `base`, and where it stays `sticky` more, which is known for every observation and
    action; those of a row sum to at most `weight`. The entries into a place are those of `by_target` from `into[place]`
    on.

    If it `is_reckoned` where places are, an entry moves `by` so much, 0 where that is unknown, to where `reading` says,
    and it is worth `gain` nats to expect so, once that place is known. Places are `at` their coordinates, and a share
    of the entries leads `astray`, but for those that are `thrown_to` a place, NOWHERE if there is none.
    """

    n_actions: int
    observation: NDArray[np.int64]
    source: NDArray[np.int64]
    action: NDArray[np.int64]
    target: NDArray[np.int64]
    visits: NDArray[np.float64]
    base: NDArray[np.float64]
    sticky: NDArray[np.float64]
    weight: float
    row_start: NDArray[np.int64]
    into: NDArray[np.int64]
    by_target: NDArray[np.int64]
    is_reckoned: bool
    by: NDArray[np.int64]
    reading: NDArray[np.int64]
    gain: NDArray[np.float64]
    at: NDArray[np.int64]
    astray: float
    thrown_to: int


class Places(NamedTuple):
    """The distinct states of a path: their names, what they show, and which of them is where on the path."""

    names: NDArray[np.int64]
    observation: NDArray[np.int64]
    at: NDArray[np.int64]


def places_of(path: NDArray[np.int64], experience: Experience) -> Places:
    """Return the distinct states of a path, numbered from 0."""
    names, first, at = kernel.number_states(path)
    return Places(names, experience.observations[first].astype(np.int64), at)


def count_transitions(
    places: Places, experience: Experience, *, weight: float, moves: Moves | None = None
) -> Transitions:
    """Return the counted steps between places, a row's prior weighing `weight` in all, theory (10).

    `moves` says by how much every action moves, where that is known.
    """
    n_actions, n, looks = experience.n_actions, len(places.names), int(places.observation.max(initial=-1)) + 1
    source, action, target, visits, row_start = kernel.count_steps(
        places.at, n, experience.actions, experience.offsets, n_actions
    )
    observation = np.append(places.observation, looks)
    base, sticky = kernel.expect(source, action, target, observation, n_actions, STICKINESS, weight)
    into, by_target = kernel.sort_into(target, n + 1)
    moves = no_moves(n_actions) if moves is None else moves
    inside = slice(row_start[n * n_actions])
    edges = (each[inside] for each in (source, action, target, visits))
    where = reckon(moves, *edges, start=row_start[: n * n_actions + 1], n=n)
    at = np.append(where.at, 0)
    by, reading = read_edges(source, action, target, at, moves)
    thrown_to = NOWHERE
    if where.thrown is not None:
        by[inside][where.thrown], thrown_to = 0, int(target[inside][where.thrown][0])
    leaves = (1 - sticky)[observation[source] * n_actions + action]
    gain = np.log1p((1 - where.astray) * weight * leaves / base)
    counted = (n_actions, observation, source, action, target, visits, base)
    reckoned = (bool(moves.any()), by, reading, gain, at, where.astray, thrown_to)
    return Transitions(*counted, weight * sticky.reshape(-1, n_actions), weight, row_start, into, by_target, *reckoned)
