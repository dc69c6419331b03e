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
from efex.model.throwing import thrown_entries, unthrown

LIKELY = 0.5
"""How much doubt there is, at most, where something is foreseen rather than unknown."""

MANY = 0.5
"""The share of actions that are known to move, at least, where coordinates that are not trusted tell places apart."""

MUCH = 0.4
"""The share of the steps that led elsewhere that coordinates account for, at least: one axis of two does that."""

SELDOM = 2
"""How often an action may have been taken, at most, that was perhaps thrown every time."""


def reckoning_of(belief: Belief, experience: Experience, path: NDArray[np.int64]) -> Reckoning:
    """Return where the states of a belief are, by what is believed of their edges, counted along the path."""
    source, action = np.divmod(belief.rows, belief.n_actions)
    actions = None if _thrown(belief) is None else unthrown(path, experience)
    edges = (source, action, belief.target, belief.count)
    return reckon(displacements(experience, actions=actions), *edges, start=belief.start, n=belief.n_states)


def foreseeing(belief: Belief, experience: Experience, path: NDArray[np.int64]) -> Belief:
    """Return the belief in which what is foreseen counts as walked once, and is doubted as often as that is wrong.

    Being thrown teaches nothing.
    """
    if belief.is_complete:
        return untaught(belief, experience, path)
    where = reckoning_of(belief, experience, path)
    return _untaught(_with_foreseen(belief, where), where)


def untaught(belief: Belief, experience: Experience, path: NDArray[np.int64]) -> Belief:
    """Return the belief in which being thrown teaches nothing.

    What may have been thrown whenever it was tried is as good as untried.
    """
    return belief if _thrown(belief) is None else _untaught(belief, reckoning_of(belief, experience, path))


def tells_places(belief: Belief, where: Reckoning) -> bool:
    """Return whether coordinates tell places apart.

    They are to be trusted; or, where actions slip, many of these are known to move, and much of what led elsewhere led
    where they do.
    """
    return where.is_trusted or bool(where.moves.any(axis=1).mean() >= MANY and _accounted(belief, where) >= MUCH)


def _accounted(belief: Belief, where: Reckoning) -> float:
    """Return the share of the steps that led elsewhere that led where coordinates say, being thrown left out."""
    source, by, way = _ways(belief, where)
    elsewhere = (source != belief.target) & (True if where.thrown is None else ~where.thrown)
    right = elsewhere & (by != 0) & (by == way)
    return float(belief.count[right].sum() / max(belief.count[elsewhere].sum(), 1))


def _ways(belief: Belief, where: Reckoning) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the source of every edge, by how much its action moves, and how far its target is by coordinates."""
    source, action = np.divmod(belief.rows, belief.n_actions)
    return source, displaced(where.moves, action, where.at[source]), where.at[belief.target] - where.at[source]


def _untaught(belief: Belief, where: Reckoning) -> Belief:
    return belief if where.thrown is None else replace(belief, thrown=_perhaps_thrown(belief, where))


def _thrown(belief: Belief) -> NDArray[np.bool_] | None:
    return thrown_entries(belief.start, belief.target, belief.count, n=belief.n_states)


def _perhaps_thrown(belief: Belief, where: Reckoning) -> NDArray[np.bool_]:
    """Return which targets one was thrown to, or led to seldom and from where they cannot be reached."""
    source, by, way = _ways(belief, where)
    seldom = (by != 0) & (belief.totals[belief.rows] <= SELDOM) & where.is_trusted
    return np.asarray(seldom & (source != belief.target) & (by != way)) | _thrown(belief)


def _with_foreseen(belief: Belief, where: Reckoning) -> Belief:
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
