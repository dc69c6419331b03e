"""Re-decoding episodes one by one, each against what all the others counted.

`g` is the Ground, what stays as it is, and `c` the Tally, what is counted.
"""

import math

import numpy as np
from numba import njit

from efex.kernels.leaf import leaf
from efex.kernels.reckoning import after


@njit(cache=True)
def redecode(g, c, order, path):
    """Decode the episodes again in this order, in place; return how many positions have moved.

    An episode moves where that is likelier, its own steps counted one after the other. It may go to places where
    nobody has been, one at a time for every observation.
    """
    widest, longest = 0, 0
    for look in range(len(g.first) - 1):
        widest = max(widest, g.first[look + 1] - g.first[look])
    for episode in range(len(g.offsets) - 1):
        longest = max(longest, g.offsets[episode + 1] - g.offsets[episode])
    message, back = np.zeros((2, widest)), np.zeros((longest, widest), np.int64)
    moved = 0
    for episode in order:
        lo, hi = g.offsets[episode], g.offsets[episode + 1]
        old = path[lo:hi]
        tally(g, c, lo, old, -1.0)
        new = decode(g, c, lo, hi, message, back)
        differ = 0
        for t in range(hi - lo):
            differ += new[t] != old[t]
        if differ > 0 and log_chance(g, c, lo, new) > log_chance(g, c, lo, old):
            path[lo:hi] = new
            moved += differ
        tally(g, c, lo, path[lo:hi], 1.0)
    return moved


@leaf
def tally(g, c, lo, states, amount):
    """Count the steps and visits of an episode that begins at `lo`, or take them back."""
    c.starts[states[0]] += amount
    for t in range(len(states)):
        c.visits[states[t]] += amount
        if t + 1 < len(states):
            c.counts[entry(g, lo + t, states[t], states[t + 1])] += amount
            c.totals[g.actions[lo + t], states[t]] += amount


@leaf
def entry(g, t, state, then):
    """Return where the step t from `state` to the state `then` is counted."""
    look, next_look = g.observations[t], g.observations[t + 1]
    width = g.first[next_look + 1] - g.first[next_look]
    return g.start[g.block[t]] + (state - g.first[look]) * width + then - g.first[next_look]


@leaf
def chance_of_step(g, c, t, state, then):
    """Return the probability of the step t from `state` to the state `then`, as all that is counted tells.

    Where both are known to be somewhere, it is likely if that is where the step should lead; one may be thrown, too.
    """
    prior, stays = g.base[g.block[t]], g.sticky[g.observations[t], g.actions[t]]
    if state == then:
        prior += stays
    elif g.moves[g.actions[t], 0] != 0 and g.at[state] != 0 and g.at[then] != 0:
        if after(g.moves, g.actions[t], g.at[state]) == g.at[then]:
            prior += (1 - g.astray) * (g.weight - stays)
        elif then != g.thrown_to:
            prior *= g.astray
    return (c.counts[entry(g, t, state, then)] + prior) / (c.totals[g.actions[t], state] + g.weight)


@leaf
def chance_of_start(g, c, t, state):
    """Return what the probability is proportional to that an episode begins, at position t, at `state`."""
    look = g.observations[t]
    return c.starts[state] + g.weight / max(g.places[look], 1.0)


@njit(cache=True)
def decode(g, c, lo, hi, message, back):
    """Return the likeliest states of an episode, at most one of every observation among those never visited."""
    look = g.observations[lo]
    fresh = first_fresh(g, c, look)
    for state in range(g.first[look], g.first[look + 1]):
        allowed = c.visits[state] > 0 or state == fresh
        message[0, state - g.first[look]] = chance_of_start(g, c, lo, state) if allowed else 0.0
    for t in range(lo + 1, hi):
        before, look = g.observations[t - 1], g.observations[t]
        now, last, fresh, most = message[(t - lo) % 2], message[(t - lo - 1) % 2], first_fresh(g, c, look), 0.0
        for j in range(g.first[look + 1] - g.first[look]):
            now[j], then = 0.0, g.first[look] + j
            if c.visits[then] > 0 or then == fresh:
                for i in range(g.first[before + 1] - g.first[before]):
                    if last[i] > 0.0:
                        value = last[i] * chance_of_step(g, c, t - 1, g.first[before] + i, then)
                        if value > now[j]:
                            now[j], back[t - lo, j] = value, i
            most = max(most, now[j])
        for j in range(g.first[look + 1] - g.first[look]):
            now[j] /= most
    states = np.empty(hi - lo, np.int64)
    look = g.observations[hi - 1]
    at = np.argmax(message[(hi - 1 - lo) % 2, : g.first[look + 1] - g.first[look]])
    for t in range(hi - 1, lo - 1, -1):
        states[t - lo] = g.first[g.observations[t]] + at
        at = back[t - lo, at]
    return states


@leaf
def first_fresh(g, c, look):
    """Return a state of the observation that was never visited, -1 where there is none."""
    for state in range(g.first[look], g.first[look + 1]):
        if c.visits[state] == 0:
            return state
    return -1


@leaf
def log_chance(g, c, lo, states):
    """Return the log-probability of an episode's states, each step counted for those after it."""
    score = math.log(chance_of_start(g, c, lo, states[0]))
    for t in range(len(states)):
        state = states[t]
        if c.visits[state] == 0:
            score += g.place
        c.visits[state] += 1
        if t + 1 < len(states):
            score += math.log(chance_of_step(g, c, lo + t, state, states[t + 1]))
            c.counts[entry(g, lo + t, state, states[t + 1])] += 1
            c.totals[g.actions[lo + t], state] += 1
    c.starts[states[0]] += 1  # so that what was counted on the way is taken back as a whole
    tally(g, c, lo, states, -1.0)
    return score
