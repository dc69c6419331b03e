"""Record: a run in the making. What the agent knows, and beside it the truth, where the environment offers it."""

from __future__ import annotations

from os.path import isfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from efex.adapters import AgentView
from efex.agents import Agent
from efex.graph import LatentGraph
from efex.run import Run
from efex.storage import CHECKPOINT, save


class Record:
    """Collects the true nodes of a walk, which the agent never sees, and makes a Run of both."""

    def __init__(self, view: AgentView, agent: Agent, env: gymnasium.Env[Any, Any], settings: dict[str, Any]) -> None:
        self.true_nodes: list[Any] = []
        self._nodes = np.zeros(0, np.int64)
        truth = getattr(getattr(env, "unwrapped", env), "truth", None)
        self.truth = truth if isinstance(truth, LatentGraph) else None
        self.view, self.agent, self.settings = view, agent, settings

    def told(self, node: Any) -> int:
        """Return what the environment says is the true node, -1 where it can be none: efex has no say in what it is."""
        most = 2**63 if self.truth is None else self.truth.n_nodes
        is_number = isinstance(node, int | np.integer) and not isinstance(node, bool)
        return int(node) if is_number and 0 <= node < most else -1

    def nodes(self, length: int) -> NDArray[np.int64] | None:
        """Return the true nodes of the first `length` observations, None where not all of them were told."""
        if len(self._nodes) < length:
            # Only what is new is looked at: checkpoints ask again and again.
            fresh = [self.told(node) for node in self.true_nodes[len(self._nodes) : length]]
            if min(fresh, default=0) < 0:
                return None
            self._nodes = np.append(self._nodes, np.array(fresh, np.int64))
        return self._nodes[:length]

    def run(self) -> Run:
        """Return the run as it stands."""
        recovery, experience = self.agent.recover(), self.agent.experience
        if len(recovery.path) < len(experience):
            # The agent failed while it took in the last observation.
            experience = experience.first(len(recovery.path))
        true_nodes = self.nodes(len(experience))
        return Run(experience, recovery, self.settings, self.view.symbol, true_nodes=true_nodes, truth=self.truth)

    def rescue(self, folder: str | Path, error: BaseException) -> None:
        """Save the run although it failed, and say where on the error that counts, or that it could not be saved."""
        self.settings |= {"interrupted": True, "stopped": "interrupted"}
        try:
            save(self.run(), folder, goes_on=True)
        except Exception as failure:
            error.add_note(f"what was found so far could not be saved to {folder}: {failure!r}")
            return
        on = "; resume=True goes on from there" if isfile(Path(folder, CHECKPOINT)) else ""
        error.add_note(f"what was found so far is saved in {folder}{on}")
