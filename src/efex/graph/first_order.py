"""The trivial graph of observations: the map of an explorer who takes every symbol for a place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from efex.errors import InvalidArgumentError
from efex.experience import Alphabet
from efex.graph.latent import LatentGraph
from efex.symbols import Symbol


def first_order_graph(symbols: Sequence[Symbol], actions: ArrayLike, *, n_actions: int) -> LatentGraph:
    """Return the graph with one node per symbol whose edges count the steps of a flat experience.

    `symbols[t]` is what was seen at step t, and `actions[t]` leads from there to t + 1; it is -1 at the last
    observation of an episode.
    """
    taken = np.asarray(actions, np.int64)
    if taken.shape != (len(symbols),):
        raise InvalidArgumentError(
            f"actions must be as many as symbols, {len(symbols)} in one row, not of shape {taken.shape}"
        )
    if taken.size and not (taken.min() >= -1 and taken.max() < n_actions):
        raise InvalidArgumentError(f"actions must be -1 to {n_actions - 1}, not {taken.min()} to {taken.max()}")
    alphabet = Alphabet(symbols)
    nodes = alphabet.lookup(symbols)
    walked = np.flatnonzero(taken[:-1] >= 0)
    begins = np.flatnonzero(np.concatenate([[True], taken[:-1] < 0])[: len(nodes)])
    return LatentGraph.from_walks(
        alphabet.symbols,
        n_actions,
        np.column_stack([nodes[walked], taken[walked], nodes[walked + 1]]),
        starts=nodes[begins].tolist(),
    )
