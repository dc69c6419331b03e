"""Melting: forget what a model knows of some states, and put random counts in its place."""

from numba import njit


@njit(cache=True)
def melt(counts, first, start, source, target, forgotten, stay, noise):
    """Forget the rows of `forgotten` states, and which of them others lead to: `noise` takes the place of counts.

    Of the steps after which the same is seen again, a forgotten state stays with probability `stay`. A row that is kept
    leads to forgotten states as often as before, but to random ones.
    """
    for b in range(len(source)):
        lo, to = first[source[b]], first[target[b]]
        width = first[target[b] + 1] - to
        for i in range(lo, first[source[b] + 1]):
            row = start[b] + (i - lo) * width
            if forgotten[i]:
                counts[row : row + width] = noise[row : row + width]
                if source[b] == target[b]:
                    counts[row + i - to] += 0.5 * width * stay / (1 - stay)
                continue
            mass = total = 0.0
            for j in range(width):
                if forgotten[to + j]:
                    mass += counts[row + j]
                    total += noise[row + j]
            for j in range(width):
                if total > 0 and forgotten[to + j]:
                    counts[row + j] = noise[row + j] * mass / total
