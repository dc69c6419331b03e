"""Checkpoints: everything a run needs to go on, written again and again while it lasts, whole or not at all."""

from __future__ import annotations

import hashlib
import time
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from efex.agents.keeping import keep
from efex.arrays import State, read_arrays, write_arrays
from efex.graph import LatentGraph
from efex.record import Record
from efex.storage import CHECKPOINT
from efex.symbols import encode_symbol

if TYPE_CHECKING:
    from efex.explore import Step

EVERY = 1.0
"""Seconds between two checkpoints, at least."""

SHARE = 0.05
"""The share of the time that may go into checkpoints."""


def _identity(record: Record, asked: dict[str, Any]) -> dict[str, Any]:
    """Return what must be the same when the run goes on: what was asked for, the agent's settings, the environment."""
    agent, view = record.agent, record.view
    plain = (bool, int, float, str, type(None))
    settings = {
        f"agent's {name}": repr(value)
        for name, value in sorted(vars(agent).items())
        if not name.startswith("_") and name not in ("pending", "is_whole")
        if isinstance(value, plain) or (is_dataclass(value) and " at 0x" not in repr(value))
    }
    declared = [encode_symbol(symbol) for symbol in view.symbols]
    return {
        **asked,
        "agent": type(agent).__name__,
        **settings,
        "number of actions": view.n_actions,
        "names of actions": None if view.action_names is None else list(view.action_names),
        "declared observations": f"{len(declared)}, from {declared[0]} to {declared[-1]}" if declared else "none",
        "world": None if record.truth is None else _fingerprint(record.truth),
    }


def _fingerprint(graph: LatentGraph) -> str:
    digest = hashlib.sha256(repr((graph.observations, graph.starts)).encode())
    for array in (graph.source, graph.action, graph.target, graph.probability):
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


class Checkpoints:
    """Writes the state of a run to its folder now and then; when it does has no influence on the run.

    The first one replaces what another run left: one that fails before it has something to save leaves it as it is.
    A checkpoint holds the agent as it was when it chose the last action, and what the environment answered; and it
    says by what to know the run again: what was `asked` for, the agent's settings, the environment.
    `first` is the observation from which on the environment can be replayed, seeded with `seed`: the one after the
    last time that it had to be begun anew.
    """

    def __init__(self, folder: Path | None, record: Record, asked: dict[str, Any], *, seed: int) -> None:
        self.path = None if folder is None else folder / CHECKPOINT
        self.record, self.same = record, _identity(record, asked)
        self.first, self.seed, self.left = 0, seed, list[int]()
        self._latest: Step | None = None
        self._is_last = self._is_there = False
        self._due = time.monotonic() + EVERY

    @property
    def exist(self) -> bool:
        """Whether there is one in the folder."""
        return self.path is not None and self.path.exists()

    def step(self, step: Step) -> None:
        """Take note of what just happened; write a checkpoint if it is time, or the last step."""
        self._latest = step
        if self.path is None:
            return
        if step.last or time.monotonic() >= self._due:
            begin = time.monotonic()
            self.write()
            cost = time.monotonic() - begin
            self._due = begin + cost + max(EVERY, cost * (1 / SHARE - 1))
        self._is_last = step.last

    def write(self) -> None:
        """Write a checkpoint; the agent must be between two of its calls and have seen something."""
        agent = self.record.agent
        if self.path is None or not agent.is_whole or len(agent.experience) == 0:
            return
        nodes = self.record.nodes(len(agent.experience))
        about = {
            "same": self.same,
            "first": self.first,
            "seed": self.seed,
            "left": self.left,
            "untold": self._untold(),
            "finished": False,
        }
        kept = State({} if nodes is None else {"nodes": nodes}, about)
        write_arrays(self.path, State.joined(run=kept, agent=keep(agent)))
        self._is_there = True

    def taken_up(self) -> None:
        """Take note that this run goes on from the one in the folder."""
        self._is_there = True

    def _untold(self) -> dict[str, Any] | None:
        """Return what the environment answered to the agent's last action, if the agent was not told yet."""
        step, agent = self._latest, self.record.agent
        if step is None or step.action is None or len(self.record.true_nodes) <= len(agent.experience):
            return None
        node = self.record.told(step.node)
        return {"symbol": encode_symbol(step.moment.symbol), "terminated": step.moment.terminated, "node": node}

    def rescue(self, error: BaseException) -> None:
        """Write a last checkpoint of a run that was broken off between two steps."""
        if self._is_last:
            return
        try:
            self.write()
        except Exception as failure:
            error.add_note(f"no checkpoint of the last steps could be written: {failure!r}")
        if not self._is_there and self.path is not None:
            # What is left is of another run, and would go on from there with what is saved of this one.
            self.path.unlink(missing_ok=True)

    def finish(self) -> None:
        """Note in the last checkpoint that the folder holds the finished run."""
        if self.path is not None:
            state = read_arrays(self.path)
            state.about["run"]["finished"] = True
            write_arrays(self.path, state)
