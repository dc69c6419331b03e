"""Naming places: which clone of a layout stands for which place of a path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.model.layout import CloneLayout
from efex.model.transitions import Places, places_of


def numbered(places: Places, layout: CloneLayout) -> NDArray[np.int64]:
    """Return a state for every place: the clones of what it shows are taken one after the other."""
    used = np.bincount(places.observation, minlength=layout.n_observations)
    order = np.argsort(places.observation, kind="stable")
    states = np.empty(len(order), np.int64)
    rank = np.arange(len(order)) - (np.cumsum(used) - used)[places.observation[order]]
    states[order] = layout.first[places.observation[order]] + rank
    return states


def named_after(
    path: NDArray[np.int64], before: NDArray[np.int64], experience: Experience, layout: CloneLayout
) -> NDArray[np.int64]:
    """Return the path in states of `layout`; every place has the name, free till then, that most of it had before.

    The layout must have clones for all places.
    """
    places = places_of(path, experience)
    names = np.full(len(places.names), -1)
    free = np.ones(layout.n_states, bool)
    keys, visits = np.unique(places.at * layout.n_states + before, return_counts=True)
    for key in keys[np.argsort(-visits, kind="stable")].tolist():
        place, name = divmod(key, layout.n_states)
        if names[place] < 0 and free[name]:
            names[place], free[name] = name, False
    for place in np.flatnonzero(names < 0):
        clones = layout.block(int(places.observation[place]))
        names[place] = clones.start + int(np.argmax(free[clones]))
        free[names[place]] = False
    return names[places.at]
