"""Navigator: find out where one is on a known map by acting, and go somewhere on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import reduce
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from efex.adapters.environment import AgentView, action_mask
from efex.checks import fraction, whole
from efex.errors import EfexError, InvalidArgumentError
from efex.graph.action_names import action_number, matching_numbers
from efex.graph.latent import LatentGraph
from efex.graph.plan import target_nodes, ways_out
from efex.graph.tags import Tag
from efex.navigation.chances import Chances
from efex.navigation.course import TELLING, Course, candidates
from efex.navigation.lookahead import entropy
from efex.navigation.telling_apart import Distinctions
from efex.navigation.trail import Trail
from efex.randomness import stream
from efex.symbols import to_symbol

OVERDUE = 3
"""A trip of so many times the expected steps, and SPARE more, is on a map that is wrong somewhere."""

SPARE = 50

RESTLESSNESS = 0.2
"""How often an overdue traveller takes a random action."""


class Navigator:
    """Keeps a belief over the nodes of `graph` from what is seen and done, and says how to get to a node.

    While the belief is spread, actions are chosen by what they tell as much as by where they lead. Nothing is
    impossible: after a surprise the belief is spread over what looks like it, with a little memory, and the way is
    planned again. An action that twice in a row does not lead where the map says is blocked, and a way around it is
    taken; where none is left, it is tried again. An arrival counts when the belief is `sure` of it.

    >>> import efex
    >>> world = efex.make("grid2d", size=4, unique_fraction=0.5, episode_steps=None, seed=1)
    >>> navigator = efex.Navigator(world.truth)
    >>> seen, _ = world.reset()
    >>> navigator.observe(seen)
    >>> while (action := navigator.go_to(15)) is not None:
    ...     seen, *_ = world.step(action)
    ...     navigator.observe(seen, after=action)
    >>> world.node
    15
    """

    def __init__(self, graph: LatentGraph, *, sure: float = 0.95, seed: int = 0) -> None:
        if not isinstance(graph, LatentGraph) or graph.n_nodes == 0:
            raise InvalidArgumentError(f"graph must be a map with nodes, such as run.graph, not {graph!r}")
        self._given = graph
        self._sure = fraction("sure", sure)
        self._rng = stream(seed, "navigator")
        self._trail: Trail | None = None
        self._has_seen = False
        self._goal: frozenset[int] = frozenset()
        self._taken = 0
        self._expected = self._doubt = 0.0
        self._experiment: Sequence[int] = ()
        self.belief: NDArray[np.float64] = np.full(graph.n_nodes, 1 / graph.n_nodes)
        """The probability of being at each node."""
        self._use(frozenset())

    def _use(self, blocked: frozenset[tuple[int, int]]) -> None:
        """Go on with the map as it was given, but for the pairs that are blocked."""
        self.graph = reduce(lambda graph, pair: graph.block(*pair), sorted(blocked), self._given)
        """The map in use: the one given, without what is blocked."""
        self.blocked = blocked
        """The (node, action) pairs that were found closed, or said to be."""
        self._chances = Chances(self.graph)
        self._distinctions = Distinctions(self._chances)
        self._courses: dict[frozenset[int], Course] = {}
        self._experiment = ()
        if self._trail is not None:
            self._trail.follow(self._chances)

    def block(self, node: int, action: int | str) -> None:
        """Take no way over `action` at `node` any more, unless there is no other.

        >>> import efex
        >>> world = efex.make("grid2d", size=3)
        >>> seen, _ = world.reset()
        >>> navigator = efex.Navigator(world.truth)
        >>> navigator.observe(seen)
        >>> navigator.go_to(2)
        3
        >>> navigator.block(0, 3)
        >>> navigator.go_to(2)
        1
        """
        self._use(self.blocked | {(whole("node", node, at_least=0), action_number(self._given, action))})

    @property
    def is_lost(self) -> bool:
        """Whether nothing on the map looks like what is seen."""
        return self._trail is None

    def observe(self, observation: Any, *, after: int | str | None = None) -> None:
        """Take in what is seen: after an action, or at the beginning and after a reset, where that is None.

        >>> ring = LatentGraph.from_matrices(["door", "wall", "wall"], [[[0, 1, 0], [0, 0, 1], [1, 0, 0]]])
        >>> navigator = Navigator(ring)
        >>> navigator.observe("wall")
        >>> navigator.belief.tolist()
        [0.0, 0.5, 0.5]
        >>> navigator.observe("wall", after=0)
        >>> navigator.belief.round(2).tolist()
        [0.0, 0.0, 1.0]
        """
        action = None if after is None else action_number(self._given, after)
        seen = self._chances.codes == self._given.alphabet.lookup([to_symbol(observation)])[0]
        self._has_seen = True
        if not seen.any():
            self.belief, self._trail = np.full(len(seen), 1 / len(seen)), None
        elif action is None or self._trail is None:
            self.belief, self._trail, self._experiment = seen / seen.sum(), Trail(self._chances, seen), ()
        else:
            ahead = self._chances.advance(self.belief, action) * seen
            self.belief = ahead / ahead.sum()
            self._trail.step(action, seen)
            if closed := self._trail.closed():
                self._use(self.blocked.union(closed))

    def go_to(
        self,
        node: int | Collection[int] | None = None,
        *,
        observation: Any = None,
        tag: str | tuple[str, Tag] | None = None,
        mask: NDArray[np.bool_] | None = None,
    ) -> int | None:
        """Return the next action on the way to a node, to one that shows `observation`, or to a tag; None on arrival.

        `node` may be several, of which any will do; `mask` says which actions are available now, where not all are.
        What is seen must be told first, by `observe`: without it any node would be as likely as any other.

        >>> lift = LatentGraph.from_matrices(["floor", "roof"], [[[0.5, 0.5], [0, 1]], [[1, 0], [1, 0]]])
        >>> navigator = Navigator(lift)
        >>> navigator.observe("floor")
        >>> navigator.go_to(observation="roof"), navigator.go_to(observation="floor")
        (0, None)
        """
        goal = frozenset(target_nodes(self._given, to=node, observation=observation, tag=tag, name="node"))
        if not self._has_seen:
            raise EfexError("go_to must follow observe: tell what is seen first, by navigator.observe(observation)")
        if goal != self._goal:
            self._goal, self._taken, self._experiment = goal, 0, ()
        course = self._course(goal)
        if course.is_reached(self.belief, self._sure):
            self._goal = frozenset()
            return None
        self._check_way(course, goal)
        if self._taken == 0:
            self._expected = float(self.belief @ course.steps)
        self._taken += 1
        n_actions = self.graph.n_actions
        available = np.ones(n_actions, bool) if mask is None else action_mask("mask", mask, n_actions)
        overdue = self._taken > OVERDUE * self._expected + SPARE
        if self.is_lost or (overdue and self._rng.random() < RESTLESSNESS):
            return int(self._rng.choice(np.flatnonzero(available)))
        return self._next(course, available)

    def _next(self, course: Course, available: NDArray[np.bool_]) -> int:
        """Return the next action of the experiment under way, while nothing has come of it, or of a new choice."""
        doubt = entropy(candidates(self.belief))
        if not self._experiment or doubt < TELLING * self._doubt or not available[self._experiment[0]]:
            self._experiment, self._doubt = course.actions(self.belief, available), doubt
        if not self._experiment:
            return int(self._rng.choice(np.flatnonzero(available)))
        action, *self._experiment = self._experiment
        return action

    def _course(self, goal: frozenset[int]) -> Course:
        """Return the course to the goal; where what is blocked leaves no way, it is no longer blocked."""
        if goal not in self._courses:
            self._courses[goal] = Course(self.graph, self._chances, self._distinctions, goal)
        course = self._courses[goal]
        if self.blocked and not course.reachable[self.belief.argmax()]:
            self._use(frozenset())
            return self._course(goal)
        return course

    def _check_way(self, course: Course, goal: frozenset[int]) -> None:
        if len(goal) == np.count_nonzero(course.reachable) < self.graph.n_nodes and not self.blocked:
            raise InvalidArgumentError(
                f"the goal must be a node that others lead to on the map, not {min(goal)}; "
                f"{ways_out(self._given)}, or go elsewhere"
            )

    def travel(
        self,
        env: gymnasium.Env[Any, Any],
        node: int | Collection[int] | None = None,
        *,
        observation: Any = None,
        tag: str | tuple[str, Tag] | None = None,
        limit: int = 1_000,
        observe: Callable[[Any], Any] | None = None,
        seed: int | None = None,
    ) -> int | None:
        """Return how many steps it took to get to the goal in `env`, which is reset first; None if over the `limit`.

        `observe` turns raw observations into symbols, as it did when the environment was explored. Where an episode
        ends on the way, the next one goes on from its beginning. Actions that the map and `env` call by the same names
        are matched by them, all others by their numbers: a log numbers its actions in an order of its own.

        >>> import efex
        >>> world = efex.make("grid2d", size=4, unique_fraction=0.5, random_start=True, seed=1)
        >>> efex.Navigator(world.truth.tag(15, name="corner")).travel(world, tag="name", seed=3) < 20
        True
        >>> world.node
        15
        """
        limit = whole("limit", limit, at_least=0)
        view = AgentView(env, observe=observe)
        if view.n_actions != self.graph.n_actions:
            raise InvalidArgumentError(
                f"env must have the {self.graph.n_actions} actions of the map, not {view.n_actions}"
            )
        number = matching_numbers(self.graph.action_names, view.action_names, n_actions=view.n_actions)
        moment = view.reset(seed=seed)
        self.observe(moment.symbol)
        taken = 0
        while True:
            mask = None if moment.mask is None else moment.mask[number]
            action = self.go_to(node, observation=observation, tag=tag, mask=mask)
            if action is None:
                return taken
            if moment.terminated or moment.truncated:
                moment = view.reset()
                self.observe(moment.symbol)
                continue
            if taken == limit:
                return None
            moment = view.step(number[action])
            self.observe(moment.symbol, after=action)
            taken += 1
