"""Moves: which actions are steps to and fro along an axis, turns, and steps that lead where one is heading."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import moves as kernel
from efex.kernels.moves import QUARTERS

Moves = NDArray[np.int64]
"""What every action adds to a coordinate, by heading: (n_actions, QUARTERS), zeros where that is unknown.

Where something turns, the heading is the coordinate's last two bits; elsewhere all headings are the same.
"""

MOST = 4_096
"""Where there are more actions than this, none is asked how far it moves."""

AXES, ACROSS = (np.random.default_rng(seed).integers(2**40, 2**62, MOST) | 1 for seed in (0, 1))
"""What a step along every axis adds to a coordinate, and one a quarter of a turn from it."""

LEFT, RIGHT = np.array([[1, 1, 1, 1 - QUARTERS], [QUARTERS - 1, -1, -1, -1]])
"""What a turn adds at every heading, and one the other way."""

SURE = 0.65
"""How likely two actions are to undo one another, at least, that are taken for steps to and fro."""

ALONE = 0.5
"""How likely one of them is to be undone by any other action, at most, compared with that."""

SILENT = 0.02
"""How often an action may change what is seen, at most, that changes nothing but perhaps the heading."""

UNSEEN = 2.0
"""How many times two actions are taken to have failed to undo one another before any was seen."""


def no_moves(n_actions: int) -> Moves:
    """Return moves of which nothing is known."""
    return np.zeros((n_actions, QUARTERS), np.int64)


def turning(moves: Moves) -> NDArray[np.bool_]:
    """Return which actions turn, so that where others lead depends on the heading."""
    return np.asarray(moves.any(axis=1) & (np.abs(moves) < QUARTERS).all(axis=1))


def displaced(moves: Moves, action: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how far actions lead from coordinates."""
    return moves[action, at % QUARTERS]


def displacements(experience: Experience, *, actions: NDArray[np.int32] | None = None) -> Moves:
    """Return by how much every action moves, as far as what is seen tells.

    Two actions share an axis if each, right after the other, leads back to what was seen, more often than any does, and
    no other action does so for one of them. They are turns if four of one make a round and there is a step ahead, an
    action that leads back after an about-turn: where to depends on the heading. Two actions that change nothing one
    sees may be turns, too, if only an about-turn makes such a step lead back. `actions` may end walks where the
    experience does not.
    """
    moves = no_moves(experience.n_actions)
    if experience.n_actions > MOST:
        return moves
    walk = _Walk(experience.observations, experience.actions if actions is None else actions)
    back, times = kernel.count_returns(*walk, experience.n_actions)
    usual = back.sum() / max(times.sum(), 1.0)
    by_chance = float(np.square(np.bincount(walk.observations) / max(len(walk.observations), 1)).sum())
    if usual == 1 or by_chance == 1:
        return moves
    beyond = _beyond((back, times), usual)
    axes = _axes(beyond)
    for to, fro in axes:
        moves[to] = AXES[to]
        moves[fro] = -moves[to]
    for left, right in axes:
        turn, undone = _turn(left, right, experience.n_actions), min(beyond[left, right], beyond[right, left])
        if _beyond(kernel.count_rounds(*walk, turn), by_chance) < SURE * undone ** (QUARTERS / 2):
            continue
        if ahead := _steps_ahead(walk, turn, by_chance, undone):
            return _turning(moves, turn, ahead)
    unseen = list(_unseen_turns(walk, experience.n_actions, by_chance))
    echoes = [_steps_echoed(walk, turn, by_chance) for turn in unseen]
    if not any(echoes):
        return moves
    best = int(np.argmax([sum(each.values()) for each in echoes]))
    return _turning(moves, unseen[best], list(echoes[best]))


class _Walk(NamedTuple):
    observations: NDArray[np.int32]
    actions: NDArray[np.int32]


def _turn(left: int, right: int, n_actions: int) -> NDArray[np.int64]:
    """Return by how many quarters every action turns."""
    turn = np.zeros(n_actions, np.int64)
    turn[left], turn[right] = 1, -1
    return turn


def _steps_ahead(walk: _Walk, turn: NDArray[np.int64], usual: float, undone: float) -> list[int]:
    """Return the actions that lead back after an about-turn; the more often actions fail, the less is asked for.

    That takes six steps, and two turns that undo one another do so with the chance `undone`.
    """
    shares = {
        each: _beyond(kernel.count_ways_back(*walk, turn, each), usual) for each in np.flatnonzero(turn == 0).tolist()
    }
    return [each for each, share in shares.items() if share >= SURE * undone**3]


def _steps_echoed(walk: _Walk, turn: NDArray[np.int64], usual: float) -> dict[int, float]:
    """Return the actions that lead back after an about-turn, and after no other turn, and how often they did."""
    ahead = {}
    for each in np.flatnonzero(turn == 0).tolist():
        back, times = kernel.count_echoes(*walk, turn, each)
        share = _beyond((back, times), usual)
        about, others = share[QUARTERS // 2], np.delete(share, QUARTERS // 2)
        if times[0] > 0 and times[1::2].any() and about >= SURE and others.max() <= ALONE * about:
            ahead[each] = back[QUARTERS // 2] - usual * times[QUARTERS // 2]
    return ahead


def _unseen_turns(walk: _Walk, n_actions: int, usual: float) -> Iterator[NDArray[np.int64]]:
    """Yield what may be turns: two actions that hardly ever change what is seen, of which one made a step lead back.

    For that it was taken twice between two such steps.
    """
    taken = np.flatnonzero(walk.actions >= 0)
    action, changed = walk.actions[taken], walk.observations[taken] != walk.observations[taken + 1]
    times = np.bincount(action, minlength=n_actions)
    silent = (times > 0) & (np.bincount(action, changed, n_actions) <= SILENT * times)
    if np.count_nonzero(silent) < 2:
        return
    back, about = kernel.count_about_turns(*walk, n_actions)
    proven = _beyond((back, about), usual).max(axis=0) >= SURE
    for one, other in combinations(np.flatnonzero(silent).tolist(), 2):
        if proven[one] or proven[other]:
            yield _turn(one, other, n_actions)


def _turning(moves: Moves, turn: NDArray[np.int64], ahead: list[int]) -> Moves:
    """Return the moves where two actions turn and some lead ahead, so that what undoes those leads the other way."""
    out = QUARTERS * moves  # the last two bits are for the heading
    out[turn > 0], out[turn < 0] = LEFT, RIGHT
    for action in ahead:
        step = QUARTERS * np.stack([AXES, ACROSS])[:, action]
        undoing = (moves[:, 0] == -moves[action, 0]) & (moves[:, 0] != 0)
        if not (undoing & (np.arange(len(moves)) < action))[ahead].any():
            out[action] = [*step, *-step]
            out[undoing] = -out[action]
    return out


def _beyond(counted: tuple[Any, Any], usual: float) -> Any:
    """Return how often something came back of the times when that is not usual, for a number or an array of them."""
    back, times = counted
    return np.maximum(back - usual * times, 0.0) / (1 - usual) / (times + UNSEEN)


def _axes(beyond: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of actions that undo one another."""
    axes, share = [], np.minimum(beyond, beyond.T)
    for to, fro in enumerate(share.argmax(axis=1).tolist()):
        if to < fro and share[fro].argmax() == to and share[to, fro] >= SURE:
            others = share[[to, fro]]
            others[[0, 1], [fro, to]] = 0.0
            if others.max() <= ALONE * share[to, fro]:
                axes.append((to, fro))
    return axes
