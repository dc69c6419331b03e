"""Dead reckoning: coordinates of places, and what it is worth that edges agree on them.

Coordinates add up and wrap around; every axis has its own step, so that different sums are different numbers.
"""

import math

import numpy as np
from numba import njit

from efex.kernels.leaf import leaf
from efex.kernels.moves import QUARTERS

APART = 7046029254386353131
"""How far from one another coordinates begin that have nothing in common."""


@leaf
def after(moves, action, at):
    """Return where an action leads from a coordinate, which is where it is if that is unknown."""
    return at + moves[action, at % QUARTERS]


@leaf
def before(moves, action, at):
    """Return the coordinate from which an action leads to one."""
    for heading in range(QUARTERS):
        if (heading + moves[action, heading]) % QUARTERS == at % QUARTERS:
            return at - moves[action, heading]
    return at


@njit(cache=True)
def invert(moves):
    """Return the action that undoes every action, -1 where there is none."""
    inverse = np.full(len(moves), -1)
    for action in range(len(moves)):
        for other in range(len(moves)):
            undone = moves[action, 0] != 0
            for heading in range(QUARTERS):
                undone &= after(moves, other, after(moves, action, np.int64(heading))) == heading
            if undone:
                inverse[action] = other
    return inverse


@njit(cache=True)
def locate(source, action, target, visits, moves, n):
    """Return the coordinates of n places, how many edges lead elsewhere, and how many none of them need.

    Those walked most often decide, of edges that move by what is known.
    """
    known, most = 0, 0
    edges = np.empty(len(source), np.int64)
    for edge in range(len(source)):
        if source[edge] != target[edge] and moves[action[edge], 0] != 0:
            edges[known] = edge
            most = max(most, int(visits[edge]))
            known += 1
    begin = np.zeros(most + 2, np.int64)
    for edge in edges[:known]:
        begin[most - int(visits[edge]) + 1] += 1
    begin, order = np.cumsum(begin), np.empty(known, np.int64)
    for edge in edges[:known]:
        rank = most - int(visits[edge])
        order[begin[rank]] = edge
        begin[rank] += 1
    at = settle(source, action, target, moves, order, n)
    connected, places, wrong = np.zeros(n, np.bool_), 0, 0
    for edge in edges[:known]:
        wrong += after(moves, action[edge], at[source[edge]]) != at[target[edge]]
        connected[source[edge]] = connected[target[edge]] = True
    for place in range(n):
        places += connected[place]
    return at, wrong, max(known - places, 0)


@njit(cache=True)
def read_edges(source, action, target, at, moves):
    """Return by how much every edge moves, 0 where that is unknown, and where it leads so; the last place is none."""
    by, reading = np.zeros(len(source), np.int64), np.empty(len(source), np.int64)
    for edge in range(len(source)):
        here = at[source[edge]]
        if source[edge] != target[edge] and source[edge] < len(at) - 1:
            by[edge] = moves[action[edge], here % QUARTERS]
        reading[edge] = here + by[edge]
    return by, reading


@njit(cache=True)
def settle(source, action, target, moves, order, n):
    """Return the coordinates of n places, given edges, and in which order those that tell something decide.

    An edge that connects two places decides where they are to one another. What nothing connects has nothing in common.
    """
    root, begin = np.arange(n), np.zeros(n + 2, np.int64)
    deciding, decided = np.empty(n, np.int64), 0
    for edge in order:
        u, v = find_root(root, source[edge]), find_root(root, target[edge])
        if u != v:
            root[v] = u
            deciding[decided] = edge
            decided += 1
            begin[source[edge] + 2] += 1
            begin[target[edge] + 2] += 1
    begin = np.cumsum(begin)
    around = np.empty(2 * decided, np.int64)
    for edge in deciding[:decided]:
        for place in (source[edge], target[edge]):
            around[begin[place + 1]] = edge
            begin[place + 1] += 1
    at, found, waiting = np.empty(n, np.int64), np.zeros(n, np.bool_), np.empty(n, np.int64)
    for head in range(n):
        if root[head] != head:
            continue
        at[head], found[head], waiting[0], left = (head + 1) * APART, True, head, 1
        while left > 0:
            left -= 1
            place = waiting[left]
            for edge in around[begin[place] : begin[place + 1]]:
                here, there = source[edge], target[edge]
                if not found[there]:
                    at[there], found[there], waiting[left] = after(moves, action[edge], at[here]), True, there
                    left += 1
                elif not found[here]:
                    at[here], found[here], waiting[left] = before(moves, action[edge], at[there]), True, here
                    left += 1
    return at


