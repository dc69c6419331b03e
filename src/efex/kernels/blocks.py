"""Stored blocks: finding them, and the M-step on them: row sums of counts, and the probabilities they make.

The blocks groups[g] to groups[g + 1] share their action and source, g = action * n_observations + source.
"""

from numba import njit, prange

from efex.kernels.leaf import leaf
from efex.kernels.products import reduce
from efex.kernels.simd import LANES, fill, fma, load, store


@njit(cache=True, parallel=True)
def row_totals(counts, first, start, action, source, target, groups, totals):
    """Add the row sums of every block to totals[action, state]; one task owns a group, so no two share a row."""
    for g in prange(len(groups) - 1):
        for b in range(groups[g], groups[g + 1]):
            lo, width = first[source[b]], first[target[b] + 1] - first[target[b]]
            for i in range(first[source[b] + 1] - lo):
                totals[action[b], lo + i] += reduce(counts[start[b] + i * width : start[b] + (i + 1) * width], False)


@njit(cache=True, parallel=True)
def mean_values(counts, first, start, action, source, target, groups, pseudocount, scale, values):
    """Write (count + pseudocount) * scale[action, state] for every entry of every block."""
    for g in prange(len(groups) - 1):
        for b in range(groups[g], groups[g + 1]):
            lo, width = first[source[b]], first[target[b] + 1] - first[target[b]]
            for i in range(first[source[b] + 1] - lo):
                factor = values.dtype.type(scale[action[b], lo + i])
                base, row = values.dtype.type(pseudocount * scale[action[b], lo + i]), start[b] + i * width
                if width < LANES:
                    for j in range(row, row + width):
                        values[j] = counts[j] * factor + base
                    continue
                for j in range(0, width, LANES):
                    at = row + min(j, width - LANES)
                    store(values, at, fma(load(counts, at), fill(factor), fill(base)))


@njit(cache=True)
def copy_blocks(values, start, widths, out, new_start, new_widths, found):
    """Copy every block b into block found[b] of `out`, whose rows may be longer; skip where found[b] is -1."""
    for b in range(len(found)):
        if found[b] >= 0:
            width, row = widths[b], new_start[found[b]]
            for at in range(start[b], start[b + 1], width):
                out[row : row + width] = values[at : at + width]
                row += new_widths[b]


@njit(cache=True, parallel=True)
def find_blocks(action, source, target, n_observations, groups, targets, found):
    """Write the block of every triple, -1 where none is stored; within a group blocks are sorted by target."""
    n_actions = (len(groups) - 1) // max(n_observations, 1)
    for k in prange(len(action)):
        found[k] = -1
        if 0 <= action[k] < n_actions and 0 <= source[k] < n_observations:
            g = action[k] * n_observations + source[k]
            lo, end = groups[g], groups[g + 1]
            hi = end
            while lo < hi:
                middle = (lo + hi) // 2
                if targets[middle] < target[k]:
                    lo = middle + 1
                else:
                    hi = middle
            if lo < end and targets[lo] == target[k]:
                found[k] = lo


@leaf
def count_path(path, w, start, first, counts):
    """Count the steps of a path over the walks `w` in their blocks; return whether there was one for every step."""
    for t in range(len(path)):
        if w.actions[t] >= 0:
            if w.block[t] < 0:
                return False
            look, then = w.observations[t], w.observations[t + 1]
            row = start[w.block[t]] + (path[t] - first[look]) * (first[then + 1] - first[then])
            counts[row + path[t + 1] - first[then]] += 1
    return True
