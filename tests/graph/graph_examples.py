"""Small graphs, random graphs, and the changes of a graph that the tests make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from efex.graph import LatentGraph, Witness


def grid(size: int, *, symbols: int, seed: int = 0, slip: float = 0.0) -> LatentGraph:
    """Return a square grid with four actions and observations drawn at random."""
    row, column = np.divmod(np.arange(size * size), size)
    matrices = []
    for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        target = np.clip(row + down, 0, size - 1) * size + np.clip(column + right, 0, size - 1)
        move = np.eye(size * size)[target]
        matrices.append((1 - slip) * move + slip * move @ move)
    observations = np.random.default_rng(seed).integers(symbols, size=size * size).tolist()
    return LatentGraph.from_matrices(observations, matrices, starts=[0], coordinates=np.column_stack([row, column]))


def split(graph: LatentGraph, node: int, *, share: float = 0.5) -> LatentGraph:
    """Return the graph with `node` split in two that do the same and share what leads to it."""
    new = graph.n_nodes
    into = graph.target == node
    source = np.concatenate([graph.source, graph.source[into]])
    action = np.concatenate([graph.action, graph.action[into]])
    target = np.concatenate([graph.target, np.full(into.sum(), new)])
    probability = np.concatenate(
        [np.where(into, share, 1.0) * graph.probability, (1 - share) * graph.probability[into]]
    )
    copied = source == node
    return replace(
        graph,
        observations=(*graph.observations, graph.observations[node]),
        source=np.concatenate([source, np.full(copied.sum(), new)]),
        action=np.concatenate([action, action[copied]]),
        target=np.concatenate([target, target[copied]]),
        probability=np.concatenate([probability, probability[copied]]),
        count=np.full(len(source) + int(copied.sum()), np.inf),
        coordinates=None if graph.coordinates is None else graph.coordinates[[*range(new), node]],
        utility=None if graph.utility is None else graph.utility[[*range(new), node]],
    )


def scrambled(graph: LatentGraph, *, seed: int = 0) -> LatentGraph:
    """Return the graph with the actions of every node renamed, so that none leads the same way everywhere."""
    renamed = np.random.default_rng(seed).permuted(np.tile(np.arange(graph.n_actions), (graph.n_nodes, 1)), axis=1)
    return replace(graph, action=renamed[graph.source, graph.action])


@st.composite
def stochastic_graphs(draw: st.DrawFn, *, max_nodes: int = 6, single_start: bool = True) -> LatentGraph:
    """Return graphs with few symbols, few actions, sparse random rows and some untried pairs."""
    n_nodes = draw(st.integers(1, max_nodes))
    n_actions = draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.integers(0, 4, size=(n_actions, n_nodes, n_nodes)) * (rng.random((n_actions, n_nodes, n_nodes)) < 0.5)
    totals = weights.sum(axis=2, keepdims=True)
    matrices = weights / np.maximum(totals, 1)
    observations = [draw(st.sampled_from("ab")) for _ in range(n_nodes)]
    return LatentGraph.from_matrices(observations, list(matrices), starts=[0] if single_start else [])


def enumerated_probability(graph: LatentGraph, node: int, witness: Witness) -> float:
    """Return the probability of the witness from `node`, summed path by path."""

    def rest(here: int, step: int) -> float:
        if graph.observations[here] != witness.observations[step]:
            return 0.0
        if step == len(witness.actions):
            return 1.0
        row = graph.transition(witness.actions[step])[[here]].tocoo()
        return sum(p * rest(int(t), step + 1) for t, p in zip(row.col, row.data, strict=True))

    return rest(node, 0)
