"""Foresight: where actions that were never tried should lead, by where places are reckoned to be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from efex.belief import Belief
from efex.experience import Experience
from efex.kernels import foresight as kernel
from efex.model.moves import displaced, displacements
from efex.model.reckoning import Reckoning, reckon
from efex.model.throwing import thrown_entries, thrown_steps

LIKELY = 0.5
"""How much doubt there is, at most, where something is foreseen rather than unknown."""

SELDOM = 2
"""How often an action may have been taken, at most, that was perhaps thrown every time."""


def reckoning_of(belief: Belief, experience: Experience, path: NDArray[np.int64]) -> Reckoning:
    """Return where the states of a belief are, by what is believed of their edges, counted along the path."""
    source, action = np.divmod(belief.rows, belief.n_actions)
    steps = None if _thrown(belief) is None else thrown_steps(path, experience)
    edges = (source, action, belief.target, belief.count)
    return reckon(displacements(experience, thrown=steps), *edges, start=belief.start, n=belief.n_states)


def foreseeing(belief: Belief, experience: Experience, path: NDArray[np.int64]) -> Belief:
    """Return the belief in which what is foreseen counts as walked once, and is doubted as often as that is wrong.

    Where something throws, that teaches nothing, and what may have been thrown whenever it was tried is as good as
    untried.
    """
    throws = _thrown(belief) is not None
    if belief.is_complete and not throws:
        return belief
    where = reckoning_of(belief, experience, path)
    ahead = _with_foreseen(belief, where)
    return replace(ahead, thrown=_perhaps_thrown(ahead, where)) if throws else ahead


def _thrown(belief: Belief) -> NDArray[np.bool_] | None:
    return thrown_entries(belief.start, belief.target, belief.count, n=belief.n_states)


def _perhaps_thrown(belief: Belief, where: Reckoning) -> NDArray[np.bool_]:
    """Return which targets one was thrown to, or led to seldom and from where they cannot be reached."""
    source, action = np.divmod(belief.rows, belief.n_actions)
    by, way = displaced(where.moves, action, where.at[source]), where.at[belief.target] - where.at[source]
    seldom = (by != 0) & (belief.totals[belief.rows] <= SELDOM) & where.is_trusted
    return np.asarray(seldom & (source != belief.target) & (by != way)) | _thrown(belief)


def _with_foreseen(belief: Belief, where: Reckoning) -> Belief:
    if belief.is_complete or not where.is_trusted:
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
