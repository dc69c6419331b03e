"""Merging places: classes of places that count as one, and what the marginal likelihood gains by each union.

`t` are Transitions and `r` is room to work in. A class is a ring of places, all of which have the label of one of them;
a union is tried by doing it, for the same exchange of links joins two rings and parts them again.
"""

import numpy as np
from numba import njit

from efex.kernels.leaf import leaf
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
    ring, size, trail = np.arange(n), np.ones(n, np.int64), np.zeros((n, 3), np.int64)
    gains = np.empty(len(pairs))
    know_places(t, r, label, ring)
    for k in range(len(pairs)):
        gains[k], unions = unite(t, r, label, ring, size, pairs[k, 0], pairs[k, 1], margin, trail, True)
        part(r, label, ring, size, trail, 0, unions)
    for k in np.argsort(-gains):
        if gains[k] <= 0:
            break
        gain, unions = unite(t, r, label, ring, size, pairs[k, 0], pairs[k, 1], margin, trail, False)
        if gain <= 0:
            part(r, label, ring, size, trail, 0, unions)


@leaf
def know_places(t, r, label, ring):
    """Write what every row is worth and mostly leads to, and what every place agrees on, while all are apart."""
    for place in range(len(label)):
        r.agreed[place] = agreement(t, r, label, ring, place)
        for action in range(t.n_actions):
            know_row(t, r, label, ring, place, action)


@leaf
def unite(t, r, label, ring, size, x, y, margin, trail, apart):
    """Unite the classes of x and y, and what follows from it as far as it pays; return the gain and the unions.

    What an action mostly leads to from the one and from the other is the same place if the two are. Where that is not
    so, because outcomes are random, the unions up to the best moment stand. `trail` tells them, and how many rows had
    changed by then; each union costs `margin` nats. What every row is worth and mostly leads to is known before and
    after; if all places are `apart`, so is what each one agrees on. A hopeless first union stands, too, its rows
    not all known and its gain but a bound: it is to be undone.
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
            r.tops[action, 0] = r.mostly[u * t.n_actions + action]
            r.tops[action, 1] = r.mostly[v * t.n_actions + action]
        concerned = list_rows(t, r, label, ring, u, v)
        if apart:
            agreed = r.agreed[u] + r.agreed[v]
        else:
            agreed = agreement(t, r, label, ring, u) + agreement(t, r, label, ring, v)
        gain -= score_rows(r, concerned, agreed) + margin
        join(label, ring, size, u, v)
        apart, agreed = False, agreement(t, r, label, ring, u)
        score, changed = score_anew(t, r, label, ring, v, concerned, agreed, HOPELESS - gain, trail[unions, 2])
        gain += score
        trail[unions, 0], trail[unions, 1] = u, v
        unions += 1
        trail[unions, 2] = changed
        if kept == 0 or gain > best:
            best, kept = gain, unions
        for action in range(t.n_actions):
            p, q = r.tops[action]
            if p >= 0 and q >= 0 and label[p] != label[q]:
                r.waiting[end, 0], r.waiting[end, 1] = p, q
                end += 1
    part(r, label, ring, size, trail, kept, unions)
    return best, kept


@leaf(forceinline=True)
def join(label, ring, size, u, v):
    """Add the class v to the class u."""
    write_label(label, ring, v, u)
    ring[u], ring[v] = ring[v], ring[u]
    size[u] += size[v]


@leaf(forceinline=True)
def part(r, label, ring, size, trail, kept, unions):
    """Undo all unions but the first ones, which are kept, and what they changed of rows."""
    for k in range(trail[unions, 2] - 1, trail[kept, 2] - 1, -1):
        r.worth[r.changed[k]], r.mostly[r.changed[k]] = r.was_worth[k], r.was_mostly[k]
    for k in range(unions - 1, kept - 1, -1):
        u, v = trail[k, 0], trail[k, 1]
        size[u] -= size[v]
        ring[u], ring[v] = ring[v], ring[u]
        write_label(label, ring, v, v)


@leaf(forceinline=True)
def write_label(label, ring, head, name):
    """Give a name to the whole ring."""
    label[head], place = name, ring[head]
    while place != head:
        label[place], place = name, ring[place]


@leaf(forceinline=True)
def list_rows(t, r, label, ring, u, v):
    """List in r.rows all that a union of u and v concerns, their rows and those into v; return how many."""
    marked, place = 0, v
    for action in range(t.n_actions):
        marked = mark(r, u * t.n_actions + action, marked)
        marked = mark(r, v * t.n_actions + action, marked)
    while True:
        for i in range(t.into[place], t.into[place + 1]):
            entry = t.by_target[i]
            marked = mark(r, label[t.source[entry]] * t.n_actions + t.action[entry], marked)
        place = ring[place]
        if place == v:
            break
    for k in range(marked):
        r.marked[r.rows[k]] = False
    return marked


@leaf(forceinline=True)
def score_rows(r, concerned, score):
    """Return a score with what the rows in r.rows are worth."""
    for k in range(concerned):
        score += r.worth[r.rows[k]]
    return score


@leaf(forceinline=True)
def score_anew(t, r, label, ring, v, concerned, score, enough, changed):
    """Return a score with what the rows in r.rows are worth now that v is no more, and how many have changed by now.

    No row adds to the score: once it is below `enough`, the rest does not matter.
    """
    for k in range(concerned):
        source, action = divmod(r.rows[k], t.n_actions)
        if score < enough:
            break
        if source != v:
            row = r.rows[k]
            r.changed[changed], r.was_worth[changed], r.was_mostly[changed] = row, r.worth[row], r.mostly[row]
            changed += 1
            know_row(t, r, label, ring, source, action)
            score += r.worth[row]
    return score, changed


@leaf(forceinline=True)
def mark(r, row, marked):
    """List a row in r.rows, once; return how many are."""
    if r.marked[row]:
        return marked
    r.marked[row] = True
    r.rows[marked] = row
    return marked + 1


@leaf(forceinline=True)
def know_row(t, r, label, ring, head, action):
    """Write what an action is worth from a class, theory (10), and where it mostly leads, -1 if it was never tried."""
    outcomes, total = count_row(t, r, label, ring, head, action)
    score, mostly, most = 0.0, -1, 0.0
    for k in range(outcomes):
        to = r.touched[k]
        prior = t.base[r.entries[k]] + (t.sticky[t.observation[head], action] if to == head else 0.0)
        score += log_rising(prior, r.seen[to])
        if r.seen[to] > most:
            mostly, most = to, r.seen[to]
        r.seen[to] = 0.0
    row = head * t.n_actions + action
    r.worth[row], r.mostly[row] = score - log_rising(t.weight, total), mostly


@leaf(forceinline=True)
def count_row(t, r, label, ring, head, action):
    """Count in r.seen what `action` led to from a class; return how many different classes, and how often in all."""
    outcomes, total, place = 0, 0.0, head
    while True:
        row = place * t.n_actions + action
        for entry in range(t.row_start[row], t.row_start[row + 1]):
            to = label[t.target[entry]]
            if r.seen[to] == 0.0:
                r.touched[outcomes], r.entries[outcomes] = to, entry
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
