"""What an action tells about where one is: the mutual information of the place and of what is seen next."""

import math

import numpy as np
from numba import njit


@njit(cache=True)
def telling(start, target, count, looks, first, size, n_actions, n_looks, states, chance, weight):
    """Return, for every action, the mutual information of `states` with these chances and of what it leads to, in nats.

    All states show the same and are among those from `first` on, `size` in number. What is expected of a row before
    it was tried weighs `weight` steps: what the action leads to elsewhere, where the same is seen, every edge once.
    """
    out = np.zeros(n_actions)
    expected, seen, mean = np.empty(n_looks), np.empty(n_looks), np.empty(n_looks)
    for action in range(n_actions):
        expected[:] = 1.0 / n_looks
        edges = 1.0
        for state in range(first, first + size):
            row = state * n_actions + action
            for entry in range(start[row], start[row + 1]):
                expected[looks[target[entry]]] += 1.0
                edges += 1.0
        mean[:] = 0.0
        for k in range(len(states)):
            row = states[k] * n_actions + action
            total = weight
            for look in range(n_looks):
                seen[look] = weight * expected[look] / edges
            for entry in range(start[row], start[row + 1]):
                seen[looks[target[entry]]] += count[entry]
                total += count[entry]
            for look in range(n_looks):
                if seen[look] > 0.0:
                    share = seen[look] / total
                    mean[look] += chance[k] * share
                    out[action] += chance[k] * share * math.log(share)
        for look in range(n_looks):
            if mean[look] > 0.0:
                out[action] -= mean[look] * math.log(mean[look])
    return out
