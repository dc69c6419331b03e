"""The data that benchmarks run on: random walks on square grids where one node in ten shows a symbol of its own."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from efex.experience import Alphabet, Experience
from efex.model.cscg import Model
from efex.model.em import em
from efex.model.layout import CloneLayout
from efex.model.pseudocount import PAPER
from efex.worlds import make


def random_walks(size: int, *, episodes: int, steps: int = 100) -> Experience:
    """Return episodes of random steps from random cells of a `size` x `size` grid, unique fraction 0.1."""
    return walked(size, episodes=episodes, steps=steps)[0]


def walked(size: int, *, episodes: int, steps: int = 100) -> tuple[Experience, NDArray[np.int64]]:
    """Return such episodes, and the cells they were at."""
    world = make("grid2d", size=size, unique_fraction=0.1, seed=0)
    observations, actions, nodes = world.walks(episodes, steps, seed=0)
    ended = np.concatenate([actions, np.full((episodes, 1), -1)], axis=1)
    alphabet = Alphabet(range(len(world.truth.symbols)))
    experience = Experience.from_flat(observations.ravel(), ended.ravel(), n_actions=4, alphabet=alphabet)
    return experience, nodes.ravel().astype(np.int64)


def random_model(experience: Experience, clones: int, *, seed: int = 0) -> Model:
    """Return a random model with the paper's pseudocount."""
    layout = CloneLayout.uniform(len(experience.alphabet), clones)
    return Model.random(experience, layout, pseudocount=PAPER, rng=np.random.default_rng(seed))


@cache
def workload() -> tuple[Experience, Model]:
    """Return W: 200 episodes of 100 steps on the 21 x 21 grid, and a random model with 21 clones of 44 symbols."""
    experience = random_walks(21, episodes=200)
    return experience, random_model(experience, 21)


@cache
def converged() -> Model:
    """Return W's model after 100 iterations of EM."""
    experience, model = workload()
    return em(model, experience, iterations=100, tolerance=0, prune=0).model
