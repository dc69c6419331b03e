"""LatentGraph: nodes that show observations, joined by labelled edges with probabilities."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from efex.errors import InvalidArgumentError
from efex.experience import Alphabet, Experience
from efex.graph.action_names import action_number, check_action_names
from efex.graph.tags import Tag, add_tags, check_tags, rename_tags
from efex.symbols import Symbol, to_symbol

if TYPE_CHECKING:
    from efex.graph.equivalence import Witness
    from efex.graph.plan import Plan

PROBABILITY_SLACK = 1e-9
"""How far a row of exact probabilities may sum from one."""


class Edge(NamedTuple):
    """One labelled edge; `count` is how often it was walked, infinite where the probability is known exactly.

    The true probability lies between `low` and `high` with a credibility of 95 %, as `LatentGraph.interval` has it.
    """

    source: int
    action: int
    target: int
    probability: float
    count: float  # type: ignore[assignment]  # shadows tuple.count, which an edge has no use for
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class LatentGraph:
    """A directed multigraph: every node shows one observation, every edge carries an action and a probability.

    Edges are parallel arrays, sorted by (action, source, target). The probabilities of a tried
    (node, action) pair sum to one; an untried pair has no edges.
    """

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

    def __repr__(self) -> str:
        return (
            f"LatentGraph({self.n_nodes} nodes, {len(self.symbols)} observations, {self.n_actions} actions, "
            f"{self.n_edges} edges)"
        )

    @classmethod
    def from_matrices(
        cls,
        observations: Sequence[Symbol],
        matrices: Sequence[Any],
        *,
        starts: Sequence[int] = (),
        coordinates: ArrayLike | None = None,
    ) -> LatentGraph:
        """Return the graph whose exact transition probabilities under action a are `matrices[a]`."""
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
    ) -> LatentGraph:
        """Return the graph that counts `steps`, an (n, 3) array of (source, action, target), each walked `times`."""
        walked = np.asarray(steps, np.int64).reshape(-1, 3)
        triples, edge = np.unique(walked, axis=0, return_inverse=True)
        counts = np.bincount(edge.ravel(), np.ones(len(walked)) if times is None else np.asarray(times), len(triples))
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

    def edges(self) -> Iterator[Edge]:
        """Iterate over the edges, ordered by action, source and target."""
        columns = (self.source, self.action, self.target, self.probability, self.count, *self.interval)
        yield from map(Edge, *(column.tolist() for column in columns))

    def transition(self, action: int | str) -> sp.csr_array:
        """Return the transition matrix of `action`: a row sums to 1, or to 0 where the pair is untried."""
        here = self.action == action_number(self, action)
        return sp.csr_array(
            (self.probability[here], (self.source[here], self.target[here])),
            shape=(self.n_nodes, self.n_nodes),
        )

    def relabel(self, order: Sequence[int] | NDArray[np.int64]) -> LatentGraph:
        """Return the same graph with node i renamed to `order[i]`, a permutation."""
        new = np.asarray(order, np.int64)
        if sorted(new.tolist()) != list(range(self.n_nodes)):
            raise InvalidArgumentError(f"order must be a permutation of 0 to {self.n_nodes - 1}")
        old = np.argsort(new)
        return replace(
            self,
            observations=tuple(self.observations[i] for i in old),
            source=new[self.source],
            target=new[self.target],
            starts=tuple(sorted(int(new[s]) for s in self.starts)),
            coordinates=None if self.coordinates is None else self.coordinates[old],
            utility=None if self.utility is None else self.utility[old],
            closed=None if self.closed is None else self.closed[old],
            tags=rename_tags(self.tags, new),
        )

    def plan(
        self,
        source: int,
        *,
        to: int | Collection[int] | None = None,
        observation: Any = None,
        tag: str | tuple[str, Tag] | None = None,
    ) -> Plan:
        """Return how to get from `source` to a node, to one that shows `observation`, or to one with a tag.

        `to` is a node or several of which any will do; `tag` a key, or a (key, value) pair. The plan takes the
        fewest steps on average; where no policy is sure to arrive, it has the highest chance to.

        >>> import efex
        >>> graph = efex.make("chain", length=5).truth.tag(4, home=True)
        >>> plan = graph.plan(1, tag="home")
        >>> plan.actions, plan.nodes, plan.expected_steps
        ((1, 1, 0), (1, 2, 3, 4), 3.0)
        """
        from efex.graph.plan import plan, target_nodes

        return plan(self, source, target_nodes(self, to=to, observation=observation, tag=tag))

    def block(self, source: int, action: int | str) -> LatentGraph:
        """Return the graph in which `action` can no longer be taken at `source`: its edges gone, the pair closed.

        An action may be given by its name, where it has one.

        >>> import efex
        >>> graph = efex.make("grid2d", size=3).truth
        >>> graph.plan(0, to=2).actions, graph.block(0, 3).plan(0, to=2).actions
        ((3, 3), (1, 3, 0, 3))
        """
        from efex.graph.reduction import block

        return block(self, source, action_number(self, action))

    def tag(self, node: int, /, **tags: Tag) -> LatentGraph:
        """Return the graph with tags noted down at `node`, in the place of older ones of the same name.

        >>> import efex
        >>> graph = efex.make("chain", length=5).truth
        >>> graph.tag(0, room="kitchen", warm=True).tags
        {0: {'room': 'kitchen', 'warm': True}}
        """
        return replace(self, tags=add_tags(self.tags, node, tags, n_nodes=self.n_nodes))

    def decode(self, observations: Sequence[Any], actions: Sequence[int | str] | ArrayLike) -> NDArray[np.int64]:
        """Return the likeliest node at every step of one walk from a uniform start; -1 where the symbol is unknown.

        In a graph that was counted every transition is possible, with a tenth of a walk per row to share.
        """
        from efex.graph.inference import one_walk

        return self.decode_all(one_walk(self, map(to_symbol, observations), actions))

    def log_likelihood(self, observations: Sequence[Any], actions: Sequence[int | str] | ArrayLike) -> float:
        """Return the log-probability of one walk's observations given its actions, in nats, from a uniform start."""
        from efex.graph.inference import one_walk

        return self.log_likelihood_all(one_walk(self, map(to_symbol, observations), actions))

    def decode_all(self, walks: Experience) -> NDArray[np.int64]:
        """Return the likeliest node at every observation of many walks, as `decode` does for one."""
        from efex.graph.inference import decode

        return decode(self, walks)

    def log_likelihood_all(self, walks: Experience) -> float:
        """Return the log-probability of many walks in nats, as `log_likelihood` does for one."""
        from efex.graph.inference import log_likelihood

        return log_likelihood(self, walks)

    def merge_equivalent(self, *, tolerance: float = 0.0) -> LatentGraph:
        """Return the graph with nodes that no experiment tells apart merged into one."""
        from efex.graph.equivalence import merge_equivalent

        return merge_equivalent(self, tolerance=tolerance)

    def prune(self, *, min_probability: float = 0.0, min_count: float = 0.0) -> LatentGraph:
        """Return the graph without edges below either bound, rows made to sum to one again, lonely nodes dropped."""
        from efex.graph.equivalence import prune

        return prune(self, min_probability=min_probability, min_count=min_count)

    def difference(
        self, other: LatentGraph, *, tolerance: float = 0.0, start: tuple[int, int] | None = None
    ) -> Witness | None:
        """Return None when the graphs are equivalent as far as their starts reach, else what tells them apart."""
        from efex.graph.equivalence import difference

        return difference(self, other, tolerance=tolerance, start=start)

    def equivalent_to(
        self, other: LatentGraph, *, tolerance: float = 0.0, start: tuple[int, int] | None = None
    ) -> bool:
        """Return whether the two graphs are equivalent as far as their starts reach."""
        from efex.graph.equivalence import equivalent

        return equivalent(self, other, tolerance=tolerance, start=start)

    def to_networkx(self) -> Any:
        """Return a networkx.MultiDiGraph: nodes carry `observation` and their tags, edges all that an Edge has."""
        from efex.graph.export import to_networkx

        return to_networkx(self)

    def to_pomdp(self, *, discount: float = 0.95) -> str:
        """Return the graph as a POMDP in Cassandra's file format; `efex.graph.pomdp` says how."""
        from efex.graph.pomdp import to_pomdp

        return to_pomdp(self, discount=discount)

    def write(self, path: str | Path) -> Path:
        """Write the graph to `path`: .graphml, .dot, .json or .POMDP, by its ending; .json reads back."""
        from efex.graph.export import write

        return write(self, path)

    def plot(self, path: str | Path, *, coordinates: ArrayLike | None = None, numbers: bool = False) -> Path:
        """Draw the graph on `coordinates`, or its own, or laid out by its distances; `numbers` are those of nodes."""
        from efex.graph.drawing import plot

        return plot(self, path, coordinates=coordinates, numbers=numbers)
