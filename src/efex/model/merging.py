"""Merging duplicates: states that show the same and, the evidence says, are the same place become one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import merging as kernel
from efex.model.moves import Moves
from efex.model.transitions import Transitions, count_transitions, places_of


class Room(NamedTuple):
    """Memory that the kernel works in: for every place, row, union to come, entry, and change that may be undone."""

    seen: NDArray[np.float64]
    touched: NDArray[np.int64]
    marked: NDArray[np.bool_]
    rows: NDArray[np.int64]
    tops: NDArray[np.int64]
    worth: NDArray[np.float64]
    mostly: NDArray[np.int64]
    agreed: NDArray[np.float64]
    changed: NDArray[np.int64]
    was_worth: NDArray[np.float64]
    was_mostly: NDArray[np.int64]
    waiting: NDArray[np.int64]
    told: NDArray[np.bool_]
    keys: NDArray[np.int64]
    entries: NDArray[np.int64]


def merge(
    path: NDArray[np.int64],
    experience: Experience,
    *,
    weight: float,
    place: float = 0.0,
    among: NDArray[np.int64] | None = None,
    moves: Moves | None = None,
) -> NDArray[np.int64]:
    """Return the path with duplicates merged, the prior of a row counting as `weight` steps, a place as `place` nats.

    Two states are one if that makes the path likelier with all transitions integrated out, theory (10): where they
    lead, and what leads to them. What an action mostly leads to from the one and from the other is then one too. If
    states `among` which to look are given, every union begins with one of them. `moves` says by how much actions move,
    where that is known: then two states are rather one if they are reckoned to be at the same place.
    """
    places = places_of(path, experience)
    transitions = count_transitions(places, experience, weight=weight, moves=moves)
    pairs, label = same_looks(places.observation), np.arange(len(places.names) + 1)
    if among is not None:
        pairs = pairs[np.isin(places.names, among)[pairs].any(axis=1)]
    kernel.merge(transitions, room_for(transitions), pairs, place, label)
    return np.asarray(places.names[label[places.at]])


def room_for(transitions: Transitions) -> Room:
    """Return the memory that merging takes."""
    n, rows, entries = len(transitions.observation), len(transitions.row_start) - 1, len(transitions.source)
    # Wherever it is in the smaller class, a place's class doubles at least: so often can what leads to it change.
    changes = 2 * rows + entries * n.bit_length()
    return Room(
        np.zeros(n),
        np.empty(n, np.int64),
        np.zeros(rows, bool),
        np.empty(rows, np.int64),
        np.empty((transitions.n_actions, 2), np.int64),
        np.empty(rows),
        np.empty(rows, np.int64),
        np.empty(n),
        np.empty(changes, np.int64),
        np.empty(changes),
        np.empty(changes, np.int64),
        np.empty((rows + 1, 2), np.int64),
        np.zeros(rows, bool),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
    )


def same_looks(observation: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all pairs of places that show the same."""
    start = np.concatenate([[0], np.cumsum(np.bincount(observation))])
    pairs: NDArray[np.int64] = kernel.same_looks(np.argsort(observation, kind="stable"), start)
    return pairs
