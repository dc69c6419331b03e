"""The paper's measures of recovery: expected log-likelihood, weighted coverage, precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from efex.adapters import AgentView
from efex.checks import whole
from efex.errors import InvalidArgumentError
from efex.graph import LatentGraph
from efex.randomness import stream
from efex.run import Run
from efex.worlds import GraphWorld


class Map(Protocol):
    """What can be measured: a run, a fit, or a graph."""

    def decode(self, observations: Sequence[Any], actions: ArrayLike) -> NDArray[np.int64]:
        """Return the likeliest node at every step of one walk."""

    def log_likelihood(self, observations: Sequence[Any], actions: ArrayLike) -> float:
        """Return the log-probability of one walk."""


def precision(recovered: Map, world: GraphWorld, *, walks: int = 100, steps: int = 10_000, seed: int = 0) -> float:
    """Return how often the best fixed map from decoded nodes to true ones is right, theory (15).

    Walks start at uniform nodes and take uniformly random actions; they are pooled before the best map is taken.
    """
    inner, show = unwrap(world), shown(world)
    observations, actions, nodes = inner.walks(walks, whole("steps", steps, at_least=1), seed=seed)
    decoded = np.concatenate(
        [recovered.decode([show(x) for x in walk], taken) for walk, taken in zip(observations.tolist(), actions)]
    )
    if (decoded < 0).all():
        raise InvalidArgumentError(
            f"the map knows nothing that {world} shows, {show(int(observations[0, 0]))!r} for one: "
            "measure it in the environment it was made in"
        )
    return best_map_accuracy(decoded, nodes.ravel())


def best_map_accuracy(decoded: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """Return Σ_i max_j #(decoded = i and truth = j) / N; undecoded positions (-1) count as wrong."""
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
    """
    total, taken = 0.0, 0
    for observations, actions in _random_walks(env, walks, steps, seed=seed):
        total += recovered.log_likelihood(observations, actions)
        taken += len(actions)
    return total / taken


def weighted_coverage(recovered: Run | LatentGraph, world: GraphWorld) -> float:
    """Return the probability mass of the true edges that were walked, over that of all, theory (16).

    Exact: it counts the run's true nodes. A graph stands for a walk over all its edges, so it must name true nodes.
    """
    truth = unwrap(world).truth
    if isinstance(recovered, LatentGraph):
        walked = np.stack([recovered.source, recovered.action, recovered.target], axis=1)
    else:
        walked = _true_steps(recovered)
    seen = set(map(tuple, np.unique(walked, axis=0).tolist()))
    covered = sum(e.probability for e in truth.edges() if (e.source, e.action, e.target) in seen)
    return float(covered / truth.probability.sum())


def steps_to_cover(run: Run, world: GraphWorld) -> float:
    """Return the number of steps after which every true edge had been walked, infinity if that did not happen."""
    _, first = np.unique(_true_steps(run), axis=0, return_index=True)
    return float(first.max() + 1) if len(first) == unwrap(world).truth.n_edges else float("inf")


def _true_steps(run: Run) -> NDArray[np.int64]:
    """Return every step as (true node, action, next true node)."""
    if run.true_nodes is None:
        raise InvalidArgumentError("coverage needs a run in a world whose truth is known, told by its true nodes")
    t = np.flatnonzero(run.experience.actions >= 0)
    return np.stack([run.true_nodes[t], run.experience.actions[t], run.true_nodes[t + 1]], axis=1)


def _random_walks(
    env: gymnasium.Env[Any, Any], walks: int, steps: int, *, seed: int
) -> Iterator[tuple[list[Any], NDArray[np.int64]]]:
    walks, steps = whole("walks", walks, at_least=1), whole("steps", steps, at_least=1)
    if isinstance(env.unwrapped, GraphWorld):
        show = shown(env)
        observations, actions, _ = env.unwrapped.walks(walks, steps, seed=seed)
        for walk, taken in zip(observations.tolist(), actions):
            yield [show(x) for x in walk], taken
        return
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
    """Return what Gymnasium's observation wrappers around a world make of its observations."""
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
    """Return the world inside Gymnasium's wrappers."""
    inner = world.unwrapped
    if not isinstance(inner, GraphWorld):
        raise InvalidArgumentError(f"this measure needs a world whose truth is known, not {type(inner).__name__}")
    return inner
