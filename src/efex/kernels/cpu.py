"""Message passing over block-sparse transitions, compiled by Numba.

A walk visits only the clones of what it sees, so a message at t is as wide as the clones of x_t, and one step
multiplies it by one stored block. Episodes are independent and blocks are owned by one task, so results do not
depend on the number of threads. Messages are scaled at every step; a failed walk is reported by position.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from efex.kernels.leaf import leaf
from efex.kernels.products import column_products, leak, outer_sums, overlap, rescale, row_products
from efex.kernels.simd import LANES, prefetch

OK = -1
"""No position failed."""

LINE = 16
"""Numbers of single precision in a cache line."""


class Walks(NamedTuple):
    """Episodes end to end. `block[t]` is the stored block of step t -> t+1, or -1 where none is stored."""

    observations: np.ndarray
    actions: np.ndarray
    offsets: np.ndarray
    block: np.ndarray


class Weights(NamedTuple):
    """Transition weights: block b is `values[start[b]:start[b + 1]]`, row-major; any other target of state i
    under action a weighs `background[a, i]`. The clones of observation x are the states first[x] to first[x + 1]."""

    first: np.ndarray
    start: np.ndarray
    values: np.ndarray
    background: np.ndarray
    initial: np.ndarray


@njit(cache=True, inline="always")
def _width(weights, x):
    return weights.first[x + 1] - weights.first[x]


@njit(cache=True)
def positions(walks, weights):
    """Return where the message of every observation begins in a flat array, and the length of it all."""
    out = np.empty(len(walks.observations) + 1, np.int64)
    out[0] = 0
    for t in range(len(walks.observations)):
        out[t + 1] = out[t] + _width(weights, walks.observations[t])
    return out


@njit(cache=True, inline="always")
def advance(walks, weights, t, message, out, maximise):
    """Move the message at t to t + 1 and scale it to sum (or maximum) one; return the scale, zero if impossible."""
    b = walks.block[t]
    if b >= 0:
        column_products(message, weights.values[weights.start[b] : weights.start[b + 1]], out, maximise)
    else:
        leak(message, _background(walks, weights, t), out, maximise)
    return rescale(out, maximise)


@njit(cache=True, inline="always")
def _expect_block(walks, weights, t):
    """Ask for the block of step t, which is next: beyond the cache, waiting for it takes longer than the product."""
    b = walks.block[t]
    if b >= 0:
        for k in range(weights.start[b], weights.start[b + 1], LINE):
            prefetch(weights.values, k)


@njit(cache=True, inline="always")
def _background(walks, weights, t):
    """Return what each clone at t sends to any one target outside the stored blocks."""
    x = walks.observations[t]
    return weights.background[walks.actions[t], weights.first[x] : weights.first[x + 1]]


@leaf
def start_message(walks, weights, t, out, maximise):
    """Write the scaled first message of the episode that begins at t; return the scale."""
    lo = weights.first[walks.observations[t]]
    for i in range(len(out)):
        out[i] = weights.initial[lo + i]
    return rescale(out, maximise)


@leaf
def _forward(walks, weights, begin, end, at, messages, maximise):
    """Fill the messages of one episode; return the log of the product of their scales, and what failed, or OK."""
    log_scale, product = 0.0, 1.0
    for t in range(begin, end):
        out = messages[at[t] : at[t + 1]]
        if t == begin:
            scale = start_message(walks, weights, t, out, maximise)
        else:
            _expect_block(walks, weights, t)
            scale = advance(walks, weights, t - 1, messages[at[t - 1] : at[t]], out, maximise)
        if not scale > 0:
            return log_scale, t
        # A logarithm costs as much as the message; products of doubles need one every few dozen steps.
        if product * scale < 1e-250:
            log_scale += np.log(product)
            product = 1.0
        product *= scale
    return log_scale + np.log(product), OK


@leaf
def follow(walks, weights, begin, end, at, messages):
    """Fill the messages of the likeliest ways along one walk from `begin` on, where those before it are known.

    Unlike `_forward` it keeps no score, and after a step that is impossible it goes on with all states as likely.
    """
    for t in range(begin, end):
        out = messages[at[t] : at[t + 1]]
        if t == 0:
            start_message(walks, weights, t, out, True)
        else:
            _expect_block(walks, weights, t)
            if not advance(walks, weights, t - 1, messages[at[t - 1] : at[t]], out, True) > 0:
                out[:] = 1


@njit(cache=True, inline="always")
def _retreat(walks, weights, t, message, out, tail):
    """Move the backward message at t + 1 to t, unscaled."""
    b = walks.block[t]
    if b >= 0:
        row_products(message, weights.values[weights.start[b] : weights.start[b + 1]], out, tail)
    else:
        background, total = _background(walks, weights, t), message.sum()
        for i in range(len(out)):
            out[i] = background[i] * total


@leaf
def _backward(walks, weights, begin, end, at, forward, backward, norms, tail):
    """Fill the scaled backward messages of one episode, and norms[t] such that the posterior of step t -> t+1
    is f_t(i) w(i, j) b_{t+1}(j) / norms[t]; return the position that failed, or OK. `tail` is room for one vector."""
    backward[at[end - 1] : at[end]] = 1
    rescale(backward[at[end - 1] : at[end]], False)
    for t in range(end - 2, begin - 1, -1):
        if t > begin:
            _expect_block(walks, weights, t - 1)
        f, out = forward[at[t] : at[t + 1]], backward[at[t] : at[t + 1]]
        _retreat(walks, weights, t, backward[at[t + 1] : at[t + 2]], out, tail)
        norms[t] = overlap(f, out)
        if not norms[t] > 0:
            return t
        rescale(out, False)
    return OK


@njit(cache=True, parallel=True)
def filter_walks(walks, weights, at):
    """Return the scaled forward messages, the log-likelihood of every episode, and what failed in it."""
    messages = np.empty(at[-1], weights.values.dtype)
    n_episodes = len(walks.offsets) - 1
    log_likelihood, failed = np.empty(n_episodes), np.empty(n_episodes, np.int64)
    for e in prange(n_episodes):
        begin, end = walks.offsets[e], walks.offsets[e + 1]
        log_likelihood[e], failed[e] = _forward(walks, weights, begin, end, at, messages, False)
    return messages, log_likelihood, failed


@njit(cache=True, parallel=True)
def smooth_walks(walks, weights, at):
    """Return the scaled forward and backward messages, the norm of every step, and the log-likelihood of every episode
    and what failed in it. An episode goes back right after it went forth, while its blocks are in the cache."""
    forward, backward = np.empty(at[-1], weights.values.dtype), np.empty(at[-1], weights.values.dtype)
    norms, n_episodes = np.ones(len(walks.observations)), len(walks.offsets) - 1
    log_likelihood, failed = np.empty(n_episodes), np.empty(n_episodes, np.int64)
    for e in prange(n_episodes):
        begin, end = walks.offsets[e], walks.offsets[e + 1]
        log_likelihood[e], failed[e] = _forward(walks, weights, begin, end, at, forward, False)
        if failed[e] == OK:
            tail = np.empty(LANES, backward.dtype)
            failed[e] = _backward(walks, weights, begin, end, at, forward, backward, norms, tail)
    return forward, backward, norms, log_likelihood, failed


CHUNK = 32
"""Blocks that one task takes at a time; each is summed by itself, so results do not depend on it."""


@njit(cache=True, parallel=True)
def accumulate(walks, weights, at, forward, backward, norms, order, bounds, counts):
    """Write the expected counts of every stored block.

    `order[bounds[b]:bounds[b + 1]]` are the steps of block b; one task owns a block and adds its steps in order.
    """
    n_blocks = len(bounds) - 1
    for chunk in prange((n_blocks + CHUNK - 1) // CHUNK):
        begin, end = chunk * CHUNK, min(n_blocks, (chunk + 1) * CHUNK)
        most = np.max(bounds[begin + 1 : end + 1] - bounds[begin:end])
        f_at, g_at, inverse = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, counts.dtype)
        for b in range(begin, end):
            n_steps = bounds[b + 1] - bounds[b]
            for k in range(n_steps):
                t = order[bounds[b] + k]
                f_at[k], g_at[k], inverse[k] = at[t], at[t + 1], counts.dtype.type(1 / norms[t])
                # A block's steps are anywhere in the walk: all are asked for before the first is waited for.
                for i in range(at[t], at[t + 1], LINE):
                    prefetch(forward, i)
                for i in range(at[t + 1], at[t + 2], LINE):
                    prefetch(backward, i)
            values = weights.values[weights.start[b] : weights.start[b + 1]]
            out = counts[weights.start[b] : weights.start[b + 1]]
            if n_steps == 0:
                out[:] = 0
                continue
            width = at[order[bounds[b]] + 2] - g_at[0]
            outer_sums(forward, backward, f_at[:n_steps], g_at, inverse, values, out, width)
    return counts


@njit(cache=True)
def start_counts(walks, weights, at, forward, backward):
    """Return the expected number of episodes that begin in every state."""
    counts = np.zeros(len(weights.initial))
    for e in range(len(walks.offsets) - 1):
        t = walks.offsets[e]
        lo = weights.first[walks.observations[t]]
        f, g = forward[at[t] : at[t + 1]], backward[at[t] : at[t + 1]]
        norm = overlap(f, g)
        for i in range(len(f)):
            counts[lo + i] += np.float64(f[i]) * np.float64(g[i]) / norm
    return counts


@leaf
def trace_back(walks, weights, begin, end, at, messages, path):
    """Write the likeliest path into `path[begin:end]`, last state first; stop where it meets the path already
    there. Return the first position that was written."""
    last = messages[at[end - 1] : at[end]]
    path[end - 1] = weights.first[walks.observations[end - 1]] + np.argmax(last)
    for t in range(end - 2, begin - 1, -1):
        lo, b = weights.first[walks.observations[t]], walks.block[t]
        column = path[t + 1] - weights.first[walks.observations[t + 1]]
        width = _width(weights, walks.observations[t + 1])
        best, state = -1.0, lo
        for i in range(at[t + 1] - at[t]):
            if b >= 0:
                w = weights.values[weights.start[b] + i * width + column]
            else:
                w = weights.background[walks.actions[t], lo + i]
            score = np.float64(messages[at[t] + i]) * w
            if score > best:
                best, state = score, lo + i
        if path[t] == state:
            return t + 1
        path[t] = state
    return begin


@njit(cache=True, parallel=True)
def decode_walks(walks, weights, at):
    """Return the likeliest path, its log-probability per episode, and what failed in every episode."""
    n_episodes = len(walks.offsets) - 1
    path = np.full(len(walks.observations), -1, np.int64)
    score = np.zeros(n_episodes)
    failed = np.empty(n_episodes, np.int64)
    for e in prange(n_episodes):
        begin, end = walks.offsets[e], walks.offsets[e + 1]
        local = at[begin : end + 1] - at[begin]
        messages = np.empty(local[-1], weights.values.dtype)
        one = Walks(
            walks.observations[begin:end],
            walks.actions[begin:end],
            walks.offsets[e : e + 2],
            walks.block[begin:end],
        )
        score[e], bad = _forward(one, weights, 0, end - begin, local, messages, True)
        failed[e] = bad if bad == OK else bad + begin
        if bad == OK:
            trace_back(one, weights, 0, end - begin, local, messages, path[begin:end])
    return path, score, failed
