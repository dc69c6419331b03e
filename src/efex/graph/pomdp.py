"""Graphs as POMDPs in the file format of Cassandra's pomdp-solve, which many planners read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from efex.checks import fraction
from efex.counting import counted
from efex.errors import InvalidArgumentError

if TYPE_CHECKING:
    from efex.graph.latent import LatentGraph

DIGITS = 12
"""Decimals of a printed probability; they are rounded so that a row sums to one as printed."""

REWARD = "reward"
"""The tag whose number is paid on arrival at its node."""


def to_pomdp(graph: LatentGraph, *, discount: float = 0.95) -> str:
    """Return the graph as the text of a .POMDP file; states, actions and observations are numbers.

    State i is node i, observation k is `graph.symbols[k]`. A tag `reward` with a number is what arriving at its node
    pays. An untried or closed pair stays where it is, and a comment says so.

    >>> import efex
    >>> text = efex.make("chain", length=5).truth.tag(4, reward=1).to_pomdp()
    >>> [line for line in text.splitlines() if line.startswith(("states", "O: * : 4", "R: * : * : 4"))]
    ['states: 5', 'O: * : 4 : 4 1', 'R: * : * : 4 : * 1']
    """
    if not graph.n_nodes or not graph.n_actions:
        raise InvalidArgumentError("a graph must have a node and an action to be a POMDP")
    lines = [
        f"# A map of {counted(graph.n_nodes, 'node')}: state i is node i, and it shows one observation.",
        *(f"# observation {code} is {symbol!a}" for code, symbol in enumerate(graph.symbols)),
        *(f"# action {action} is {name!a}" for action, name in enumerate(graph.action_names or ())),
        f"discount: {fraction('discount', discount)!r}",
        "values: reward",
        f"states: {graph.n_nodes}",
        f"actions: {graph.n_actions}",
        f"observations: {len(graph.symbols)}",
        _start(graph),
        *_transitions(graph),
        *(f"O: * : {node} : {code} 1" for node, code in enumerate(graph.codes.tolist())),
        *_rewards(graph),
    ]
    return "\n".join([*lines, ""])


def _start(graph: LatentGraph) -> str:
    if not graph.starts:
        return "start: uniform"
    begins = np.zeros(graph.n_nodes)
    begins[list(graph.starts)] = 1 / len(set(graph.starts))
    return "start: " + " ".join(_printed(begins))


def _transitions(graph: LatentGraph) -> Iterator[str]:
    rows = graph.action * graph.n_nodes + graph.source
    bounds = np.searchsorted(rows, np.arange(graph.n_actions * graph.n_nodes + 1))
    for row, (begin, end) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        action, source = divmod(row, graph.n_nodes)
        if begin == end:
            state = "closed" if graph.closed is not None and graph.closed[source, action] else "untried"
            yield f"# {state}, so it stays:"
            yield f"T: {action} : {source} : {source} 1"
            continue
        for target, share in zip(graph.target[begin:end].tolist(), _printed(graph.probability[begin:end]), strict=True):
            yield f"T: {action} : {source} : {target} {share}"


def _rewards(graph: LatentGraph) -> Iterator[str]:
    yield "R: * : * : * : * 0"
    for node, tags in graph.tags.items():
        paid = tags.get(REWARD)
        if isinstance(paid, int | float) and not isinstance(paid, bool):
            yield f"R: * : * : {node} : * {paid!r}"


def _printed(probability: NDArray[np.float64]) -> list[str]:
    """Return the probabilities as decimals that sum to one exactly: the largest takes what rounding left over."""
    unit = 10**DIGITS
    shares = [round(share * unit) for share in probability.tolist()]
    shares[int(probability.argmax())] += unit - sum(shares)
    return [f"{share // unit}.{share % unit:0{DIGITS}d}".rstrip("0").rstrip(".") for share in shares]
