"""Counting a path: its distinct states, the steps between them, and what each one weighed beforehand."""

import math

import numpy as np
from numba import njit

from efex.kernels.leaf import leaf

SHORT = 16
"""Up to so many factors are multiplied; for more, the gamma function is asked."""


@njit(cache=True)
def number_states(path):
    """Return the distinct states of a path in order, where each one occurs first, and which of them is where."""
    rank = np.full(path.max() + 1 if len(path) else 0, -1)
    for t in range(len(path) - 1, -1, -1):
        rank[path[t]] = t
    n = 0
    for state in range(len(rank)):
        n += rank[state] >= 0
    names, first, n = np.empty(n, np.int64), np.empty(n, np.int64), 0
    for state in range(len(rank)):
        if rank[state] >= 0:
            names[n], first[n] = state, rank[state]
            rank[state] = n
            n += 1
    at = np.empty(len(path), np.int64)
    for t in range(len(path)):
        at[t] = rank[path[t]]
    return names, first, at


@njit(cache=True)
def count_steps(at, n, actions, offsets, n_actions):
    """Return the distinct steps between n places, sorted: source, action, target, visits, and where each row begins.

    The place n stands before every episode, and action 0 leads from there to where one begins.
    """
    start = np.zeros((n + 1) * n_actions + 1, np.int64)
    for t in range(len(at)):
        if actions[t] >= 0:
            start[at[t] * n_actions + actions[t] + 1] += 1
    start[n * n_actions + 1] = len(offsets) - 1
    start = np.cumsum(start)
    targets, end = np.empty(start[-1], np.int64), start.copy()
    for t in range(len(at)):
        if actions[t] >= 0:
            row = at[t] * n_actions + actions[t]
            targets[end[row]] = at[t + 1]
            end[row] += 1
    for episode in range(len(offsets) - 1):
        targets[end[n * n_actions]] = at[offsets[episode]]
        end[n * n_actions] += 1
    return gather_equal(targets, start, n, n_actions)


@njit(cache=True)
def gather_equal(targets, start, n, n_actions):
    """Return the distinct targets of every row, given all of them, row by row from `start` on."""
    source, action, target, visits = (
        np.empty_like(targets),
        np.empty_like(targets),
        np.empty_like(targets),
        np.empty(len(targets)),
    )
    seen, row_start, entries = np.zeros(n, np.int64), np.zeros(len(start), np.int64), 0
    for row in range(len(start) - 1):
        row_start[row] = entries
        for k in range(start[row], start[row + 1]):
            if seen[targets[k]] == 0:
                target[entries] = targets[k]
                entries += 1
            seen[targets[k]] += 1
        sort_few(target[row_start[row] : entries])
        for entry in range(row_start[row], entries):
            source[entry], action[entry] = divmod(row, n_actions)
            visits[entry] = seen[target[entry]]
            seen[target[entry]] = 0
    row_start[-1] = entries
    return source[:entries], action[:entries], target[:entries], visits[:entries], row_start


@leaf
def sort_few(values):
    """Sort in place; a row has few distinct targets, and mostly one."""
    for k in range(1, len(values)):
        value, j = values[k], k
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@njit(cache=True)
def sort_into(key, n):
    """Return where the entries of each of n keys begin, and the entries sorted by key."""
    start = np.zeros(n + 1, np.int64)
    for entry in range(len(key)):
        start[key[entry] + 1] += 1
    start = np.cumsum(start)
    order, end = np.empty(len(key), np.int64), start.copy()
    for entry in range(len(key)):
        order[end[key[entry]]] = entry
        end[key[entry]] += 1
    return start, order


@njit(cache=True)
def expect(source, action, target, observation, n_actions, stickiness, weight):
    """Return what every entry weighs beforehand where it does not stay, and how likely each pair is to stay.

    A pair is what is seen and what is done there. Only that is known: what it led to elsewhere says what to expect, and
    all places that show the same are alike. Every entry counts once, and what is expected anywhere as much as one
    entry: what is seen anywhere, and to stay with chance `stickiness`. The last place shows what no other does.
    """
    n_looks, n = observation[-1], len(observation) - 1
    n_pairs = (n_looks + 1) * n_actions
    pair, seen, shown = np.empty(len(source), np.int64), np.empty(len(source), np.int64), np.zeros(n_looks, np.int64)
    for place in range(n):
        shown[observation[place]] += 1
    share = np.zeros(n_looks)
    for entry in range(len(source)):
        pair[entry], seen[entry] = observation[source[entry]] * n_actions + action[entry], observation[target[entry]]
        share[seen[entry]] += 1 / len(source)
    start, order = sort_into(pair, n_pairs)
    base, sticky, alike = np.empty(len(source)), np.full(n_pairs, stickiness), np.zeros(n_looks)
    for group in range(n_pairs):
        entries = order[start[group] : start[group + 1]]
        moves = 0
        for entry in entries:
            if source[entry] != target[entry]:
                alike[seen[entry]] += 1
                moves += 1
        sticky[group] = (len(entries) - moves + stickiness) / (len(entries) + 1)
        leaves = weight * (1 - sticky[group])
        for entry in entries:
            look = seen[entry]
            base[entry] = leaves * ((alike[look] + share[look]) / (moves + 1)) / shown[look]
        for entry in entries:
            alike[seen[entry]] = 0
    return base, sticky


@leaf
def log_evidence(t, times):
    """Return the log-probability of all steps with every row's transitions integrated out, theory (10).

    The prior weighs so many `times` as much as it does.
    """
    score = 0.0
    for row in range(len(t.row_start) - 1):
        total = 0.0
        for entry in range(t.row_start[row], t.row_start[row + 1]):
            prior = t.base[entry]
            if t.source[entry] == t.target[entry]:
                prior += t.sticky[t.observation[t.source[entry]], t.action[entry]]
            score += log_rising(times * prior, t.visits[entry])
            total += t.visits[entry]
        score -= log_rising(times * t.weight, total)
    return score


@njit(cache=True, inline="always")
def log_rising(x, n):
    """Return log x (x + 1) ... (x + n - 1), for a whole number n."""
    if n > SHORT:
        return math.lgamma(x + n) - math.lgamma(x)
    product = 1.0
    for k in range(int(n)):
        product *= x + k
    return math.log(product)
