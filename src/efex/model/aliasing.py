"""Aliasing: how much likelier two places that show the same are to be two than one, as the map so far tells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.model.transitions import PLACE, places_of

FIRST_GUESS = math.exp(PLACE)
"""The odds before any place is known well; they weigh as much as one observation's places."""

HIDING = 10.0
"""How many times worse it is to take two places for one, which hides one of them, than one for two."""


def odds_of_two(path: NDArray[np.int64], experience: Experience) -> float:
    """Return by how many nats two arrivals at places that show the same should be taken to be at two places.

    It is the log-odds among the places that are known well, where everything was tried that was ever tried where the
    same is seen: if there are m of them, m - 1 are others than a given one. Others count HIDING times, and what is
    known less may be a duplicate. Never more than PLACE: the more places a map has, the more it would ask for.
    """
    _, observation, at = places = places_of(path, experience)
    steps = np.flatnonzero(experience.actions >= 0)
    tried = np.zeros((len(places.names), experience.n_actions), bool)
    tried[at[steps], experience.actions[steps]] = True
    ever = np.zeros((int(observation.max(initial=0)) + 1, experience.n_actions), bool)
    np.logical_or.at(ever, observation, tried)
    known = np.bincount(observation[(tried | ~ever[observation]).all(axis=1)])
    others = (known[known > 0] - 1).sum()
    return min(math.log((HIDING * others + FIRST_GUESS) / (np.count_nonzero(known) + 1)), PLACE)
