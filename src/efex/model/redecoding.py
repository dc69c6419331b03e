"""Re-decoding: every episode is decoded again by what all the others tell, so that no mistake confirms itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import redecoding as kernel
from efex.model.blocks import Blocks
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.transitions import STICKINESS, places_of
from efex.model.viterbi_training import from_path

SPARE = 3
"""States of every observation that are free for places nobody has told apart yet."""

SWEEPS = 3
"""How many times all episodes are decoded again, at most."""


class Ground(NamedTuple):
    """What stays as it is while episodes are decoded again: the walks, where steps are counted, and the prior."""

    observations: NDArray[np.int32]
    actions: NDArray[np.int32]
    offsets: NDArray[np.int64]
    block: NDArray[np.int32]
    start: NDArray[np.int64]
    first: NDArray[np.int64]
    base: NDArray[np.float64]
    places: NDArray[np.float64]
    weight: float
    sticky: float
    place: float


class Tally(NamedTuple):
    """What is counted: steps by entry, steps out of every (action, state), begins, and visits of every state."""

    counts: NDArray[np.float64]
    totals: NDArray[np.float64]
    starts: NDArray[np.float64]
    visits: NDArray[np.float64]


def redecoded(
    path: NDArray[np.int64], experience: Experience, *, weight: float, place: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the path after every episode was decoded again, in random order, by the counts of all the others.

    A row's prior counts as `weight` steps, theory (10); a place more is preferred by `place` nats. States are numbered
    anew.
    """
    places = places_of(path, experience)
    used = np.bincount(places.observation, minlength=len(experience.alphabet))
    layout = CloneLayout(tuple((used + SPARE).tolist()))
    order = np.argsort(places.observation, kind="stable")
    state = np.empty(len(order), np.int64)
    state[order] = (
        layout.first[places.observation[order]]
        + np.arange(len(order))
        - (np.cumsum(used) - used)[places.observation[order]]
    )
    states = state[places.at]
    empty = Model.empty(experience, layout, pseudocount=weight / layout.n_states)
    for _ in range(SWEEPS):
        model = from_path(empty, experience, states)
        visits = np.bincount(states, minlength=layout.n_states).astype(np.float64)
        tally = Tally(model.counts.astype(np.float64), model.totals.copy(), model.starts.copy(), visits)
        ground = _ground(model, experience, visits, weight=weight, place=place)
        if kernel.redecode(ground, tally, rng.permutation(len(experience.offsets) - 1), states) == 0:
            break
    return states


def _ground(
    model: Model, experience: Experience, visits: NDArray[np.float64], *, weight: float, place: float
) -> Ground:
    blocks, layout = model.blocks, model.layout
    walks = blocks.bind(experience)
    places = np.bincount(layout.observation[visits > 0], minlength=layout.n_observations).astype(np.float64)
    base = weight * (1 - STICKINESS) * _chances(blocks, model.counts) / np.maximum(places[blocks.target], 1)
    offsets = np.asarray(experience.offsets, np.int64)
    ways = (walks.observations, walks.actions, offsets, walks.block, blocks.start, np.asarray(layout.first, np.int64))
    return Ground(*ways, base, places, weight, weight * STICKINESS, place)


def _chances(blocks: Blocks, counts: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return how likely every block's next observation is, knowing only what was seen before and done.

    Every edge counts once, as in `transitions`.
    """
    edges = np.add.reduceat(counts > 0, blocks.start[:-1], dtype=np.float64) if len(blocks) else np.zeros(0)
    share = np.bincount(blocks.target, edges, minlength=blocks.layout.n_observations) / max(edges.sum(), 1)
    _, pair = np.unique(
        blocks.action.astype(np.int64) * blocks.layout.n_observations + blocks.source, return_inverse=True
    )
    return np.asarray((edges + share[blocks.target]) / (np.bincount(pair, edges)[pair] + 1))
