"""The paper's measures of recovery: expected log-likelihood, weighted coverage, precision."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from efex.adapters import AgentView
from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.experience import Alphabet, Experience
from efex.graph import LatentGraph
from efex.randomness import stream
from efex.run import Run
from efex.symbols import to_symbol
from efex.worlds import GraphWorld


class Map(Protocol):
    """What can be measured: a run, a fit, or a graph."""

    def decode_all(self, walks: Experience) -> NDArray[np.int64]:
        """Return the likeliest node at every observation."""

    def log_likelihood_all(self, walks: Experience) -> float:
        """Return the log-probability of all walks."""

    def log_likelihood(self, observations: Sequence[Any], actions: ArrayLike) -> float:
        """Return the log-probability of one walk of raw observations."""


def precision(recovered: Map, world: GraphWorld, *, walks: int = 100, steps: int = 10_000, seed: int = 0) -> float:
    """Return how often the best fixed map from decoded nodes to true ones is right, theory (15).

    Walks start at uniform nodes and take uniformly random actions; they are pooled before the best map is taken.

    >>> import efex
    >>> world = efex.make("chain", length=5)
    >>> run = efex.explore(world, steps=50, progress=False)
    >>> precision(run, world, walks=10, steps=100)
    1.0
    """
    seen, nodes = _world_walks(world, walks, steps, seed=seed)
    decoded = recovered.decode_all(seen)
    if (decoded < 0).all():
        raise InvalidArgumentError(
            f"the map knows nothing that {world} shows, {seen.alphabet[0]!r} for one: "
            "measure it in the environment it was made in"
        )
    return best_map_accuracy(decoded, nodes)


def best_map_accuracy(decoded: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """Return Σ_i max_j #(decoded = i and truth = j) / N; undecoded positions (-1) count as wrong.

    >>> best_map_accuracy(np.array([0, 0, 1, 1]), np.array([7, 7, 7, 8]))
    0.75
    """
    if len(decoded) != len(truth) or len(truth) == 0:
        raise InvalidArgumentError(
            f"decoded and truth must be equally long and not empty, not {len(decoded)} and {len(truth)} positions"
        )
    known = decoded >= 0
    width = int(truth.max()) + 1
    pairs, together = np.unique(decoded[known] * width + truth[known], return_counts=True)
    best = np.zeros(int(decoded.max(initial=-1)) + 1)
    np.maximum.at(best, pairs // width, together)
    return float(best.sum() / len(truth))


def expected_log_likelihood(
    recovered: Map, env: gymnasium.Env[Any, Any], *, walks: int = 100, steps: int = 10_000, seed: int = 0
) -> float:
    """Return the log-likelihood per step of random walks in nats, from a uniform start, theory (14).

    In a world walks start at uniform nodes; in any other environment they are its episodes, `walks * steps` in all.

    All that the truth of a chain leaves open is where a walk begins: log 5 = 1.61 nats.

    >>> import efex
    >>> world = efex.make("chain", length=5)
    >>> print(f"{100 * expected_log_likelihood(world.truth, world, walks=10, steps=100):.2f}")
    -1.61
    """
    if isinstance(env.unwrapped, GraphWorld):
        seen, _ = _world_walks(env, walks, steps, seed=seed)
        return recovered.log_likelihood_all(seen) / seen.n_steps
    total, taken = 0.0, 0
    for observations, actions in _random_episodes(env, walks, steps, seed=seed):
        total += recovered.log_likelihood(observations, actions)
        taken += len(actions)
    return total / taken


class Trail(NamedTuple):
    """Where a walk really went: what coverage needs of a run."""

    experience: Experience
    true_nodes: NDArray[np.int64] | None


def weighted_coverage(recovered: Run | Trail | LatentGraph, world: GraphWorld) -> float:
    """Return the probability mass of the true edges that were walked, over that of all, theory (16).

    Exact: it counts the run's true nodes. A graph stands for a walk over all its edges, so it must name true nodes.

    >>> import efex
    >>> world = efex.make("grid2d", size=2)
    >>> weighted_coverage(world.truth.block(0, 3), world)
    0.9375
    """
    if not isinstance(recovered, LatentGraph):
        return float(coverage_curve(recovered, world)[-1:].sum())
    truth = unwrap(world).truth
    seen = set(zip(recovered.source.tolist(), recovered.action.tolist(), recovered.target.tolist()))
    covered = sum(e.probability for e in truth.edges() if (e.source, e.action, e.target) in seen)
    return float(covered / truth.probability.sum())


def coverage_curve(run: Run | Trail, world: GraphWorld) -> NDArray[np.float64]:
    """Return the weighted coverage after every step, theory (16).

    >>> import efex
    >>> around = [0, 1, 3, 2, 0]
    >>> walk = Trail(Experience.from_episodes([(around, [3, 1, 2, 0])]), np.array(around))
    >>> coverage_curve(walk, efex.make("grid2d", size=2)).tolist()
    [0.0625, 0.125, 0.1875, 0.25]
    """
    truth, (edges, first) = unwrap(world).truth, _first_walked(run)
    share = {(e.source, e.action, e.target): e.probability for e in truth.edges()}
    gained = np.zeros(run.experience.n_steps)
    for edge, step in zip(map(tuple, edges.tolist()), first.tolist()):
        gained[step] = share.get(edge, 0.0)
    return np.cumsum(gained) / float(truth.probability.sum())


def steps_to_cover(run: Run | Trail, world: GraphWorld) -> float:
    """Return the number of steps after which every true edge had been walked, infinity if that did not happen.

    >>> ring = LatentGraph.from_matrices([0, 1], [[[0, 1], [1, 0]]], starts=[0])
    >>> around = [0, 1, 0, 1, 0]
    >>> steps_to_cover(Trail(Experience.from_episodes([(around, None)]), np.array(around)), GraphWorld(ring))
    2.0
    """
    _, first = _first_walked(run)
    return float(first.max() + 1) if len(first) == unwrap(world).truth.n_edges else float("inf")


def _first_walked(run: Run | Trail) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every (true node, action, next true node) that was walked, and at which step first."""
    if run.true_nodes is None:
        raise InvalidArgumentError("coverage needs a run in a world whose truth is known, told by its true nodes")
    t = np.flatnonzero(run.experience.actions >= 0)
    steps = np.stack([run.true_nodes[t], run.experience.actions[t], run.true_nodes[t + 1]], axis=1)
    return np.unique(steps, axis=0, return_index=True)


