"""Decoding and scoring walks on a LatentGraph: its nodes sorted by observation are a clone layout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from efex.errors import InvalidArgumentError
from efex.experience import Alphabet, Experience, check_actions
from efex.graph.action_names import action_numbers
from efex.graph.latent import LatentGraph
from efex.model.blocks import Blocks
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.pseudocount import PerRow, Pseudocount, per_target
from efex.symbols import Symbol

ESCAPE = 1e-6
"""The probability that a symbol never seen before is given."""


COUNTED = PerRow(0.1)
"""The pseudocount of a graph that was counted; one whose probabilities are exact needs none."""


def to_model(graph: LatentGraph, *, pseudocount: Pseudocount | None = None) -> tuple[Model, NDArray[np.int64]]:
    """Return the graph as a model with a uniform start, and the node of every state.

    With a pseudocount, rows are its counts plus that much for every node; without, its exact probabilities. Unless
    told, a graph that was counted gets a tenth of a walk per row, so that what was not seen yet is not impossible.
    """
    exact = not np.isfinite(graph.count).all()
    if pseudocount is None:
        pseudocount = 0.0 if exact else COUNTED
    alpha = per_target(pseudocount, max(graph.n_nodes, 1))
    if exact and alpha > 0:
        raise InvalidArgumentError("a pseudocount needs finite edge counts; this graph's probabilities are exact")
    node = np.argsort(graph.codes, kind="stable")
    state = np.argsort(node)
    layout = CloneLayout(tuple(np.bincount(graph.codes, minlength=len(graph.symbols)).tolist()))
    code = graph.codes.astype(np.int32)
    action = graph.action.astype(np.int32)
    blocks = Blocks.of_triples(action, code[graph.source], code[graph.target], layout=layout)
    block = blocks.find(action, code[graph.source], code[graph.target])
    width = np.asarray(layout.sizes)[code[graph.target]]
    row = state[graph.source] - layout.first[code[graph.source]]
    column = state[graph.target] - layout.first[code[graph.target]]
    mass = graph.count if alpha > 0 else graph.probability
    counts = np.zeros(blocks.n_entries)
    counts[blocks.start[block] + row * width + column] = mass
    starts = np.ones(layout.n_states)
    return Model(blocks, graph.n_actions, counts, starts, alpha), node


def one_walk(graph: LatentGraph, symbols: Iterable[Symbol], actions: Sequence[int | str] | ArrayLike) -> Experience:
    """Return the experience of one walk with the actions of a graph; -1 may stand at its last observation."""
    alphabet = Alphabet()
    codes = np.array([alphabet.encode(symbol) for symbol in symbols], np.int64)
    numbers = action_numbers(graph, actions)
    if np.shape(numbers) == codes.shape and np.take(numbers, -1) != -1:
        raise InvalidArgumentError(
            f"actions must be {len(codes) - 1}, one between each two of the {len(codes)} observations, or end in -1; "
            f"got {len(codes)} that end in {np.take(numbers, -1)}"
        )
    taken = np.append(check_actions(numbers, len(codes)), -1)
    return Experience.from_flat(codes, taken, n_actions=graph.n_actions, alphabet=alphabet)


def decode(graph: LatentGraph, walks: Experience, *, pseudocount: Pseudocount | None = None) -> NDArray[np.int64]:
    """Return the likeliest node at every observation, each walk from a uniform start; -1 for symbols never seen."""
    model, node = to_model(graph, pseudocount=pseudocount)
    known, pieces = _pieces(graph, walks)
    out = np.full(len(walks), -1, np.int64)
    if pieces is not None:
        out[known] = node[model.decode(pieces).path]
    return out


def log_likelihood(graph: LatentGraph, walks: Experience, *, pseudocount: Pseudocount | None = None) -> float:
    """Return log P(observations | actions) in nats, each walk from a uniform start.

    A symbol never seen costs log ESCAPE, and the walk goes on from a uniform start behind it.
    """
    model, _ = to_model(graph, pseudocount=pseudocount)
    known, pieces = _pieces(graph, walks)
    escapes = int(len(known) - known.sum()) * float(np.log(ESCAPE))
    return escapes + (0.0 if pieces is None else model.log_likelihood(pieces))


def _pieces(graph: LatentGraph, walks: Experience) -> tuple[NDArray[np.bool_], Experience | None]:
    """Return which observations the graph knows, and the walks cut into episodes at those that it does not."""
    if walks.actions.max(initial=-1) >= graph.n_actions:
        raise InvalidArgumentError(f"actions must be 0 to {graph.n_actions - 1}, not {walks.actions.max()}")
    alphabet = Alphabet(graph.symbols)
    codes = alphabet.lookup(walks.alphabet.symbols)[walks.observations]
    known = codes >= 0
    if not known.any():
        return known, None
    taken = walks.actions.copy()
    taken[:-1][~known[1:]] = -1
    pieces = Experience.from_flat(codes[known], taken[known], n_actions=graph.n_actions, alphabet=alphabet)
    return known, pieces
