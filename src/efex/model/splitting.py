"""Splitting places: a model that knows a path, but not which of two copies of its places was visited."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.transitions import places_of
from efex.model.viterbi_training import from_path

LONGEST_STRETCH = 100
"""Steps for which one copy of a place stands, at most on average."""


def split(
    path: NDArray[np.int64],
    experience: Experience,
    most: CloneLayout,
    *,
    weight: float,
    rng: np.random.Generator,
) -> Model:
    """Return the model that counts the path's steps, with two copies of its places, visited at random.

    From here EM finds out which places were two: it makes the copies differ where that explains more, elsewhere they
    stay alike. A copy stands for the place for some stretch, so that copies of neighbours that belong together are
    often visited together. There are copies of as many places as `most` has clones, the row's prior counts as `weight`
    steps, and clones nobody needs are left out.
    """
    places = places_of(path, experience)
    looks, at = places.observation, places.at
    used = np.bincount(looks, minlength=most.n_observations)
    copies = np.minimum(used, np.asarray(most.sizes) - used)
    layout = CloneLayout(tuple(np.maximum(used + copies, 1).tolist()))
    # The places of an observation in random order: the first ones have a copy, which comes after all of them.
    order = np.lexsort([rng.random(len(looks)), looks])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - (np.cumsum(used) - used)[looks[order]]
    copied = rank < copies[looks]
    stretch = np.cumsum(rng.random(len(path)) < LONGEST_STRETCH ** -rng.random())
    visits, visit = np.unique(stretch * len(looks) + at, return_inverse=True)
    second = rng.integers(2, size=len(visits))[visit] * copied[at]
    visited = (layout.first[looks] + rank)[at] + second * used[looks[at]]
    return from_path(Model.empty(experience, layout, pseudocount=weight / layout.n_states), experience, visited)


def named_after(
    path: NDArray[np.int64], before: NDArray[np.int64], experience: Experience, layout: CloneLayout
) -> NDArray[np.int64]:
    """Return the path in states of `layout`; every place has the name, free till then, that most of it had before."""
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
