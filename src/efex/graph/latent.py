"""LatentGraph: nodes that show observations, joined by labelled edges with probabilities."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from efex.counting import counted
from efex.errors import InvalidArgumentError
from efex.experience import Experience
from efex.graph.action_names import action_number
from efex.graph.structure import Structure
from efex.graph.tags import Tag, add_tags, rename_tags
from efex.symbols import to_symbol

if TYPE_CHECKING:
    from efex.graph.equivalence import Witness
    from efex.graph.plan import Plan


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
class LatentGraph(Structure):
    """A directed multigraph: every node shows one observation, every edge carries an action and a probability.

    Edges are parallel arrays, sorted by (action, source, target). The probabilities of a tried
    (node, action) pair sum to one; an untried pair has no edges.

    >>> ring = LatentGraph.from_walks(["door", "wall", "wall"], 1, [(0, 0, 1), (1, 0, 2), (2, 0, 0)])
    >>> ring
    LatentGraph(3 nodes, 2 observations, 1 action, 3 edges)
    """

    def __repr__(self) -> str:
        held = {"node": self.n_nodes, "observation": len(self.symbols), "action": self.n_actions, "edge": self.n_edges}
        return f"LatentGraph({', '.join(counted(number, noun) for noun, number in held.items())})"

    def edges(self) -> Iterator[Edge]:
        """Iterate over the edges, ordered by action, source and target.

        >>> graph = LatentGraph.from_walks(["shore", "sea"], 1, [(0, 0, 1), (0, 0, 0)], times=[3, 1])
        >>> for edge in graph.edges():
        ...     print(f"{edge.source} -> {edge.target}: {edge.probability} ({edge.low:.2f} to {edge.high:.2f})")
        0 -> 0: 0.25 (0.03 to 0.72)
        0 -> 1: 0.75 (0.28 to 0.97)
        """
        columns = (self.source, self.action, self.target, self.probability, self.count, *self.interval)
        yield from map(Edge, *(column.tolist() for column in columns))

    def transition(self, action: int | str) -> sp.csr_array:
        """Return the transition matrix of `action`: a row sums to 1, or to 0 where the pair is untried.

        >>> lift = LatentGraph.from_matrices(["floor", "roof"], [[[0.5, 0.5], [0, 1]]])
        >>> once = lift.transition(0)
        >>> (once @ once).toarray().tolist()
        [[0.25, 0.75], [0.0, 1.0]]
        """
        here = self.action == action_number(self, action)
        return sp.csr_array(
            (self.probability[here], (self.source[here], self.target[here])),
            shape=(self.n_nodes, self.n_nodes),
        )

    def relabel(self, order: Sequence[int] | NDArray[np.int64]) -> LatentGraph:
        """Return the same graph with node i renamed to `order[i]`, a permutation.

        >>> ring = LatentGraph.from_walks("abc", 1, [(0, 0, 1), (1, 0, 2), (2, 0, 0)])
        >>> turned = ring.relabel([2, 0, 1])
        >>> turned.observations, turned.equivalent_to(ring)
        (('b', 'c', 'a'), True)
        """
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

        >>> ring = LatentGraph.from_walks(["door", "wall", "wall"], 1, [(0, 0, 1), (1, 0, 2), (2, 0, 0)])
        >>> ring.decode(["wall", "door", "wall"], [0, 0]).tolist()
        [2, 0, 1]
        """
        from efex.graph.inference import one_walk

        return self.decode_all(one_walk(self, map(to_symbol, observations), actions))

    def log_likelihood(self, observations: Sequence[Any], actions: Sequence[int | str] | ArrayLike) -> float:
        """Return the log-probability of one walk's observations given its actions, in nats, from a uniform start.

        >>> ring = LatentGraph.from_matrices(["door", "wall", "wall"], [[[0, 1, 0], [0, 0, 1], [1, 0, 0]]])
        >>> print(f"{np.exp(ring.log_likelihood(['wall', 'wall'], [0])):.3f}")
        0.333
        """
        from efex.graph.inference import one_walk

        return self.log_likelihood_all(one_walk(self, map(to_symbol, observations), actions))

    def decode_all(self, walks: Experience) -> NDArray[np.int64]:
        """Return the likeliest node at every observation of many walks, as `decode` does for one.

        >>> ring = LatentGraph.from_walks(["door", "wall", "wall"], 1, [(0, 0, 1), (1, 0, 2), (2, 0, 0)])
        >>> walks = Experience.from_episodes([(["door", "wall"], None), (["wall", "door"], None)])
        >>> ring.decode_all(walks).tolist()
        [0, 1, 2, 0]
        """
        from efex.graph.inference import decode

        return decode(self, walks)

    def log_likelihood_all(self, walks: Experience) -> float:
        """Return the log-probability of many walks in nats, as `log_likelihood` does for one.

        >>> lift = LatentGraph.from_matrices(["floor", "roof"], [[[0.5, 0.5], [0, 1]]])
        >>> walks = Experience.from_episodes([(["floor", "roof"], None), (["roof", "roof"], None)])
        >>> print(f"{np.exp(lift.log_likelihood_all(walks)):.3f}")
        0.125
        """
        from efex.graph.inference import log_likelihood

        return log_likelihood(self, walks)

    def merge_equivalent(self, *, tolerance: float = 0.0) -> LatentGraph:
        """Return the graph with nodes that no experiment tells apart merged into one.

        >>> ring = LatentGraph.from_walks("abab", 1, [(0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 0, 0)])
        >>> ring.merge_equivalent()
        LatentGraph(2 nodes, 2 observations, 1 action, 2 edges)
        """
        from efex.graph.equivalence import merge_equivalent

        return merge_equivalent(self, tolerance=tolerance)

    def prune(self, *, min_probability: float = 0.0, min_count: float = 0.0) -> LatentGraph:
        """Return the graph without edges below either bound, rows made to sum to one again, lonely nodes dropped.

        Starts stay, unless no more than one episode went on from there.

        >>> graph = LatentGraph.from_walks(["shore", "sea"], 1, [(0, 0, 1), (0, 0, 0)], times=[99, 1])
        >>> graph.prune(min_probability=0.05).transition(0).toarray().tolist()
        [[0.0, 1.0], [0.0, 0.0]]
        """
        from efex.graph.equivalence import prune

        return prune(self, min_probability=min_probability, min_count=min_count)

    def difference(
        self, other: LatentGraph, *, tolerance: float = 0.0, start: tuple[int, int] | None = None
    ) -> Witness | None:
        """Return None when the graphs are equivalent as far as their starts reach, else what tells them apart.

        >>> two = LatentGraph.from_walks(["door", "wall"], 1, [(0, 0, 1), (1, 0, 0)], starts=[0])
        >>> three = LatentGraph.from_walks(["door", "wall", "wall"], 1, [(0, 0, 1), (1, 0, 2), (2, 0, 0)], starts=[0])
        >>> two.difference(three)
        Witness(actions=(0, 0), observations=('door', 'wall', 'door'), probabilities=(1.0, 0.0))
        """
        from efex.graph.equivalence import difference

        return difference(self, other, tolerance=tolerance, start=start)

    def equivalent_to(
        self, other: LatentGraph, *, tolerance: float = 0.0, start: tuple[int, int] | None = None
    ) -> bool:
        """Return whether the two graphs are equivalent as far as their starts reach.

        >>> import efex
        >>> truth = efex.make("grid2d", size=3).truth
        >>> truth.equivalent_to(truth.relabel(range(8, -1, -1))), truth.equivalent_to(truth.block(0, 3))
        (True, False)
        """
        from efex.graph.equivalence import equivalent

        return equivalent(self, other, tolerance=tolerance, start=start)

    def to_networkx(self) -> Any:
        """Return a networkx.MultiDiGraph: nodes carry `observation` and their tags, edges all that an Edge has.

        >>> import efex
        >>> import networkx
        >>> networkx.diameter(efex.make("grid2d", size=3).truth.to_networkx())
        4
        """
        from efex.graph.export import to_networkx

        return to_networkx(self)

    def to_pomdp(self, *, discount: float = 0.95) -> str:
        """Return the graph as a POMDP in Cassandra's file format; `efex.graph.pomdp` says how.

        >>> lift = LatentGraph.from_matrices(["floor", "roof"], [[[0.5, 0.5], [0, 1]]]).tag(1, reward=5)
        >>> lift.to_pomdp(discount=0.9).splitlines()[-1]
        'R: * : * : 1 : * 5'
        """
        from efex.graph.pomdp import to_pomdp

        return to_pomdp(self, discount=discount)

    def write(self, path: str | Path) -> Path:
        """Write the graph to `path`: .graphml, .dot, .json or .POMDP, by its ending; .json reads back.

        >>> from tempfile import TemporaryDirectory
        >>> lift = LatentGraph.from_matrices(["floor", "roof"], [[[0.5, 0.5], [0, 1]]])
        >>> with TemporaryDirectory() as folder:
        ...     lift.write(f"{folder}/lift.dot").read_text().count("->")
        3
        """
        from efex.graph.export import write

        return write(self, path)

    def floor_plan(self) -> NDArray[np.float64] | None:
        """Return where nodes lie, (n, 1 to 3), if actions lead the same way everywhere, as in rooms and on grids.

        None where they do not. Nothing but the edges is asked: two actions may turn, so that the others lead where one
        looks, and some steps may lead elsewhere. Which way is up only names such as "left" or "go north" can tell.
        Every part of the graph that no step joins to the others has a beginning of its own; a node that looks somewhere
        lies a little ahead, and nodes of the same place lie beside one another. More than 64 actions are not asked.

        >>> there, back = [(0, 0, 1), (1, 0, 2), (2, 1, 3)], [(3, 3, 2), (2, 2, 1), (1, 2, 0)]
        >>> path = LatentGraph.from_walks("path", 4, there + back, action_names=["east", "south", "west", "north"])
        >>> (path.floor_plan().round(6) + 0.0).tolist()
        [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, -1.0]]
        """
        from efex.graph.floor_plan import floor_plan

        return floor_plan(self)

    def plot(self, path: str | Path, *, coordinates: ArrayLike | None = None, numbers: bool = False) -> Path:
        """Draw the graph on `coordinates`, or its own, or by itself; `numbers` are those of nodes.

        By itself it is drawn as a `floor_plan` where there is one, and else so that distances are like those in steps.

        >>> import efex
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     efex.make("grid2d", size=3).truth.plot(f"{folder}/grid.png", numbers=True).name
        'grid.png'
        """
        from efex.graph.drawing import plot

        return plot(self, path, coordinates=coordinates, numbers=numbers)
