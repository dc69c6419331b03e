"""Aliasing: how much likelier two places that show the same are to be two than one, as the map so far tells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.model.transitions import places_of

PLACE = 1.3
"""By how many nats a map with one place more is preferred at most, and at first, by who can go and look: a duplicate
costs little, two taken for one hide some."""

FIRST_GUESS = math.exp(PLACE)
"""The odds before any place is known well; they weigh as much as one observation's places."""

HIDING = 10.0
"""How many times worse it is to take two places for one, which hides one of them, than one for two."""

CERTAIN, RANDOM = 0.05, 0.1
"""Where at most the first share of the rows led to several places outcomes count as certain; from the second on, chance
rules."""

OFTEN = 3
"""How often a row must have been walked to tell whether it is certain."""

FEW_ROWS = 30
"""How many certain rows are taken for granted."""


def odds_of_two(path: NDArray[np.int64], experience: Experience) -> float:
    """Return by how many nats two arrivals at places that show the same should be taken to be at two places.

    It is the log-odds among the places that are known well, where everything was tried that was ever tried where the
    same is seen: if there are m of them, m - 1 are others than a given one. Others count HIDING times, and what is
    known less may be a duplicate. Never more than PLACE: the more places a map has, the more it would ask for. Where
    chance rules not even that, but 0 at most: every unlikely outcome would be a place more, where nobody can go.
    """
    _, observation, at = places = places_of(path, experience)
    steps = np.flatnonzero(experience.actions >= 0)
    tried = np.zeros((len(places.names), experience.n_actions), bool)
    tried[at[steps], experience.actions[steps]] = True
    ever = np.zeros((int(observation.max(initial=0)) + 1, experience.n_actions), bool)
    np.logical_or.at(ever, observation, tried)
    known = np.bincount(observation[(tried | ~ever[observation]).all(axis=1)])
    others = (known[known > 0] - 1).sum()
    share = _random_share(at, len(places.names), experience)
    most = PLACE * (1 - np.clip((share - CERTAIN) / (RANDOM - CERTAIN), 0, 1))
    return float(min(math.log((HIDING * others + FIRST_GUESS) / (np.count_nonzero(known) + 1)), most))


def _random_share(at: NDArray[np.int64], n: int, experience: Experience) -> float:
    """Return which share of the rows that were walked often led to several places."""
    steps = np.flatnonzero(experience.actions >= 0)
    rows = at[steps] * experience.n_actions + experience.actions[steps]
    edges, walks = np.unique(rows * n + at[steps + 1], return_counts=True)
    _, row = np.unique(edges // n, return_inverse=True)
    often = np.bincount(row, walks) >= OFTEN
    return float(np.count_nonzero(np.bincount(row)[often] > 1) / (np.count_nonzero(often) + FEW_ROWS))