def _world_walks(
    world: gymnasium.Env[Any, Any], walks: int, steps: int, *, seed: int
) -> tuple[Experience, NDArray[np.int64]]:
    """Return random walks from uniform nodes as the world shows them, and the nodes they visit."""
    shape = whole("walks", walks, at_least=1), whole("steps", steps, at_least=1)
    plain, nodes = _plain_walks(unwrap(world), *shape, seed)
    return plain.renamed(lambda symbol: to_symbol(shown(world)(symbol))), nodes


@functools.lru_cache(maxsize=1)
def _plain_walks(world: GraphWorld, walks: int, steps: int, seed: int) -> tuple[Experience, NDArray[np.int64]]:
    """Return random walks and their nodes; a study measures one world by the same walks, over and over."""
    observations, actions, nodes = world.walks(walks, steps, seed=seed)
    taken = np.concatenate([actions, np.full((walks, 1), -1)], axis=1)
    alphabet = Alphabet(range(int(observations.max()) + 1))
    flat = (observations.ravel(), taken.ravel())
    return Experience.from_flat(*flat, n_actions=world.truth.n_actions, alphabet=alphabet), nodes.ravel()


def _random_episodes(
    env: gymnasium.Env[Any, Any], walks: int, steps: int, *, seed: int
) -> Iterator[tuple[list[Any], NDArray[np.int64]]]:
    """Yield episodes of random actions, `walks * steps` steps in all."""
    walks, steps = whole("walks", walks, at_least=1), whole("steps", steps, at_least=1)
    view, rng = AgentView(env, episode_steps=steps), stream(seed, "walks")
    taken = 0
    moment = view.reset(seed=seed)
    while taken < walks * steps:
        seen, chosen = [moment.observation], []
        while not (moment.terminated or moment.truncated):
            allowed = np.arange(view.n_actions) if moment.mask is None else np.flatnonzero(moment.mask)
            chosen.append(int(rng.choice(allowed)))
            moment = view.step(chosen[-1])
            seen.append(moment.observation)
        taken += len(chosen)
        yield seen, np.array(chosen, np.int64)
        moment = view.reset()


def shown(world: gymnasium.Env[Any, Any]) -> Callable[[Any], Any]:
    """Return what Gymnasium's observation wrappers around a world make of its observations.

    >>> import efex
    >>> odd = gymnasium.wrappers.TransformObservation(efex.make("chain", length=5), lambda seen: seen % 2, None)
    >>> shown(odd)(3)
    1
    """
    transforms: list[Callable[[Any], Any]] = []
    layer = world
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, gymnasium.ObservationWrapper):
            transforms.append(layer.observation)
        layer = layer.env

    def show(observation: Any) -> Any:
        for transform in reversed(transforms):
            observation = transform(observation)
        return observation

    return show


def unwrap(world: gymnasium.Env[Any, Any]) -> GraphWorld:
    """Return the world inside Gymnasium's wrappers.

    >>> import efex
    >>> unwrap(gymnasium.wrappers.TimeLimit(efex.make("chain", length=5), 10)).truth.n_nodes
    5
    """
    inner = world.unwrapped
    if not isinstance(inner, GraphWorld):
        raise InvalidArgumentError(f"this measure needs a world whose truth is known, not {type(inner).__name__}")
    return inner
