"""Merging places: classes of places that count as one, and what the marginal likelihood gains by each union.

`t` are Transitions and `r` is room to work in. A class is a ring of places, all of which have the label of one of them;
a union is tried by doing it, for the same exchange of links joins two rings and parts them again.
"""

import numpy as np
from numba import njit

from efex.kernels.reckoning import agreement
from efex.kernels.transitions import log_rising

HOPELESS = -25.0
"""A union that has lost this many nats on the way is given up."""


@njit(cache=True)
def merge(t, r, pairs, margin, label):
    """Unite the pairs that gain more than `margin` nats per union, best first, and what follows from it.

    Write the labels.
    """
    n = len(label)
    ring, size, trail = np.arange(n), np.ones(n, np.int64), np.empty((n, 2), np.int64)
    gains = np.empty(len(pairs))
    know_rows(t, r, label, ring)
    for k in range(len(pairs)):
        gains[k], unions = unite(t, r, label, ring, size, pairs[k, 0], pairs[k, 1], margin, trail, True)
        part(label, ring, size, trail, 0, unions)
    for k in np.argsort(-gains):
        if gains[k] <= 0:
            break
        gain, unions = unite(t, r, label, ring, size, pairs[k, 0], pairs[k, 1], margin, trail, False)
        if gain <= 0:
            part(label, ring, size, trail, 0, unions)


@njit(cache=True)
def know_rows(t, r, label, ring):
    """Write what every row is worth, and what it mostly leads to, while all places are apart."""
    for place in range(len(label)):
        for action in range(t.n_actions):
            r.alone[place, action] = score_row(t, r, label, ring, place, action)
            r.mostly[place, action] = likeliest(t, r, label, ring, place, action)


@njit(cache=True)
def unite(t, r, label, ring, size, x, y, margin, trail, apart):
    """Unite the classes of x and y, and what follows from it as far as it pays; return the gain and the unions.

    What an action mostly leads to from the one and from the other is the same place if the two are. Where that is not
    so, because outcomes are random, the unions up to the best moment stand. `trail` tells them, and each one costs
    `margin` nats. If all places are `apart`, r.alone and r.mostly know what every row is worth and leads to.
    """
    r.waiting[0, 0], r.waiting[0, 1] = x, y
    at, end, unions, gain, best, kept = 0, 1, 0, 0.0, 0.0, 0
    while at < end and gain > HOPELESS:
        u, v = label[r.waiting[at, 0]], label[r.waiting[at, 1]]
        at += 1
        if u == v or t.observation[u] != t.observation[v]:
            continue
        if size[u] < size[v]:
            u, v = v, u
        for action in range(t.n_actions):
            r.tops[action, 0] = r.mostly[u, action] if apart else likeliest(t, r, label, ring, u, action)
            r.tops[action, 1] = r.mostly[v, action] if apart else likeliest(t, r, label, ring, v, action)
        members = list_members(r, ring, v)
        gain -= score_around(t, r, label, ring, u, v, members, apart) + margin
        join(label, ring, size, u, v)
        apart = False
        gain += score_around(t, r, label, ring, u, u, members, apart)
        trail[unions, 0], trail[unions, 1] = u, v
        unions += 1
        if kept == 0 or gain > best:
            best, kept = gain, unions
        for action in range(t.n_actions):
            p, q = r.tops[action]
            if p >= 0 and q >= 0 and label[p] != label[q]:
                r.waiting[end, 0], r.waiting[end, 1] = p, q
                end += 1
    part(label, ring, size, trail, kept, unions)
    return best, kept


@njit(cache=True)
def join(label, ring, size, u, v):
    """Add the class v to the class u."""
    write_label(label, ring, v, u)
    ring[u], ring[v] = ring[v], ring[u]
    size[u] += size[v]


@njit(cache=True)
def part(label, ring, size, trail, kept, unions):
    """Undo all unions but the first ones, which are kept."""
    for k in range(unions - 1, kept - 1, -1):
        u, v = trail[k]
        size[u] -= size[v]
        ring[u], ring[v] = ring[v], ring[u]
        write_label(label, ring, v, v)


