"""The worlds by name: made with `make`, or by Gymnasium once `register` was called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from efex.checks import flag, fraction, repetition, whole
from efex.errors import InvalidArgumentError
from efex.graph.latent import LatentGraph
from efex.near import near
from efex.randomness import stream
from efex.worlds.aliasing import alias
from efex.worlds.chain import chain
from efex.worlds.dense_maze import dense_maze
from efex.worlds.grids import grid2d, grid3d, icg
from efex.worlds.slip import slipped
from efex.worlds.sparse_maze import sparse_maze, teleport_maze
from efex.worlds.topology import Topology
from efex.worlds.world import GraphWorld

TOPOLOGIES: dict[str, Callable[..., Topology]] = {
    "chain": chain,
    "grid2d": grid2d,
    "grid3d": grid3d,
    "icg": icg,
    "dense-maze": dense_maze,
    "sparse-maze": sparse_maze,
    "teleport-maze": teleport_maze,
}
"""Every name and the function of (seed, *, options) that builds its topology."""

COMMON_OPTIONS = ("unique_fraction", "slip", "seed", "episode_steps", "random_start", "render_mode")
ENTRY_POINT = f"{__name__}:make"


def world_names() -> tuple[str, ...]:
    """Return the names `make` knows.

    >>> print(*world_names())
    chain grid2d grid3d icg dense-maze sparse-maze teleport-maze
    """
    return tuple(TOPOLOGIES)


def make(
    name: str,
    *,
    unique_fraction: float = 1.0,
    slip: float = 0.0,
    seed: int = 0,
    episode_steps: int | Literal["default"] | None = "default",
    random_start: bool = False,
    render_mode: str | None = None,
    **options: Any,
) -> GraphWorld:
    """Return the world `name`, whose structure, aliasing and first dynamics all follow from `seed`.

    `unique_fraction` is the number of observations over the number of nodes; `slip` the probability that a
    basic action repeats once more. `episode_steps` is 100 by default, length + 9 on the chain, and None (an
    episode never ends) in the teleport maze. `random_start` begins episodes at a uniform node, not at home.
    Options by world: chain(length=50, trap=False), grid2d(size=21), grid3d(size=7), icg(grid=10, corridor=3),
    dense-maze(size=None, corridor=4), sparse-maze(size=21), teleport-maze(size=21).

    >>> world = make("sparse-maze", size=11, unique_fraction=0.5, slip=0.1, seed=3)
    >>> world.truth
    LatentGraph(62 nodes, 31 observations, 4 actions, 626 edges)
    """
    build = _find(name)
    _check_options(name, build, options)
    seed = whole("seed", seed, at_least=0)
    unique_fraction = fraction("unique_fraction", unique_fraction)
    slip = repetition("slip", slip)
    topology: Topology = build(seed, **options)
    observations = _observations(name, topology, unique_fraction, slip=slip, seed=seed)
    truth = LatentGraph.from_matrices(
        observations.tolist(),
        [slipped(matrix, slip) for matrix in topology.base],
        starts=range(topology.n_nodes) if flag("random_start", random_start) else (topology.home,),
        coordinates=topology.coordinates,
    )
    steps = topology.episode_steps if episode_steps == "default" else episode_steps
    world = GraphWorld(truth, seed=seed, episode_steps=steps, picture=topology.picture, render_mode=render_mode)
    asked = {"unique_fraction": unique_fraction, "slip": slip, "seed": seed, "episode_steps": episode_steps}
    world.spec = _spec(name, **asked, random_start=random_start, render_mode=render_mode, **options)
    return world


def register() -> None:
    """Register every world with Gymnasium as "efex/<name>-v0"; a second call changes nothing.

    >>> register()
    >>> gymnasium.make("efex/chain-v0", length=5).unwrapped.truth.n_nodes
    5
    """
    for name in TOPOLOGIES:
        if _gymnasium_id(name) not in gymnasium.registry:
            gymnasium.register(_gymnasium_id(name), entry_point=ENTRY_POINT, kwargs={"name": name})


def _gymnasium_id(name: str) -> str:
    return f"efex/{name}-v0"


def _spec(name: str, **arguments: Any) -> EnvSpec:
    """Return what Gymnasium needs to make the same world again, as it does to check every render mode."""
    return EnvSpec(
        _gymnasium_id(name),
        entry_point=ENTRY_POINT,
        order_enforce=False,
        disable_env_checker=True,
        kwargs={"name": name, **arguments},
    )


def _find(name: str) -> Callable[..., Topology]:
    if isinstance(name, str) and name in TOPOLOGIES:
        return TOPOLOGIES[name]
    raise InvalidArgumentError(f"name must be one of {', '.join(TOPOLOGIES)}, not {name!r}{near_name(name)}")


def near_name(name: str) -> str:
    """Return the question whether a world of a similar name was meant, empty where there is none."""
    return near(str(name).lower().replace("_", "-"), TOPOLOGIES)


def _check_options(name: str, build: Callable[..., Topology], options: dict[str, Any]) -> None:
    parameters = inspect.signature(build).parameters.values()
    own = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    unknown = [option for option in options if option not in own]
    if unknown:
        raise InvalidArgumentError(
            f"options of {name} must be among {', '.join(own)} and, as for every world, "
            f"{', '.join(COMMON_OPTIONS)}; not {unknown[0]!r}"
        )


def _observations(
    name: str, topology: Topology, unique_fraction: float, *, slip: float, seed: int
) -> NDArray[np.int64]:
    if topology.aliased:
        return alias(topology.n_nodes, unique_fraction, rng=stream(seed, "aliasing"))
    if unique_fraction != 1 or slip != 0:
        raise InvalidArgumentError(
            f"{name} has neither aliasing nor slip: unique_fraction must be 1 and slip 0, "
            f"not {unique_fraction} and {slip}"
        )
    return np.arange(topology.n_nodes)
