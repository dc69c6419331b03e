"""Foresight: what actions that were never tried should do, by where places are reckoned to be."""

import numpy as np
from numba import njit

from efex.kernels.leaf import leaf
from efex.kernels.reckoning import after, invert

MIXING = -7046029254386353131
"""What spreads coordinates over a table."""

BACK, BLOCKED, NEIGHBOUR = 0, 1, 2
"""Why an action is expected to lead somewhere: back over an edge; nowhere, as from the other side; to what is there."""


@njit(cache=True)
def foresee(start, target, count, closed, moves, at, n_states, n_actions):
    """Return (expected, doubt): where every untried row should lead, -1 for nobody knows, and how likely it does not.

    The rows are those of a belief. How often such expectations were right is counted where rows were tried.
    """
    inverse, there = invert(moves), whereabouts(start, target, at, n_states, n_actions)
    expected, why = np.full(len(start) - 1, -1), np.zeros(len(start) - 1, np.int64)
    right, times, is_there = np.full(3, 0.5), np.ones(3), False
    for row in range(len(start) - 1):
        state, action = divmod(row, n_actions)
        if action == 0:
            is_there = state_at(there, at, at[state]) >= 0
        place = state_at(there, at, after(moves, action, at[state])) if is_there and moves[action, 0] != 0 else -1
        if place < 0:
            continue
        reason = NEIGHBOUR
        if inverse[action] >= 0:
            reason = expect(start, target, place * n_actions + inverse[action], place, state)
        else:  # The way back of a step ahead is the same step after an about-turn.
            about, home = state_at(there, at, at[place] ^ 2), state_at(there, at, at[state] ^ 2)
            if about >= 0 and home >= 0:
                reason = expect(start, target, about * n_actions + action, about, home)
        leads = state if reason == BLOCKED else place
        if start[row] < start[row + 1]:
            mostly = likeliest(start, target, count, row)
            times[NEIGHBOUR] += 1
            right[NEIGHBOUR] += mostly == place
            if reason in (BACK, BLOCKED):
                times[reason] += 1
                right[reason] += mostly == leads
        elif reason >= 0 and not closed[row]:
            expected[row], why[row] = leads, reason
    return expected, np.where(expected >= 0, 1 - (right / times)[why], 1.0)


@njit(cache=True)
def whereabouts(start, target, at, n_states, n_actions):
    """Return which state that was ever reached is at a coordinate, as a table: the states, each in the first free slot.

    Of those at the same one it is the one reached by the last row, or else the last that leads anywhere.
    """
    size = 4
    while size < 2 * n_states:
        size *= 2
    there, known = np.full(size, -1), np.zeros(n_states, np.bool_)
    for entry in range(len(target) - 1, -1, -1):
        if not known[target[entry]]:
            known[target[entry]] = True
            put(there, at, target[entry])
    for state in range(n_states - 1, -1, -1):
        if not known[state] and start[state * n_actions] < start[(state + 1) * n_actions]:
            put(there, at, state)
    return there


@njit(cache=True, inline="always")
def slot(there, at, where):
    """Return the slot of a coordinate, or the free one where it would be."""
    k = (where ^ (where >> 32)) * MIXING >> 20 & (len(there) - 1)
    while there[k] >= 0 and at[there[k]] != where:
        k = (k + 1) & (len(there) - 1)
    return k


@leaf
def put(there, at, state):
    """Take in a state, unless another one is at the same coordinate."""
    k = slot(there, at, at[state])
    if there[k] < 0:
        there[k] = state


@leaf
def state_at(there, at, where):
    """Return the state at a coordinate, -1 where none was ever reached."""
    return there[slot(there, at, where)]


@leaf
def expect(start, target, back, place, state):
    """Return why an action should lead from `state` to `place`, or nowhere, given the row `back`; -1 if it need not."""
    if start[back] == start[back + 1]:
        return NEIGHBOUR
    for entry in range(start[back], start[back + 1]):
        if target[entry] == state:
            return BACK
    return BLOCKED if start[back] + 1 == start[back + 1] and target[start[back]] == place else -1


@leaf
def likeliest(start, target, count, row):
    """Return the state that a row led to most often."""
    best = start[row]
    for entry in range(start[row], start[row + 1]):
        if count[entry] > count[best]:
            best = entry
    return target[best]
