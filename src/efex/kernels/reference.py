"""The recursions of docs/theory.md on dense arrays, written to be read. One episode at a time, no scaling tricks.

Shapes: `transitions[a, i, j]` is P(state j | state i, action a); `initial[i]` is P(first state i); `clones[x]` is the
slice of states that show observation x. Messages are full length and zero outside the observation's clones.
"""

from __future__ import annotations

import numpy as np


def likelihood(observations, actions, transitions, initial, clones):
    """Return P(observations | actions), theory (1)."""
    return forward(observations, actions, transitions, initial, clones)[-1].sum()


def forward(observations, actions, transitions, initial, clones):
    """Return f[t, i] = P(x_1..x_t, z_t = i | actions), theory (2)."""
    messages = np.zeros((len(observations), len(initial)))
    for t, x in enumerate(observations):
        block = clones[x]
        arriving = initial if t == 0 else messages[t - 1] @ transitions[actions[t - 1]]
        messages[t, block] = arriving[block]
    return messages


def backward(observations, actions, transitions, clones):
    """Return b[t, i] = P(x_{t+1}..x_N | z_t = i, actions), theory (3)."""
    n_states = transitions.shape[1]
    messages = np.zeros((len(observations), n_states))
    messages[-1, clones[observations[-1]]] = 1.0
    for t in range(len(observations) - 2, -1, -1):
        block = clones[observations[t]]
        messages[t, block] = (transitions[actions[t]] @ messages[t + 1])[block]
    return messages


def expected_counts(observations, actions, transitions, initial, clones):
    """Return the expected number of walks of every (action, i, j), and of starts at every i, theory (4)."""
    f = forward(observations, actions, transitions, initial, clones)
    b = backward(observations, actions, transitions, clones)
    total = f[-1].sum()
    counts = np.zeros_like(transitions)
    for t, a in enumerate(actions[: len(observations) - 1]):
        counts[a] += np.outer(f[t], b[t + 1]) * transitions[a] / total
    return counts, f[0] * b[0] / total


def viterbi(observations, actions, transitions, initial, clones):
    """Return the likeliest state path and its joint probability, theory (5)."""
    best = np.zeros((len(observations), len(initial)))
    origin = np.zeros((len(observations), len(initial)), int)
    best[0, clones[observations[0]]] = initial[clones[observations[0]]]
    for t in range(1, len(observations)):
        arriving = best[t - 1][:, None] * transitions[actions[t - 1]]
        block = clones[observations[t]]
        best[t, block] = arriving.max(axis=0)[block]
        origin[t] = arriving.argmax(axis=0)
    path = [int(best[-1].argmax())]
    for t in range(len(observations) - 1, 0, -1):
        path.append(int(origin[t, path[-1]]))
    return np.array(path[::-1]), best[-1].max()
