"""Every inference quantity by summing over all state paths: the definition, with nothing clever in it."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from efex.experience import Alphabet, Experience
from efex.model.cscg import Model
from efex.model.layout import CloneLayout

EXACT = {"rtol": 1e-9, "atol": 1e-12}
SINGLE = {"rtol": 2e-4, "atol": 1e-6}


class Inference(NamedTuple):
    log_likelihood: float
    filtered: list[np.ndarray]
    smoothed: list[np.ndarray]
    counts: np.ndarray
    starts: np.ndarray
    best_path_log_probability: float


def dense(model: Model) -> np.ndarray:
    states = range(model.layout.n_states)
    return np.array([[model.probabilities(a, i) for i in states] for a in range(model.n_actions)])


def episodes(experience: Experience):
    offsets = experience.offsets
    for begin, end in itertools.pairwise(offsets):
        yield experience.observations[begin:end], experience.actions[begin:end]


def enumerate_paths(model: Model, experience: Experience) -> Inference:
    transitions, initial = dense(model), model.weights.initial
    counts, starts = np.zeros_like(transitions), np.zeros_like(initial)
    filtered, smoothed, total, best = [], [], 0.0, 0.0
    for observations, actions in episodes(experience):
        blocks = [range(*model.layout.block(x).indices(model.layout.n_states)) for x in observations]
        paths = list(itertools.product(*blocks))
        weight = np.array([joint(path, actions, transitions, initial) for path in paths])
        total += np.log(weight.sum())
        best += np.log(weight.max())
        posterior = weight / weight.sum()
        for t, block in enumerate(blocks):
            prefix = [p[: t + 1] for p in itertools.product(*blocks[: t + 1])]
            arrived = np.array([joint(p, actions, transitions, initial) for p in prefix])
            filtered.append(marginal(prefix, arrived / arrived.sum(), t, block))
            smoothed.append(marginal(paths, posterior, t, block))
        for path, p in zip(paths, posterior):
            starts[path[0]] += p
            for t in range(len(path) - 1):
                counts[actions[t], path[t], path[t + 1]] += p
    return Inference(total, filtered, smoothed, counts, starts, best)


def path_log_probability(model: Model, experience: Experience, path: np.ndarray) -> float:
    transitions, initial = dense(model), model.weights.initial
    return sum(
        float(np.log(joint(path[begin:end], experience.actions[begin:end], transitions, initial)))
        for begin, end in itertools.pairwise(experience.offsets)
    )


def joint(path, actions, transitions, initial) -> float:
    p = initial[path[0]]
    for t in range(len(path) - 1):
        p *= transitions[actions[t], path[t], path[t + 1]]
    return p


def marginal(paths, weights, t, block) -> np.ndarray:
    out = np.zeros(len(block))
    for path, weight in zip(paths, weights):
        out[path[t] - block[0]] += weight
    return out


@st.composite
def small_cases(draw, *, pseudocounts=(1e-3, 0.3), dtype=np.float64):
    """A ragged layout, a few short episodes (some of one observation), and a random model on them."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    n_actions = draw(st.integers(1, 2))
    walks = draw(
        st.lists(
            st.lists(
                st.tuples(st.integers(0, len(sizes) - 1), st.integers(0, n_actions - 1)),
                min_size=1,
                max_size=5,
            ),
            min_size=1,
            max_size=3,
        )
    )
    experience = Experience.from_episodes(
        [([x for x, _ in walk], [a for _, a in walk][:-1] or None) for walk in walks],
        n_actions=n_actions,
        alphabet=Alphabet(range(len(sizes))),
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    pseudocount = draw(st.sampled_from(pseudocounts))
    layout = CloneLayout(tuple(sizes))
    return Model.random(experience, layout, pseudocount=pseudocount, rng=rng, dtype=dtype), experience
