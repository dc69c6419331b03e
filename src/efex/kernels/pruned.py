"""Expected counts over the clones that matter: once learned, a walk has one or two candidates at most positions.

A trellis keeps, of every position, the clones that hold all but a given share of its posterior, and of every step the
pairs of kept clones. Many pairs are the same transition, so weights and counts live in a short table of transitions.
Everything is in double precision; episodes are independent, and counts are added up in the order of the walk.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from efex.kernels.leaf import leaf


class Trellis(NamedTuple):
    """Clones `state[at[t]:at[t + 1]]` are kept at position t; the pairs between t and t + 1 are
    `pair[pair_at[t]:pair_at[t + 1]]`, row-major, each the number of a transition. Transition k is entry `entry[k]` of
    the model's blocks, in row `row[k]` of its (action, state) rows."""

    offsets: np.ndarray
    at: np.ndarray
    state: np.ndarray
    pair_at: np.ndarray
    pair: np.ndarray
    entry: np.ndarray
    row: np.ndarray


@leaf
def _threshold(f, g, share):
    """Return the posterior below which clones are left out, such that together they hold at most `share`."""
    norm = 0.0
    for i in range(len(f)):
        norm += np.float64(f[i]) * np.float64(g[i])
    bound = share * norm
    while True:
        below = 0.0
        for i in range(len(f)):
            mass = np.float64(f[i]) * np.float64(g[i])
            below += mass if mass <= bound else 0.0
        if below <= share * norm:
            return bound
        bound /= 4


@njit(cache=True, parallel=True)
def choose(walks, first, at, forward, backward, share):
    """Return where the kept clones of every position begin, and which clones they are."""
    n = len(walks.observations)
    bound, kept = np.empty(n), np.zeros(n + 1, np.int64)
    for t in prange(n):
        f, g = forward[at[t] : at[t + 1]], backward[at[t] : at[t + 1]]
        bound[t] = _threshold(f, g, share)
        for i in range(len(f)):
            kept[t + 1] += np.float64(f[i]) * np.float64(g[i]) > bound[t]
    kept = np.cumsum(kept)
    state = np.empty(kept[-1], np.int32)
    for t in prange(n):
        k = kept[t]
        for i in range(at[t + 1] - at[t]):
            if np.float64(forward[at[t] + i]) * np.float64(backward[at[t] + i]) > bound[t]:
                state[k] = first[walks.observations[t]] + i
                k += 1
    return kept, state


@njit(cache=True)
def connect(walks, weights, n_states, at, state):
    """Return the trellis of the kept clones: their pairs, numbered by transition in order of first use."""
    n, first = len(walks.observations), weights.first
    pair_at = np.zeros(n + 1, np.int64)
    for t in range(n):
        pairs = (at[t + 1] - at[t]) * (at[t + 2] - at[t + 1]) if walks.actions[t] >= 0 else 0
        pair_at[t + 1] = pair_at[t] + pairs
    pair = np.empty(pair_at[-1], np.int32)
    number = np.full(len(weights.values), -1, np.int32)
    entry, row, known = np.empty(pair_at[-1], np.int64), np.empty(pair_at[-1], np.int32), 0
    for t in range(n):
        if pair_at[t] == pair_at[t + 1]:
            continue
        x, y, p = walks.observations[t], walks.observations[t + 1], pair_at[t]
        for i in state[at[t] : at[t + 1]]:
            begin = weights.start[walks.block[t]] + (i - first[x]) * (first[y + 1] - first[y]) - first[y]
            for j in state[at[t + 1] : at[t + 2]]:
                if number[begin + j] < 0:
                    number[begin + j] = known
                    entry[known] = begin + j
                    row[known] = walks.actions[t] * n_states + i
                    known += 1
                pair[p] = number[begin + j]
                p += 1
    return Trellis(walks.offsets, at, state, pair_at, pair, entry[:known].copy(), row[:known].copy())


@leaf
def _forward(trellis, begin, end, weight, initial, messages, inverse):
    """Fill the messages of one episode, each of sum one, and one over their scales; return the log-likelihood."""
    at, pair = trellis.at, trellis.pair
    log_scale, product = 0.0, 1.0
    for t in range(begin, end):
        total = 0.0
        if t == begin:
            for k in range(at[t], at[t + 1]):
                messages[k] = initial[trellis.state[k]]
        else:
            p = trellis.pair_at[t - 1]
            messages[at[t] : at[t + 1]] = 0
            for i in range(at[t - 1], at[t]):
                for j in range(at[t], at[t + 1]):
                    messages[j] += messages[i] * weight[pair[p]]
                    p += 1
        for k in range(at[t], at[t + 1]):
            total += messages[k]
        if not total > 0:
            return -np.inf
        inverse[t] = 1 / total
        for k in range(at[t], at[t + 1]):
            messages[k] *= inverse[t]
        if product * total < 1e-250:
            log_scale += np.log(product)
            product = 1.0
        product *= total
    return log_scale + np.log(product)


@leaf
def _backward(trellis, begin, end, weight, forward, inverse, messages, mass):
    """Fill the backward messages of one episode and the posterior of every pair."""
    at = trellis.at
    messages[at[end - 1] : at[end]] = 1
    for t in range(end - 2, begin - 1, -1):
        p = trellis.pair_at[t]
        for i in range(at[t], at[t + 1]):
            sum_ = 0.0
            for j in range(at[t + 1], at[t + 2]):
                after = weight[trellis.pair[p]] * messages[j] * inverse[t + 1]
                mass[p] = forward[i] * after
                sum_ += after
                p += 1
            messages[i] = sum_


@njit(cache=True, parallel=True)
def _pass(trellis, weight, initial, forward, backward, mass, log_likelihood):
    """Fill the messages, the posterior of every pair, and the log-likelihood of every episode."""
    inverse = np.empty(len(trellis.at) - 1)
    for e in prange(len(log_likelihood)):
        begin, end = trellis.offsets[e], trellis.offsets[e + 1]
        log_likelihood[e] = _forward(trellis, begin, end, weight, initial, forward, inverse)
        if log_likelihood[e] > -np.inf:
            _backward(trellis, begin, end, weight, forward, inverse, backward, mass)


@njit(cache=True)
def expect(trellis, weight, initial):
    """Return the expected counts of every transition and start, and the log-likelihood of what was kept.

    The log-likelihood is minus infinity, and the counts are nothing, if some episode has no possible path left.
    """
    forward, backward = np.empty(len(trellis.state)), np.empty(len(trellis.state))
    mass, log_likelihood = np.empty(len(trellis.pair)), np.empty(len(trellis.offsets) - 1)
    _pass(trellis, weight, initial, forward, backward, mass, log_likelihood)
    counts, starts, total = np.zeros(len(weight)), np.zeros(len(initial)), log_likelihood.sum()
    if total > -np.inf:
        for p in range(len(mass)):
            counts[trellis.pair[p]] += mass[p]
        for begin in trellis.offsets[:-1]:
            for k in range(trellis.at[begin], trellis.at[begin + 1]):
                starts[trellis.state[k]] += forward[k] * backward[k]
    return counts, starts, total


@njit(cache=True)
def maximise(trellis, counts, n_rows, pseudocount, n_states):
    """Return the mean weight of every transition of the trellis under its expected counts."""
    mass = np.full(n_rows, pseudocount * n_states)
    for k in range(len(counts)):
        mass[trellis.row[k]] += counts[k]
    weight = np.empty(len(counts))
    for k in range(len(counts)):
        weight[k] = (counts[k] + pseudocount) / mass[trellis.row[k]]
    return weight
