"""The loop: connect an agent to an environment, record what happens, return the map."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from efex.adapters import AgentView
from efex.agents import Agent, ClonePolicy, make_agent
from efex.errors import InvalidArgumentError
from efex.graph import LatentGraph
from efex.interruption import interrupts_between_steps
from efex.progress import progress_display
from efex.randomness import stream
from efex.run import Run
from efex.storage import make_folder


def explore(
    env: gymnasium.Env[Any, Any],
    *,
    steps: int,
    seed: int = 0,
    agent: str | Agent = "efex",
    clones: ClonePolicy = "auto",
    observe: Callable[[Any], Any] | None = None,
    episode_steps: int | None = None,
    progress: bool = True,
    folder: str | Path | None = None,
) -> Run:
    """Return what `agent` found out about `env` in `steps` steps.

    `env` is any Gymnasium environment with Discrete actions; its episodes end as it says, or after
    `episode_steps`. With a `folder` the run is saved there, also when it is interrupted.
    """
    if steps < 1:
        raise InvalidArgumentError(f"steps must be at least 1, not {steps}")
    view = AgentView(env, observe=observe, episode_steps=episode_steps)
    explorer = make_agent(agent, clones=clones)
    explorer.prepare(view.n_actions, rng=stream(seed, "agent"), symbols=view.symbols)
    true_nodes: list[int] = []
    truth = getattr(getattr(env, "unwrapped", env), "truth", None)
    settings = {"agent": agent if isinstance(agent, str) else type(agent).__name__, "seed": seed}
    if folder is not None:
        make_folder(folder)
    try:
        with progress_display(truth, steps, enabled=progress) as display, interrupts_between_steps() as check:
            for action, node in walk(view, explorer, steps=steps, seed=seed):
                true_nodes.append(node)
                display.step(explorer, action, true_nodes)
                check()
    except BaseException:
        # Ctrl-C, or an environment that fails: what was found so far is kept.
        if folder is not None and explorer.experience.n_steps:
            _result(explorer, true_nodes, truth, settings | {"interrupted": True}).save(folder)
        raise
    run = _result(explorer, true_nodes, truth, settings)
    if short := run.out_of_clones():
        warnings.warn(
            f"{len(short)} of {len(run.graph.symbols)} observations use all their clones and what follows them still "
            f'depends on history, {short[0]!r} for one: give more clones=, or "auto"',
            stacklevel=2,
        )
    if folder is not None:
        run.save(folder)
    return run


def walk(view: AgentView, agent: Agent, *, steps: int, seed: int) -> Iterator[tuple[int | None, int]]:
    """Let `agent` take `steps` steps, episode after episode; yield every action (None for a reset) and true node.

    The environment is seeded once, at its first reset.
    """
    taken = 0
    while taken < steps:
        moment = view.reset(seed=seed if taken == 0 else None)
        yield None, moment.info.get("node", -1)
        action = agent.begin(moment.symbol, moment.mask)
        while True:
            moment = view.step(action)
            taken += 1
            yield action, moment.info.get("node", -1)
            if moment.terminated or moment.truncated or taken == steps:
                break
            action = agent.act(moment.symbol, moment.mask)
        agent.end(moment.symbol, terminated=moment.terminated)


def _result(explorer: Agent, true_nodes: list[int], truth: LatentGraph | None, settings: dict[str, Any]) -> Run:
    known = np.array(true_nodes[: len(explorer.experience)], np.int64)
    told = len(known) > 0 and bool((known >= 0).all())
    return Run(explorer.experience, explorer.recover(), settings, true_nodes=known if told else None, truth=truth)
