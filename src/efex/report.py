"""Report: what to know about a learned map before trusting it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from efex.counting import counted

if TYPE_CHECKING:
    from efex.run import Fit


FEW = 5
"""A node seen fewer times than this is one to be careful with."""


@dataclass(frozen=True)
class Report:
    """What was learned from, what was found, how well it predicts, and whether learning again finds the same.

    `print` it for a small table. A figure is None where it was not asked for.
    """

    steps: int
    episodes: int
    observations: int
    """Different observations in the walks."""
    nodes: int
    """States in use: the nodes of the map."""
    clones: int
    """States that the model has to use."""
    untried_pairs: int
    """Pairs of a node and an action that could be tried and never were, as far as is known: logs know no masks."""
    rare_nodes: int
    """Nodes seen fewer than FEW times."""
    learned_nats: float
    """Log-likelihood per step of the walks it was learned from, in nats, as for those held out."""
    held_out_steps: int = 0
    held_out_episodes: int = 0
    held_out_nats: float | None = None
    """Log-probability of what a step showed given the walk before it, in nats, mean over the steps held out."""
    held_out_first_order_nats: float | None = None
    """The same if every observation is one node: what there is to gain on."""
    restarts: int = 1
    agreement: float | None = None
    """Share of the steps at which two learned maps are at the same node, their nodes matched one to one in the way
    that makes most steps agree; mean over all pairs of restarts."""

    @classmethod
    def of(cls, fit: Fit) -> Report:
        """Return the report of a fit or a run; held-out walks and restarts are known where `learn` made it."""
        from efex.held_out import nats_per_step

        known = ("held_out_steps", "held_out_episodes", "held_out_nats", "held_out_first_order_nats")
        return cls(
            steps=fit.experience.n_steps,
            episodes=fit.experience.n_episodes,
            observations=len(fit.graph.symbols),
            nodes=fit.graph.n_nodes,
            clones=fit.recovery.model.layout.n_states,
            untried_pairs=int(fit.graph.untried.sum()),
            rare_nodes=seen_fewer_than(FEW, fit.nodes),
            learned_nats=nats_per_step(fit.graph, fit.experience, pseudocount=fit.recovery.model.pseudocount),
            **{name: fit.settings[name] for name in (*known, "restarts", "agreement") if name in fit.settings},
        )

    def __str__(self) -> str:
        rows = [
            ("learned from", _walks(self.steps, self.episodes)),
            ("observations", f"{self.observations:,}"),
            ("nodes", f"{self.nodes:,} ({counted(self.clones, 'clone')})"),
            ("untried pairs", f"{self.untried_pairs:,}"),
            (f"nodes seen fewer than {FEW} times", f"{self.rare_nodes:,}"),
            ("log-likelihood per step", _nats(self.learned_nats)),
        ]
        if self.held_out_nats is not None and self.held_out_first_order_nats is not None:
            rows += [
                ("held out", _walks(self.held_out_steps, self.held_out_episodes)),
                ("log-likelihood per step", _nats(self.held_out_nats)),
                ("one node per observation", _nats(self.held_out_first_order_nats)),
            ]
        if self.agreement is not None:
            rows.append((f"{self.restarts} restarts agree on", f"{self.agreement:.1%} of the steps"))
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:>{width}}  {value}" for name, value in rows)


def seen_fewer_than(times: int, nodes: NDArray[np.int64]) -> int:
    """Return how many nodes are met fewer times on a walk, given the node at each of its positions.

    >>> seen_fewer_than(3, np.array([0, 1, 0, 1, 0, 2]))
    2
    """
    return int((np.bincount(nodes) < times).sum())


def _walks(steps: int, episodes: int) -> str:
    return f"{counted(steps, 'step')} in {counted(episodes, 'episode')}"


def _nats(value: float) -> str:
    return f"{value:.4f} nats"
