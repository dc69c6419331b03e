"""Following a walk where actions turn: which steps led on although the same is seen, by what is known of every pose.

A pose is a coordinate and a heading in one number, as in reckoning. Several hypotheses are followed at once; each
remembers its last LAG poses, and what is older is the same for all of them.
"""

import math

import numpy as np
from numba import njit

from efex.kernels.reckoning import after

BEAM = 48
"""How many hypotheses there are at most."""

LAG = 48
"""After so many steps what the likeliest hypothesis says is taken for granted."""

WRONG = 0.01
"""How likely something else is seen at a pose than before."""

HABIT = 0.3
"""How many steps at other poses where the same is seen count as one step at a pose."""

RARELY = 0.01
"""How likely a step that goes on shows anything, at least, before one was there."""


@njit(cache=True)
def follow(observations, actions, offsets, begins, places_at, moves, expected, stays):
    """Return the pose at every position of the walks.

    `begins` says where every episode begins, `places_at` where the map has every position, for steps nobody knows the
    length of, `expected` how often such a step showed what it did, and `stays` how likely an action is to stay where
    that is seen.
    """
    n_actions, out = stays.shape[1], np.empty(len(observations), np.int64)
    shown, stayed, went = {np.int64(0): np.int64(-1)}, {np.int64(0): np.int64(0)}, {np.int64(0): np.int64(0)}
    trail, other = np.empty((BEAM, LAG), np.int64), np.empty((BEAM, LAG), np.int64)
    score, chosen = np.empty(BEAM), np.empty(2 * BEAM)
    parent, pose = np.empty(2 * BEAM, np.int64), np.empty(2 * BEAM, np.int64)
    for episode in range(len(offsets) - 1):
        lo, hi = offsets[episode], offsets[episode + 1]
        trail[0, lo % LAG], score[0], n = begins[episode], 0.0, 1
        for t in range(lo, hi - 1):
            if t - lo >= LAG - 1:
                n = commit(observations, actions, trail, score, n, t - LAG + 1, lo, out, shown, stayed, went, n_actions)
            first, made = max(lo, t - LAG + 1), 0
            look, then, action = observations[t], observations[t + 1], actions[t]
            habit = stays[look, action]
            for h in range(n):
                here = trail[h, t % LAG]
                if moves[action, 0] == 0:
                    parent[made], pose[made], chosen[made] = h, places_at[t + 1], score[h]
                    made += 1
                    continue
                stay, go = remembered(here * n_actions + action, stayed), remembered(here * n_actions + action, went)
                for s in range(first, t):
                    if actions[s] == action and trail[h, s % LAG] == here:
                        if trail[h, (s + 1) % LAG] == here:
                            stay += 1
                        else:
                            go += 1
                chance = (stay + HABIT * habit) / (stay + go + HABIT)
                if look == then:
                    parent[made], pose[made], chosen[made] = h, here, score[h] + math.log(chance)
                    made += 1
                there = after(moves, action, here)
                known = shown[there] if there in shown else np.int64(-1)
                for s in range(first, t + 1):
                    if trail[h, s % LAG] == there:
                        known = np.int64(observations[s])
                # Of the steps that show the same, some stay; the others are shared among those that go on.
                share = max(expected[t] - (habit if look == then else 0.0), RARELY)
                share = min(share / (1 - habit), 1.0)
                fits = share if known < 0 else 1 - WRONG if known == then else WRONG * share
                parent[made], pose[made], chosen[made] = h, there, score[h] + math.log((1 - chance) * fits)
                made += 1
            best = np.argsort(-chosen[:made])[:BEAM]
            n = len(best)
            for k in range(n):
                other[k] = trail[parent[best[k]]]
                other[k, (t + 1) % LAG] = pose[best[k]]
                score[k] = chosen[best[k]] - chosen[best[0]]
            trail, other = other, trail
        for t in range(max(lo, hi - LAG), hi):
            n = commit(observations, actions, trail, score, n, t, lo, out, shown, stayed, went, n_actions)
    return out


@njit(cache=True)
def remembered(key, counted):
    """Return how often something was counted."""
    return counted[key] if key in counted else np.int64(0)


@njit(cache=True)
def commit(observations, actions, trail, score, n, t, lo, out, shown, stayed, went, n_actions):
    """Take for granted where the likeliest hypothesis was at t; return how many others say the same, which stay."""
    here = trail[0, t % LAG]
    out[t] = here
    if here not in shown or shown[here] < 0:
        shown[here] = np.int64(observations[t])
    if t > lo and actions[t - 1] >= 0:
        key = out[t - 1] * n_actions + actions[t - 1]
        if out[t - 1] == here:
            stayed[key] = remembered(key, stayed) + 1
        else:
            went[key] = remembered(key, went) + 1
    kept = 0
    for h in range(n):
        if trail[h, t % LAG] == here:
            if kept < h:
                trail[kept], score[kept] = trail[h], score[h]
            kept += 1
    return kept
