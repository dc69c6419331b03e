"""Monte Carlo tree search (UCT) in an imagined environment, its random numbers drawn beforehand."""

import numpy as np
from numba import njit


@njit(cache=True)
def pick(allowed, visits, totals, bonus, draw):
    """Return the allowed action with the highest mean + bonus * sqrt(log N / n), ties at random; -1 if there is none.

    An action that was never taken comes before all others.
    """
    bounds = np.full(len(visits), -np.inf)
    spread = bonus * np.sqrt(np.log(max(visits.sum(), 1)))
    best, ties = -np.inf, 0
    for action in range(len(visits)):
        if allowed[action]:
            n = visits[action]
            bounds[action] = totals[action] / n + spread / np.sqrt(n) if n > 0 else np.inf
            if bounds[action] > best:
                best, ties = bounds[action], 1
            elif bounds[action] == best:
                ties += 1
    skip = int(draw * ties)
    for action in range(len(visits)):
        if allowed[action] and bounds[action] == best:
            if skip == 0:
                return action
            skip -= 1
    return -1


@njit(cache=True)
def tree_search(root, cumulative, reward, allowed, draws):
    """Return the mean return of every action at `root`, -inf for one that was never taken.

    `cumulative[s, a]` are the cumulated probabilities of the next states. A simulation sums the rewards of its steps.
    It ends at a state where nothing is allowed, or when draws.shape = (simulations, steps, 2) has no more steps for it.
    A node is a state, however early or late it was reached: a tree proper would need one for every history. What a
    simulation earned from a step on counts for that step; bonuses are in units of the highest return so far.
    """
    simulations, horizon = draws.shape[:2]
    visits, totals = np.zeros(reward.shape, np.int64), np.zeros(reward.shape)
    states, actions = np.empty(horizon, np.int64), np.empty(horizon, np.int64)
    highest = 0.0
    for k in range(simulations):
        state, depth = root, 0
        while depth < horizon:
            action = pick(allowed[state], visits[state], totals[state], highest, draws[k, depth, 0])
            if action < 0:
                break
            states[depth], actions[depth] = state, action
            state = np.searchsorted(cumulative[state, action], draws[k, depth, 1], side="right")
            depth += 1
        earned = 0.0
        for d in range(depth - 1, -1, -1):
            earned += reward[states[d], actions[d]]
            visits[states[d], actions[d]] += 1
            totals[states[d], actions[d]] += earned
        highest = max(highest, earned)
    return np.where(visits[root] > 0, totals[root] / np.maximum(visits[root], 1), -np.inf)
