"""Re-decoding: every episode is decoded again by what all the others tell, so that no mistake confirms itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import redecoding as kernel
from efex.kernels.throwing import NOWHERE
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.moves import Moves, no_moves
from efex.model.naming import numbered
from efex.model.transitions import count_transitions, places_of
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
    sticky: NDArray[np.float64]
    place: float
    moves: Moves
    at: NDArray[np.int64]
    astray: float
    thrown_to: int


class Tally(NamedTuple):
    """What is counted: steps by entry, steps out of every (action, state), begins, and visits of every state."""

    counts: NDArray[np.float64]
    totals: NDArray[np.float64]
    starts: NDArray[np.float64]
    visits: NDArray[np.float64]


def redecoded(
    path: NDArray[np.int64],
    experience: Experience,
    *,
    weight: float,
    place: float,
    rng: np.random.Generator,
    latest: bool = False,
    moves: Moves | None = None,
) -> NDArray[np.int64]:
    """Return the path after every episode, or only the `latest`, was decoded again by the counts of all the others.

    Episodes come in random order. A row's prior counts as `weight` steps, theory (10); a place more is preferred by
    `place` nats. States are numbered anew. `moves` says by how much actions move, where that is known.
    """
    places = places_of(path, experience)
    used = np.bincount(places.observation, minlength=len(experience.alphabet))
    layout = CloneLayout(tuple((used + SPARE).tolist()))
    states = numbered(places, layout)[places.at]
    empty = Model.empty(experience, layout, pseudocount=weight / layout.n_states)
    episodes = len(experience.offsets) - 1
    for _ in range(1 if latest else SWEEPS):
        model = from_path(empty, experience, states)
        visits = np.bincount(states, minlength=layout.n_states).astype(np.float64)
        tally = Tally(model.counts.astype(np.float64), model.totals.copy(), model.starts.copy(), visits)
        ground = _ground(model, experience, states, weight=weight, place=place, moves=moves)
        turns = np.array([episodes - 1]) if latest else rng.permutation(episodes)
        if kernel.redecode(ground, tally, turns, states) == 0:
            break
    return states


def _ground(
    model: Model,
    experience: Experience,
    states: NDArray[np.int64],
    *,
    weight: float,
    place: float,
    moves: Moves | None,
) -> Ground:
    blocks, layout = model.blocks, model.layout
    walks, places = blocks.bind(experience), places_of(states, experience)
    t = count_transitions(places, experience, weight=weight, moves=moves)
    steps = t.source < len(places.names)
    triple = (t.action, t.observation[t.source], t.observation[t.target])
    base = np.zeros(len(blocks))
    base[blocks.find(*(each[steps].astype(np.int32) for each in triple))] = t.base[steps]
    shown = np.bincount(places.observation, minlength=layout.n_observations).astype(np.float64)
    offsets = np.asarray(experience.offsets, np.int64)
    ways = (walks.observations, walks.actions, offsets, walks.block, blocks.start, np.asarray(layout.first, np.int64))
    at = np.zeros(layout.n_states, np.int64)
    at[places.names] = t.at[:-1]
    moves = no_moves(experience.n_actions) if moves is None else moves
    thrown_to = NOWHERE if t.thrown_to == NOWHERE else int(places.names[t.thrown_to])
    return Ground(*ways, base, shown, weight, t.sticky, place, moves, at, t.astray, thrown_to)
