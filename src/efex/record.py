"""Record: a run in the making. What the agent knows, and beside it the truth, where the environment offers it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from efex.adapters import AgentView
from efex.agents import Agent
from efex.graph import LatentGraph
from efex.run import Run


class Record:
    """Collects the true nodes of a walk, which the agent never sees, and makes a Run of both."""

    def __init__(self, view: AgentView, agent: Agent, env: gymnasium.Env[Any, Any], settings: dict[str, Any]) -> None:
        self.true_nodes: list[Any] = []
        truth = getattr(getattr(env, "unwrapped", env), "truth", None)
        self.truth = truth if isinstance(truth, LatentGraph) else None
        self._view, self._agent, self._settings = view, agent, settings

    def run(self) -> Run:
        """Return the run as it stands."""
        recovery, experience = self._agent.recover(), self._agent.experience
        if len(recovery.path) < len(experience):
            # The agent failed while it took in the last observation.
            experience = experience.first(len(recovery.path))
        nodes = self.true_nodes[: len(experience)]
        told = all(isinstance(node, int | np.integer) and node >= 0 for node in nodes)
        true_nodes = np.array(nodes, np.int64) if told else None
        return Run(experience, recovery, self._settings, self._view.symbol, true_nodes=true_nodes, truth=self.truth)

    def rescue(self, folder: str | Path, error: BaseException) -> None:
        """Save the run although it failed; if that fails too, say so on the error that counts."""
        self._settings["interrupted"] = True
        try:
            self.run().save(folder)
        except Exception as failure:
            error.add_note(f"what was found so far could not be saved to {folder}: {failure!r}")
