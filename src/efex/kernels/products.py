"""The arithmetic of messages: products of a vector with one block, of any width, eight numbers at a time."""

import numpy as np

from efex.kernels.leaf import leaf
from efex.kernels.simd import LANES, element, fill, fma, highest, larger, load, multiply, store, total


@leaf
def _column_sums(message, values, column, width):
    """Return Σ_i message[i] values[i, j] for the columns j of one vector."""
    sums, at = fill(message.dtype.type(0)), column
    for i in range(len(message)):
        sums = fma(fill(element(message, i)), load(values, at), sums)
        at += width
    return sums


@leaf
def _column_maxima(message, values, column, width):
    """Return max_i message[i] values[i, j] for the columns j of one vector."""
    best, at = fill(message.dtype.type(0)), column
    for i in range(len(message)):
        best = larger(best, multiply(fill(element(message, i)), load(values, at)))
        at += width
    return best


@leaf
def column_products(message, values, out, maximise):
    """Write Σ_i (or max_i) message[i] values[i, j] for every j.

    Columns are taken a vector at a time. The last vector overlaps the one before it: both compute the same there, so
    rows of any length need no padding.
    """
    width = len(out)
    if width < LANES:
        for j in range(width):
            result = out.dtype.type(0)
            for i in range(len(message)):
                term = element(message, i) * element(values, i * width + j)
                result = max(result, term) if maximise else result + term
            out[j] = result
        return
    for j in range(0, width, LANES):
        column = min(j, width - LANES)
        if maximise:
            store(out, column, _column_maxima(message, values, column, width))
        else:
            store(out, column, _column_sums(message, values, column, width))


@leaf
def row_products(message, values, out, tail):
    """Write Σ_j values[i, j] message[j] for every i. `tail` is room for one vector."""
    width = len(message)
    if width < LANES:
        for i in range(len(out)):
            sum_ = out.dtype.type(0)
            for j in range(width):
                sum_ += element(values, i * width + j) * element(message, j)
            out[i] = sum_
        return
    # The last vector overlaps the one before it, and what that one covers must not count twice.
    last, covered = width - LANES, (width - 1) // LANES * LANES
    for j in range(LANES):
        tail[j] = message[last + j] if last + j >= covered else 0
    ending = load(tail, 0)
    for i in range(len(out)):
        row = i * width
        sums = multiply(load(values, row + last), ending)
        for j in range(0, covered, LANES):
            sums = fma(load(values, row + j), load(message, j), sums)
        out[i] = total(sums)


@leaf
def outer_sums(forward, backward, f_at, g_at, inverse, values, out, width):
    """Write values[i, j] Σ_k forward_k[i] inverse_k backward_k[j] for every (i, j); three vectors go together."""
    zero, last = out.dtype.type(0), width - LANES
    for i in range(len(out) // width):
        row = i * width
        if width < LANES:
            for j in range(width):
                sum_ = zero
                for k in range(len(f_at)):
                    share = element(forward, element(f_at, k) + i) * element(inverse, k)
                    sum_ += share * element(backward, element(g_at, k) + j)
                out[row + j] = sum_ * values[row + j]
            continue
        for j in range(0, width, 3 * LANES):
            j0, j1, j2 = min(j, last), min(j + LANES, last), min(j + 2 * LANES, last)
            s0 = s1 = s2 = fill(zero)
            for k in range(len(f_at)):
                share = fill(element(forward, element(f_at, k) + i) * element(inverse, k))
                g = element(g_at, k)
                s0 = fma(share, load(backward, g + j0), s0)
                s1 = fma(share, load(backward, g + j1), s1)
                s2 = fma(share, load(backward, g + j2), s2)
            store(out, row + j0, multiply(s0, load(values, row + j0)))
            store(out, row + j1, multiply(s1, load(values, row + j1)))
            store(out, row + j2, multiply(s2, load(values, row + j2)))


@leaf
def leak(message, background, out, maximise):
    """Write Σ_i (or max_i) message[i] background[i] everywhere: what reaches targets outside the stored blocks."""
    leak = out.dtype.type(0)
    for i in range(len(message)):
        share = message[i] * background[i]
        leak = max(leak, share) if maximise else leak + share
    out[:] = leak


@leaf
def reduce(numbers, maximise):
    """Return the sum (or maximum, at least zero) of `numbers`."""
    whole, one = len(numbers) // LANES * LANES, numbers.dtype.type(1)
    lanes = fill(one - one)
    for i in range(0, whole, LANES):
        lanes = larger(lanes, load(numbers, i)) if maximise else fma(fill(one), load(numbers, i), lanes)
    result = np.float64(highest(lanes) if maximise else total(lanes))
    for i in range(whole, len(numbers)):
        result = max(result, np.float64(numbers[i])) if maximise else result + numbers[i]
    return result


@leaf
def rescale(message, maximise):
    """Scale the message to sum (or maximum) one; return the scale."""
    scale = reduce(message, maximise)
    if scale > 0:
        whole, inverse = len(message) // LANES * LANES, message.dtype.type(1 / scale)
        for i in range(0, whole, LANES):
            store(message, i, multiply(fill(inverse), load(message, i)))
        for i in range(whole, len(message)):
            message[i] *= inverse
    return scale


@leaf(fastmath={"reassoc", "contract"})
def overlap(f, g):
    """Return Σ_i f[i] g[i], in double precision because both may be tiny."""
    sum_ = 0.0
    for i in range(len(f)):
        sum_ += np.float64(element(f, i)) * np.float64(element(g, i))
    return sum_
