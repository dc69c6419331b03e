"""Foresight: where actions that were never tried should lead, by where places are reckoned to be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from efex.belief import Belief
from efex.experience import Experience
from efex.kernels import foresight as kernel
from efex.model.moves import displacements
from efex.model.reckoning import Reckoning, reckon

LIKELY = 0.5
"""How much doubt there is, at most, where something is foreseen rather than unknown."""


def reckoning_of(belief: Belief, experience: Experience) -> Reckoning:
    """Return where the states of a belief are, by what is believed of their edges."""
    source, action = np.divmod(belief.rows, belief.n_actions)
    return reckon(displacements(experience), source, action, belief.target, belief.count, n=belief.n_states)


def foreseeing(belief: Belief, experience: Experience) -> Belief:
    """Return the belief in which what is foreseen counts as walked once, and is doubted as often as that is wrong."""
    if belief.is_complete:
        return belief
    where = reckoning_of(belief, experience)
    if not where.is_trusted:
        return belief
    rows = (belief.start, belief.target, belief.count, belief.closed)
    expected, doubt = kernel.foresee(*rows, where.moves, where.at, belief.n_states, belief.n_actions)
    row = np.flatnonzero(doubt < LIKELY)
    source, action = np.divmod(row, belief.n_actions)
    return replace(belief.updated(source, action, expected[row]), doubt=np.where(doubt < LIKELY, doubt, 0.0))


def foreseen(belief: Belief) -> NDArray[np.int64] | None:
    """Return rows of (state, action, state): what a belief foresees, None where that is nothing."""
    if belief.doubt is None:
        return None
    row = np.flatnonzero(belief.doubt)
    source, action = np.divmod(row, belief.n_actions)
    return np.stack([source, action, belief.target[belief.start[row]]], axis=1)
