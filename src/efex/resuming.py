"""Resuming: an agent and its environment brought back to where a checkpoint found them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from efex.adapters.environment import Moment
from efex.agents import Agent
from efex.agents.keeping import put_back
from efex.arrays import State, read_arrays
from efex.checkpoint import Checkpoints
from efex.counting import counted
from efex.errors import InvalidArgumentError, StorageError
from efex.randomness import stream
from efex.record import Record
from efex.run import Run
from efex.storage import UNFIT, load
from efex.symbols import decode_symbol


class Resumption:
    """A checkpoint taken up: agent and record are what they were when it was written."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        assert checkpoints.path is not None
        self._checkpoints, self._record, self._path = checkpoints, checkpoints.record, checkpoints.path
        with _readable(self._path):
            state = read_arrays(self._path)
            kept = state.part("run")
            was = dict(kept.about["same"])
        _compare(was, checkpoints.same, self._path.parent)
        with _readable(self._path):
            self._take_up(kept, state.part("agent"))

    def _take_up(self, kept: State, agent: State) -> None:
        record, checkpoints = self._record, self._checkpoints
        checkpoints.left = [int(position) for position in kept.about["left"]]
        put_back(record.agent, agent, left=frozenset(checkpoints.left))
        n = len(record.agent.experience)
        checkpoints.taken_up()
        checkpoints.first, checkpoints.seed = kept.whole("first", most=n), kept.whole("seed")
        known = "nodes" in kept.arrays
        below = None if record.truth is None else record.truth.n_nodes
        record.true_nodes = kept.array("nodes", np.int64, (n,), least=0, below=below).tolist() if known else [-1] * n
        self._untold = kept.about["untold"]
        self._finished = kept.about["finished"] is True

    def finished_run(self, steps: int, stops: Callable[[Agent], bool]) -> Run | None:
        """Return the run in the folder if it ended where this one is to end, None if there is more to do."""
        agent = self._record.agent
        taken = agent.experience.n_steps + (self._untold is not None)
        if taken > steps:
            raise InvalidArgumentError(
                f"steps counts the whole run, and {counted(taken, 'step')} of it "
                f"{'is' if taken == 1 else 'are'} taken; got {steps}: give at least as many"
            )
        if self._finished and (taken == steps or stops(agent)):
            return replace(load(self._path.parent), symbol=self._record.view.symbol)
        return None

    def return_to_environment(self, seed: int, *, replayed: bool) -> int | None:
        """Bring the environment to where the agent is, or begin anew; return the seed of the next reset.

        By replaying the episode goes on. Otherwise it ends at what was seen last, as by a time limit, and the
        environment is begun anew, with a seed that it was not given before.
        """
        agent, checkpoints = self._record.agent, self._checkpoints
        failure = None if not replayed else replay(self._record, first=checkpoints.first, seed=checkpoints.seed)
        if replayed and failure is None:
            return checkpoints.seed if checkpoints.first == len(agent.experience) else None
        if failure is not None:
            warnings.warn(
                f"the environment does not repeat itself: {failure}; the run goes on with a new episode", stacklevel=4
            )
        if agent.pending is not None:
            self._end_episode()
        checkpoints.first = len(agent.experience)
        checkpoints.seed = int(stream(seed, f"session from {checkpoints.first}").integers(2**31))
        return checkpoints.seed

    def _end_episode(self) -> None:
        agent, untold = self._record.agent, self._untold
        if untold is None:
            self._checkpoints.left.append(len(agent.experience) - 1)
            agent.leave()
            return
        self._record.true_nodes.append(int(untold["node"]))
        agent.end(decode_symbol(untold["symbol"]), terminated=bool(untold["terminated"]))


def is_replayed(env: gymnasium.Env[Any, Any], record: Record, replay: bool | None) -> bool:
    """Return whether to replay: as told, or if the environment is known to be a simulation that repeats itself.

    That is a world, or an environment registered with Gymnasium that is not registered as nondeterministic. Of
    anything else actions taken once are not taken again: they may have moved a robot.
    """
    if replay is not None:
        return replay
    spec = getattr(env, "spec", None)
    return record.truth is not None or (spec is not None and not spec.nondeterministic)


def replay(record: Record, *, first: int, seed: int) -> str | None:
    """Take the recorded actions again from observation `first` on; return where the environment differs, if it does."""
    view, agent = record.view, record.agent
    experience = agent.experience
    actions, last = experience.actions.tolist(), len(experience) - 1
    begins = True
    for position in range(first, last + 1):
        try:
            if begins:
                moment = view.reset(seed=seed if position == first else None)
            else:
                moment = view.step(actions[position - 1])
        except Exception as error:
            return f"at observation {position} it raised {error!r}"
        ends = actions[position] < 0 and (position < last or agent.pending is None)
        if difference := _difference(record, position, moment, ends=ends):
            return f"at observation {position} {difference}"
        begins = ends
    return None


def _difference(record: Record, position: int, moment: Moment, *, ends: bool) -> str | None:
    """Return how a moment differs from what was recorded at that position, None where it does not."""
    agent, node = record.agent, record.true_nodes[position]
    code = int(agent.experience.observations[position])
    if agent.experience.alphabet.lookup([moment.symbol])[0] != code:
        return f"it showed {moment.symbol!r}, not {agent.experience.alphabet[code]!r}"
    if node >= 0 and record.told(moment.info.get("node")) != node:
        return f"it was at node {moment.info.get('node')}, not {node}"
    if ends != (moment.terminated or moment.truncated):
        return "the episode went on" if ends else "the episode ended"
    if ends:
        return None
    mask = None if moment.mask is None or moment.mask.all() else moment.mask
    told = agent.masks.get(position)
    if (mask is None) != (told is None) or (mask is not None and (mask != told).any()):
        return "other actions were available"
    return None


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say of a checkpoint that cannot be read what to do about it."""
    try:
        yield
    except UNFIT as error:
        what = str(error) if str(path) in str(error) else f"{path} does not hold what efex wrote: {error!r}"
        raise StorageError(f"{what}; give another folder, or resume=False, which begins anew") from error


def _compare(was: dict[str, Any], same: dict[str, Any], folder: Path) -> None:
    for name in [*same, *(name for name in was if name not in same)]:
        if was.get(name) != same.get(name):
            raise InvalidArgumentError(
                f"resume=True must go on as the run in {folder} began: its {name} was {was.get(name)!r}, not "
                f"{same.get(name)!r}; give that, another folder, or resume=False, which begins anew"
            )