@njit(cache=True)
def write_label(label, ring, head, name):
    """Give a name to the whole ring."""
    label[head], place = name, ring[head]
    while place != head:
        label[place], place = name, ring[place]


@njit(cache=True)
def list_members(r, ring, head):
    """Write the members of a class to r.smaller; return how many they are."""
    r.smaller[0], place, members = head, ring[head], 1
    while place != head:
        r.smaller[members] = place
        place, members = ring[place], members + 1
    return members


@njit(cache=True)
def score_around(t, r, label, ring, u, v, members, apart):
    """Return the score of all that a union of u and v concerns: their rows, those into r.smaller, and where they are.

    After the union v is u.
    """
    marked = 0
    for action in range(t.n_actions):
        marked = mark(r, u * t.n_actions + action, marked)
        marked = mark(r, v * t.n_actions + action, marked)
    for k in range(members):
        place = r.smaller[k]
        for i in range(t.into[place], t.into[place + 1]):
            entry = t.by_target[i]
            marked = mark(r, label[t.source[entry]] * t.n_actions + t.action[entry], marked)
    score = agreement(t, r, label, ring, u) + (agreement(t, r, label, ring, v) if u != v else 0.0)
    for k in range(marked):
        source, action = divmod(r.rows[k], t.n_actions)
        score += r.alone[source, action] if apart else score_row(t, r, label, ring, source, action)
        r.marked[r.rows[k]] = False
    return score


@njit(cache=True)
def mark(r, row, marked):
    """List a row in r.rows, once; return how many are."""
    if r.marked[row]:
        return marked
    r.marked[row] = True
    r.rows[marked] = row
    return marked + 1


@njit(cache=True)
def score_row(t, r, label, ring, head, action):
    """Return the marginal log-likelihood of what `action` led to from a class, theory (10)."""
    outcomes, total = count_row(t, r, label, ring, head, action)
    score = 0.0
    for k in range(outcomes):
        to = r.touched[k]
        prior = r.prior[k] + (t.sticky[t.observation[head], action] if to == head else 0.0)
        score += log_rising(prior, r.seen[to])
        r.seen[to] = 0.0
    return score - log_rising(t.weight, total)


@njit(cache=True)
def likeliest(t, r, label, ring, head, action):
    """Return the class that `action` led to most often, -1 where it was never tried."""
    outcomes, _ = count_row(t, r, label, ring, head, action)
    best, most = -1, 0.0
    for k in range(outcomes):
        to = r.touched[k]
        if r.seen[to] > most:
            best, most = to, r.seen[to]
        r.seen[to] = 0.0
    return best


@njit(cache=True)
def count_row(t, r, label, ring, head, action):
    """Count in r.seen what `action` led to from a class; return how many different classes, and how often in all."""
    outcomes, total, place = 0, 0.0, head
    while True:
        row = place * t.n_actions + action
        for entry in range(t.row_start[row], t.row_start[row + 1]):
            to = label[t.target[entry]]
            if r.seen[to] == 0.0:
                r.touched[outcomes], r.prior[outcomes] = to, t.base[entry]
                outcomes += 1
            r.seen[to] += t.visits[entry]
            total += t.visits[entry]
        place = ring[place]
        if place == head:
            return outcomes, total


@njit(cache=True)
def same_looks(order, start):
    """Return all pairs of places that show the same; those of an observation are order[start[x]] to start[x + 1]."""
    n = 0
    for x in range(len(start) - 1):
        size = start[x + 1] - start[x]
        n += size * (size - 1) // 2
    pairs = np.empty((n, 2), np.int64)
    n = 0
    for x in range(len(start) - 1):
        for i in range(start[x], start[x + 1]):
            for j in range(i + 1, start[x + 1]):
                pairs[n, 0], pairs[n, 1] = order[i], order[j]
                n += 1
    return pairs