@leaf
def find_root(root, place):
    """Return the place that stands for all connected with this one, and shorten the way to it."""
    while root[place] != place:
        root[place] = root[root[place]]
        place = root[place]
    return place


@njit(cache=True)
def wrap(spot, further):
    """Return for every coordinate the one that stands for it and all those further on, -1 where there is none."""
    root = np.arange(len(spot))
    for here in range(len(spot)):
        if further[here] >= 0:
            root[find_root(root, further[here])] = find_root(root, here)
    out = np.empty_like(spot)
    for here in range(len(spot)):
        out[here] = spot[find_root(root, here)]
    return out


@njit(cache=True)
def positions(places, at, actions, moves):
    """Return where a walk is at every step, reckoned from where its episodes begin and from moves that are unknown."""
    out = np.empty(len(places), np.int64)
    for t in range(len(places)):
        if t == 0 or actions[t - 1] < 0 or moves[actions[t - 1], 0] == 0:
            out[t] = at[places[t]]
        elif places[t] == places[t - 1]:
            out[t] = out[t - 1]
        else:
            out[t] = after(moves, actions[t - 1], out[t - 1])
    return out


@leaf(forceinline=True)
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
                row = source * t.n_actions + t.action[entry]
                if not r.told[row]:
                    r.told[row], r.keys[edges], r.entries[edges] = True, row, entry
                    edges += 1
                    # What most edges tell is what is left when any two that differ cancel out.
                    where = t.reading[entry] if lead == 0 else where
                    lead += 1 if t.reading[entry] == where else -1
        place = ring[place]
        if place == head:
            break
    agree, gain = 0, 0.0
    for k in range(edges):
        r.told[r.keys[k]] = False
        if t.reading[r.entries[k]] == where:
            agree += 1
            gain += t.gain[r.entries[k]]
    return gain * (agree - 1) / agree + (edges - agree) * math.log(t.astray) if agree > 0 else 0.0


@leaf
def total_agreement(t):
    """Return what is gained at all places, each of them a class of its own."""
    astray, gain = math.log(t.astray), 0.0
    for place in range(len(t.observation) - 1):
        edges, where, lead = 0, np.int64(0), 0
        entries = t.by_target[t.into[place] : t.into[place + 1]]
        for entry in entries:
            if t.by[entry] != 0:
                edges += 1
                where = t.reading[entry] if lead == 0 else where
                lead += 1 if t.reading[entry] == where else -1
        agree, told = 0, 0.0
        for entry in entries:
            if t.by[entry] != 0 and t.reading[entry] == where:
                agree += 1
                told += t.gain[entry]
        if agree > 0:
            gain += told * (agree - 1) / agree + (edges - agree) * astray
    return gain


@njit(cache=True)
def most_frequent_way(spot, order, start):
    """Return the most frequent difference of two coordinates where the same is seen, none where there are none.

    What is seen is the same at spot[order[start[x]]] up to start[x + 1]. Of those that are as frequent it is the least.
    """
    n = 0
    for x in range(len(start) - 1):
        size = start[x + 1] - start[x]
        n += size * (size - 1) // 2
    ways, n = np.empty(n, np.int64), 0
    for x in range(len(start) - 1):
        for i in range(start[x], start[x + 1]):
            for j in range(i + 1, start[x + 1]):
                ways[n] = spot[order[i]] - spot[order[j]]
                n += 1
    ways.sort()
    best, most, begin = ways[:1], 0, 0
    for k in range(1, n + 1):
        if k == n or ways[k] != ways[begin]:
            if k - begin > most:
                best, most = ways[begin : begin + 1], k - begin
            begin = k
    return best
