"""Plans: how to get from one node of a graph to others."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.graph.tags import Tag, nodes_tagged
from efex.symbols import Symbol, symbol_text, to_symbol

if TYPE_CHECKING:
    from efex.graph.latent import LatentGraph


@dataclass(frozen=True, eq=False)
class Plan:
    """How to get from a node to any of the targets."""

    targets: tuple[int, ...]
    policy: NDArray[np.int64] = field(repr=False)
    """The action to take at every node; -1 at a target, and where no target can be reached."""
    expected_steps: float
    """The steps it takes on average; infinite where arriving is not certain."""
    actions: tuple[int, ...]
    """The actions of the likeliest run."""
    nodes: tuple[int, ...]
    """The nodes of the likeliest run, from the source to a target."""
    probability: float
    """How probable it is that things go exactly as in the likeliest run."""


def target_nodes(
    graph: LatentGraph,
    *,
    to: int | Collection[int] | None = None,
    observation: Any = None,
    tag: str | tuple[str, Tag] | None = None,
    name: str = "to",
) -> tuple[int, ...]:
    """Return the nodes that are meant: those given, those that show the observation, or those with the tag.

    `name` is what the caller calls `to`, for the messages.
    """
    if sum(given is not None for given in (to, observation, tag)) != 1:
        raise InvalidArgumentError(f"the targets must be given by exactly one of {name}, observation and tag")
    if isinstance(to, str | bytes):
        keys: set[Any] = {key for noted in graph.tags.values() for key in noted}
        meant = "tag" if to in keys else "observation"
        raise InvalidArgumentError(
            f"{name} must be a node's number, or several, not {to!r}; did you mean {meant}={to!r}?"
        )
    if to is not None:
        nodes = sorted({whole(name, node, at_least=0) for node in (to if isinstance(to, Collection) else [to])})
        missing = f"{name} must be one or more of the nodes 0 to {graph.n_nodes - 1}, not {to!r}"
        nodes = nodes if max(nodes, default=0) < graph.n_nodes else []
    elif tag is not None:
        nodes = nodes_tagged(graph.tags, tag)
        names = sorted({name for noted in graph.tags.values() for name in noted})
        missing = f"tag must be one that a node has, not {tag!r}; the names in use are {', '.join(names) or 'none'}"
    else:
        symbol = to_symbol(observation)
        nodes = np.flatnonzero(graph.codes == graph.alphabet.lookup([symbol])).tolist()
        missing = f"observation must be one of the {len(graph.symbols)} symbols that nodes show, not {symbol!r}"
        missing += _nearest(symbol, graph.symbols)
    if not nodes:
        raise InvalidArgumentError(missing)
    return tuple(nodes)


def _nearest(symbol: Symbol, known: Sequence[Symbol]) -> str:
    """Return a question after the symbol that was meant, nothing where none is near."""
    text = symbol_text(symbol)
    # Numbers near one another are not misspelt; a number that is text on the map, or the other way round, may be.
    texts = {symbol_text(each): each for each in known if isinstance(each, str) or symbol_text(each) == text}
    near = get_close_matches(text, texts, n=1)
    return f"; did you mean {texts[near[0]]!r}?" if near else ""


def plan(graph: LatentGraph, source: int, targets: tuple[int, ...]) -> Plan:
    """Return the plan from `source` to any of `targets` that takes the fewest steps on average."""
    from efex.graph.routes import routes

    if whole("source", source, at_least=0) >= graph.n_nodes:
        raise InvalidArgumentError(f"source must be a node 0 to {graph.n_nodes - 1}, not {source!r}")
    steps, policy = routes(graph, targets)
    if source not in targets and policy[source] < 0:
        named = ", ".join(str(target) for target in targets[:5]) + (", ..." if len(targets) > 5 else "")
        raise InvalidArgumentError(
            f"targets must be within reach of node {source}, but no tried actions{_open(graph)} lead to node {named}; "
            f"{ways_out(graph)}, or choose others"
        )
    nodes, probability = _likeliest_run(graph, policy, int(source), targets=frozenset(targets))
    return Plan(
        targets=targets,
        policy=policy,
        expected_steps=float(steps[source]),
        actions=tuple(int(policy[node]) for node in nodes[:-1]),
        nodes=nodes,
        probability=probability,
    )


def _open(graph: LatentGraph) -> str:
    return " that are open" if _has_closed(graph) else ""


def ways_out(graph: LatentGraph) -> str:
    """Return what may help where nothing leads to a node; which closed pairs were blocked is not known."""
    return "explore on" + (", take back what was blocked" if _has_closed(graph) else "")


def _has_closed(graph: LatentGraph) -> bool:
    return graph.closed is not None and bool(graph.closed.any())


def _likeliest_run(
    graph: LatentGraph, policy: NDArray[np.int64], source: int, *, targets: frozenset[int]
) -> tuple[tuple[int, ...], float]:
    """Return the nodes of the most probable run of the policy to a target, the shortest of several, and its chance."""
    taken = (graph.action == policy[graph.source]) & (graph.probability > 0)
    onward: dict[int, list[tuple[int, float]]] = {}
    columns = (graph.source[taken], graph.target[taken], -np.log(graph.probability[taken]))
    for node, target, cost in zip(*(column.tolist() for column in columns), strict=True):
        onward.setdefault(node, []).append((target, max(cost, 0.0)))
    before: dict[int, int] = {}
    queue = [(0.0, 0, source, -1)]
    while queue:
        cost, steps, node, previous = heapq.heappop(queue)
        if node in before:
            continue
        before[node] = previous
        if node in targets:
            break
        for target, more in onward.get(node, ()):
            heapq.heappush(queue, (cost + more, steps + 1, target, node))
    run = [node]
    while before[run[-1]] >= 0:
        run.append(before[run[-1]])
    return tuple(reversed(run)), math.exp(-cost)
