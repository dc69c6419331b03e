"""Transfer: explore a new world with the map of another one in hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from efex.agents.transfer import Transfer
from efex.explore import explore
from efex.graph import LatentGraph
from efex.run import Run


@dataclass(frozen=True, eq=False, repr=False)
class TransferredRun(Run):
    """A Run whose map also has the edges that were known before, between the nodes that were seen."""

    carried: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    """The steps (node, action, node) that were known before."""

    @cached_property
    def graph(self) -> LatentGraph:
        """The recovered map: every node that was seen, edges counted along the walk and in what was known."""
        t = np.flatnonzero(self.experience.actions >= 0)
        walked = np.stack([self.nodes[t], self.experience.actions[t], self.nodes[t + 1]], axis=1)
        codes = self.recovery.model.layout.observation[self.states]
        return LatentGraph.from_walks(
            [self.experience.alphabet[code] for code in codes.tolist()],
            self.experience.n_actions,
            np.concatenate([walked, self.carried]),
            starts=self.nodes[self.experience.offsets[:-1]].tolist(),
        )


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
    """Return what was found out about `env` in `steps` steps, given that it is built like `known`.

    The transitions of `known` are kept and what its nodes show is learned again: symbols need not be the same. The
    map of the run has the nodes seen so far, with all edges that are known between them. If the environment
    contradicts the graph, exploration goes on from nothing but what was seen, and so does the map.

    >>> import efex
    >>> from dataclasses import replace
    >>> known = efex.make("sparse-maze", size=11, unique_fraction=0.3, seed=0).truth
    >>> repainted = replace(known, observations=tuple(100 + node % 7 for node in range(known.n_nodes)))
    >>> run = efex.transfer(efex.worlds.GraphWorld(repainted), known, steps=100, progress=False)
    >>> run.graph.equivalent_to(repainted)
    True
    """
    agent = Transfer(known)
    run = explore(
        env, steps=steps, seed=seed, agent=agent, observe=observe, episode_steps=episode_steps, progress=progress
    )
    if not agent.is_trusting:
        return run
    carried = agent.carried()
    carried[:, [0, 2]] = np.searchsorted(run.states, carried[:, [0, 2]])
    return TransferredRun(**{part.name: getattr(run, part.name) for part in fields(run)}, carried=carried)
