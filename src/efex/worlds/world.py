"""GraphWorld: a graph as an environment, of which an agent sees the observations and a study the truth."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from efex.checks import whole
from efex.counting import counted
from efex.errors import EfexError, InvalidArgumentError
from efex.graph.latent import LatentGraph
from efex.randomness import stream
from efex.worlds.rendering import as_pixels, as_text, canvas
from efex.worlds.sampling import RowTables

RENDER_MODES = ("ansi", "rgb_array")


class GraphWorld(gymnasium.Env[Any, Any]):
    """An environment that walks on `truth`, a graph with exact probabilities, and shows its observations.

    Episodes begin uniformly at one of `truth.starts` and are truncated after `episode_steps`, or never when
    that is None. Until `reset(seed=)` is called, the dynamics follow the world's own `seed`. `picture` says
    where the nodes lie when the world is rendered: its true cells, in reading order.

    >>> lift = LatentGraph.from_matrices([0, 1], [[[0, 1], [0, 1]], [[1, 0], [1, 0]]], starts=[0])
    >>> world = GraphWorld(lift, episode_steps=2)
    >>> world.reset()
    (0, {'node': 0})
    >>> world.step(0)
    (1, 0.0, False, False, {'node': 1})
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012, as Gymnasium declares it

    def __init__(
        self,
        truth: LatentGraph,
        *,
        seed: int = 0,
        episode_steps: int | None = 100,
        picture: NDArray[np.bool_] | None = None,
        render_mode: str | None = None,
    ) -> None:
        _check_truth(truth)
        if episode_steps is not None:
            episode_steps = whole("episode_steps", episode_steps, at_least=1)
        if render_mode not in (None, *RENDER_MODES):
            raise InvalidArgumentError(f"render_mode must be None or one of {RENDER_MODES}, not {render_mode!r}")
        picture = np.ones(truth.n_nodes, bool) if picture is None else np.asarray(picture, bool)
        if picture.sum() != truth.n_nodes:
            raise InvalidArgumentError(
                f"picture must have an accessible cell per node, {truth.n_nodes}, not {picture.sum()}"
            )
        self.truth = truth
        self.episode_steps = episode_steps
        self.render_mode = render_mode
        self._shows = np.array(truth.observations, np.int64)
        self._canvas = canvas(picture)
        self._tables = RowTables.of(truth)
        self._np_random = stream(seed, "dynamics")
        self._np_random_seed = int(seed)
        self._node: int | None = None
        self._steps = 0
        self.observation_space = gymnasium.spaces.Discrete(int(self._shows.max()) + 1)
        self.action_space = gymnasium.spaces.Discrete(truth.n_actions)

    @property
    def node(self) -> int:
        """The true node where the agent is."""
        if self._node is None:
            raise EfexError("the world has no current node before its first reset: call reset()")
        return self._node

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Begin an episode; return its first observation and true node. A seed changes only the dynamics."""
        # Gymnasium draws its own generator from the seed; the world keeps to its named streams.
        dynamics = self.np_random if seed is None else stream(seed, "dynamics")
        super().reset(seed=seed)
        self._np_random = dynamics
        starts = self.truth.starts
        self._node = starts[int(dynamics.integers(len(starts)))] if len(starts) > 1 else starts[0]
        self._steps = 0
        return self._observe()

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Take an action; return observation, reward (0), terminated (False), truncated and the true node."""
        node = self.node
        if self.episode_steps is not None and self._steps >= self.episode_steps:
            raise EfexError(
                f"the episode ended after {counted(self.episode_steps, 'step')}: call reset() before step()"
            )
        if not self.action_space.contains(action):
            raise InvalidArgumentError(
                f"action must be a whole number from 0 to {self.truth.n_actions - 1}, not {action!r}"
            )
        self._node = self._tables.follow(node, int(action), uniform=self.np_random.random())
        self._steps += 1
        observation, info = self._observe()
        return observation, 0.0, False, self._steps == self.episode_steps, info

    def _observe(self) -> tuple[int, dict[str, Any]]:
        return int(self._shows[self.node]), {"node": self.node}

    def walks(self, n: int, steps: int, *, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the observations, actions and nodes of `n` random walks.

        Their shapes are (n, steps + 1), (n, steps) and (n, steps + 1). Actions and first nodes are uniform
        over all, and no episode ends. The world itself stays where it is.

        >>> import efex
        >>> seen, actions, nodes = efex.make("grid2d", size=3, unique_fraction=0.5).walks(10, 100, seed=0)
        >>> seen.shape, actions.shape, len(np.unique(seen)), len(np.unique(nodes))
        ((10, 101), (10, 100), 4, 9)
        """
        n = whole("n", n, at_least=1)
        steps = whole("steps", steps, at_least=0)
        rng = stream(seed, "walks")
        start = rng.integers(self.truth.n_nodes, size=n)
        actions = rng.integers(self.truth.n_actions, size=(n, steps))
        nodes = self._tables.walk(start, actions, rng=rng)
        return self._shows[nodes], actions, nodes

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the picture with the agent at its place: text for "ansi", pixels for "rgb_array"."""
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return as_text(self._canvas, self.node)
        return as_pixels(self._canvas, self.node, observations=self._shows)


def _check_truth(truth: LatentGraph) -> None:
    if not truth.starts:
        raise InvalidArgumentError("truth must name the nodes where episodes begin: give its starts")
    if not truth.tried.all():
        node, action = np.argwhere(~truth.tried)[0]
        raise InvalidArgumentError(f"truth must say where action {action} leads from node {node}")
    if not all(type(symbol) is int and symbol >= 0 for symbol in truth.observations):
        raise InvalidArgumentError("truth must show whole numbers of at least 0, the codes of a Discrete space")
