"""Room: MiniGrid's empty room, seen through a window of three by three cells."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from efex.graph import LatentGraph

try:
    import minigrid  # noqa: F401, registers MiniGrid's environments
    from minigrid.core.constants import DIR_TO_VEC
except ModuleNotFoundError as error:
    raise SystemExit(f'{error}; this example needs pip install "efex[examples]"') from None

ACTIONS = ("turn left", "turn right", "forward")


class Room(gymnasium.Env):
    """MiniGrid-Empty-8x8: 6 x 6 cells and 4 headings; reaching the goal ends nothing, it is a place like others.

    What the agent sees of the room becomes a number, the same for the same view. `info["node"]` is the true pose.
    """

    def __init__(self, *, episode_steps: int | None = None) -> None:
        self.inner = gymnasium.make("MiniGrid-Empty-8x8-v0", agent_view_size=3, max_steps=10**9).unwrapped
        self.inner.reset(seed=0)
        self.episode_steps = episode_steps
        cells = [(x, y) for y in range(1, self.inner.height - 1) for x in range(1, self.inner.width - 1)]
        self.poses = [(x, y, heading) for x, y in cells for heading in range(4)]
        self._views: dict[bytes, int] = {}
        self.looks = [self._put(node) for node in range(len(self.poses))]
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self.action_names = ACTIONS
        self.observation_space = gymnasium.spaces.Discrete(len(self._views))
        self.truth = self._walk_all()

    def _put(self, node: int) -> int:
        """Place the agent; return what it then sees."""
        x, y, heading = self.poses[node]
        self.inner.agent_pos, self.inner.agent_dir = (x, y), heading
        return self._number(self.inner.gen_obs())

    def _number(self, seen: dict[str, Any]) -> int:
        return self._views.setdefault(seen["image"].tobytes(), len(self._views))

    def _node(self) -> int:
        return self.poses.index((*map(int, self.inner.agent_pos), int(self.inner.agent_dir)))

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[int, dict[str, Any]]:
        """Begin in the corner."""
        super().reset(seed=seed)
        seen, _ = self.inner.reset(seed=seed)
        self.steps = 0
        return self._number(seen), {"node": self._node()}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Turn or go forward."""
        seen, *_ = self.inner.step(action)
        self.steps += 1
        return self._number(seen), 0.0, False, self.steps == self.episode_steps, {"node": self._node()}

    def _walk_all(self) -> LatentGraph:
        """Return the 144 poses, by taking every action in each; they lie at their cells, shifted by their heading."""
        moves = np.zeros((len(ACTIONS), len(self.poses), len(self.poses)))
        start = self.reset()[1]["node"]
        for action in range(len(ACTIONS)):
            for node in range(len(self.poses)):
                self._put(node)
                moves[action, node, self.step(action)[-1]["node"]] = 1
        places = np.array([np.array([x, y]) + 0.25 * DIR_TO_VEC[heading] for x, y, heading in self.poses])
        return LatentGraph.from_matrices(self.looks, list(moves), starts=[start], coordinates=places * [1, -1])
