"""Message passing over block-sparse transitions, compiled by Numba.

A walk visits only the clones of what it sees, so a message at t is as wide as the clones of x_t, and one step
multiplies it by one stored block. Episodes are independent and blocks are owned by one task, so results do not
depend on the number of threads. Messages are scaled at every step; a failed walk is reported by position.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, prange

OK = -1
"""No position failed."""

_FAST = {"reassoc", "contract", "nsz"}


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


@njit(cache=True, fastmath=_FAST)
def _sum_product(message, values, out):
    width = len(out)
    out[:] = 0
    for i in range(len(message)):
        m = message[i]
        row = values[i * width : (i + 1) * width]
        for j in range(width):
            out[j] += m * row[j]


@njit(cache=True)
def _max_product(message, values, out):
    width = len(out)
    out[:] = 0
    for i in range(len(message)):
        m = message[i]
        row = values[i * width : (i + 1) * width]
        for j in range(width):
            score = m * row[j]
            out[j] = score if score > out[j] else out[j]


@njit(cache=True)
def advance(walks, weights, t, message, out, maximise):
    """Move the message at t to t + 1 and scale it to sum (or maximum) one; return the scale, zero if impossible."""
    b = walks.block[t]
    if b >= 0:
        values = weights.values[weights.start[b] : weights.start[b + 1]]
        if maximise:
            _max_product(message, values, out)
        else:
            _sum_product(message, values, out)
    else:
        lo = weights.first[walks.observations[t]]
        leak = out.dtype.type(0)
        for i in range(len(message)):
            share = message[i] * weights.background[walks.actions[t], lo + i]
            leak = max(leak, share) if maximise else leak + share
        out[:] = leak
    return _rescale(out, maximise)


@njit(cache=True)
def _rescale(message, maximise):
    scale = np.float64(0)
    for i in range(len(message)):
        scale = max(scale, np.float64(message[i])) if maximise else scale + message[i]
    if scale > 0:
        inverse = message.dtype.type(1 / scale)
        for i in range(len(message)):
            message[i] *= inverse
    return scale


@njit(cache=True)
def start_message(walks, weights, t, out, maximise):
    """Write the scaled first message of the episode that begins at t; return the scale."""
    lo = weights.first[walks.observations[t]]
    for i in range(len(out)):
        out[i] = weights.initial[lo + i]
    return _rescale(out, maximise)


@njit(cache=True)
def _forward(walks, weights, begin, end, at, messages, scales, maximise):
    """Fill the messages and log-scales of one episode; return the position that failed, or OK."""
    for t in range(begin, end):
        out = messages[at[t] : at[t + 1]]
        if t == begin:
            scale = start_message(walks, weights, t, out, maximise)
        else:
            scale = advance(walks, weights, t - 1, messages[at[t - 1] : at[t]], out, maximise)
        if not scale > 0:
            return t
        scales[t] = np.log(scale)
    return OK


@njit(cache=True, fastmath=_FAST)
def _retreat(walks, weights, t, message, out):
    """Move the backward message at t + 1 to t: out = block @ message, unscaled."""
    b = walks.block[t]
    width = len(message)
    if b >= 0:
        values = weights.values[weights.start[b] : weights.start[b + 1]]
        for i in range(len(out)):
            row = values[i * width : (i + 1) * width]
            total = out.dtype.type(0)
            for j in range(width):
                total += row[j] * message[j]
            out[i] = total
    else:
        lo = weights.first[walks.observations[t]]
        total = message.sum()
        for i in range(len(out)):
            out[i] = weights.background[walks.actions[t], lo + i] * total


@njit(cache=True)
def _backward(walks, weights, begin, end, at, forward, backward, norms):
    """Fill the scaled backward messages of one episode, and norms[t] such that the posterior of step t -> t+1
    is f_t(i) w(i, j) b_{t+1}(j) / norms[t]; return the position that failed, or OK."""
    backward[at[end - 1] : at[end]] = 1
    _rescale(backward[at[end - 1] : at[end]], False)
    for t in range(end - 2, begin - 1, -1):
        out = backward[at[t] : at[t + 1]]
        _retreat(walks, weights, t, backward[at[t + 1] : at[t + 2]], out)
        overlap = np.float64(0)
        for i in range(len(out)):
            overlap += np.float64(forward[at[t] + i]) * np.float64(out[i])
        if not overlap > 0:
            return t
        norms[t] = overlap
        _rescale(out, False)
    return OK


@njit(cache=True, parallel=True)
def filter_walks(walks, weights, at):
    """Return the scaled forward messages, the log-scale of every position, and what failed in every episode."""
    messages = np.empty(at[-1], weights.values.dtype)
    scales = np.zeros(len(walks.observations))
    failed = np.empty(len(walks.offsets) - 1, np.int64)
    for e in prange(len(failed)):
        begin, end = walks.offsets[e], walks.offsets[e + 1]
        failed[e] = _forward(walks, weights, begin, end, at, messages, scales, False)
    return messages, scales, failed


@njit(cache=True, parallel=True)
def smooth_walks(walks, weights, at, forward):
    """Return the scaled backward messages, the norm of every step, and what failed in every episode."""
    messages = np.empty(at[-1], weights.values.dtype)
    norms = np.ones(len(walks.observations))
    failed = np.empty(len(walks.offsets) - 1, np.int64)
    for e in prange(len(failed)):
        begin, end = walks.offsets[e], walks.offsets[e + 1]
        failed[e] = _backward(walks, weights, begin, end, at, forward, messages, norms)
    return messages, norms, failed


@njit(cache=True, parallel=True, fastmath=_FAST)
def accumulate(walks, weights, at, forward, backward, norms, order, bounds):
    """Return the expected counts of every stored block.

    `order[bounds[b]:bounds[b + 1]]` are the steps of block b; one task owns a block and adds its steps in order.
    """
    counts = np.zeros_like(weights.values)
    for b in prange(len(bounds) - 1):
        values = weights.values[weights.start[b] : weights.start[b + 1]]
        out = counts[weights.start[b] : weights.start[b + 1]]
        for k in range(bounds[b], bounds[b + 1]):
            t = order[k]
            f = forward[at[t] : at[t + 1]]
            g = backward[at[t + 1] : at[t + 2]]
            inverse = values.dtype.type(1 / norms[t])
            for i in range(len(f)):
                share = f[i] * inverse
                row = out[i * len(g) : (i + 1) * len(g)]
                for j in range(len(g)):
                    row[j] += share * g[j]
        for k in range(len(out)):
            out[k] *= values[k]
    return counts


@njit(cache=True)
def start_counts(walks, weights, at, forward, backward):
    """Return the expected number of episodes that begin in every state."""
    counts = np.zeros(len(weights.initial))
    for e in range(len(walks.offsets) - 1):
        t = walks.offsets[e]
        lo = weights.first[walks.observations[t]]
        f, g = forward[at[t] : at[t + 1]], backward[at[t] : at[t + 1]]
        overlap = np.float64(0)
        for i in range(len(f)):
            overlap += np.float64(f[i]) * np.float64(g[i])
        for i in range(len(f)):
            counts[lo + i] += np.float64(f[i]) * np.float64(g[i]) / overlap
    return counts


@njit(cache=True)
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
        scales = np.empty(end - begin)
        one = Walks(
            walks.observations[begin:end],
            walks.actions[begin:end],
            walks.offsets[e : e + 2],
            walks.block[begin:end],
        )
        bad = _forward(one, weights, 0, end - begin, local, messages, scales, True)
        failed[e] = bad if bad == OK else bad + begin
        if bad == OK:
            trace_back(one, weights, 0, end - begin, local, messages, path[begin:end])
            score[e] = scales.sum()
    return path, score, failed


@njit(cache=True)
def row_totals(counts, first, start, action, source, target, totals):
    """Add the row sums of every block to totals[action, state]."""
    for b in range(len(start) - 1):
        lo, width = first[source[b]], first[target[b] + 1] - first[target[b]]
        for i in range(first[source[b] + 1] - lo):
            row = counts[start[b] + i * width : start[b] + (i + 1) * width]
            total = 0.0
            for j in range(width):
                total += row[j]
            totals[action[b], lo + i] += total


@njit(cache=True)
def mean_values(counts, first, start, action, source, target, pseudocount, scale, values):
    """Write (count + pseudocount) * scale[action, state] for every entry of every block."""
    for b in range(len(start) - 1):
        lo, width = first[source[b]], first[target[b] + 1] - first[target[b]]
        for i in range(first[source[b] + 1] - lo):
            s = scale[action[b], lo + i]
            for k in range(start[b] + i * width, start[b] + (i + 1) * width):
                values[k] = (counts[k] + pseudocount) * s


@njit(cache=True)
def copy_blocks(values, start, widths, out, new_start, new_widths, found):
    """Copy every block b into block found[b] of `out`, whose rows may be longer; skip where found[b] is -1."""
    for b in range(len(found)):
        if found[b] >= 0:
            for k in range(start[b + 1] - start[b]):
                i, j = divmod(k, widths[b])
                out[new_start[found[b]] + i * new_widths[b] + j] = values[start[b] + k]
