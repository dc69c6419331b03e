"""Dead reckoning: coordinates of places, what it is worth that edges agree on them, and what they foretell.

Coordinates add up and wrap around; every axis has its own step, so that different sums are different numbers.
"""

import math

import numpy as np
from numba import njit

APART = 7046029254386353131
"""How far from one another coordinates begin that have nothing in common."""

BACK, BLOCKED, NEIGHBOUR = 0, 1, 2
"""Why an action is expected to lead somewhere: back over an edge; nowhere, as from the other side; to what is there."""


@njit(cache=True)
def count_returns(observations, actions, n_actions):
    """Return, for every action and one right after it, how often both led back to what was seen, of how many times.

    Only an action that changed what is seen has certainly led anywhere.
    """
    back, times = np.zeros((n_actions, n_actions)), np.zeros((n_actions, n_actions))
    for t in range(len(actions) - 2):
        if actions[t] >= 0 and actions[t + 1] >= 0 and observations[t] != observations[t + 1]:
            times[actions[t], actions[t + 1]] += 1
            back[actions[t], actions[t + 1]] += observations[t] == observations[t + 2]
    return back, times


@njit(cache=True)
def settle(source, target, by, order, n):
    """Return the coordinates of n places, given by how much every edge moves, 0 where that is unknown.

    The first edge, in this order, that connects two places decides. What nothing connects has nothing in common.
    """
    root, beyond = np.arange(n), np.zeros(n, np.int64)
    for edge in order:
        if by[edge] != 0:
            here, there = source[edge], target[edge]
            u, v = find_root(root, beyond, here), find_root(root, beyond, there)
            if u != v:
                root[v], beyond[v] = u, beyond[here] + by[edge] - beyond[there]
    at = np.empty(n, np.int64)
    for place in range(n):
        at[place] = (find_root(root, beyond, place) + 1) * APART + beyond[place]
    return at


@njit(cache=True)
def find_root(root, beyond, place):
    """Return the place that stands for all connected with this one, and write how far `beyond` that this one is."""
    u, total = place, np.int64(0)
    while root[u] != u:
        total += beyond[u]
        u = root[u]
    while place != u:
        above, step = root[place], beyond[place]
        root[place], beyond[place] = u, total
        place, total = above, total - step
    return u


@njit(cache=True)
def wrap(spot, further):
    """Return for every coordinate the one that stands for it and all those further on, -1 where there is none."""
    root, beyond = np.arange(len(spot)), np.zeros(len(spot), np.int64)
    for here in range(len(spot)):
        if further[here] >= 0:
            u, v = find_root(root, beyond, here), find_root(root, beyond, further[here])
            root[v] = u
    out = np.empty_like(spot)
    for here in range(len(spot)):
        out[here] = spot[find_root(root, beyond, here)]
    return out


@njit(cache=True)
def positions(places, at, actions, moves):
    """Return where a walk is at every step, reckoned from where its episodes begin and from moves that are unknown."""
    out = np.empty(len(places), np.int64)
    for t in range(len(places)):
        if t == 0 or actions[t - 1] < 0 or moves[actions[t - 1]] == 0:
            out[t] = at[places[t]]
        elif places[t] == places[t - 1]:
            out[t] = out[t - 1]
        else:
            out[t] = out[t - 1] + moves[actions[t - 1]]
    return out


@njit(cache=True)
def agreement(t, r, label, ring, head):
    """Return what is gained, in nats, by expecting every edge into a class to lead where the class is reckoned to be.

    The first edge tells where that is; t.astray is how likely another one is to tell otherwise. `t` are Transitions and
    `r` is Room, as in merging.
    """
    if not t.is_reckoned:
        return 0.0
    edges, place, where, lead = 0, head, np.int64(0), 0
    while True:
        for i in range(t.into[place], t.into[place + 1]):
            entry = t.by_target[i]
            source = label[t.source[entry]]
            if t.by[entry] != 0 and source != head:
                key, k = source * t.n_actions + t.action[entry], 0
                while k < edges and r.keys[k] != key:
                    k += 1
                if k == edges:
                    r.keys[k], r.entries[k] = key, entry
                    edges += 1
                    # What most edges tell is what is left when any two that differ cancel out.
                    where = t.reading[entry] if lead == 0 else where
                    lead += 1 if t.reading[entry] == where else -1
        place = ring[place]
        if place == head:
            break
    agree, gain = 0, 0.0
    for k in range(edges):
        if t.reading[r.entries[k]] == where:
            agree += 1
            gain += t.gain[r.entries[k]]
    return gain * (agree - 1) / agree + (edges - agree) * math.log(t.astray) if agree > 0 else 0.0


@njit(cache=True)
def total_agreement(t, r):
    """Return what is gained at all places, each of them a class of its own."""
    n = len(t.observation) - 1
    alone, gain = np.arange(n + 1), 0.0
    for place in range(n):
        gain += agreement(t, r, alone, alone, place)
    return gain


@njit(cache=True)
def foresee(start, target, count, closed, moves, at, n_states, n_actions):
    """Return (expected, doubt): where every untried row should lead, -1 for nobody knows, and how likely it does not.

    The rows are those of a belief. How often such expectations were right is counted where rows were tried.
    """
    inverse, there = invert(moves), whereabouts(start, target, at, n_states, n_actions)
    expected, why = np.full(len(start) - 1, -1), np.zeros(len(start) - 1, np.int64)
    right, times = np.full(3, 0.5), np.ones(3)
    for row in range(len(start) - 1):
        state, action = divmod(row, n_actions)
        place = there.get(at[state] + moves[action], np.int64(-1))
        if moves[action] == 0 or place < 0 or there.get(at[state], np.int64(-1)) < 0:
            continue
        reason = expect(start, target, place * n_actions + inverse[action], place, state)
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
def invert(moves):
    """Return the action that undoes every action, -1 where there is none."""
    inverse = np.full(len(moves), -1)
    for action in range(len(moves)):
        for other in range(len(moves)):
            if moves[action] != 0 and moves[action] == -moves[other]:
                inverse[action] = other
    return inverse


@njit(cache=True)
def whereabouts(start, target, at, n_states, n_actions):
    """Return which state that was ever reached is at a coordinate."""
    there = {np.int64(0): np.int64(-1)}
    for state in range(n_states):
        if start[state * n_actions] < start[(state + 1) * n_actions]:
            there[at[state]] = state
    for state in target:
        there[at[state]] = state
    return there


@njit(cache=True)
def expect(start, target, back, place, state):
    """Return why an action should lead from `state` to `place`, or nowhere, given the row `back`; -1 if it need not."""
    if start[back] == start[back + 1]:
        return NEIGHBOUR
    for entry in range(start[back], start[back + 1]):
        if target[entry] == state:
            return BACK
    return BLOCKED if start[back] + 1 == start[back + 1] and target[start[back]] == place else -1


@njit(cache=True)
def likeliest(start, target, count, row):
    """Return the state that a row led to most often."""
    best = start[row]
    for entry in range(start[row], start[row + 1]):
        if count[entry] > count[best]:
            best = entry
    return target[best]
