"""Transfer: explores a world that is built like a known one but looks different."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from efex.agents.base import Agent, Mask, Recovery
from efex.agents.closing import closed_pairs
from efex.agents.colourings import UNSEEN, Colourings
from efex.agents.efex import Efex
from efex.agents.remembering import Remembering
from efex.errors import InvalidArgumentError
from efex.graph.action_names import matching_numbers
from efex.graph.latent import LatentGraph
from efex.graph.reduction import renumber_actions
from efex.model.allocation import Growing
from efex.model.blocks import Blocks
from efex.model.cscg import Model
from efex.model.layout import CloneLayout
from efex.model.pseudocount import ROW, per_target
from efex.symbols import Symbol

SURPRISES = 5
"""How many steps the known graph may have no explanation for and still be this world's, ..."""

SURPRISE_RATE = 0.02
"""... and for what share of the walk that many more."""

TRUST = 100.0
"""A pair of the known graph counts as so many walks at most."""


class Transfer(Agent):
    """Keeps the transitions of a known graph and finds out what each node shows, nearest node first.

    Where the walk is follows from where it began, from what was done, and from what is seen again. When every node
    was seen, the actions that were not tried in this world are. If the world contradicts the graph, the agent
    `otherwise` goes on with all that was seen: Efex unless told, or Remembering, if most of what is seen is seen in the
    known graph, too, so that a part of it may be here. Actions that the graph and the environment call by the same
    names are matched by them, all others by their numbers. What a node did not offer when one was there last is no way
    to anywhere, and no edge of the map.

    >>> import efex
    >>> world = efex.make("chain", length=5)
    >>> run = efex.explore(world, steps=20, agent=Transfer(world.truth), progress=False)
    >>> run.graph.equivalent_to(world.truth)
    True
    """

    clones = Growing()

    def __init__(self, known: LatentGraph, *, otherwise: Agent | None = None) -> None:
        if not isinstance(known, LatentGraph) or known.n_edges == 0:
            raise InvalidArgumentError(f"known must be a graph with edges, such as run.graph, not {known!r}")
        self.known = self._as_given = known
        self._given = otherwise

    def prepare(self, n_actions: int, *, rng: np.random.Generator, symbols: Iterable[Symbol] = ()) -> None:
        """Get ready for an environment, which must have the actions of the known graph."""
        super().prepare(n_actions, rng=rng, symbols=symbols)
        if n_actions != self.known.n_actions:
            raise InvalidArgumentError(
                f"known must have the {n_actions} actions of the environment, not {self.known.n_actions}"
            )
        # A log numbers its actions in an order of its own.
        order = matching_numbers(self._as_given.action_names, self.action_names, n_actions=n_actions)
        self.known = renumber_actions(self._as_given, order)
        self.is_trusting = True
        """Whether the known graph explains what was seen so far."""
        self._colourings = Colourings(self.known)
        self._strays, self._refuted = 0, np.zeros((self.known.n_nodes, n_actions), bool)
        self._onward: list[list[tuple[int, int, float]]] = [[] for _ in range(self.known.n_nodes)]
        for edge in self.known.edges():
            self._onward[edge.source].append((edge.action, edge.target, 1 / edge.probability))

    def started(self) -> None:
        """Take in where the episode begins."""
        if self.is_trusting:
            self._judge(self._colourings.begin(int(self.experience.observations[-1])))
        else:
            self._pass_on()
            self.otherwise.started()

    def moved(self) -> None:
        """Follow the step on the known graph."""
        if self.is_trusting:
            action, code = int(self.experience.actions[-2]), int(self.experience.observations[-1])
            self._judge(self._colourings.step(action, code))
        else:
            self._pass_on()
            self.otherwise.moved()

    def finished(self) -> None:
        """Let the other agent know, if it is its turn."""
        if not self.is_trusting:
            self.otherwise.finished()

    def _judge(self, explained: bool) -> None:
        """Leave the rest to the other agent if the known graph is not this world's."""
        strays = int(self._colourings.strays[0])
        if explained and strays != self._strays:
            self._strays, self._refuted = strays, self._contradicted()
        if explained and strays <= SURPRISES + SURPRISE_RATE * self.experience.n_steps:
            return
        self.is_trusting = False
        self.otherwise = self._given or (Remembering(self.known) if self._looks_familiar else Efex())
        self.otherwise.action_names = self.action_names
        self.otherwise.prepare(self.known.n_actions, rng=self.rng, symbols=self.experience.alphabet.symbols)
        if isinstance(self.otherwise, Remembering):
            self.otherwise.recall(self.experience, self.masks)
        else:
            self.otherwise.experience, self.otherwise.masks = self.experience, self.masks
            self.otherwise.started()

    @property
    def _looks_familiar(self) -> bool:
        """Whether most of the symbols seen are the known graph's: then a part of it may be here, too."""
        seen = {self.experience.alphabet[code] for code in np.unique(self.experience.observations).tolist()}
        return 2 * len(seen & set(self.known.symbols)) > len(seen)

    def _pass_on(self) -> None:
        """Let the agent that remembers see what was seen: its experience is another."""
        walks, mine = self.otherwise.experience, self.experience
        if walks is mine:
            return
        symbol = mine.alphabet[int(mine.observations[-1])]
        if mine.offsets[-2] == len(mine) - 1:
            walks.begin(symbol)
        else:
            walks.append(int(mine.actions[-2]), symbol)
        if len(mine) - 1 in mine.terminated[-1:]:
            walks.terminate()

    def choose(self, mask: Mask | None) -> int:
        """Return an action not tried here yet if every node was seen, else one on the way to where something is new."""
        if not self.is_trusting:
            if mask is not None:
                self.otherwise.masks[len(self.otherwise.experience) - 1] = mask
            return self.otherwise.choose(mask)
        self._colourings.offer(mask)
        node = int(self._colourings.node[0])
        unseen = self._colourings.colours[0] == UNSEEN
        untried = ~self._colourings.walked[0] & ~self._colourings.shut[0]
        if self.known.closed is not None:
            untried &= ~self.known.closed
        action = self._towards(unseen, node)
        if action < 0:
            here = np.flatnonzero(untried[node])
            action = int(here[0]) if len(here) else self._towards(untried.any(axis=1), node)
        return self.random_action(mask) if action < 0 else action

    def _towards(self, goal: NDArray[np.bool_], node: int) -> int:
        """Return the first action of a quick way from `node` to the nearest goal, -1 if there is none.

        An outcome can be waited for: an edge is 1 / probability long. What was unavailable at its node is no way.
        """
        no_way = self._no_way
        queue, done = [(0.0, node, -1)], set()
        while queue:
            length, here, first = heapq.heappop(queue)
            if here in done:
                continue
            if goal[here] and here != node:
                return first
            done.add(here)
            for action, target, more in self._onward[here]:
                if not no_way[here, action]:
                    heapq.heappush(queue, (length + more, target, action if first < 0 else first))
        return -1

    def recover(self) -> Recovery:
        """Return the known graph with the colours found so far; nodes not seen yet are not on it."""
        if not self.is_trusting:
            return self.otherwise.recover()
        path = self._colourings.path
        state, layout = self._states(path)
        walked, carried = self._walked(state[path]), self._carried(state)
        steps = np.concatenate([np.pad(walked, ((0, 0), (0, 1)), constant_values=1), carried])
        source, action, target, times = steps[:, 0], steps[:, 1].astype(np.int32), steps[:, 2], steps[:, 3]
        codes = layout.observation.astype(np.int32)
        blocks = Blocks.of_triples(action, codes[source], codes[target], layout=layout)
        block = blocks.find(action, codes[source], codes[target])
        width = np.asarray(layout.sizes)[codes[target]]
        counts = np.zeros(blocks.n_entries)
        row, column = source - layout.first[codes[source]], target - layout.first[codes[target]]
        np.add.at(counts, blocks.start[block] + row * width + column, times)
        starts = np.bincount(state[path[self.experience.offsets[:-1]]], minlength=layout.n_states).astype(np.float64)
        model = Model(blocks, self.known.n_actions, counts, starts, per_target(ROW, layout.n_states))
        closed = closed_pairs(state[path], layout, self.experience, self.masks)
        return Recovery(model, state[path], closed=closed, carried=carried)

    def _states(self, path: NDArray[np.int64]) -> tuple[NDArray[np.int64], CloneLayout]:
        """Return the state of every node of the known graph, -1 where it was not seen, and the layout of states."""
        nodes = np.unique(path)
        codes = self._colourings.colours[0][nodes]
        order = np.argsort(codes, kind="stable")
        seen = np.bincount(codes, minlength=len(self.experience.alphabet))
        layout = CloneLayout(tuple(np.maximum(seen, 1).tolist()))
        rank = np.arange(len(nodes)) - np.repeat(np.cumsum(seen) - seen, seen)
        state = np.full(self.known.n_nodes, -1)
        state[nodes[order]] = layout.first[codes[order]] + rank
        return state, layout

    def _contradicted(self) -> NDArray[np.bool_]:
        """Return the pairs whose one known outcome is not what they did in this world."""
        walked = self._walked(self._colourings.path)
        source, action = walked[:, 0], walked[:, 1]
        known = set(zip(self.known.source.tolist(), self.known.action.tolist(), self.known.target.tolist()))
        agrees = np.array([step in known for step in map(tuple, walked.tolist())], bool)
        refuted = np.zeros((self.known.n_nodes, self.known.n_actions), bool)
        refuted[source[~agrees], action[~agrees]] = True
        refuted[source[agrees], action[agrees]] = False
        refuted &= self.known.outcomes == 1
        return refuted

    @property
    def _no_way(self) -> NDArray[np.bool_]:
        """The pairs of the known graph that this world contradicts, or does not offer."""
        return np.asarray(self._refuted | self._colourings.shut[0])

    def _walked(self, path: NDArray[np.int64]) -> NDArray[np.int64]:
        t = np.flatnonzero(self.experience.actions >= 0)
        return np.stack([path[t], self.experience.actions[t], path[t + 1]], axis=1)

    def _carried(self, state: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the edges of the known graph between nodes that were seen, without what this world contradicts.

        Rows of (state, action, state, how many walks it counts as), given the state of every node.
        """
        known = self.known
        source, target = state[known.source], state[known.target]
        visits = np.minimum(known.visits, TRUST)[known.source, known.action]
        times = np.ceil(known.probability * visits).astype(np.int64)
        kept = (source >= 0) & (target >= 0) & ~self._no_way[known.source, known.action] & (times > 0)
        return np.stack([source, known.action, target, times], axis=1)[kept]
