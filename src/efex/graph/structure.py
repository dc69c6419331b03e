"""Structure: a graph as arrays, built from matrices or from counted walks, checked, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from efex.errors import InvalidArgumentError
from efex.experience import Alphabet
from efex.graph.action_names import check_action_names
from efex.graph.tags import Tag, check_tags
from efex.symbols import Symbol

PROBABILITY_SLACK = 1e-9
"""How far a row of exact probabilities may sum from one."""


@dataclass(frozen=True, eq=False, repr=False)
class Structure:
    """The nodes and edges of a LatentGraph: parallel arrays, sorted by (action, source, target)."""

    observations: tuple[Symbol, ...]
    n_actions: int
    source: NDArray[np.int64]
    action: NDArray[np.int64]
    target: NDArray[np.int64]
    probability: NDArray[np.float64]
    count: NDArray[np.float64]
    starts: tuple[int, ...] = ()
    """Nodes where episodes begin; empty where that is not known."""
    coordinates: NDArray[np.float64] | None = None
    """A position per node, where the world offers one: (across), (across, up) or (across, up, depth)."""
    utility: NDArray[np.float64] | None = None
    """max_a u(z, a) per node in nats, where a belief is known."""
    closed: NDArray[np.bool_] | None = None
    """Whether each (node, action) pair cannot be tried: unavailable, blocked, or beyond an episode's end."""
    tags: Mapping[int, Mapping[str, Tag]] = field(default_factory=dict)
    """What was noted down about nodes: the tags of every node that has any, in the order of the nodes."""
    action_names: tuple[str, ...] | None = None
    """What every action is called; None where actions are numbers only."""

    def __post_init__(self) -> None:
        order = np.lexsort((self.target, self.source, self.action))
        for name in ("source", "action", "target", "probability", "count"):
            array = np.ascontiguousarray(getattr(self, name)[order])
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "tags", check_tags(self.tags, self.n_nodes))
        object.__setattr__(self, "action_names", check_action_names(self.action_names, self.n_actions))
        self._check()

    def _check(self) -> None:
        ends = np.concatenate([self.source, self.target, np.asarray(self.starts, np.int64)])
        if ends.size and (ends.min() < 0 or ends.max() >= self.n_nodes):
            raise InvalidArgumentError(f"edges and starts must name nodes 0 to {self.n_nodes - 1}")
        if self.action.size and (self.action.min() < 0 or self.action.max() >= self.n_actions):
            raise InvalidArgumentError(f"edges must carry actions 0 to {self.n_actions - 1}")
        if not np.all(np.isfinite(self.probability)) or np.any(self.probability < 0):
            raise InvalidArgumentError("edge probabilities must be finite and not negative")
        if not np.all(self.count >= 0):
            raise InvalidArgumentError("edge counts must be numbers of at least 0")
        same = [column[1:] == column[:-1] for column in (self.action, self.source, self.target)]
        if np.logical_and.reduce(same).any():
            raise InvalidArgumentError("an edge must be given once: no two may share source, action and target")
        for name in ("coordinates", "utility", "closed"):
            values = getattr(self, name)
            if values is not None and len(values) != self.n_nodes:
                raise InvalidArgumentError(f"{name} must have one entry for each of {self.n_nodes} nodes")
        totals = self._row_sums(self.probability)
        wrong = (np.abs(totals - 1) > PROBABILITY_SLACK) & self.tried
        if wrong.any():
            node, action = np.argwhere(wrong)[0]
            raise InvalidArgumentError(
                f"probabilities out of node {node} under action {action} must sum to 1, not {totals[node, action]:.6g}"
            )

    @classmethod
    def from_matrices(
        cls,
        observations: Sequence[Symbol],
        matrices: Sequence[Any],
        *,
        starts: Sequence[int] = (),
        coordinates: ArrayLike | None = None,
    ) -> Self:
        """Return the graph whose exact transition probabilities under action a are `matrices[a]`.

        >>> import efex
        >>> lift = efex.LatentGraph.from_matrices(["floor", "roof"], [[[0.5, 0.5], [0, 1]]])
        >>> lift.plan(0, observation="roof").expected_steps
        2.0
        """
        if len(matrices) == 0:
            raise InvalidArgumentError("matrices must hold one for every action; there is none")
        # Through CSR, which adds up entries that are given twice.
        edges = [sp.coo_array(sp.csr_array(matrix)) for matrix in matrices]
        probability = np.concatenate([m.data for m in edges]).astype(np.float64)
        keep = probability > 0
        return cls(
            observations=tuple(observations),
            n_actions=len(edges),
            source=np.concatenate([m.row for m in edges]).astype(np.int64)[keep],
            action=np.repeat(np.arange(len(edges)), [m.nnz for m in edges])[keep],
            target=np.concatenate([m.col for m in edges]).astype(np.int64)[keep],
            probability=probability[keep],
            count=np.full(int(keep.sum()), math.inf),
            starts=tuple(int(s) for s in starts),
            coordinates=None if coordinates is None else np.asarray(coordinates, np.float64),
        )

    @classmethod
    def from_walks(
        cls,
        observations: Sequence[Symbol],
        n_actions: int,
        steps: ArrayLike,
        *,
        times: ArrayLike | None = None,
        starts: Sequence[int] = (),
        utility: ArrayLike | None = None,
        closed: NDArray[np.bool_] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> Self:
        """Return the graph that counts `steps`, an (n, 3) array of (source, action, target), each walked `times`.

        >>> import efex
        >>> graph = efex.LatentGraph.from_walks(["shore", "sea"], 1, [(0, 0, 1), (0, 0, 0)], times=[3, 1])
        >>> graph.probability.tolist(), graph.tried.tolist()
        ([0.25, 0.75], [[True], [False]])
        """
        walked = np.asarray(steps, np.int64).reshape(-1, 3)
        often = np.ones(len(walked)) if times is None else np.asarray(times, np.float64)
        if often.shape != (len(walked),) or not (often > 0).all():
            raise InvalidArgumentError(f"times must be a number above 0 for each of {len(walked)} steps")
        if walked.size and (
            walked.min() < 0 or (walked.max(axis=0) >= [len(observations), n_actions, len(observations)]).any()
        ):
            raise InvalidArgumentError(
                f"steps must be of nodes 0 to {len(observations) - 1} and actions 0 to {n_actions - 1}"
            )
        triples, edge = np.unique(walked, axis=0, return_inverse=True)
        counts = np.bincount(edge.ravel(), often, len(triples))
        source, action, target = triples.T
        totals = np.zeros((len(observations), n_actions))
        np.add.at(totals, (source, action), counts)
        return cls(
            observations=tuple(observations),
            n_actions=n_actions,
            source=source,
            action=action,
            target=target,
            probability=counts / totals[source, action],
            count=counts.astype(np.float64),
            starts=tuple(sorted({int(s) for s in starts})),
            utility=None if utility is None else np.asarray(utility, np.float64),
            closed=closed,
            action_names=None if action_names is None else tuple(action_names),
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.observations)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.source)

    @cached_property
    def alphabet(self) -> Alphabet:
        """The code of every symbol, as `codes` has them; to look up, not to add to."""
        return Alphabet(self.observations)

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The distinct observation symbols, in order of their first node."""
        return self.alphabet.symbols

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The index into `symbols` of what every node shows."""
        return self.alphabet.lookup(self.observations)

    @cached_property
    def tried(self) -> NDArray[np.bool_]:
        """Whether each (node, action) pair has an edge."""
        tried = np.zeros((self.n_nodes, self.n_actions), bool)
        tried[self.source, self.action] = True
        return tried

    @cached_property
    def outcomes(self) -> NDArray[np.int64]:
        """How many different nodes each (node, action) pair led to; above one it is chance, or places confused."""
        counts = np.zeros((self.n_nodes, self.n_actions), np.int64)
        np.add.at(counts, (self.source, self.action), 1)
        return counts

    @property
    def untried(self) -> NDArray[np.bool_]:
        """Whether each (node, action) pair could be tried and was not."""
        return ~self.tried if self.closed is None else ~self.tried & ~self.closed

    @cached_property
    def visits(self) -> NDArray[np.float64]:
        """How often each (node, action) pair was walked."""
        return self._row_sums(self.count)

    def _row_sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.zeros((self.n_nodes, self.n_actions))
        np.add.at(sums, (self.source, self.action), values)
        return sums

    @cached_property
    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest credible probability of every edge, at 95 %.

        Of n walks along a pair, c led along the edge: under Jeffreys' prior its probability is
        Beta(c + 1/2, n - c + 1/2), and 2.5 % are cut off on either side. The interval goes up to 1 where c = n,
        and is a single point where the probability is known exactly.
        """
        from efex.graph.interval import interval

        return interval(self.probability, self.count, self.visits[self.source, self.action])
