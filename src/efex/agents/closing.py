"""Closing: the (state, action) pairs that hold nothing to learn, since nobody can try them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from efex.agents.base import Mask
from efex.experience import Experience
from efex.model.layout import CloneLayout

LATELY = 3
"""How many visits in a row an action must have been unavailable for plans not to count on it."""


def closed_pairs(
    path: NDArray[np.int64], layout: CloneLayout, experience: Experience, masks: Mapping[int, Mask]
) -> NDArray[np.bool_]:
    """Return which pairs are closed: where episodes always ended, and what was unavailable whenever one was there.

    `path` is the state at every observation, and `masks` what was available at some of them, at the others everything.
    """
    closed = np.zeros((layout.n_states, experience.n_actions), bool)
    ends, acted = experience.terminated, np.flatnonzero(experience.actions >= 0)
    closed[np.setdiff1d(path[ends], path[acted])] = True
    # Where an observation was only ever seen at an end, its other clones would be ends too.
    always = np.setdiff1d(experience.observations[ends], experience.observations[acted])
    closed[np.isin(layout.observation, always)] = True
    if masks:
        # At an episode's last observation nobody asks what is available.
        asked = np.union1d(acted, list(masks))
        available = np.ones((len(path), experience.n_actions), bool)
        available[list(masks)] = list(masks.values())
        ever = np.zeros_like(closed)
        np.logical_or.at(ever, path[asked], available[asked])
        states = np.unique(path[asked])
        closed[states] |= ~ever[states]
    return closed


def shut_pairs(
    path: NDArray[np.int64], layout: CloneLayout, experience: Experience, masks: Mapping[int, Mask]
) -> NDArray[np.bool_]:
    """Return which pairs no plan should count on: closed ones, and what was unavailable of late.

    Two places taken for one may offer different actions. Who goes to the one for what only the other offers would go
    there for ever; where it is available again, it is open again.
    """
    closed = closed_pairs(path, layout, experience, masks)
    if not masks:
        return closed
    # Where nobody said what is available, everything is.
    asked = np.union1d(np.flatnonzero(experience.actions >= 0), list(masks))
    asked = asked[np.argsort(path[asked], kind="stable")]
    at = path[asked]
    last = np.searchsorted(at, at, side="right") - np.arange(len(at)) <= LATELY
    missed = np.zeros(closed.shape, np.int64)
    everything = np.ones(experience.n_actions, bool)
    np.add.at(missed, at[last], ~np.array([masks.get(t, everything) for t in asked[last].tolist()]))
    return np.asarray(closed | (missed == LATELY))
