"""Transfer: explore a new world with the map of another one in hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium

from efex.agents.transfer import Transfer
from efex.explore import explore
from efex.graph import LatentGraph
from efex.run import Run


def transfer(
    env: gymnasium.Env[Any, Any],
    known: LatentGraph,
    *,
    steps: int,
    seed: int = 0,
    observe: Callable[[Any], Any] | None = None,
    episode_steps: int | None = None,
    progress: bool = True,
) -> Run:
    """Return what was found out about `env` in `steps` steps, given that it is built like `known`, or a part of it is.

    The transitions of `known` are kept and what its nodes show is learned again: symbols need not be the same. The
    map of the run has the nodes seen so far, with all edges that are known between them, also when it is saved and
    loaded. Actions that `known` and `env` call by the same names are matched by them, all others by their numbers.

    If the environment contradicts the graph but most of what is seen is seen there, too, it may share a part: places of
    `known` are known again by what they show and where they lead, and what they did there is foreseen, with the doubt
    that follows from how often that was wrong. It is in the run's `expected` map, not in its `graph`. If nothing looks
    familiar either, exploration goes on from nothing but what was seen.

    It is `efex.explore` with the agent `efex.agents.transfer.Transfer(known)`, which takes all of its options.

    >>> import efex
    >>> from dataclasses import replace
    >>> known = efex.make("sparse-maze", size=11, unique_fraction=0.3, seed=0).truth
    >>> repainted = replace(known, observations=tuple(100 + node % 7 for node in range(known.n_nodes)))
    >>> run = efex.transfer(efex.worlds.GraphWorld(repainted), known, steps=100, progress=False)
    >>> run.graph.equivalent_to(repainted)
    True
    """
    return explore(
        env,
        steps=steps,
        seed=seed,
        agent=Transfer(known),
        observe=observe,
        episode_steps=episode_steps,
        progress=progress,
    )
