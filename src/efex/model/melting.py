"""Melting: a model that has forgotten some places of a path, so that EM may find others in their stead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from efex.experience import Experience
from efex.kernels import melting as kernel
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.naming import numbered
from efex.model.transitions import places_of
from efex.model.viterbi_training import from_path

SHARES = (0.1, 0.2, 0.4)
"""How many of the places are forgotten: one of these shares."""

STAYS = (0.2, 0.9)
"""How likely a forgotten place is to stay if the same is seen again, between these."""

SPARE = 6
"""Clones of every observation that stand for no place yet: more than re-decoding has, since EM needs some to waste."""


def melted(
    path: NDArray[np.int64],
    experience: Experience,
    *,
    most: CloneLayout,
    weight: float,
    rng: np.random.Generator,
) -> Model:
    """Return the model that counts the path's steps, and has forgotten a share of its places, neighbours or any.

    Where those lead is random, and which of them others lead to; where episodes begin is remembered. Clones to spare,
    SPARE of every observation as far as `most` has them, count as forgotten. Many worlds have actions that change
    nothing, and from places that rather stay EM finds far better maps than from any others; how much rather is random,
    too. The row's prior counts as `weight` steps.
    """
    places = places_of(path, experience)
    used = np.bincount(places.observation, minlength=most.n_observations)
    layout = CloneLayout(tuple(np.clip(most.sizes, 1, used + SPARE).tolist()))
    states = numbered(places, layout)
    empty = Model.empty(experience, layout, pseudocount=weight / layout.n_states)
    model = from_path(empty, experience, states[places.at])
    forgotten = np.ones(layout.n_states, bool)
    forgotten[states] = _some(places.at, rng)
    counts, noise = model.counts.copy(), rng.random(len(model.counts), np.float32)
    blocks = (model.blocks.start, model.blocks.source, model.blocks.target)
    kernel.melt(counts, np.asarray(layout.first), *blocks, forgotten, rng.uniform(*STAYS), noise)
    return replace(model, counts=counts)


def _some(at: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which places are forgotten: any, or those visited one after the other from some moment on."""
    _, first = np.unique(np.roll(at, -rng.integers(len(at))), return_index=True)
    order = first if rng.integers(2) else rng.random(len(first))
    few: NDArray[np.bool_] = np.argsort(np.argsort(order)) < max(1, round(rng.choice(SHARES) * len(first)))
    return few
